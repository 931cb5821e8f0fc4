"""Wrong answers through lockterm in a real terminal: no byte of them steers it."""

from __future__ import annotations

import asyncio
import re
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

import pytest

from lockterm.service.running import RunningService
from tests.fuzz.genuine import recorded
from tests.fuzz.mutations import Mutator
from tests.fuzz.size import IN_TERMINAL, MOST_KEYS, SEED
from tests.fuzz.wrong_service import WrongService
from tests.terminal.conftest import lockterm
from tests.terminal.pty_session import PtySession
from tests.terminal.test_hostile import OUR_SEQUENCES

pytestmark = pytest.mark.long

__all__ = ["lockterm"]

KEYS = {
    r"Press Esc to close": ("escape",),  # a dialog that says why not, before any table
    r"^[ │]*Name +Number": ("r", "n", "p", "<", ">", "enter", "enter", "v", "j", "G"),
    r"^[ │]*Field +Value": ("r", "r", "r", "j", "G", "escape"),
    r"open by ID  ": ("o1001\r", "escape"),  # there may be a dialog before it
    r"Voices": ("r", "r", "tab", "j", "G", "escape"),
}
"""What is typed where the screen shows this; else ``r`` or escape."""


@contextmanager
def in_a_thread(wrong: WrongService) -> Iterator[None]:
    """Serve beside a test that is no coroutine."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        async with wrong.running():
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def what_would_steer(raw: bytes) -> list[str]:
    """What is neither a sequence of ours nor text that is only shown."""
    text = OUR_SEQUENCES.sub("", raw.decode("utf-8"))
    return [
        text[max(at - 20, 0) : at + 20]
        for at, char in enumerate(text)
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        and char not in "\r\n\u200c\u200d"
    ]


def test_wrong_answers_in_a_terminal(
    service: RunningService, lockterm: Callable[..., PtySession]
) -> None:
    genuine = recorded(service.base_url)
    wrong = WrongService(genuine, Mutator(SEED, bytes_share=0.1), lines_share=0.03)
    chance, began_s = Random(SEED), time.monotonic()
    with in_a_thread(wrong):
        base_url = f"http://127.0.0.1:{wrong.port}"
        session = lockterm("--base-url", base_url, "--lock", "1001", size=(100, 30), seen="Remotes")
        keys = 0
        while len(wrong.sent) < IN_TERMINAL:
            choices = next(
                (keys for seen, keys in KEYS.items() if re.search(seen, session.text, re.M)),
                ("r", "r", "escape"),
            )
            session.press(chance.choice(choices))
            keys += 1
            end_s = time.monotonic() + chance.choice((0.05, 0.3))
            while time.monotonic() < end_s:
                session.pump(0.02)
            assert session.exit_code is None, session.text
            assert "Traceback" not in session.text
            assert keys < IN_TERMINAL * MOST_KEYS, (len(wrong.sent), session.text)
        session.wait_taken()  # else an Escape before it and Ctrl+Q could be read as one key
        session.press("\x11")  # Ctrl+Q
        assert session.wait_exit() == 0
    print(
        f"\n{len(wrong.sent)} wrong answers in a terminal in {time.monotonic() - began_s:.1f} s"
        f" (seed {SEED}), {keys} keys, {len(session.raw):,} bytes drawn"
    )
    assert what_would_steer(bytes(session.raw)) == []
