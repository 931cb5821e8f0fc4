"""No key is lost, whatever goes wrong with the service or the store meanwhile."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from lockterm.service.running import RunningService
from tests.faults.proxy import FaultProxy, Play
from tests.faults.trouble import HEAVY, light
from tests.servers import Beside, port_of
from tests.terminal.conftest import lockterm
from tests.terminal.pty_session import PtySession

pytestmark = pytest.mark.long

__all__ = ["lockterm"]

KEYS = 30
"""Keys for each trouble; the first of each run has the page asked for again before it."""
FEW = 6
"""Keys for each fault that is only another answer."""


class Bench:
    """An app on a healthy page, and what can go wrong with it."""

    def __init__(self, session: PtySession, beside: ProxyBeside) -> None:
        self.session, self.beside, self.proxy = session, beside, beside.proxy

    def recover(self) -> None:
        """All is well again, and the first page there."""
        self.beside.do(self.proxy.heal)
        self.session.press("r")
        self.session.wait_until(lambda: "STALE" not in self.session.text, "a fresh page")
        self.session.wait_for(r"page 1 of \d")

    def trouble(self, keys: int = KEYS) -> None:
        """Press keys in it."""
        press_keys(self.session, keys, lambda n: None if n % RUN else self.session.press("r"))

    @contextmanager
    def with_page(self, play: Play) -> Iterator[None]:
        """Every page is answered so."""
        self.beside.do(lambda: self.proxy.arm("list", play))
        before = len(self.proxy.asked)
        yield
        self.session.wait_until(lambda: len(self.proxy.asked) > before, "that it was asked for")
        self.recover()


@pytest.fixture
def bench(service: RunningService, lockterm: Callable[..., PtySession]) -> Iterator[Bench]:
    with ProxyBeside(port_of(service)) as beside:
        session = lockterm("--base-url", beside.proxy.base_url, "--lock", "1001", size=(100, 30))
        session.wait_for(r"page 1 of \d")
        bench = Bench(session, beside)
        bench.trouble()  # with nothing wrong
        yield bench
        if session.exit_code is None:
            session.press("\x11")
            assert session.wait_exit() == 0


def test_keys_while_answers_are_heavy(bench: Bench) -> None:
    for make in HEAVY.values():
        with bench.with_page(make()):
            bench.trouble()


def test_keys_while_nothing_comes_or_goes(bench: Bench) -> None:
    for strike in (FaultProxy.refuse, FaultProxy.clog):
        bench.beside.do(lambda strike=strike: strike(bench.proxy))
        bench.trouble()
        bench.recover()
    for play in light().values():
        with bench.with_page(play):
            bench.trouble(FEW)


@pytest.mark.parametrize("store", ["state/lockterm/lockterm.db", "cache/lockterm/answers.db"])
def test_keys_while_another_session_holds_the_store(
    bench: Bench, tmp_path: Path, store: str
) -> None:
    """As one does that was stopped amid a transaction."""
    connection = sqlite3.connect(tmp_path / store, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    bench.trouble()
    connection.close()
    bench.recover()


STILL_S = 0.03
"""A screen on which nothing was painted for so long is waited for before a key."""
LOST_S = 60.0
RUN = 6
"""Keys from the first row down; then it begins again there."""


def press_keys(session: PtySession, count: int, meanwhile: Callable[[int], None]) -> None:
    """Move the cursor down at moments of chance; each key has to be seen on the screen.

    It never stands on the last row, so that each key has something to paint, also where the rows
    are replaced by others meanwhile, with the cursor on the first.

    Args:
        session: On a table with more than :data:`RUN` rows.
        count: How many keys; before each run of them the cursor goes home.
        meanwhile: Called before each key with its number, to keep the trouble going.
    """
    chance = Random(count)
    for number in range(count):
        if number % RUN == 0:
            session.press("home")
        meanwhile(number)
        end_s = time.monotonic() + chance.random() * 0.04
        while time.monotonic() < end_s:
            session.pump(0.005)
        # What comes within this wait is not the key's; a screen may also never rest.
        wait_s = time.monotonic() + 0.3
        while session.pump(STILL_S) and time.monotonic() < wait_s:
            pass
        session.press("down")
        assert session.pump(LOST_S), f"the key was lost:\n{session.text}"


class ProxyBeside(Beside):
    """A proxy of faults in a thread of its own."""

    def __init__(self, upstream_port: int) -> None:
        super().__init__()
        self.proxy = FaultProxy(upstream_port)

    async def begin(self) -> None:
        self._running = self.proxy.running()
        await self._running.__aenter__()

    async def end(self) -> None:
        await self._running.__aexit__(None, None, None)
