"""The screens that list and edit the profiles of the configuration."""

from lockterm.screens.profiles.screen import ProfilesScreen

__all__ = ["ProfilesScreen"]
