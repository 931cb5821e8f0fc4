"""Letters that follow a closed form do nothing until the hands rest for a second."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from textual import events

from lockterm.terminal import key_queue
from lockterm.terminal.key_queue import FormWall


class Closed:
    """A form that Escape has closed at second 0, on a clock that only a test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 0.0
        self.reports: list[str] = []
        monkeypatch.setattr(key_queue, "CLOSED_S", 1.0)
        monkeypatch.setattr("textual.message._time.get_time", lambda: self.now_s)
        below, form = SimpleNamespace(is_form=False), SimpleNamespace(is_form=True)
        app: Any = SimpleNamespace(screen=form, screen_stack=[below, form], notify=self.report)
        self.wall = FormWall(app)
        assert self.types("escape", at_s=0.0)
        app.screen, app.screen_stack = below, [below]
        self.wall.note_screen(app.screen)

    def report(self, _: str, *, title: str) -> None:
        self.reports.append(title)

    def types(self, key: str, *, at_s: float) -> bool:
        """Type a key and return whether it acts."""
        self.now_s = at_s
        return self.wall.is_meant(events.Key(key, key if len(key) == 1 else None))


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> Closed:
    return Closed(monkeypatch)


def test_form_wall_stops_every_letter_when_hands_go_on_typing(closed: Closed) -> None:
    """A person types a name at 150 ms a key, which takes longer than a second."""
    typed = "delivery Door"
    acting = [key for at, key in enumerate(typed, 1) if closed.types(key, at_s=at * 0.15)]
    assert acting == []
    assert closed.reports == ["Form closed"]
    last_s = len(typed) * 0.15
    assert not closed.types("d", at_s=last_s + 0.99)
    assert closed.types("d", at_s=last_s + 0.99 + 1.0)
    assert closed.types("d", at_s=last_s + 0.99 + 1.1)


def test_form_wall_lets_a_letter_act_when_one_second_has_passed(closed: Closed) -> None:
    assert closed.types("d", at_s=1.0)
    assert closed.reports == []


def test_form_wall_lets_other_keys_act_and_counts_on_from_the_last_letter(closed: Closed) -> None:
    assert not closed.types("d", at_s=0.5)
    assert closed.types("down", at_s=1.0)
    assert not closed.types("d", at_s=1.4)
    assert closed.types("d", at_s=2.4)
