"""The service client, against the embedded service and against a server of faults."""
