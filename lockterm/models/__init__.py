"""Records of the service interface, as pydantic models."""
