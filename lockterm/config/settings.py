"""The effective settings: option, environment, profile in the file, default; in this order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from lockterm.config import values
from lockterm.config.file import FROM_ENVIRONMENT, ConfigFile, read_config
from lockterm.config.keys import settle_keys
from lockterm.config.look import Look
from lockterm.config.profile import Profile
from lockterm.config.terminal import settle_look
from lockterm.errors import ConfigError
from lockterm.keymap import Keymap

T = TypeVar("T")

VARIABLES = {
    "base_url": "LOCKTERM_BASE_URL",
    "profile": "LOCKTERM_PROFILE",
    "lock": "LOCKTERM_LOCK",
    "read_only": "LOCKTERM_READ_ONLY",
    "quiet": "LOCKTERM_QUIET",
}
"""Setting -> environment variable. An empty variable is as good as none."""


@dataclass(frozen=True, slots=True)
class Options:
    """What was typed after ``lockterm``, unchecked; None: not given."""

    profile: str | None = None
    base_url: str | None = None
    lock: str | None = None
    read_only: bool = False
    no_mouse: bool = False
    quiet: bool = False
    log_level: str | None = None
    """How much the log file tells; see ``lockterm.logfile``."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What applies, and why."""

    profile: Profile | None
    """None where neither a profile nor a base URL is known: the first run."""
    open_lock: int | None
    """Open straight on this lock's remotes."""
    look: Look
    """What this terminal can do, and what was asked for."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Name of a setting -> where its value came from, in words."""
    keymap: Keymap = field(default_factory=dict)
    """The keys that were chosen; the others are as usual."""


def load_settings(paths_config: Path, options: Options, environ: Mapping[str, str]) -> Settings:
    """Settle every setting.

    Args:
        paths_config: The configuration file; it need not exist.
        options: What was typed.
        environ: The environment.

    Raises:
        ConfigError: A value is wrong; the message names its place.
    """
    file = read_config(paths_config) or ConfigFile(paths_config)
    return settle_settings(file, options, environ)


def settle_settings(file: ConfigFile, options: Options, environ: Mapping[str, str]) -> Settings:
    """As :func:`load_settings`, of a file that was read before."""
    return _Resolver(file, options, environ).settings()


class _Resolver:
    def __init__(self, file: ConfigFile, options: Options, environ: Mapping[str, str]) -> None:
        self._path = file.path
        self._options = options
        self._environ = environ
        self._file = file
        self._origins: dict[str, str] = {}
        self._warnings: list[str] = []
        self._chosen: Mapping[str, Any] = {}
        self._name: str | None = None

    def settings(self) -> Settings:
        self._choose_profile()
        quiet = True if self._options.quiet else self._typed("quiet", None, values.switch)
        if self._options.quiet:
            self._origins["quiet"] = "option --quiet"
        look = settle_look(
            self._file,
            self._environ,
            self._origins,
            quiet=quiet,
            mouse=False if self._options.no_mouse else None,
        )
        return Settings(
            look=look,
            open_lock=self._typed("lock", self._options.lock, values.lock_id),
            profile=self._profile(),
            origins=self._origins,
            keymap=settle_keys(self._file, self._origins),
        )

    def _choose_profile(self) -> None:
        known = self._file.profiles
        name = self._typed("profile", self._options.profile, values.text)
        if name is None and self._file.default_profile is not None:
            name = self._file.default_profile
            self._origins["profile"] = self._file.place("default_profile")
        if name is None and len(known) == 1:
            name = next(iter(known))
            self._origins["profile"] = f"the only one in {self._path}"
        if name is None:
            if known and self._base_url_typed() is None:
                raise ConfigError(
                    f"{self._path} has several profiles and no default_profile:"
                    f" {', '.join(sorted(known))}.",
                    hint="Choose one with --profile NAME.",
                )
            return
        if name not in known:
            there = f"{values.shorten(name)} is no profile{values.meant(name, known)}"
            if not known:
                there += f": {self._path} has none"
            raise ConfigError(
                values.ended(f"{self._origins['profile']}: {there}"),
                hint="Write it into the configuration, or use --base-url URL.",
            )
        self._name, self._chosen = name, known[name]

    def _profile(self) -> Profile | None:
        nothing: tuple[str, str | None] = ("", None)
        own = self._filed("base_url", values.base_url, nothing)
        typed = self._base_url_typed()
        if typed is None and self._name is None:
            return None
        base_url, warning = typed or own
        if not base_url:
            place = self._file.place("profiles", self._name or "")
            raise ConfigError(f"{place}: the profile {self._name} has no base_url.", hint="Add it.")
        if warning:
            self._warnings.append(warning)
        at_home = self._name is not None and base_url == own[0]
        return Profile(
            name=self._name if at_home and self._name else base_url.partition("://")[2],
            base_url=base_url,
            timezone=self._timezone(),
            page_size=self._filed("page_size", values.page_size, 20),
            body=self._filed("body", values.body, "json"),
            ca_file=self._filed(
                "ca_file", lambda value: values.ca_file(value, self._path.parent), ""
            ),
            timeout_s=self._filed("timeout_s", values.timeout_s, 15.0),
            headers=self._headers(base_url, own[0]),
            read_only=self._read_only(),
            colour=self._colour(at_home),
            warnings=tuple(self._warnings),
        )

    def _base_url_typed(self) -> tuple[str, str | None] | None:
        return self._typed("base_url", self._options.base_url, values.base_url)

    def _read_only(self) -> bool:
        filed = self._filed("read_only", values.boolean, False)
        if self._options.read_only:
            self._origins["read_only"] = "option --read-only"
            return True
        typed = self._typed("read_only", None, values.switch)
        return filed if typed is None else typed

    def _colour(self, at_home: bool) -> str:
        """The profile's colour; it would be wrong on another service."""
        colour = self._filed("colour", values.colour, "")
        return colour if at_home else ""

    def _timezone(self) -> str:
        zone = self._filed("timezone", values.timezone, None)
        if zone is not None:
            return zone
        machine = values.machine_zone()
        if machine is None:
            self._origins["timezone"] = "default, for this machine names no zone"
            return "UTC"
        self._origins["timezone"] = "this machine's"
        return machine

    def _headers(self, base_url: str, own: str) -> dict[str, str]:
        """The headers with their values. They are secrets of one service and go to no other."""
        found: Mapping[str, str] = self._chosen.get("headers", {})
        if found and _origin(base_url) != _origin(own):
            self._warnings.append(
                f"The headers of the profile {self._name} are not sent: this host is not its own."
            )
            return {}
        headers = {}
        for name, value in found.items():
            keys = ("profiles", self._name or "", "headers", name)
            self._origins[f"headers.{name}"] = self._file.place(*keys)
            try:
                values.header_name(name)
                if value.startswith(FROM_ENVIRONMENT):
                    value = self._from_environment(value.removeprefix(FROM_ENVIRONMENT))
                    self._origins[f"headers.{name}"] += ", from the environment"
                headers[name] = values.header_value(value)
            except ValueError as error:
                raise self._file.error(keys, str(error)) from None
        return headers

    def _from_environment(self, variable: str) -> str:
        value = self._environ.get(variable)
        if not value:
            raise ValueError(f"wants the environment variable {variable}, which is not set")
        return value

    def _typed(self, setting: str, option: str | None, check: Callable[[str], T]) -> T | None:
        """The value of an option, else of its variable, else None."""
        place, value = f"--{setting.replace('_', '-')}", option
        origin = f"option {place}"
        if value is None:
            place = VARIABLES[setting]
            origin = f"environment {place}"
            value = self._environ.get(place) or None
        if value is None:
            self._origins.setdefault(setting, "default")
            return None
        self._origins[setting] = origin
        try:
            return check(value)
        except ValueError as error:
            raise ConfigError(values.ended(f"{place} {error}")) from None

    def _filed(self, key: str, check: Callable[[Any], T], default: T) -> T:
        """The value of the chosen profile, else the default."""
        if key not in self._chosen:
            self._origins.setdefault(key, "default")
            return default
        keys = ("profiles", self._name or "", key)
        self._origins[key] = self._file.place(*keys)
        try:
            return check(self._chosen[key])
        except ValueError as error:
            raise self._file.error(keys, str(error)) from None


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
