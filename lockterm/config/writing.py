"""The writer of profiles to the configuration file, which overwrites no changes of other programs.

The user's comments, blank lines, order and spelling must not change. Therefore tomlkit replaces
single values, and lockterm adds new profiles after the existing text. lockterm then parses the new
text, which must contain exactly the wanted settings and all comments.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import InlineTable

from lockterm.config.file import BYTE_ORDER_MARK, ConfigFile, parse_config
from lockterm.errors import ConfigError, StoreError, describe_os_error
from lockterm.paths import make_directory, write_whole

Profiles = Mapping[str, Mapping[str, Any]]

NOTHING_WRITTEN = "Nothing was written."
WRITTEN_IN_PLACE = (
    "{path} is a mount point, so lockterm wrote the file in place. If lockterm is killed"
    " while it writes, the file is cut short."
)


def write_config(seen: ConfigFile, default: str | None, profiles: Profiles) -> ConfigFile:
    """Write the profiles and the name of the default profile to the configuration file.

    The file is replaced completely or not at all. Only this user has access to the new file. Its
    mode is 0600, and the mode of its directory 0700.

    Args:
        seen: The configuration as it was read; the file must be unchanged since then.
        default: The name of the default profile; None if there is none.
        profiles: All profiles with their new settings, unchecked.

    Returns:
        The written configuration.

    Raises:
        ConfigError: The file was changed since it was read, belongs to another user, or cannot be
            written. Nothing was written.
    """
    path = seen.path
    mark = BYTE_ORDER_MARK if seen.source.startswith(BYTE_ORDER_MARK) else ""
    source = edited(seen.source.removeprefix(mark), default, profiles)
    if source is None:
        raise ConfigError(
            f"lockterm cannot change {path} without altering other parts of the file."
            f" {NOTHING_WRITTEN}",
            hint="Change the file in an editor.",
        )
    data = f"{mark}{source}".encode()
    written = parse_config(path, data)
    try:
        make_directory(path.parent)
        with _alone_in(path.parent):
            _require_unchanged(seen)
            if write_whole(path, data):
                written = replace(written, notice=WRITTEN_IN_PLACE.format(path=path))
    except StoreError as error:
        raise ConfigError(
            f"{error.message} {NOTHING_WRITTEN}",
            hint="Make the file writable, or set XDG_CONFIG_HOME to a writable directory.",
        ) from error
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {describe_os_error(error)}. {NOTHING_WRITTEN}",
            hint="Check that its directory is yours, writable and not full.",
        ) from error
    return written


@contextmanager
def _alone_in(directory: Path) -> Iterator[None]:
    """Lock a directory, so that no other session of lockterm writes to it at the same time."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _require_unchanged(seen: ConfigFile) -> None:
    path = seen.path
    try:
        about = path.stat()
        now: bytes | None = path.read_bytes() if stat.S_ISREG(about.st_mode) else b"\0"
    except FileNotFoundError:
        now = None
    if now is not None and about.st_uid != os.geteuid():
        raise ConfigError(
            f"{path} belongs to another user. {NOTHING_WRITTEN}",
            hint="Make your own copy of the file.",
        )
    if (now or b"") != seen.source.encode() or (now is None and seen.source):
        raise ConfigError(
            f"{path} was changed by another session or in an editor. {NOTHING_WRITTEN}",
            hint="Save again to write into the changed file.",
        )


def edited(source: str, default: str | None, profiles: Profiles) -> str | None:
    """Return the text of a configuration with changed profiles.

    Args:
        source: The text of a valid configuration.
        default: The name of the default profile; None if there is none.
        profiles: All profiles with their new settings.

    Returns:
        The new text; None if lockterm cannot change the settings without altering other parts.
    """
    before = tomllib.loads(source)
    wanted = {**before, "default_profile": default, "profiles": profiles}
    # tomlkit fails in many ways on rare spellings, so its result is parsed and compared.
    with suppress(Exception):
        rest = source
        for path in _removed(before, wanted):
            rest = _without(rest, path)
        text = _edit(rest, default, profiles)
        is_complete = _comments(rest) <= _comments(text)
        if is_complete and _meaning(tomllib.loads(text)) == _meaning(wanted):
            return text
    return None


def _meaning(value: Any) -> Any:
    """Return a form of a TOML value that is equal for all documents with the same settings.

    Empty tables are ignored.
    """
    if isinstance(value, Mapping):
        items = ((key, _meaning(part)) for key, part in value.items() if part is not None)
        return {key: part for key, part in items if part != {}}
    return f"{type(value).__name__} {value!r}"


def _comments(text: str) -> Counter[str]:
    """Return the lines of a TOML text that contain only a comment, and how often each occurs."""
    return Counter(line.strip() for line in text.splitlines() if line.lstrip().startswith("#"))


def _removed(
    before: Mapping[str, Any], after: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    """Yield the path, like ``(table, key)``, of each key or table missing in the new settings."""
    for key, value in before.items():
        if after.get(key) is None:
            yield (*path, key)
        elif isinstance(value, Mapping):
            yield from _removed(value, after[key], (*path, key))


def _without(source: str, path: tuple[str, ...]) -> str:
    """Return a TOML text without a key or table; comments after the removed part stay.

    Comments after the removed part often describe the next item.

    Raises:
        ValueError: The table is not in one piece, so other comments would be removed too.
    """
    document: Any = tomlkit.parse(source)
    table = document
    for key in path[:-1]:
        table = table[key]
    del table[path[-1]]
    lines = source.splitlines(keepends=True)
    left = document.as_string().splitlines(keepends=True)
    pairs = enumerate(zip(lines, left, strict=False))
    start = next((number for number, (was, now) in pairs if was != now), len(left))
    end = start + len(lines) - len(left)
    if lines[end:] == left[start:]:
        first = end
        while first > start and re.match(r"\s*(#|$)", lines[first - 1]):
            first -= 1
        comments = "".join(lines[first:end]).lstrip("\r\n")
        left.insert(start, comments)
    elif _comments("".join(left)) != _comments(source):
        raise ValueError(path)
    return "".join(left)


def _edit(source: str, default: str | None, profiles: Profiles) -> str:
    """Return a TOML text with the new default and the new profiles; other settings stay."""
    if source and not source.endswith("\n"):
        source += "\n"
    document = tomlkit.parse(source)
    before = tomllib.loads(source)
    known: Profiles = before.get("profiles", {})
    for name in known:
        _change(document["profiles"][name], known[name], profiles[name])
    new = {name: profile for name, profile in profiles.items() if name not in known}
    if isinstance(document.get("profiles"), InlineTable):
        _change(document["profiles"], {}, new)
        new = {}
    old_default = before.get("default_profile")
    if old_default is not None and default != old_default:
        document["default_profile"] = default
    text = document.as_string().replace("\r\n", "\n")
    if old_default is None and default is not None:
        # The line comes before all comments, because the last comment may describe a table.
        text = tomlkit.dumps({"default_profile": default}) + "\n" + text
    for name, profile in new.items():
        gap = "\n" if text and not text.endswith("\n\n") else ""
        text += gap + tomlkit.dumps({"profiles": {name: profile}})
    return text.replace("\n", "\r\n") if "\r\n" in source else text


def _change(table: Any, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Set in a tomlkit table those values that differ between the old and the new settings."""
    for key, value in after.items():
        old = before.get(key)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            _change(table[key], old, value)
        elif isinstance(value, Mapping):
            table[key] = tomlkit.inline_table()
            table[key].update(value)
        elif old != value:
            table[key] = value
