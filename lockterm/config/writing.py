"""Writes profiles to the configuration file, without overwriting changes of other programs.

The user's comments, blank lines, order and spelling must not change. Therefore lockterm replaces
values in place, and adds new settings after the existing text. It then parses the new text, which
must contain exactly the wanted settings.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import AoT, InlineTable, Table, Whitespace

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

    The file is replaced completely or not at all. Only this user has access to the new file (mode
    0600, its directory 0700).

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
        The new text; None if lockterm cannot change it without altering other parts of it.
    """
    before = tomllib.loads(source)
    wanted = {**before, "default_profile": default, "profiles": profiles}
    for in_place in (True, False):
        # tomlkit fails in many ways on rare spellings, so its result is parsed and compared.
        with suppress(Exception):
            text = _edit(source, before, default, profiles, in_place=in_place)
            if _meaning(tomllib.loads(text)) == _meaning(wanted):
                return text
    return None


def _meaning(value: Any) -> Any:
    """Return a value that is equal for two TOML documents with the same settings.

    Empty tables are ignored.
    """
    if isinstance(value, Mapping):
        items = ((key, _meaning(part)) for key, part in value.items() if part is not None)
        return {key: part for key, part in items if part != {}}
    return f"{type(value).__name__} {value!r}"


def _edit(
    source: str,
    before: Mapping[str, Any],
    default: str | None,
    profiles: Profiles,
    *,
    in_place: bool,
) -> str:
    document = tomlkit.parse(source)
    known: Profiles = before.get("profiles", {})
    end = "\r\n" if "\r\n" in source else "\n"
    for name in known:
        if name not in profiles and in_place:
            _take_out(document, ("profiles", name))
        elif name not in profiles:
            del document["profiles"][name]
        elif known[name] != profiles[name]:
            change = _change_in_place if in_place else _change_by_key
            change(document, ("profiles", name), known[name], profiles[name])
    new = {name: profile for name, profile in profiles.items() if name not in known}
    was = before.get("default_profile")
    if was is not None and default is None:
        del document["default_profile"]
    elif was is not None and default != was:
        document["default_profile"] = default
    if not in_place:
        for name, profile in new.items():
            document.setdefault("profiles", tomlkit.table(True))[name] = _in_a_line(profile)
    text = document.as_string()
    if in_place:
        for name, profile in new.items():
            text = _behind(text, _lines(("profiles", name), profile, end), end)
    if was is None and default is not None:
        text = _before(text, _lines(("default_profile",), default, end), end)
    return text


def _change_in_place(
    document: Any, path: tuple[str, ...], before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    """Change the keys of a table in place; add new keys after its last value."""
    for key in before.keys() - after.keys():
        _take_out(document, (*path, key))
    for key, value in after.items():
        here = (*path, key)
        if key not in before:
            _insert(document, path, here, value)
        elif isinstance(value, Mapping) and isinstance(before[key], Mapping):
            _change_in_place(document, here, before[key], value)
        elif before[key] != value:
            _replace(document, here, value)


def _change_by_key(
    document: Any, path: tuple[str, ...], before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    """Change the keys of a table with tomlkit, for inline tables and dotted keys."""
    table = document
    for key in path:
        table = table[key]
    for key in before.keys() - after.keys():
        del table[key]
    for key, value in after.items():
        if isinstance(value, Mapping) and isinstance(before.get(key), Mapping):
            _change_by_key(document, (*path, key), before[key], value)
        elif before.get(key) != value:
            table[key] = _in_a_line(value)


def _find(container: Any, path: tuple[str, ...]) -> Iterator[tuple[list[Any], int, Any]]:
    """Yield every position of a key in a tomlkit document.

    A table may be written in several parts, for which tomlkit's own look-up by key fails.

    Yields:
        The body that contains the key, the index in the body, and the item.
    """
    for index, (key, item) in enumerate(container.body):
        if key is None or key.key != path[0]:
            continue
        if len(path) == 1:
            yield container.body, index, item
        elif isinstance(item, (Table, InlineTable)):
            yield from _find(item.value, path[1:])


def _replace(document: Any, path: tuple[str, ...], value: Any) -> None:
    for body, index, old in _find(document, path):
        new = tomlkit.item(value)
        for name in ("indent", "comment_ws", "comment", "trail"):
            setattr(new.trivia, name, getattr(old.trivia, name))
        body[index] = (body[index][0], new)


def _insert(document: Any, table: tuple[str, ...], path: tuple[str, ...], value: Any) -> None:
    """Insert a new key after the last plain value of its table, or after the header."""
    parts = [item for _, _, item in _find(document, table)]
    own = next(item for item in parts if isinstance(item, Table) and not item.is_super_table())
    trivia = own.trivia
    for key, item in own.value.body:
        if key is not None and not isinstance(item, (Table, AoT)):
            trivia = item.trivia
    end = "\r\n" if trivia.trail == "\r\n" else "\n"
    trivia.trail = trivia.trail or end  # the last line of a file may have no line end
    if isinstance(value, Mapping):
        trivia.trail += end + _lines(path, value, end)
    else:
        trivia.trail += _lines(path[-1:], value, end)


def _in_a_line(value: Any) -> Any:
    """Return a table as an inline table; other values are returned unchanged."""
    if not isinstance(value, Mapping):
        return value
    table = tomlkit.inline_table()
    table.update({key: _in_a_line(part) for key, part in value.items()})
    return table


def _take_out(document: Any, path: tuple[str, ...]) -> None:
    """Remove a key or table, but keep the comments after it, which describe the next item."""
    for body, index, item in list(_find(document, path)):
        body[index] = (None, Whitespace(_tail(item)))


def _tail(item: Any) -> str:
    """Return the comments after the last value of a table."""
    tail = ""
    for key, part in reversed(item.value.body if isinstance(item, Table) else ()):
        if key is not None:
            tail = _tail(part) + tail
            break
        tail = part.as_string() + tail
    return tail.lstrip("\r\n") if tail.strip() else ""


def _lines(path: tuple[str, ...], value: Any, end: str) -> str:
    """Return a key with its value, or a whole table, as TOML lines."""
    if isinstance(value, Mapping):
        value = {key: part for key, part in value.items() if part != {}}
    for key in reversed(path):
        value = {key: value}
    return tomlkit.dumps(value).replace("\n", end)


def _behind(text: str, more: str, end: str) -> str:
    """Return a text with more text after it, separated by a blank line."""
    if not text:
        return more
    if not text.endswith("\n"):
        text += end
    return text + (more if text.endswith(("\n\n", "\n\r\n")) else end + more)


def _before(text: str, more: str, end: str) -> str:
    """Return a text with more text before it, but after a comment about the whole file."""
    lines = text.splitlines(keepends=True)
    head = 0
    while head < len(lines) and lines[head].startswith("#"):
        head += 1
    if not head or head == len(lines) or lines[head].strip():
        head = -1  # a comment without a blank line after it belongs to the next line
    first, rest = "".join(lines[: head + 1]), "".join(lines[head + 1 :])
    return f"{first}{more}{end if rest else ''}{rest}"
