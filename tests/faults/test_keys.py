"""No key is lost, whatever goes wrong with the service or the store meanwhile.

How long each took is printed (``pytest -s --all tests/faults/test_keys.py``) beside the same app in
the same minute with nothing wrong, without what other programs took of the processors meanwhile. It
decides nothing: a machine has other work to do.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lockterm.service.running import RunningService
from tests.faults.keys import RUN, ProxyBeside, time_keys
from tests.faults.proxy import FaultProxy, Play
from tests.faults.trouble import HEAVY, light
from tests.servers import port_of
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

    def trouble(self, name: str, keys: int = KEYS) -> None:
        """Press keys in it: each has to be seen on the screen."""
        print(f"{name:40.40} {time_keys(self.session, keys, self._ask_again)}")

    def _ask_again(self, number: int) -> None:
        if number % RUN == 0:
            self.session.press("r")

    @contextmanager
    def with_page(self, play: Play) -> Iterator[None]:
        """Every page is answered so."""
        self.beside.do(lambda: self.proxy.arm("list", play))
        before = len(self.proxy.asked)
        yield
        self.session.wait_until(lambda: len(self.proxy.asked) > before, "that it was asked for")
        self.recover()

    def measure(self) -> None:
        """How it is with nothing wrong."""
        time_keys(self.session, KEYS, self._ask_again)  # all is imported and cached then
        healthy = time_keys(self.session, 2 * KEYS, self._ask_again)
        print(f"\n{'nothing wrong':40} {healthy}")


@pytest.fixture
def bench(service: RunningService, lockterm: Callable[..., PtySession]) -> Iterator[Bench]:
    with ProxyBeside(port_of(service)) as beside:
        session = lockterm("--base-url", beside.proxy.base_url, "--lock", "1001", size=(100, 30))
        session.wait_for(r"page 1 of \d")
        bench = Bench(session, beside)
        bench.measure()
        yield bench
        if session.exit_code is None:
            session.press("\x11")
            assert session.wait_exit() == 0


def test_keys_while_answers_are_heavy(bench: Bench) -> None:
    for name, make in HEAVY.items():
        with bench.with_page(make()):
            bench.trouble(name)


def test_keys_while_nothing_comes_or_goes(bench: Bench) -> None:
    troubles: dict[str, Callable[[FaultProxy], object]] = {
        "connection refused": FaultProxy.refuse,
        "no connection in time": FaultProxy.clog,
    }
    for name, strike in troubles.items():
        bench.beside.do(lambda strike=strike: strike(bench.proxy))
        bench.trouble(name)
        bench.recover()
    for name, play in light().items():
        with bench.with_page(play):
            bench.trouble(name, FEW)


@pytest.mark.parametrize("store", ["state/lockterm/lockterm.db", "cache/lockterm/answers.db"])
def test_keys_while_another_session_holds_the_store(
    bench: Bench, tmp_path: Path, store: str
) -> None:
    """As one does that was stopped amid a transaction."""
    connection = sqlite3.connect(tmp_path / store, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    bench.trouble(f"held: {os.path.basename(store)}")
    connection.close()
    bench.recover()
