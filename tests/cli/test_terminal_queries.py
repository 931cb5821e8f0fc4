"""The doctor's questions to a terminal: timeouts and answers."""

from __future__ import annotations

import errno
import os
import select
from collections.abc import Iterator
from typing import Any

import pytest

from lockterm.cli import terminal_queries
from lockterm.cli.terminal_queries import Conversation

ATTRIBUTES = "\x1b[?62;22c"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    """Return the descriptors to write answers to and to read questions from."""
    answers, to_answer = os.pipe()
    asked, to_ask = os.pipe()
    os.set_blocking(answers, False)  # what is read without being there fails, rather than hangs
    monkeypatch.setattr(terminal_queries, "STDIN", answers)
    monkeypatch.setattr(terminal_queries, "STDERR", to_ask)
    yield to_answer, asked
    for file in (answers, to_answer, asked, to_ask):
        os.close(file)


@pytest.mark.parametrize(
    ("round_trip_s", "expected_s"), [(None, 8.0), (0.01, 1.0), (0.5, 2.0), (3.0, 8.0)]
)
def test_ask_waits_four_round_trips_when_one_is_known(
    terminal: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
    round_trip_s: float | None,
    expected_s: float,
) -> None:
    waits_s: list[float] = []

    def stall(reads: Any, writes: Any, errors: Any, wait_s: float) -> Any:
        waits_s.append(wait_s)
        return [], [], []

    listening = Conversation(8.0)
    listening.round_trip_s = round_trip_s
    with monkeypatch.context() as patch:
        patch.setattr(select, "select", stall)
        assert listening.ask(b"?") == []
    assert waits_s == [expected_s]
    assert listening.is_waiting


def test_ask_sends_nothing_when_an_answer_is_pending(terminal: tuple[int, int]) -> None:
    to_answer, asked = terminal
    listening = Conversation(0.0)
    os.write(to_answer, b"\x1b[3;4R")
    assert ATTRIBUTES not in listening.ask(b"\x1b[6n")
    assert listening.is_waiting
    os.read(asked, 100)
    assert listening.ask(b"\x1b[6n") == []
    assert not select.select([asked], [], [], 0)[0]


def test_read_returns_none_only_when_nothing_comes(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang_up(file: int, count: int) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    listening = Conversation()
    assert listening.read(0) is None
    os.write(terminal[0], b"x")
    assert listening.read(0) == b"x"
    os.write(terminal[0], b"x")
    with monkeypatch.context() as patch:
        patch.setattr(os, "read", hang_up)
        assert listening.read(0) == b""
