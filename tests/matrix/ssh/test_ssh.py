"""The fingers are ahead of the link: what was typed while it stood still lands where it was meant.

Keys go through a real ssh one by one, and arrive at lockterm in one burst.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lockterm.service.calls import now_ms
from lockterm.service.running import RunningService
from lockterm.store.sessions import StoreSession
from tests.faults.proxy import WRITES
from tests.matrix.ssh.server import Sshd, running_sshd
from tests.servers import Link
from tests.terminal.pty_session import LOCKTERM, PATIENCE_S, PtySession, clean_environment

pytestmark = pytest.mark.long

LIMITED, PERMANENT = "Night crew 1", "Amelia Hart"
"""The first remote of the lock, which has an end, and the third, which has none."""
CTRL_S = "\x13"
IDLE_S = 5.0


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    with running_sshd(tmp_path_factory.mktemp("sshd")) as server:
        yield server


@contextmanager
def far(sshd: Sshd, service: RunningService, home: Path) -> Iterator[tuple[PtySession, Link]]:
    """Lockterm at the other end of a link."""
    environment = clean_environment(home)
    names = ("HOME", "LANG", "TZ", "TMPDIR", *(name for name in environment if "XDG" in name))
    remote = ["env", *(f"{name}={environment[name]}" for name in names), *LOCKTERM]
    remote += ["--base-url", service.base_url, "--lock", "1001"]
    with Link(sshd.port) as link:
        command = sshd.command(link.port, ["sh", "-c", 'cd "$0" && exec "$@"', str(_ROOT), *remote])
        with PtySession(command, environment) as session:
            session.wait_for("page 1 of 7")
            session.wait_for("[?] help")
            yield session, link


_ROOT = Path(__file__).parents[3]


def type_in_a_stall(session: PtySession, link: Link, *keys: str) -> None:
    """Type key by key while the link stands still; then let it all arrive."""
    link.stall()
    for key in keys:
        before = link.held
        session.press(key)
        session.wait_until(lambda before=before: link.held > before, f"{key!r} is on its way")
    link.flow()


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        (("w", *"+30d"), (rf"^ Name +{LIMITED}\b(?![+])", r"^ End +\+30d")),
        (("/", *"main"), (r"Find: main",)),
        (("u", *"77"), ("New user number of", r"│ +77 +│")),
        ((":", "3", "enter"), ("page 3 of 7",)),
        (("n", "n", "p", "j"), ("page 2 of 7",)),
        (("enter", "q", "n"), ("page 2 of 7",)),
        (("enter", "escape", "n"), (rf"Remotes > {LIMITED}", r"Alt\+n: To press Escape and then")),
        (
            ("a", *"Gate 4", "\x1b[?64;1;2;6;9;15;18;21;22c", *"b", "tab", *"N-4"),
            ("Gate 4b", "N-4"),
        ),
        (("?", "q", "d"), (f"Delete {LIMITED}", "Keep")),
        (("?", "escape", "d"), ("Remotes > Help", r"Alt\+d: To press Escape and then")),
    ],
    ids=lambda value: "".join(value).replace("\x1b", "ESC") if isinstance(value, tuple) else "",
)
def test_what_is_typed_in_a_stall(
    keys: tuple[str, ...],
    shown: tuple[str, ...],
    sshd: Sshd,
    running_service: Callable[..., RunningService],
    tmp_path: Path,
) -> None:
    service = running_service(clock=now_ms)
    with far(sshd, service, tmp_path) as (session, link):
        type_in_a_stall(session, link, *keys)
        for pattern in shown:
            session.wait_for(pattern)
    assert not [path for _, path in service.requests if path.endswith(WRITES)]


def test_renewing_a_permanent_remote_in_a_stall_changes_nothing(
    sshd: Sshd, running_service: Callable[..., RunningService], tmp_path: Path
) -> None:
    service = running_service(clock=now_ms)
    with far(sshd, service, tmp_path) as (session, link):
        keys = ("j", "j", "w", *"+30d", CTRL_S, "right", "enter")
        type_in_a_stall(session, link, *keys)
        session.wait_for(f"Renew {PERMANENT}.*not available")
    assert not [path for _, path in service.requests if path.endswith(WRITES)]


def test_a_draft_survives_a_cut_line(
    sshd: Sshd, running_service: Callable[..., RunningService], tmp_path: Path
) -> None:
    """What arrived before the cut is there for the next session, whichever way it arrived."""
    service = running_service(clock=now_ms)
    with far(sshd, service, tmp_path) as (session, link):
        type_in_a_stall(session, link, "a", *"Roof crew", "tab", *"A-77")
        session.wait_for("Roof crew")
        session.wait_for("A-77")
        link.cut()
        assert session.wait_exit() == 255  # ssh's own word for a broken line
    log = tmp_path / "state" / "lockterm" / "lockterm.log"
    session.wait_until(lambda: log.exists() and "ended by SIGHUP" in log.read_text(), "the hang-up")
    sessions = tmp_path / "state" / "lockterm" / "sessions"
    names, asking, end_s = (
        [file.name for file in sessions.iterdir()],
        StoreSession(sessions),
        time.monotonic() + 60,
    )
    while any(map(asking.is_alive, names)):
        assert time.monotonic() < end_s, "the session whose line was cut goes on"
        time.sleep(0.05)
    with far(sshd, service, tmp_path) as (session, link):
        session.wait_for("was not finished")
        session.choose("Open the form")
        session.wait_for("Roof crew")
        session.wait_for("A-77")


def test_an_idle_screen_sends_nothing(
    sshd: Sshd, running_service: Callable[..., RunningService], tmp_path: Path
) -> None:
    service = running_service(clock=now_ms)
    with far(sshd, service, tmp_path) as (session, link):
        for keys in ((), ("a",)):  # a table, and a form with a cursor
            session.press(*keys)
            end = time.monotonic() + PATIENCE_S
            passed, since = link.passed, time.monotonic()
            while time.monotonic() - since < IDLE_S:
                session.pump(0.1)
                assert time.monotonic() < end, "it never stops sending"
                if link.passed != passed:
                    passed, since = link.passed, time.monotonic()
