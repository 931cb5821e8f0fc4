"""lockterm: a terminal UI for the bluetooth remotes and voice packs of smart locks."""

__version__ = "0.2.0"
