"""Which sessions count as dead: only those whose lock file is gone or can be locked."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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


@pytest.mark.parametrize("number", FAULTS, ids=errno.errorcode.get)
@pytest.mark.parametrize("call", ["open", "flock"])
def test_is_alive_counts_a_session_as_alive_when_its_file_cannot_be_tried(
    pair: tuple[StoreSession, StoreSession],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    number: int,
) -> None:
    here, other = pair
    with monkeypatch.context() as patch:
        patch.setattr(*((os, "open") if call == "open" else (fcntl, "flock")), failing(number))
        assert here.is_alive(other.id)
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
        assert not here.is_alive("1-2-dead")
    assert not here.is_alive("1-2-dead")
    assert not (folder / "1-2-dead").exists()


@pytest.mark.parametrize("kind", ["a link", "a folder", "a name that is too long"])
def test_is_alive_counts_a_session_as_dead_when_its_file_is_none(
    pair: tuple[StoreSession, StoreSession], tmp_path: Path, kind: str
) -> None:
    here, _ = pair
    name = "x" * 300 if kind == "a name that is too long" else "1-2-none"
    if kind == "a link":
        (tmp_path / "sessions" / name).symlink_to("/dev/null")
    elif kind == "a folder":
        (tmp_path / "sessions" / name).mkdir()
    assert not here.is_alive(name)
