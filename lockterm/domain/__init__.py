"""Records of the service interface. Pydantic checks all requests that lockterm sends."""
