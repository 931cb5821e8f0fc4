"""Records of the service interface; what is sent is checked by pydantic."""
