"""LOCK as it is typed: an id, or a name of the lock book."""

from __future__ import annotations

import difflib
from contextlib import suppress

from lockterm.cli.door import Door
from lockterm.cli.ending import Misused
from lockterm.config import values
from lockterm.errors import StoreError
from lockterm.models.locks import Lock
from lockterm.text import clean


def find_lock(door: Door, typed: str) -> Lock:
    """The one lock that is meant.

    Raises:
        Misused: None or several could be; nothing was sent.
        StoreError: A name was typed and the lock book cannot be read.
    """
    typed = typed.strip()
    if not typed.isascii() or not typed.isdigit():
        return _by_name(door.run(door.operations.locks()), typed)
    try:
        lock_id = values.lock_id(typed)
    except ValueError as error:
        raise Misused(f"LOCK {error}.") from None
    book: list[Lock] = []
    with suppress(StoreError):  # an id needs no book
        book = door.run(door.operations.locks())
    others = [lock for lock in book if typed in (lock.name, lock.alias) and lock.lock_id != lock_id]
    if others:
        raise Misused(
            f"{typed} is an id, and in the lock book also a name of lock {others[0].lock_id}.",
            hint="Give that lock another name, or use its id.",
        )
    return next((lock for lock in book if lock.lock_id == lock_id), Lock(lock_id))


def _by_name(book: list[Lock], typed: str) -> Lock:
    for exact in (True, False):
        found = [lock for lock in book if _is_called(lock, typed, exact)]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(str(lock.lock_id) for lock in found)
            raise Misused(
                f"Several locks of the lock book are called {_quoted(typed)}: {ids}.",
                hint="Use the id.",
            )
    if not book:
        raise Misused(
            f"{_quoted(typed)} is no lock: the lock book of this profile is empty.",
            hint="Use the lock's id, such as 1001; or add the lock in the UI.",
        )
    names = [lock.name for lock in book if lock.name]
    close = difflib.get_close_matches(typed, names, n=1)
    hint = f"Did you mean {_quoted(close[0])}?" if close else "Use its id, or a name of the book."
    raise Misused(f"{_quoted(typed)} is no lock of the lock book.", hint=hint)


def _is_called(lock: Lock, typed: str, exact: bool) -> bool:
    names = [name for name in (lock.name, lock.alias) if name]
    if exact:
        return typed in names
    return typed.casefold() in [name.casefold() for name in names]


def lock_words(lock: Lock) -> str:
    """``Main gate (lock 1001)``: clean."""
    return f"{clean(lock.name, 60)} (lock {lock.lock_id})" if lock.name else lock.title


def _quoted(text: str) -> str:
    return f"“{clean(text, 60)}”"
