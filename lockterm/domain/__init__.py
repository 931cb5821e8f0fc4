"""The records of the service interface, the rules for them, and the texts about them."""
