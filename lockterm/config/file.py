"""The reader of the configuration file, which checks the file's structure and permissions."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from lockterm.config.profile import Profile
from lockterm.config.values import INT64, as_sentence, profile_name, shorten, suggestion
from lockterm.errors import ConfigError
from lockterm.safe_files import for_shell, read_guarded

T = TypeVar("T")

LARGEST = 1 << 20
"""Maximum size of a configuration file, in bytes."""

BYTE_ORDER_MARK = "\ufeff"
"""The character that some editors write at the beginning of a file. lockterm preserves it."""

TOP_KEYS = ("default_profile", "profiles", "renew", "terminal", "keys")
RENEW_KEYS = ("presets",)
TERMINAL_KEYS = ("quiet", "mouse", "glyphs", "copy")
_NOT_FILED = ("name", "presets", "warnings")
"""The fields of ``Profile`` that are not keys of a profile's table in the file."""
PROFILE_KEYS = tuple(one.name for one in fields(Profile) if one.name not in _NOT_FILED)
OLDER_COLOR = "colour"
"""The older spelling of the key ``color`` of a profile, which lockterm still accepts."""
FROM_ENVIRONMENT = "env:"
"""The prefix of a header value such as ``env:NAME``, which means the environment variable NAME."""

_HEADER_LINE = re.compile(r"\s*\[[^\[].*\]\s*(#.*)?")
_KEY = re.compile(r"\s*([^=#\[]+?)\s*=")


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The parsed configuration file, with unchecked values in its tables."""

    path: Path
    default_profile: str | None = None
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    renew: Mapping[str, Any] = field(default_factory=dict)
    terminal: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, Any] = field(default_factory=dict)
    source: str = field(default="", repr=False)
    notice: str = ""
    """A warning for the user about how lockterm wrote the file; empty if there is none."""

    def place(self, *keys: str) -> str:
        """Return the file and line of a key for a message, such as ``FILE, line 4``.

        If no line has the key, return only the file.

        Args:
            keys: The names of the tables around the key, then the key.
        """
        line = line_of(self.source, keys)
        return f"{self.path}, line {line}" if line else str(self.path)

    def error(self, keys: tuple[str, ...], sentence: str, hint: str = "") -> ConfigError:
        """Return an error that shows the file, line and name of a wrong setting.

        Args:
            keys: The names of the tables around the key, then the key.
            sentence: The rest of a sentence that begins with the name of the key.
            hint: The next step for the user, as a sentence.
        """
        return ConfigError(as_sentence(f"{self.place(*keys)}: {keys[-1]} {sentence}"), hint=hint)

    def read(
        self, keys: tuple[str, ...], check: Callable[[Any], T], default: T, origins: dict[str, str]
    ) -> T:
        """Return the checked value of a setting, or its default.

        Args:
            keys: The names of the tables around the key, then the key.
            check: The rule for the value, a function of ``lockterm.config.values``.
            default: The value if the file does not have the key.
            origins: A mapping to which the method adds the key with the origin of the value.

        Raises:
            ConfigError: The value is wrong.
        """
        *tables, key = keys
        table: Mapping[str, Any] = getattr(self, tables[0])
        for name in tables[1:]:
            table = table.get(name, {})
        if key not in table:
            origins.setdefault(key, "default")
            return default
        origins[key] = self.place(*keys)
        try:
            return check(table[key])
        except ValueError as error:
            raise self.error(keys, str(error)) from None


def read_config(path: Path) -> ConfigFile | None:
    """Return the parsed configuration file; None if the file does not exist.

    Raises:
        ConfigError: The file cannot be read, is not TOML, or has unknown keys; or other users can
            change the file or read secrets in it.
    """
    try:
        data, about, why = read_guarded(path, LARGEST, "configuration")
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ConfigError(
            f"{path} cannot be read. {error}",
            hint="Move the path away, or create a TOML file there.",
        ) from None
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}.",
            hint=f"See: ls -l {for_shell(path)}",
        ) from error
    config = parse_config(path, data)
    _check_permissions(config, about.st_mode, why)
    return config


def parse_config(path: Path, data: bytes) -> ConfigFile:
    """Parse the content of a configuration file.

    Args:
        path: The file, for error messages.
        data: The content.

    Raises:
        ConfigError: The content is not TOML, or has unknown keys.
    """
    try:
        source = data.decode("utf-8")
        document = tomllib.loads(source.removeprefix(BYTE_ORDER_MARK))
        _refuse_huge_numbers(document)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path}, line {line}: not UTF-8.", hint="Save the file as UTF-8."
        ) from error
    except (ValueError, RecursionError) as error:
        message = "a number in it is too large"  # Python could not parse it
        if isinstance(error, RecursionError):
            message = "nested too deeply"
        elif isinstance(error, tomllib.TOMLDecodeError):
            message = str(error)
        raise ConfigError(
            f"{path} is not valid TOML: {message}.", hint="Correct the file."
        ) from error

    config = ConfigFile(path, source=source)
    _refuse_unknown(config, (), document, TOP_KEYS)
    default = document.get("default_profile")
    if default is not None and not isinstance(default, str):
        raise config.error(("default_profile",), "must be the name of a profile, in quotes")
    profiles = document.get("profiles", {})
    if not isinstance(profiles, dict):
        raise config.error(("profiles",), "must be tables, such as [profiles.north-campus]")
    for name, profile in profiles.items():
        if not isinstance(profile, dict):
            raise config.error(("profiles", name), f"must be a table: [profiles.{name}]")
        try:
            profile_name(name)
        except ValueError as error:
            raise config.error(("profiles", name), str(error)) from None
        _refuse_unknown(config, ("profiles", name), profile, (*PROFILE_KEYS, OLDER_COLOR))
        if OLDER_COLOR in profile and "color" in profile:
            raise config.error(
                ("profiles", name, OLDER_COLOR), "is also set as color. Keep one of the two"
            )
        _check_headers(config, name, profile.get("headers", {}))
    if default is not None and default not in profiles:
        raise config.error(
            ("default_profile",),
            f"is {shorten(default)}, which is not a profile{suggestion(default, profiles)}",
        )
    tables = {name: document.get(name, {}) for name in ("renew", "terminal", "keys")}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise config.error((name,), f"must be a table: [{name}]")
    _refuse_unknown(config, ("renew",), tables["renew"], RENEW_KEYS)
    _refuse_unknown(config, ("terminal",), tables["terminal"], TERMINAL_KEYS)
    return ConfigFile(path, default, profiles, **tables, source=source)


def color_key(profile: Mapping[str, Any]) -> str:
    """Return the key of a profile's color, ``color`` or ``colour``, as the profile spells it.

    The key is ``color`` if the profile has no color.
    """
    return OLDER_COLOR if OLDER_COLOR in profile else "color"


def _refuse_unknown(
    config: ConfigFile, table: tuple[str, ...], found: Mapping[str, object], known: tuple[str, ...]
) -> None:
    for key in found:
        if key not in known:
            raise config.error((*table, key), f"is not a setting{suggestion(key, known)}")


def _check_headers(config: ConfigFile, profile: str, headers: object) -> None:
    table = ("profiles", profile, "headers")
    if not isinstance(headers, dict):
        raise config.error(table, f"must be a table: [profiles.{profile}.headers]")
    for name, value in headers.items():
        if not isinstance(value, str):
            raise config.error((*table, name), "must be text in quotes")


def _check_permissions(config: ConfigFile, mode: int, why: str | None) -> None:
    """Check that other users can neither change the file nor read secrets in it.

    Args:
        config: The content of the file.
        mode: The mode of the file, with its permissions.
        why: Why other users can change the file, as a clause; None if they cannot.

    Raises:
        ConfigError: Other users can change the file, or can read secrets in it.
    """
    if why:
        raise ConfigError(
            f"{config.path} sets the service, but {why}.",
            hint="Then check the content of the file.",
        )
    for name, profile in config.profiles.items():
        for header, value in profile.get("headers", {}).items():
            if mode & 0o077 and not value.startswith(FROM_ENVIRONMENT):
                raise ConfigError(
                    f"{config.place('profiles', name, 'headers', header)}: the header"
                    f" {header} is a secret, but other users can read this file.",
                    hint=f"Run: chmod 600 {for_shell(config.path)}",
                )


def _refuse_huge_numbers(value: object) -> None:
    """Check that all numbers fit into 64 bits, because tomlkit cannot write larger numbers.

    Raises:
        ValueError: A number does not fit into 64 bits.
    """
    todo = [value]
    while todo:
        value = todo.pop()
        if isinstance(value, int) and value not in INT64:
            raise ValueError
        if isinstance(value, dict):
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)


def line_of(source: str, keys: tuple[str, ...]) -> int | None:
    """Return the number of the line with a key or table in a TOML text, counted from 1.

    Returns:
        None if the key is missing, or if it is inside an inline table.
    """
    table: tuple[str, ...] = ()
    for number, line in enumerate(source.removeprefix(BYTE_ORDER_MARK).splitlines(), 1):
        if _HEADER_LINE.fullmatch(line):
            table = _key_path(line)
            if table[: len(keys)] == keys:
                return number
        elif (match := _KEY.match(line)) and (*table, *_key_path(f"{match[1]} = 0")) == keys:
            return number
    return None


def _key_path(line: str) -> tuple[str, ...]:
    """Return the names in the key or the table header of one line of TOML.

    The TOML parser parses the line, because TOML's rules for dots and quotes apply.
    """
    try:
        table = tomllib.loads(line)
    except (ValueError, RecursionError):
        return ()
    path = []
    while isinstance(table, dict) and table:
        key, table = next(iter(table.items()))
        path.append(key)
    return tuple(path)
