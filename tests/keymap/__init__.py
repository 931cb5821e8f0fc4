"""Keys: that each has an id, what can be chosen for them, and that all follow."""
