"""The screens that list, add and edit the profiles of the configuration file."""

from lockterm.screens.profiles.screen import ProfilesScreen

__all__ = ["ProfilesScreen"]
