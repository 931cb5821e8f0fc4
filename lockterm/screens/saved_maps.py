"""The saved meanings of columns in other systems' tables, found by the columns of a file.

A mapping belongs to a service, because another service has other locks under the same IDs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from lockterm.config.preferences import Preferences
from lockterm.domain.table_file import TableFileError
from lockterm.domain.table_map import TableMap, format_map, parse_map

KEPT = "table_maps"
"""The name of the preference that stores the mappings, the last saved first."""

MOST_BYTES = 30_000
"""The maximum size of all mappings, in bytes; the whole file may have 65,536 bytes."""


def find_saved_map(
    preferences: Preferences, service: str, columns: Sequence[str]
) -> TableMap | None:
    """Return the saved mapping for a table with exactly these columns; None if there is none."""
    for one_service, text in _saved(preferences):
        if one_service == service and (table_map := _parse(text)) and table_map.fits(columns):
            return table_map
    return None


def save_map(
    preferences: Preferences, service: str, columns: Sequence[str], table_map: TableMap
) -> bool:
    """Save the mapping for a table with these columns, in place of an earlier one.

    The oldest mappings are removed if all of them together are too large.

    Returns:
        Whether the mapping was saved; False if it is too large.

    Raises:
        StoreError: The directory cannot be created.
        OSError: The file cannot be written.
    """
    kept = [(service, format_map(table_map))]
    for one_service, text in _saved(preferences):
        earlier = _parse(text)
        if earlier and not (one_service == service and earlier.fits(columns)):
            kept.append((one_service, text))
    while sum(len(json.dumps(one)) for one in kept) > MOST_BYTES:
        kept.pop()
    if kept:
        value = [{"service": one_service, "map": text} for one_service, text in kept]
        preferences.keep(KEPT, value)
    return bool(kept)


def _saved(preferences: Preferences) -> Iterator[tuple[str, str]]:
    kept = preferences.get(KEPT)
    for one in kept if isinstance(kept, list) else ():
        if isinstance(one, dict):
            service, text = one.get("service"), one.get("map")
            if isinstance(service, str) and isinstance(text, str):
                yield service, text


def _parse(text: str) -> TableMap | None:
    try:
        return parse_map(text.encode("utf-8", "replace"))
    except TableFileError:  # people may edit the file
        return None
