"""The effective settings and keys: the result of options, environment, profile and defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from lockterm.config import values
from lockterm.config.file import FROM_ENVIRONMENT, ConfigFile, color_key, read_config
from lockterm.config.look import Look, resolve_look
from lockterm.config.profile import Profile
from lockterm.config.values import as_sentence
from lockterm.errors import ConfigError
from lockterm.keymap import DEFAULT_KEYMAP, Keymap

T = TypeVar("T")

_USUAL = Profile(name="", base_url="")
"""A profile with the default settings."""

VARIABLES = {
    "base_url": "LOCKTERM_BASE_URL",
    "profile": "LOCKTERM_PROFILE",
    "lock": "LOCKTERM_LOCK",
    "read_only": "LOCKTERM_READ_ONLY",
    "quiet": "LOCKTERM_QUIET",
}
"""Maps settings to their environment variables. An empty variable counts as not set."""


@dataclass(frozen=True, slots=True)
class Options:
    """The unchecked options of the command line. An option is None if it was not given."""

    profile: str | None = None
    base_url: str | None = None
    lock: str | None = None
    read_only: bool = False
    no_mouse: bool = False
    quiet: bool = False
    no_cache: bool = False
    log_level: str | None = None
    """The level of the log file; see ``lockterm.cli.logfile``."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The effective settings of a session, and the origin of each setting."""

    profile: Profile | None
    """The profile; None if neither a profile nor a base URL is set, as on the first start."""
    open_lock: int | None
    """The ID of the lock whose remotes lockterm shows first; None to show the lock book first."""
    look: Look
    """The features that the terminal supports, and the user's settings for the terminal."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Maps the names of settings to the origins of their values, as texts."""
    keymap: Keymap = field(default_factory=dict)
    """The keys that the configuration changes. All other actions have their default keys."""
    is_last: bool = False
    """Whether ``open_lock`` is the lock that an earlier session opened last, not a chosen lock."""
    variables: tuple[str, ...] = ()
    """The names of the environment variables that contain values of headers."""


def load_settings(path: Path, options: Options, environ: Mapping[str, str]) -> Settings:
    """Return the effective settings.

    Args:
        path: The configuration file, which need not exist.
        options: The options of the command line.
        environ: The environment variables.

    Raises:
        ConfigError: A value is wrong; the message shows the option, the variable, or the file and
            line of the value.
    """
    file = read_config(path) or ConfigFile(path)
    return resolve_settings(file, options, environ)


def resolve_settings(file: ConfigFile, options: Options, environ: Mapping[str, str]) -> Settings:
    """Return the effective settings for a configuration file that was already read.

    See :func:`load_settings` for the arguments and errors.
    """
    return _Resolver(file, options, environ).settings()


class _Resolver:
    def __init__(self, file: ConfigFile, options: Options, environ: Mapping[str, str]) -> None:
        self._path = file.path
        self._options = options
        self._environ = environ
        self._file = file
        self._origins: dict[str, str] = {}
        self._warnings: list[str] = []
        self._variables: list[str] = []
        self._chosen: Mapping[str, Any] = {}
        self._name = ""

    def settings(self) -> Settings:
        self._choose_profile()
        keymap = resolve_keys(self._file, self._origins, self._warnings)
        quiet = self._switched("quiet", self._options.quiet)
        look = resolve_look(
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
            keymap=keymap,
            variables=tuple(self._variables),
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
                    f"{self._path} contains several profiles and no default_profile:"
                    f" {', '.join(sorted(known))}.",
                    hint="Choose one with --profile NAME.",
                )
            return
        if name not in known:
            problem = f"{values.shorten(name)} is not a profile{values.suggestion(name, known)}"
            if not known:
                problem += f": {self._path} has none"
            raise ConfigError(
                values.as_sentence(f"{self._origins['profile']}: {problem}"),
                hint="Add the profile to the configuration, or use --base-url URL.",
            )
        self._name, self._chosen = name, known[name]

    def _profile(self) -> Profile | None:
        nothing: tuple[str, str | None] = ("", None)
        own = self._filed("base_url", values.base_url, nothing)
        typed = self._base_url_typed()
        if typed is None and not self._name:
            return None
        base_url, warning = typed or own
        if not base_url:
            place = self._file.place("profiles", self._name)
            raise ConfigError(
                f"{place}: the profile {self._name} has no base_url.",
                hint="Add base_url to the profile.",
            )
        if warning:
            self._warnings.append(warning)
        at_home = bool(self._name) and base_url == own[0]
        return Profile(
            name=self._name if at_home else base_url.partition("://")[2],
            base_url=base_url,
            timezone=self._timezone(),
            page_size=self._filed("page_size", values.page_size, _USUAL.page_size),
            body=self._filed("body", values.body, _USUAL.body),
            ca_file=self._filed("ca_file", self._ca_file, _USUAL.ca_file),
            ca_only=self._filed("ca_only", self._ca_only, _USUAL.ca_only),
            timeout_s=self._filed("timeout_s", values.timeout_s, _USUAL.timeout_s),
            calls_per_minute=self._filed(
                "calls_per_minute", values.calls_per_minute, _USUAL.calls_per_minute
            ),
            account=self._account(at_home),
            headers=self._headers(base_url, own[0]),
            read_only=self._read_only(),
            open_last=self._filed("open_last", values.boolean, _USUAL.open_last),
            cache=self._cache(),
            color=self._color(at_home),
            presets=self._file.read(
                ("renew", "presets"), values.presets, _USUAL.presets, self._origins
            ),
            warnings=tuple(self._warnings),
        )

    def _base_url_typed(self) -> tuple[str, str | None] | None:
        return self._typed("base_url", self._options.base_url, values.base_url)

    def _read_only(self) -> bool:
        filed = self._filed("read_only", values.boolean, _USUAL.read_only)
        switched = self._switched("read_only", self._options.read_only)
        return filed if switched is None else switched

    def _cache(self) -> bool:
        filed = self._filed("cache", values.boolean, _USUAL.cache)
        if self._options.no_cache:
            self._origins["cache"] = "option --no-cache"
        return filed and not self._options.no_cache

    def _account(self, at_home: bool) -> str:
        """Return the profile's account; empty if the base URL in use is not the profile's own.

        Args:
            at_home: Whether the base URL in use is the profile's own.
        """
        account = self._filed("account", values.account, _USUAL.account)
        return account if at_home else ""

    def _color(self, at_home: bool) -> str:
        """Return the profile's color; empty if the base URL in use is not the profile's own.

        Args:
            at_home: Whether the base URL in use is the profile's own.
        """
        key = color_key(self._chosen)
        color = self._filed(key, values.color, _USUAL.color)
        self._origins["color"] = self._origins.pop(key)
        return color if at_home else ""

    def _ca_file(self, value: object) -> str:
        return values.ca_file(value, self._path.parent)

    def _ca_only(self, value: object) -> bool:
        only = values.boolean(value)
        if only and not self._chosen.get("ca_file"):
            raise ValueError(
                "requires a ca_file, because otherwise no certificate would be trusted"
            )
        return only

    def _timezone(self) -> str:
        zone = self._filed("timezone", values.timezone, None)
        if zone is not None:
            return zone
        machine = values.machine_zone()
        default = "default, because this machine has no time zone set"
        self._origins["timezone"] = "this machine's" if machine else default
        return machine or _USUAL.timezone

    def _headers(self, base_url: str, own: str) -> dict[str, str]:
        """Return the headers of the profile.

        The result is empty, with a warning, if the base URL in use has another scheme, host or port
        than the profile's own base URL.

        Args:
            base_url: The base URL in use.
            own: The profile's own base URL.

        Raises:
            ConfigError: The name or the value of a header is wrong.
        """
        filed: Mapping[str, str] = self._chosen.get("headers", {})
        if filed and values.origin_of(base_url) != values.origin_of(own):
            self._warnings.append(
                f"The headers of the profile {self._name} are not sent, because the host"
                " differs from the profile's."
            )
            return {}
        headers = {}
        for name, value in filed.items():
            keys = ("profiles", self._name, "headers", name)
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
        self._variables.append(variable)
        if not value:
            raise ValueError(
                f"requires the environment {values.shown_variable(variable)}, which is not set"
            )
        return value

    def _typed(self, setting: str, option: str | None, check: Callable[[str], T]) -> T | None:
        """Return the checked value of an option or its variable; None if neither is set.

        Args:
            setting: The name of the setting.
            option: The value of the option; None if it was not given.
            check: A function that returns the checked value, or raises ValueError.
        """
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
            raise ConfigError(values.as_sentence(f"{place} {error}")) from None

    def _switched(self, setting: str, option: bool) -> bool | None:
        """Return the value of a yes-or-no option or its variable; None if neither is set."""
        return self._typed(setting, "1" if option else None, values.switch)

    def _filed(self, key: str, check: Callable[[Any], T], default: T) -> T:
        """Return the checked value of a setting in the chosen profile, or the default."""
        return self._file.read(("profiles", self._name, key), check, default, self._origins)


def resolve_keys(file: ConfigFile, origins: dict[str, str], warnings: list[str]) -> Keymap:
    """Return the keymap that the configuration describes.

    The keymap contains each action whose keys the user has chosen. If an action lost a default key
    to another action, the keymap contains the action with its remaining keys.

    Args:
        file: The configuration file.
        origins: A mapping to which the function adds the origin of each key setting.
        warnings: A list to which the function adds a sentence for each action that loses a key.

    Raises:
        ConfigError: An action ID or a key is unknown, or two actions have the same key.
    """
    if not file.keys:
        return DEFAULT_KEYMAP
    from lockterm.keymap.check import WrongKeyError, check, gave_way

    paths: dict[str, tuple[str, ...]] = {}
    chosen: dict[str, Any] = {}
    for path, value in _leaves(file.keys, ("keys",)):
        name = ".".join(path[1:])
        if name in paths:
            raise ConfigError(f"{file.place(*path)}: {name} occurs twice.", hint="Keep only one.")
        paths[name], chosen[name] = path, value
        origins[f"keys.{name}"] = file.place(*path)
    try:
        keymap = check(chosen)
    except WrongKeyError as error:
        place = file.place(*paths[error.name])
        raise ConfigError(as_sentence(f"{place}: {error}"), hint=error.hint) from None
    warnings += sorted(gave_way(chosen, keymap))
    return keymap


def keys_in(path: Path) -> Keymap:
    """Return the keymap of a configuration file, which need not exist.

    Raises:
        ConfigError: The file or its keys cannot be used.
    """
    file = read_config(path)
    return DEFAULT_KEYMAP if file is None else resolve_keys(file, {}, [])


def _leaves(
    table: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path and the value of each setting in nested tables.

    TOML reads the key ``remotes.delete`` as a table inside a table if it has no quotes.
    """
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value
