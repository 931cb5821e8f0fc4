"""The text of a configuration with other profiles: what is not changed keeps its bytes.

Comments, order, blank lines and spelling of what is not changed are people's own. So new text is
put behind what is there, values are replaced where they stand, and what was made is judged by its
meaning alone: it must be exactly what was wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

Profiles = Mapping[str, Mapping[str, Any]]


def edited(source: str, default: str | None, profiles: Profiles) -> str | None:
    """The text of a configuration with other profiles; None where no way leads there.

    Args:
        source: A valid configuration.
        default: The name of the default profile, or None.
        profiles: All profiles as they are to be.
    """
    import tomllib

    before = tomllib.loads(source)
    wanted = {**before, "default_profile": default, "profiles": profiles}
    for in_place in (True, False):
        # tomlkit fails in many ways on rare spellings; what it made is judged by its meaning alone.
        with suppress(Exception):
            text = _edit(source, before, default, profiles, in_place=in_place)
            if _meaning(tomllib.loads(text)) == _meaning(wanted):
                return text
    return None


def _meaning(value: Any) -> Any:
    """Something that is equal where two documents mean the same: empty tables mean nothing."""
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
    import tomlkit

    document = tomlkit.parse(source)
    known: Profiles = before.get("profiles", {})
    end = "\r\n" if "\r\n" in source else "\n"
    for name in known:
        if name not in profiles and in_place:
            _take_out(document, ("profiles", name))
        elif name not in profiles:
            del document["profiles"][name]
        elif known[name] != profiles[name]:
            change = _settle if in_place else _settle_by_key
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
            text = _behind(text, _table_text(("profiles", name), profile, end), end)
    if was is None and default is not None:
        text = _before(text, f"default_profile = {_written(default)}{end}", end)
    return text


def _settle(
    document: Any, path: tuple[str, ...], before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    """Change the keys of a table that differ, where they stand; new ones behind its last value."""
    for key in before.keys() - after.keys():
        _take_out(document, (*path, key))
    for key, value in after.items():
        here = (*path, key)
        if key not in before:
            _insert(document, path, here, value)
        elif isinstance(value, Mapping) and isinstance(before[key], Mapping):
            _settle(document, here, before[key], value)
        elif before[key] != value:
            _replace(document, here, value)


def _settle_by_key(
    document: Any, path: tuple[str, ...], before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    """The same in tomlkit's own way, for tables in a line and keys with dots."""
    table = document
    for key in path:
        table = table[key]
    for key in before.keys() - after.keys():
        del table[key]
    for key, value in after.items():
        if isinstance(value, Mapping) and isinstance(before.get(key), Mapping):
            _settle_by_key(document, (*path, key), before[key], value)
        elif before.get(key) != value:
            table[key] = _in_a_line(value)


def _find(container: Any, path: tuple[str, ...]) -> Iterator[tuple[list[Any], int, Any]]:
    """Every place of a key: a table may be written in parts. The body, the index in it, the item.

    By the body alone: the mapping of tomlkit loses its way among parts.
    """
    from tomlkit.items import InlineTable, Table

    for index, (key, item) in enumerate(container.body):
        if key is None or key.key != path[0]:
            continue
        if len(path) == 1:
            yield container.body, index, item
        elif isinstance(item, (Table, InlineTable)):
            yield from _find(item.value, path[1:])


def _replace(document: Any, path: tuple[str, ...], value: Any) -> None:
    import tomlkit

    for body, index, old in _find(document, path):
        new = tomlkit.item(value)
        for name in ("indent", "comment_ws", "comment", "trail"):
            setattr(new.trivia, name, getattr(old.trivia, name))
        body[index] = (body[index][0], new)


def _insert(document: Any, table: tuple[str, ...], path: tuple[str, ...], value: Any) -> None:
    """Put a new key behind the last plain value of its table, or behind the table's header."""
    from tomlkit.items import AoT, Table

    parts = [item for _, _, item in _find(document, table)]
    own = next(item for item in parts if isinstance(item, Table) and not item.is_super_table())
    trivia = own.trivia
    for key, item in own.value.body:
        if key is not None and not isinstance(item, (Table, AoT)):
            trivia = item.trivia
    end = "\r\n" if trivia.trail == "\r\n" else "\n"
    trivia.trail = trivia.trail or end  # the last line of a file may have no end
    if isinstance(value, Mapping):
        trivia.trail += end + _table_text(path, value, end)
    else:
        trivia.trail += f"{_key(path[-1])} = {_written(value)}{end}"


def _in_a_line(value: Any) -> Any:
    """A table as one value, which may stand among values."""
    import tomlkit

    if not isinstance(value, Mapping):
        return value
    table = tomlkit.inline_table()
    table.update({key: _in_a_line(part) for key, part in value.items()})
    return table


def _take_out(document: Any, path: tuple[str, ...]) -> None:
    """Take a key or table out; the comments behind it stay, for they belong to what comes next."""
    from tomlkit.items import Whitespace

    for body, index, item in list(_find(document, path)):
        body[index] = (None, Whitespace(_tail(item)))


def _tail(item: Any) -> str:
    """The comments behind the last value of a table."""
    from tomlkit.items import Table

    tail = ""
    for key, part in reversed(item.value.body if isinstance(item, Table) else ()):
        if key is not None:
            tail = _tail(part) + tail
            break
        tail = part.as_string() + tail
    return tail.lstrip("\r\n") if tail.strip() else ""


def _table_text(path: tuple[str, ...], table: Mapping[str, Any], end: str) -> str:
    """A table with its tables, as lines."""
    plain = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    lines = [f"[{'.'.join(map(_key, path))}]{end}"] if plain or not table else []
    lines += [f"{_key(key)} = {_written(value)}{end}" for key, value in plain.items()]
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            lines += [end if lines else "", _table_text((*path, key), value, end)]
    return "".join(lines)


def _behind(text: str, more: str, end: str) -> str:
    """More text, with a blank line before it."""
    if not text:
        return more
    if not text.endswith("\n"):
        text += end
    return text + (more if text.endswith(("\n\n", "\n\r\n")) else end + more)


def _before(text: str, more: str, end: str) -> str:
    """More text before the first table, behind the comment with which a file may begin."""
    lines = text.splitlines(keepends=True)
    head = 0
    while head < len(lines) and lines[head].startswith("#"):
        head += 1
    if not head or head == len(lines) or lines[head].strip():
        head = -1  # a comment that belongs to the line below it
    first, rest = "".join(lines[: head + 1]), "".join(lines[head + 1 :])
    return f"{first}{more}{end if rest else ''}{rest}"


def _key(name: str) -> str:
    import tomlkit

    return tomlkit.key(name).as_string()


def _written(value: Any) -> str:
    import tomlkit

    return str(tomlkit.item(value).as_string())
