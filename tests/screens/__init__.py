"""Screens, driven by keys, on the real embedded service."""
