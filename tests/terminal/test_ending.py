"""However lockterm ends: with the terminal given back, and nothing left behind."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from tests.terminal.pty_session import LOCKTERM, PtySession, Start, clean_environment

FIRST_LOCK = "Main gate +1001"


def assert_given_back(session: PtySession) -> None:
    """The terminal is as it was: settings, main screen, cursor, mouse."""
    assert session.attributes() == session.attributes_before
    for leave, enter in ((b"\x1b[?1049l", b"\x1b[?1049h"), (b"\x1b[?25h", b"\x1b[?25l")):
        assert session.raw.rfind(leave) > session.raw.rfind(enter) >= 0
    assert session.raw.rfind(b"\x1b[?1003l") > session.raw.rfind(b"\x1b[?1003h")


def assert_nothing_left(session: PtySession, home: Path) -> None:
    assert not list(home.glob("lockterm-demo-*"))
    assert session.others() == []


def test_the_demo_ends_with_a_key_and_leaves_nothing(lockterm: Start, tmp_path: Path) -> None:
    session = lockterm("demo", seen=FIRST_LOCK)
    (connection,) = psutil.Process(session.pid).net_connections("tcp")
    assert (connection.status, connection.laddr.ip) == ("LISTEN", "127.0.0.1")
    assert list(tmp_path.glob("lockterm-demo-*"))

    session.press("q")

    assert session.wait_exit() == 0
    assert_given_back(session)
    assert_nothing_left(session, tmp_path)


def test_demo_runs_a_command_on_the_demo_of_another_terminal(
    lockterm: Start, tmp_path: Path
) -> None:
    def run(*command: str) -> subprocess.CompletedProcess[str]:
        environment = clean_environment(tmp_path, LOCKTERM_BASE_URL="http://127.0.0.1:9")
        return subprocess.run(
            [*LOCKTERM, "demo", *command],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    assert "No demo is running." in run("locks", "list").stderr
    session = lockterm("demo", seen=FIRST_LOCK)
    listed = run("remotes", "list", "Main gate", "--json")
    assert (listed.returncode, listed.stderr) == (0, "")
    kept = json.loads(run("info", "--json").stdout)["paths"]["data_dir"]
    assert Path(kept).is_relative_to(tmp_path) and kept.endswith("/lockterm/demo/lockterm")
    (file,) = tmp_path.glob("lockterm-demo-*/config/lockterm/config.toml")
    assert file.stat().st_mode & 0o777 == 0o600
    session.press("q")
    session.wait_exit()
    assert_nothing_left(session, tmp_path)


@pytest.mark.long
def test_exports_of_the_demo_stay_after_it_has_ended(lockterm: Start, tmp_path: Path) -> None:
    session = lockterm("demo", seen=FIRST_LOCK)
    for keys, shown in (
        (("F", "\x12"), "locks read: "),
        (("\r",), "o people"),
        (("o",), "people, "),
    ):
        session.press(*keys, seen=shown)
    session.press("E", seen="Wrote ")
    session.press("\x11")
    assert session.wait_exit() == 0
    (table,) = tmp_path.glob("**/lockterm/demo/lockterm/exports/people-*.csv")
    assert len(table.read_text().splitlines()) > 100
    assert_nothing_left(session, tmp_path)


@pytest.mark.parametrize("variable", ["PYTHONFAULTHANDLER", "PYTHONDEVMODE"])
def test_the_ui_ends_without_a_traceback_when_python_handles_faults(
    lockterm: Start, variable: str
) -> None:
    session = lockterm("demo", env={variable: "1"}, seen=FIRST_LOCK)
    session.quit()
    assert b"Traceback" not in session.raw
    assert_given_back(session)


@pytest.mark.parametrize(
    "number",
    [
        *(signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGABRT),
        *(signal.SIGUSR1, signal.SIGALRM, signal.SIGXCPU),
    ],
)
def test_a_signal_ends_it_in_good_order(
    lockterm: Start, tmp_path: Path, number: signal.Signals
) -> None:
    session = lockterm("demo", seen=FIRST_LOCK)

    session.kill(number)

    assert session.wait_exit() == 128 + number
    assert_given_back(session)
    assert_nothing_left(session, tmp_path)
    assert f"ended by {number.name}" in (tmp_path / "state/lockterm/lockterm.log").read_text()


@pytest.mark.parametrize("controlling", [True, False])
def test_a_closed_terminal_ends_it(lockterm: Start, tmp_path: Path, controlling: bool) -> None:
    """Also where nobody sends a SIGHUP: it must not read the dead terminal again and again."""
    session = lockterm("demo", controlling=controlling, seen=FIRST_LOCK)

    session.close_terminal()

    assert session.wait_exit(reading=False) != 0
    assert_nothing_left(session, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_stalled_terminal_does_not_keep_it(
    lockterm: Start, tmp_path: Path, number: signal.Signals
) -> None:
    """Nobody reads what it draws, so drawing blocks and the event loop with it."""
    session = lockterm("demo", seen=FIRST_LOCK)
    session.stall()

    session.kill(number)

    assert session.wait_exit(reading=False) == 128 + number
    assert session.attributes() == session.attributes_before
    assert_nothing_left(session, tmp_path)


def test_a_signal_in_the_first_moments_ends_it_too(lockterm: Start, tmp_path: Path) -> None:
    session = lockterm("demo")
    session.wait_until(lambda: bool(list(tmp_path.glob("lockterm-demo-*"))), "the demo's directory")

    session.kill(signal.SIGTERM)

    assert session.wait_exit() == 128 + signal.SIGTERM
    assert session.attributes() == session.attributes_before
    assert_nothing_left(session, tmp_path)


@pytest.mark.long
def test_a_demo_takes_away_what_a_killed_one_left(lockterm: Start, tmp_path: Path) -> None:
    """But not what a demo uses that runs beside it."""
    living = lockterm("demo", seen=FIRST_LOCK)
    (its,) = tmp_path.glob("lockterm-demo-*")
    dead = lockterm("demo", seen=FIRST_LOCK)
    (left,) = set(tmp_path.glob("lockterm-demo-*")) - {its}
    dead.kill(signal.SIGKILL)
    dead.wait_exit()
    assert left.exists()

    session = lockterm("demo", seen=FIRST_LOCK)
    session.wait_until(lambda: not left.exists(), "it is taken away")

    assert its.exists()
    session.press("q")
    session.wait_exit()
    living.press("enter", seen="page 1 of")
    living.press("\x11")
    living.wait_exit()
    assert not list(tmp_path.glob("lockterm-demo-*"))


def test_the_manual_names_what_restores_a_terminal_after_a_line_that_died(lockterm: Start) -> None:
    session = lockterm("demo", seen=FIRST_LOCK)
    session.send(b"\x1b[?2048;2$y")  # it tells its size in band, and so the mouse in pixels
    session.wait_until(lambda: b"\x1b[?1016h" in session.raw, "all that it asks for")
    session.kill(signal.SIGKILL)
    session.wait_exit()
    page = (Path(__file__).parents[2] / "docs/how-to/troubleshoot.md").read_text()
    (command,) = re.findall(r"^printf .*; stty sane$", page, re.M)

    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)

    assert modes_of(session.raw) - {1049} >= {1000, 1003, 1006, 1016, 2004, 1004, 2048}
    assert modes_of(session.raw + done.stdout) == {7, 25}


def modes_of(raw: bytes) -> set[int]:
    """The private modes that are set at the end; wrapping lines and the cursor are at the start."""
    modes = {7, 25}
    for numbers, switch in re.findall(rb"\x1b\[\?([0-9;]+)([hl])", raw):
        told = {int(number) for number in numbers.split(b";")}
        modes = modes | told if switch == b"h" else modes - told
    return modes
