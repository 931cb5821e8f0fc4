"""Which sessions count as dead: only those whose lock file is gone or can be locked."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lockterm.errors import StoreError
from lockterm.store import sessions
from lockterm.store.sessions import StoreSession

FAULTS = (errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOMEM, errno.EACCES, errno.ENOLCK)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[StoreSession, StoreSession]]:
    here, other = StoreSession(tmp_path / "sessions"), StoreSession(tmp_path / "sessions")
    here.open()
    other.open()
    yield here, other
    here.close()
    other.close()


def failing(number: int) -> Any:
    def fail(*args: object, **options: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("call", ["open", "flock"])
def test_is_alive_counts_a_session_as_alive_when_its_file_cannot_be_tried(
    pair: tuple[StoreSession, StoreSession],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
) -> None:
    here, other = pair
    for number in FAULTS:
        with monkeypatch.context() as patch:
            patch.setattr(*((os, "open") if call == "open" else (fcntl, "flock")), failing(number))
            assert here.is_alive(other.id), number
    assert here.is_alive(other.id)
    assert other.id in os.listdir(tmp_path / "sessions")


def test_is_alive_counts_a_session_as_alive_when_no_more_files_can_be_opened(
    pair: tuple[StoreSession, StoreSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file was removed, and whether its process runs cannot be read."""
    here, _ = pair
    process = f"{os.getppid()}-1-0badcafe"
    assert not here.is_alive(process), "that process began at another moment"
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", failing(errno.EMFILE))
        assert here.is_alive(process)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", failing(errno.ESRCH))
        assert not here.is_alive(process)


def test_is_alive_counts_a_session_as_dead_when_its_file_can_be_locked(
    pair: tuple[StoreSession, StoreSession], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = pair
    folder = tmp_path / "sessions"
    (folder / "1-2-dead").touch()
    with monkeypatch.context() as patch:  # it can stay where nobody may remove it
        patch.setattr(Path, "unlink", failing(errno.EROFS))
        here.remove_dead()
    assert not here.is_alive("1-2-dead")
    assert (folder / "1-2-dead").exists(), "what it was sending may not be settled yet"
    here.remove_dead()
    assert not (folder / "1-2-dead").exists()


def test_session_is_dead_when_its_file_is_gone_or_none(
    pair: tuple[StoreSession, StoreSession], tmp_path: Path
) -> None:
    """One flipped bit makes a zero of a character, and no file has such a name."""
    here, _ = pair
    (tmp_path / "sessions/1-2-link").symlink_to("/dev/null")
    (tmp_path / "sessions/1-2-folder").mkdir()
    for name in (
        *("1-2-link", "1-2-folder", "x" * 300, "\x00-ended", "1-\x00nded", "1234", "1234-", ""),
    ):
        assert not here.is_alive(name), name


@pytest.fixture
def killed(tmp_path: Path) -> str:
    """Return the ID of a session that was killed after it had sent "left" and nothing else."""
    session = StoreSession(tmp_path / "sessions")
    session.open()
    session.note_leaving("left")
    path = tmp_path / "sessions" / session.id
    noted = path.read_bytes()
    session.close()
    path.write_bytes(noted)
    return session.id


def test_may_have_left_is_false_only_when_the_dead_session_did_not_note_it(
    pair: tuple[StoreSession, StoreSession], killed: str
) -> None:
    here, _ = pair
    assert not here.is_alive(killed)
    assert here.may_have_left(killed, "left")
    assert not here.may_have_left(killed, "lef")
    assert not here.may_have_left(killed, "other")


@pytest.mark.parametrize("lost", ["the file", "the heading", "the boot", "the boot ID", "access"])
def test_may_have_left_is_true_when_the_notes_prove_nothing(
    pair: tuple[StoreSession, StoreSession],
    killed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lost: str,
) -> None:
    here, _ = pair
    path = tmp_path / "sessions" / killed
    if lost == "the file":
        path.unlink()
    elif lost == "the heading":
        path.write_bytes(b"left\n")
    elif lost == "the boot":
        boot_id = tmp_path / "boot_id"
        boot_id.write_text("another\n")
        monkeypatch.setattr(sessions, "BOOT_ID", boot_id)
    elif lost == "the boot ID":  # as the dead session, too
        path.write_bytes(b"left\n")
        monkeypatch.setattr(sessions, "BOOT_ID", tmp_path / "none")
    else:
        monkeypatch.setattr(Path, "read_bytes", failing(errno.EMFILE))
    assert here.may_have_left(killed, "other")


def test_may_have_left_is_true_when_the_session_file_was_removed_and_made_again(
    pair: tuple[StoreSession, StoreSession], tmp_path: Path
) -> None:
    here, other = pair
    other.note_leaving("left")
    (tmp_path / "sessions" / other.id).unlink()
    other.open()
    other.note_leaving("later")
    assert here.may_have_left(other.id, "left")


def test_note_leaving_raises_when_it_cannot_be_noted(
    pair: tuple[StoreSession, StoreSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = pair
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", failing(errno.ENOSPC))
        with pytest.raises(StoreError, match=r"No space left on device\. Nothing was sent"):
            here.note_leaving("one")
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda file, note: len(note) - 1)
        with pytest.raises(StoreError, match="Nothing was sent"):
            here.note_leaving("one")
    here.close()
    with pytest.raises(StoreError, match="Nothing was sent"):
        here.note_leaving("one")


def test_open_makes_no_file_when_the_session_has_ended(tmp_path: Path) -> None:
    """A thread that is late must not take what it still sends for left by a dead session."""
    session = StoreSession(tmp_path / "sessions")
    session.open()
    session.close()
    session.open()
    assert os.listdir(tmp_path / "sessions") == []
    assert session.is_alive(session.id)
