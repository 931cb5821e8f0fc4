"""The profiles of the configuration: the list, their settings, and changes to the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from lockterm.config import values
from lockterm.config.file import FROM_ENVIRONMENT, ConfigFile, read_config
from lockterm.config.profile import Profile
from lockterm.config.settings import VARIABLES, Options, Settings, resolve_settings
from lockterm.errors import ConfigError

_OF_ONE_SERVICE = ("base_url", "profile", "lock")
"""Settings that select a profile, a service or a lock.

:meth:`Profiles.resolve` ignores the options and variables for these settings, because the caller
passes a profile.
"""


class ProfileEntry(NamedTuple):
    """A profile of the configuration file, with or without an error, for the list of profiles."""

    name: str
    filed: Mapping[str, Any]
    """The unchecked settings of the profile's table in the file."""
    profile: Profile | None
    """The checked profile, with values from options and environment; None if it has an error."""
    error: ConfigError | None
    """The error in the profile; None if the profile is valid."""
    is_default: bool
    """Whether lockterm starts with this profile, because it is the default or the only profile."""


class Profiles:
    """The profiles of a session.

    Args:
        path: The configuration file, which need not exist.
        options: The options of the command line.
        environ: The environment variables.
    """

    def __init__(self, path: Path, options: Options, environ: Mapping[str, str]) -> None:
        self.path = path
        self._options = options
        self._environ = environ

    def read(self) -> ConfigFile:
        """Read the configuration file, and return its present content.

        Raises:
            ConfigError: The file cannot be read, or is not a valid configuration.
        """
        return read_config(self.path) or ConfigFile(self.path)

    def entries(self, file: ConfigFile) -> list[ProfileEntry]:
        """Return an entry for every profile of the file, including profiles with errors."""
        entries = []
        for name, filed in file.profiles.items():
            profile, broken = None, None
            try:
                profile = self.resolve(file, name).profile
            except ConfigError as error:
                broken = error
            default = file.default_profile
            is_default = name == default or (default is None and len(file.profiles) == 1)
            entries.append(ProfileEntry(name, filed, profile, broken, is_default))
        return entries

    def resolve(self, file: ConfigFile, name: str) -> Settings:
        """Return the settings for a session that uses a profile of the file.

        Raises:
            ConfigError: A value of the profile is wrong.
        """
        options = replace(self._options, profile=name, base_url=None, lock=None)
        ours = {VARIABLES[setting] for setting in _OF_ONE_SERVICE}
        environ = {key: value for key, value in self._environ.items() if key not in ours}
        return resolve_settings(file, options, environ)

    def is_set(self, variable: str) -> bool:
        """Return whether an environment variable is set and not empty."""
        return bool(self._environ.get(variable))

    # --- options and environment -------------------------------------------------------------

    @property
    def pinned_by(self) -> str:
        """The option, or the variable and its value, that sets the base URL for every profile.

        The text is empty if none does.
        """
        return self._named("base_url", self._options.base_url)

    @property
    def chosen_by(self) -> str:
        """The option, or the variable and its value, that overrides the default profile.

        The text is empty if none does.
        """
        return self._named("profile", self._options.profile)

    @property
    def read_only_by(self) -> str:
        """The option, or the variable and its value, that overrides ``read_only`` in profiles.

        The text is empty if none does.
        """
        return self._named("read_only", "1" if self._options.read_only else None)

    def _named(self, setting: str, option: str | None) -> str:
        if option is not None:
            return f"--{setting.replace('_', '-')}"
        variable = VARIABLES[setting]
        value = self._environ.get(variable)
        return f"{variable}={values.shorten(value)[1:-1]}" if value else ""

    # --- writing -------------------------------------------------------------------------------

    def save(self, file: ConfigFile, name: str, filed: Mapping[str, Any]) -> ConfigFile:
        """Add or change a profile in the file, and return the new configuration.

        The first profile becomes the default, and stays the default if a second profile is added.

        Args:
            file: The configuration file as it was read.
            name: The name of the profile.
            filed: The new settings of the profile for the file.

        Raises:
            ConfigError: The file is not written; see :func:`lockterm.config.writing.write_config`.
        """
        default = file.default_profile
        if default is None and len(file.profiles) < 2:  # with two, a start could not choose
            default = next(iter(file.profiles), name)
        return _write(file, default, {**file.profiles, name: filed})

    def make_default(self, file: ConfigFile, name: str) -> ConfigFile:
        """Make a profile the default in the file, and return the new configuration.

        Raises:
            ConfigError: The file is not written; see :func:`lockterm.config.writing.write_config`.
        """
        return _write(file, name, file.profiles)

    def remove(self, file: ConfigFile, name: str) -> ConfigFile:
        """Remove a profile from the file, and return the new configuration.

        Raises:
            ConfigError: The file is not written; see :func:`lockterm.config.writing.write_config`.
        """
        default = successor(file, name)
        left = {other: filed for other, filed in file.profiles.items() if other != name}
        return _write(file, default, left)


def successor(file: ConfigFile, name: str) -> str | None:
    """Return the name of the profile that is the default after a profile is removed.

    Returns:
        The name; None if there will be no default profile.
    """
    if file.default_profile != name:
        return file.default_profile
    return next((other for other in file.profiles if other != name), None)


def _write(file: ConfigFile, default: str | None, profiles: Mapping[str, Any]) -> ConfigFile:
    from lockterm.config.writing import write_config

    return write_config(file, default, profiles)


def header_of(filed: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name of a profile's header, and the environment variable that has its value.

    The result is about the first header whose value is from the environment, because the profile
    form shows only this header. Both texts are empty if there is no such header.
    """
    for name, value in filed.get("headers", {}).items():
        if isinstance(value, str) and value.startswith(FROM_ENVIRONMENT):
            return name, value.removeprefix(FROM_ENVIRONMENT)
    return "", ""
