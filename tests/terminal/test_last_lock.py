"""A start on the lock that was opened last, where the profile wants that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lockterm.domain.locks import Lock
from lockterm.service.running import RunningService
from lockterm.store.database import Database
from lockterm.store.lock_book import LockBook
from tests.terminal.pty_session import Start


@pytest.fixture
def configure(tmp_path: Path, service: RunningService) -> Callable[[str], None]:
    """Write a profile with a line more, and a book of two locks."""

    def configure(line: str) -> None:
        file = tmp_path / "config" / "lockterm" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text(f'[profiles.yard]\nbase_url = "{service.base_url}"\n{line}\n')
        database = Database(tmp_path / "state" / "lockterm" / "lockterm.db")
        book = LockBook(database, "yard")
        book.save(Lock(1001, "Main gate"))
        book.save(Lock(1003, "Server room"))
        database.close()

    return configure


def _opened_once(lockterm: Start) -> None:
    """Open the second lock from the book, and quit from there."""
    session = lockterm(seen="^ *>? *Main gate")
    session.press("j", "enter", seen="^Locks > Server room > Remotes")
    session.wait_for("page 1 of 1")
    session.press("q", seen="Main gate")
    session.quit()


@pytest.mark.long
@pytest.mark.parametrize("key", ["q", "escape"])
def test_it_is_opened_and_leads_to_the_book(
    lockterm: Start, configure: Callable[[str], None], key: str
) -> None:
    configure("open_last = true")
    _opened_once(lockterm)
    session = lockterm(seen="^Locks > Server room > Remotes")
    session.wait_for("page 1 of 1")
    assert b"Main gate" not in session.raw, "the book was not shown before"
    session.press("/", "zzz", seen="Find: zzz")
    # as from a lock opened from the book: to all rows first
    session.press("enter", key, seen="9 remotes")
    session.press(key, seen="Main gate")
    session.quit()


@pytest.mark.long
def test_a_lock_that_was_asked_for_comes_first(
    lockterm: Start, configure: Callable[[str], None]
) -> None:
    configure("open_last = true")
    _opened_once(lockterm)
    session = lockterm("--lock", "1001", seen="^Locks > Main gate > Remotes")
    session.wait_for("page 1 of 7")
    session.quit()


def test_unless_it_is_wanted_the_book_is_opened(
    lockterm: Start, configure: Callable[[str], None]
) -> None:
    configure("open_last = false")
    _opened_once(lockterm)
    session = lockterm(seen="Main gate")
    assert b"page 1 of" not in session.raw
    session.quit()
