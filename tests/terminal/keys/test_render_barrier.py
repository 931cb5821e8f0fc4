"""The render barrier before a question, if an answer comes later than it is waited for."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from lockterm.terminal.render_barrier import ASK, RenderBarrier


class Terminal:
    """A terminal that answers when a test says so, and the time."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.sent: list[str] = []
        self.timers: list[tuple[float, Callable[[], None]]] = []
        app: Any = SimpleNamespace(set_timer=self.later)
        frame_diff: Any = SimpleNamespace(send=self.sent.append)
        self.barrier = RenderBarrier(app, frame_diff)
        self.seen: dict[str, float] = {}

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        self.timers.append((self.now_s + seconds, call))

    def ask(self, question: str) -> None:
        self.barrier.ask(lambda at_s: self.seen.setdefault(question, at_s) and None)

    def pass_until(self, at_s: float) -> None:
        for due_s, call in sorted(self.timers, key=lambda one: one[0]):
            if due_s <= at_s:
                self.timers.remove((due_s, call))
                self.now_s = due_s
                call()
        self.now_s = at_s


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    terminal = Terminal()
    monkeypatch.setattr("textual.message._time.get_time", lambda: terminal.now_s)
    return terminal


def test_a_late_answer_is_to_the_question_that_was_asked_first(terminal: Terminal) -> None:
    terminal.now_s = 10.0
    terminal.ask("delete Anna?")
    terminal.pass_until(11.0)
    terminal.ask("delete Ben?")
    assert terminal.sent == [ASK, ASK]
    terminal.pass_until(12.5)
    assert "delete Anna?" in terminal.seen, "no longer waited for"
    terminal.barrier.answered(12.6)  # the terminal shows the first question, not the second
    assert "delete Ben?" not in terminal.seen
    terminal.barrier.answered(12.8)
    assert terminal.seen["delete Ben?"] == 12.8


def test_an_answer_that_was_lost_does_not_shift_the_others_for_good(terminal: Terminal) -> None:
    terminal.now_s = 10.0
    terminal.ask("one")  # its answer is lost
    terminal.pass_until(12.0)
    terminal.barrier.answered(12.5)  # a stray one
    terminal.ask("two")
    terminal.ask("three")
    terminal.barrier.answered(13.0)
    assert terminal.seen["two"] == 13.0
    terminal.pass_until(60.0)
    terminal.ask("four")
    terminal.barrier.answered(61.0)
    assert terminal.seen["four"] == 61.0
