"""The profiles of the configuration."""

from lockterm.screens.profiles.screen import ProfilesScreen

__all__ = ["ProfilesScreen"]
