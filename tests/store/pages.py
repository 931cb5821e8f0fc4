"""Where SQLite keeps the rows of a table: for damage at a chosen place."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

PAGE = 4096
"""Bytes of a page."""


class Leaf(NamedTuple):
    """A page that holds rows."""

    number: int
    """Its place in the file; the first page is 1."""
    way: frozenset[int]
    """The pages that lead to it, and itself."""
    content: bytes


def leaves(path: Path, table: str) -> list[Leaf]:
    """The pages that hold the rows of a table, in the order of their numbers."""
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        (root,) = connection.execute(query, (table,)).fetchone()
    content = path.read_bytes()

    def walk(number: int, above: frozenset[int]) -> Iterator[Leaf]:
        page, way = content[(number - 1) * PAGE : number * PAGE], above | {number}
        if page[0] == 13:
            yield Leaf(number, way, page)
            return
        for at in (*cells(page), 8):
            yield from walk(int.from_bytes(page[at : at + 4], "big"), way)

    return list(walk(root, frozenset()))


def cells(page: bytes) -> list[int]:
    """Where the rows of a page begin, or the numbers of the pages below it."""
    head = 8 if page[0] == 13 else 12
    places = [head + 2 * one for one in range(int.from_bytes(page[3:5], "big"))]
    return [int.from_bytes(page[place : place + 2], "big") for place in places]
