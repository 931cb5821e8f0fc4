"""Wrong answers through the running app: it lives, and paints nothing that steers."""

from __future__ import annotations

import logging
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.api import client
from lockterm.api.retry_policy import RetryPolicy
from lockterm.app import LocktermApp
from lockterm.service.running import RunningService
from tests.fuzz.genuine import recorded
from tests.fuzz.mutations import HOSTILE, SECRET, Mutator
from tests.fuzz.size import IN_APP, MOST_KEYS, SEED
from tests.fuzz.wrong_service import WrongService
from tests.screens.running_app import PATIENCE_S, Clock, Starter, awaited, strips
from tests.screens.site import MAIN_GATE, fill_book

pytestmark = pytest.mark.long

KEYS: dict[str, tuple[str, ...]] = {
    "LocksScreen": ("enter", "v", "enter", "v", "slash", "escape", "escape"),
    "RemotesScreen": (
        *("r", "r", "r", "n", "p", "greater_than_sign", "less_than_sign", *["enter"] * 4),
        *("v", "v", "j", "G", "slash", "y", "M", "e", "d", "u", "w", "a", "number_sign", "escape"),
    ),
    "RemoteDetailScreen": ("r", "r", "r", "r", "j", "G", "y", "e", "d", "u", "escape", "escape"),
    "VoiceScreen": (
        "r",
        "r",
        "r",
        "r",
        "tab",
        "tab",
        "j",
        "G",
        "ctrl+y",
        "y",
        "E",
        "enter",
        "escape",
    ),
}
"""What is pressed on a screen; escape leaves all others."""

READING = ("r", "n", "p", "greater_than_sign", "less_than_sign")


def check(pilot: Pilot[Any]) -> None:
    """Nothing that steers is painted, even before the backstop filters it."""
    app = pilot.app
    assert isinstance(app, LocktermApp)
    assert app.return_code is None and app.is_running
    for strip in strips(app.screen):
        for segment in strip:
            if not segment.control:
                assert not HOSTILE.search(segment.text), segment
    for message in app.messages:
        assert not HOSTILE.search(message.title + message.text), message
    app.messages.clear()


async def quiet(pilot: Pilot[Any]) -> None:
    """What ``settled`` does, without its wait for an idle processor: that takes 0.1 s a key."""
    app = pilot.app
    assert isinstance(app, LocktermApp)
    busy, end_s = True, time.monotonic() + PATIENCE_S
    while busy:
        await pilot.pause(0.001)
        running = [worker for worker in app.workers if not worker.is_finished]
        busy = app.key_queue.is_dealing
        busy = busy or len(running) > awaited(app)
        busy = busy or app.operations.remotes.is_reading
        assert time.monotonic() < end_s, running


@pytest.fixture
def starter(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Starter:
    """Apps that try a failed read again at once."""
    monkeypatch.setattr(client, "RetryPolicy", lambda: RetryPolicy(pause_s=0, longest_wait_s=0))
    starter = Starter(tmp_path / "lockterm", clock)
    fill_book(starter, MAIN_GATE)
    return starter


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def test_wrong_answers_in_the_app(
    service: RunningService, starter: Starter, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    wrong = WrongService(recorded(service.base_url), Mutator(SEED, bytes_share=0.15))
    chance, screens = Random(SEED), Counter[str]()
    began_s = time.perf_counter()
    async with (
        wrong.running(),
        starter(wrong, size=(60, 20), headers={"X-Key": SECRET}, timeout_s=2.0) as pilot,
    ):
        while len(wrong.sent) < IN_APP:
            name = type(pilot.app.screen).__name__
            screens[name] += 1
            key = chance.choice(KEYS.get(name, ("escape",)))
            for _ in range(chance.choice((1, 1, 3)) if key in READING else 1):
                pilot.app.simulate_key(key)  # in a burst, each supersedes the one before
            await quiet(pilot)
            check(pilot)
            starter.clock.now_s += 61  # what was fetched ahead is too old, and every pause is over
            assert screens.total() < IN_APP * MOST_KEYS, (screens, len(wrong.sent))
    took_s = time.perf_counter() - began_s
    print(
        f"\n{len(wrong.sent):,} wrong answers through the app in {took_s:.1f} s (seed {SEED}),"
        f" {screens.total():,} keys: {dict(screens)}"
    )
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert min(screens[name] for name in KEYS if name != "LocksScreen") > IN_APP / 100
