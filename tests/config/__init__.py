"""The configuration file: what is read, refused and written."""
