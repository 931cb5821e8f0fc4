"""Faults at every point of every call, and what the journal makes of them."""
