"""What later keys need is got ready in moments in which none comes, and not before."""

from __future__ import annotations

from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input

from lockterm.terminal import key_queue, startup
from lockterm.terminal.key_queue import Idle
from tests.screens.running_app import Demo, settled, shown, until
from tests.screens.site import LOCKS, press


class OnTerminal(App[int]):
    """As an app that has a terminal."""

    is_headless = False  # type: ignore[assignment]


class Queue:
    """A queue of keys that counts how often it is asked whether a key is handled."""

    is_opening = False

    def __init__(self, app: App[int]) -> None:
        self.app = app
        self.is_busy, self.looks = False, 0

    @property
    def is_dealing(self) -> bool:
        self.looks += 1
        return self.is_busy


@pytest.mark.long
async def test_one_thing_at_a_time_once_no_key_is_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(key_queue, "QUIET_S", 0.0)
    app, done, is_over = OnTerminal(), list[str](), False
    queue: Any = Queue(app)
    queue.is_busy = True
    monkeypatch.setattr(startup, "is_finished", lambda: is_over)
    async with app.run_test() as pilot:
        waiting = Idle(queue)
        waiting.add(app.screen, lambda: done.append("first"))
        waiting.add(app.screen, lambda: done.append("second"))
        await until(pilot, lambda: queue.looks > 3)
        queue.is_busy = False
        await until(pilot, lambda: queue.looks > 6)
        assert not done, "the start is not over"
        is_over = True
        await until(pilot, lambda: done == ["first", "second"])


async def test_garbage_is_collected_once_nothing_is_left_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(key_queue, "QUIET_S", 0.0)
    monkeypatch.setattr(key_queue, "REST_S", 0.0)
    monkeypatch.setattr(startup, "is_finished", lambda: True)
    app, done = OnTerminal(), list[str]()
    monkeypatch.setattr(startup, "collect", lambda: done.append("collected"))
    async with app.run_test() as pilot:
        queue: Any = Queue(app)
        waiting = Idle(queue)
        waiting.add(app.screen, lambda: done.append("made ready"))
        await until(pilot, lambda: done == ["made ready", "collected"])


def fields(pilot: Pilot[Any]) -> list[Input]:
    return [*pilot.app.screen.query(Input)]


async def test_the_find_line_of_remotes_is_made_in_one_moment_and_its_field_in_the_next(
    demo: Demo,
) -> None:
    async with demo(1001) as pilot:
        await settled(pilot)
        before = shown(pilot)
        for lines, typed in ((0, 0), (1, 0), (1, 1)):
            assert (len(pilot.app.screen.query("#find")), len(fields(pilot))) == (lines, typed)
            assert shown(pilot) == before
            pilot.app.idle.do_next()  # type: ignore[attr-defined]
            await settled(pilot)
        (field,) = fields(pilot)
        await press(pilot, "slash", "o", "m", "a", "r")
        assert fields(pilot) == [field]
        assert field.value == "omar" and field.has_focus


async def test_preload_skips_a_closed_screen(demo: Demo) -> None:
    async with demo(locks=LOCKS) as pilot:
        await press(pilot, "H")
        history = pilot.app.screen
        await press(pilot, "escape")
        for _ in range(3):
            pilot.app.idle.do_next()  # type: ignore[attr-defined]
            await settled(pilot)
        assert not history.query(Input)
        assert len(fields(pilot)) == 1
