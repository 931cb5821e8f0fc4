"""The door: operations, their journal and their store."""
