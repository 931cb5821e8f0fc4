"""LOCK as it is typed, an id or a name of the lock book; and a command's session on that lock."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from lockterm.cli.exit_codes import UsageError
from lockterm.cli.options import WriteOptions
from lockterm.cli.session import Session
from lockterm.config import Options, values
from lockterm.domain.glyphs import quoted
from lockterm.domain.locks import Lock
from lockterm.domain.names import normalize_name
from lockterm.domain.safe_text import clean
from lockterm.errors import StoreError


@contextmanager
def reading(options: Options, typed: str) -> Iterator[tuple[Session, Lock]]:
    """A session, and the one lock that is meant.

    Raises:
        ConfigError: A setting is wrong, or no service is known.
        UsageError: No lock or several could be meant; nothing was sent.
        StoreError: A name was typed and the lock book cannot be read.
    """
    with Session(options) as session:
        yield session, find_lock(session, typed)


@contextmanager
def changing(options: Options, typed: str, how: WriteOptions) -> Iterator[tuple[Session, Lock]]:
    """As :func:`reading`, for a command that changes something.

    Raises:
        RuleViolation: The profile is read-only, and it is not only rehearsed.
    """
    with Session(options, dry_run=how.dry_run) as session:
        session.require_writable()
        yield session, find_lock(session, typed)


def find_lock(session: Session, typed: str) -> Lock:
    """The one lock that is meant; errors as for :func:`reading`."""
    typed = typed.strip()
    if not typed.isascii() or not typed.isdigit():
        return _by_name(session.run(session.operations.locks.all()), typed)
    try:
        lock_id = values.lock_id(typed)
    except ValueError as error:
        raise UsageError(f"LOCK {error}.") from None
    book: list[Lock] = []
    with suppress(StoreError):  # an id needs no book
        book = session.run(session.operations.locks.all())
    others = [lock for lock in book if typed in (lock.name, lock.alias) and lock.lock_id != lock_id]
    if others:
        raise UsageError(
            f"{typed} is an id, and in the lock book also a name of lock {others[0].lock_id}.",
            hint="Give that lock another name, or use its id.",
        )
    with suppress(StoreError):
        return session.run(session.operations.locks.find(lock_id))
    return Lock(lock_id)


def _by_name(book: list[Lock], typed: str) -> Lock:
    told_apart = (normalize_name, lambda name: normalize_name(name.casefold()))
    for spelled in told_apart:
        found = [
            lock
            for lock in book
            if spelled(typed) in map(spelled, filter(None, (lock.name, lock.alias)))
        ]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(str(lock.lock_id) for lock in found)
            raise UsageError(
                f"Several locks of the lock book are called {_quoted(typed)}: {ids}.",
                hint="Use the id.",
            )
    if not book:
        raise UsageError(
            f"{_quoted(typed)} is no lock: the lock book of this profile is empty.",
            hint="Use the lock's id, such as 1001; or add the lock in the UI.",
        )
    names = [lock.name for lock in book if lock.name]
    close = difflib.get_close_matches(typed, names, n=1)
    hint = f"Did you mean {_quoted(close[0])}?" if close else "Use its id, or a name of the book."
    raise UsageError(f"{_quoted(typed)} is no lock of the lock book.", hint=hint)


def lock_json(lock: Lock) -> dict[str, Any]:
    """What programs are told of the lock: its id, and its name in the lock book or null."""
    return {"lockId": lock.lock_id, "name": lock.name or None}


def format_lock(lock: Lock) -> str:
    """``Main gate (lock 1001)``: clean."""
    return f"{clean(lock.name, 60)} (lock {lock.lock_id})" if lock.name else lock.title


def _quoted(text: str) -> str:
    return quoted(clean(text, 60))
