"""The records of the service interface, the rules for them, and texts that describe them."""
