"""The commands and the settings, from outside."""
