"""However lockterm ends: soon, with the terminal given back, and nothing left behind."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.terminal.pty_session import PtySession

Start = Callable[..., PtySession]

AT_MOST_S = 4.0
"""From the signal to the end of the process."""
FIRST_LOCK = "Main gate +1001"


def _assert_given_back(session: PtySession) -> None:
    """The terminal is as it was: settings, main screen, cursor, mouse."""
    assert session.attributes() == session.attributes_before
    for leave, enter in ((b"\x1b[?1049l", b"\x1b[?1049h"), (b"\x1b[?25h", b"\x1b[?25l")):
        assert session.raw.rfind(leave) > session.raw.rfind(enter) >= 0
    assert session.raw.rfind(b"\x1b[?1003l") > session.raw.rfind(b"\x1b[?1003h")


def _assert_nothing_left(session: PtySession, home: Path) -> None:
    assert not list(home.glob("lockterm-demo-*"))
    assert session.others() == []


def test_the_demo_ends_with_a_key_and_leaves_nothing(lockterm: Start, tmp_path: Path) -> None:
    session = lockterm("demo")
    session.wait_for(FIRST_LOCK)
    (connection,) = psutil.Process(session.pid).net_connections("tcp")
    assert (connection.status, connection.laddr.ip) == ("LISTEN", "127.0.0.1")
    assert list(tmp_path.glob("lockterm-demo-*"))

    session.press("q")

    assert session.wait_exit(AT_MOST_S) == 0
    _assert_given_back(session)
    _assert_nothing_left(session, tmp_path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_it_in_good_order(
    lockterm: Start, tmp_path: Path, number: signal.Signals
) -> None:
    session = lockterm("demo")
    session.wait_for(FIRST_LOCK)

    session.kill(number)

    assert session.wait_exit(AT_MOST_S) == 128 + number
    _assert_given_back(session)
    _assert_nothing_left(session, tmp_path)
    assert f"ended by {number.name}" in (tmp_path / "state/lockterm/lockterm.log").read_text()


@pytest.mark.parametrize("controlling", [True, False])
def test_a_closed_terminal_ends_it(lockterm: Start, tmp_path: Path, controlling: bool) -> None:
    """Also where nobody sends a SIGHUP: it must not read the dead terminal again and again."""
    session = lockterm("demo", controlling=controlling)
    session.wait_for(FIRST_LOCK)

    session.close_terminal()

    assert session.wait_exit(AT_MOST_S, reading=False) != 0
    _assert_nothing_left(session, tmp_path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_stalled_terminal_does_not_keep_it(
    lockterm: Start, tmp_path: Path, number: signal.Signals
) -> None:
    """Nobody reads what it draws, so drawing blocks and the event loop with it."""
    session = lockterm("demo")
    session.wait_for(FIRST_LOCK)
    session.stall()

    session.kill(number)

    assert session.wait_exit(AT_MOST_S, reading=False) == 128 + number
    assert session.attributes() == session.attributes_before
    _assert_nothing_left(session, tmp_path)


def test_a_signal_in_the_first_moments_ends_it_too(lockterm: Start, tmp_path: Path) -> None:
    session = lockterm("demo")
    session.wait_until(lambda: bool(list(tmp_path.glob("lockterm-demo-*"))), "the demo's directory")

    session.kill(signal.SIGTERM)

    assert session.wait_exit(AT_MOST_S) == 128 + signal.SIGTERM
    assert session.attributes() == session.attributes_before
    _assert_nothing_left(session, tmp_path)
