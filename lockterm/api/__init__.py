"""The client of the service: twelve calls, two envelopes, one decoder."""
