"""The last frame of a lock, shown again at the next start, until the live one stands there."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from itertools import chain, starmap, zip_longest
from pathlib import Path

import httpx
import psutil
import pytest
from pyte.screens import Char

from lockterm.service.running import RunningService
from tests.long import telling
from tests.servers import Link, port_of
from tests.terminal.pty_session import LOCKTERM, PtySession, clean_environment
from tests.terminal.test_ending import modes_of

OLD = r"OLD, seen .* ago, asking the service|OLD, seen just now"
LIVE = "137 remotes · updated|a page · updated|remotes - updated|a page - updated"
SEEN = f"{OLD}|{LIVE}"
ROWS = ("Ines Duarte", "Chiara Conti", "Rahul Mehta")
"""On the first page of lock 1001."""

FIRST_ROW = (1, 2)
"""Column and row of the first remote, behind the margin."""

_HELD = """
import os, sys
folder, module = sys.argv.pop(1), sys.argv.pop(1)

class Hold:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            from lockterm.terminal import fence
            fence.UNKNOWN_S = float(os.environ.get("UNKNOWN_S", fence.UNKNOWN_S))
            open(f"{folder}/held", "w").close()
            with open(f"{folder}/go") as go:
                go.read()

sys.meta_path.insert(0, Hold())
from lockterm.__main__ import main
main()
"""
"""lockterm, whose import of a module waits until somebody writes to a pipe.

UNKNOWN_S is how long it waits for a terminal that has not answered yet.
"""

BY_TEXTUAL = b"\x1b[?1004h"
"""What its driver begins with; nothing before it does."""

BEFORE_GUARD, TEXTUAL = "lockterm.cli.ending", "textual"
"""What is imported while the last frame stands there: before signals are guarded, and after."""


class Home:
    """A home in which lockterm is started again and again, on one service.

    Args:
        path: An empty folder.
        stack: Ends what was started.
    """

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.path = path
        self._stack = stack
        os.mkfifo(path / "go")

    def start(
        self,
        url: str,
        *arguments: str,
        size: tuple[int, int] = (80, 24),
        env: dict[str, str] | None = None,
        held: bool = False,
        at: str = TEXTUAL,
    ) -> PtySession:
        """Start it on lock 1001."""
        program = (sys.executable, "-c", _HELD, str(self.path), at) if held else LOCKTERM
        service = ("--base-url", url) if url else ()
        command = [*program, *service, "--lock", "1001", *arguments]
        environment = clean_environment(self.path, **(env or {}))
        return self._stack.enter_context(PtySession(command, environment, size))

    def visit(self, url: str, *arguments: str, size: tuple[int, int] = (80, 24), **env: str) -> str:
        """Look at the first page and leave; what stood there."""
        session = self.start(url, *arguments, size=size, env=env)
        session.wait_for(LIVE)
        seen = session.text
        session.press("q")
        assert session.wait_exit() == 0
        return seen

    def let_go(self, session: PtySession) -> None:
        """Let it be imported."""
        session.wait_until((self.path / "held").exists, "it is about to be imported")
        (self.path / "go").write_text("go")

    @property
    def frames(self) -> list[Path]:
        return [*(self.path / "cache").rglob("frame-*")]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with ExitStack() as stack:
        yield Home(tmp_path, stack)


def cells_of(session: PtySession) -> list[list[object]]:
    """All cells, as they are seen, but those of the age, which a busy machine decides."""
    screen, ends = session.screen, [line.find("updated ") for line in session.lines]
    return [
        [as_seen(screen.buffer[y][x]) for x in range(screen.columns if end < 0 else end)]
        for y, end in enumerate(ends)
    ]


def as_seen(cell: Char) -> Char:
    """A blank's weight and colour are those of what was written before it: nobody sees them."""
    is_drawn = cell.data != " " or cell.underscore or cell.strikethrough or cell.reverse
    return cell if is_drawn else Char(" ", bg=cell.bg)


def cursor_of(session: PtySession) -> tuple[int, int]:
    """Column and row of the terminal's own cursor."""
    return session.screen.cursor.x, session.screen.cursor.y


def come_to_be_alike(session: PtySession, other: PtySession) -> None:
    """Wait until their cells and cursors are: the bar to scroll with comes a picture later."""

    def differences() -> list[object]:
        other.pump(0)
        rows = zip(cells_of(session), cells_of(other), strict=True)
        pairs = [(cursor_of(session), cursor_of(other)), *chain(*starmap(zip_longest, rows))]
        return [pair for pair in pairs if pair[0] != pair[1]]

    with suppress(AssertionError):
        session.wait_until(lambda: not differences(), "alike")
    assert differences() == [], f"{session.text}\n{other.text}"


def is_live(session: PtySession) -> Callable[[], bool]:
    """Whether keys have their meaning there: it asks the terminal when it is seen."""
    return lambda: b"\x1b[5n" in session.raw


def without_age(text: str) -> str:
    return re.sub("updated .*", "updated", text)


def given_back(session: PtySession) -> bool:
    return session.attributes() == session.attributes_before and modes_of(session.raw) == {7, 25}


@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        ((), {}),
        pytest.param((), {"COLORTERM": "truecolor"}, marks=pytest.mark.long),
        pytest.param((), {"NO_COLOR": "1"}, marks=pytest.mark.long),
        pytest.param(("--quiet",), {}, marks=pytest.mark.long),
        pytest.param((), {"TERM": "screen-256color", "STY": "1.x"}, marks=pytest.mark.long),
    ],
)
def test_replay_and_live_paint_together_are_a_clean_start(
    home: Home, service: RunningService, arguments: tuple[str, ...], env: dict[str, str]
) -> None:
    home.visit(service.base_url, *arguments, **env)
    (frame,) = home.frames
    kept = frame.read_bytes()
    frame.unlink()
    clean = home.start(service.base_url, *arguments, env=env)
    clean.wait_for(LIVE)
    assert "OLD" not in clean.text
    frame.write_bytes(kept)

    session = home.start(service.base_url, *arguments, env=env, held=True)
    session.wait_for(SEEN)
    old, replayed = session.lines, len(session.raw)
    assert cursor_of(session) == FIRST_ROW
    home.let_go(session)
    session.wait_until(is_live(session), "the live frame")
    come_to_be_alike(session, clean)

    changed = {
        y for y, (one, other) in enumerate(zip(old, session.lines, strict=True)) if one != other
    }
    assert changed <= {22}, "the line that tells the age, and nothing else"
    assert cursor_of(session) == FIRST_ROW
    assert session.raw.count(b"\x1b[?1049h") == 1 and b"\x1b[2J" not in session.raw
    for row in ROWS:
        assert session.raw.count(row.encode()) == 1, "no row was sent twice"
    assert len(session.raw) - replayed < 600
    session.press("q")
    assert session.wait_exit() == 0
    assert given_back(session)


@pytest.mark.parametrize("size", telling([(160, 48)], [(120, 40), (160, 48)]))
def test_beside_panes_the_live_frame_sends_only_what_differs(
    home: Home, service: RunningService, size: tuple[int, int]
) -> None:
    """The rows are painted once: as wide as the panes leave, before anything was laid out."""

    def sent() -> int:
        session = home.start(service.base_url, size=size)
        session.wait_for(LIVE)
        count = len(session.raw)
        session.press("q")
        assert session.wait_exit() == 0
        return count

    first = sent()
    assert sent() < first + 1000, "the rows alone are several thousand bytes"


@pytest.fixture
def running_service(
    running_service: Callable[..., RunningService],
) -> Callable[..., RunningService]:
    """Start a service whose clock is this machine's, by which a kept frame was painted."""
    return partial(running_service, clock=lambda: round(time.time() * 1000))


@pytest.fixture
def timeless(running_service: Callable[..., RunningService]) -> RunningService:
    """A service on whose lock 1001 time changes nothing that is shown."""
    service = running_service(sample_data=False)
    for number in range(3):
        new = {"lockId": 1001, "remoteName": f"Remote {number}", "remoteNumber": f"A-{number}"}
        add(service, new | {"remoteType": 1, "addType": 1})
    return service


def add(service: RunningService, remote: dict[str, object]) -> None:
    url = f"{service.base_url}/api/v1/bluetooth-remote/add"
    assert httpx.post(url, json=remote, verify=False).json()["errcode"] == 0


@pytest.mark.long
@pytest.mark.parametrize("arguments", [(), ("--quiet",)])
def test_a_page_that_is_sent_again_is_as_new_before_textual_is_there(
    home: Home, timeless: RunningService, arguments: tuple[str, ...]
) -> None:
    session = home.start(timeless.base_url, *arguments)
    session.wait_for(LIVE)
    first = cells_of(session)
    session.press("j")
    session.wait_until(lambda: cells_of(session) != first, "the cursor moves")
    session.press("q")
    assert session.wait_exit() == 0

    again = home.start(timeless.base_url, *arguments, held=True)
    again.wait_for(LIVE)
    as_new, sent = cells_of(again), again.raw
    assert b"OLD" in sent and BY_TEXTUAL not in sent
    assert sent.count(b"Remote 1") == 1, "the words of its age alone were sent"
    assert as_new == first, "as it came, wherever the cursor was when it was left"
    assert cursor_of(again) == FIRST_ROW
    home.let_go(again)
    again.wait_until(is_live(again), "the live frame, all of it")
    assert cells_of(again) == as_new


@pytest.mark.long
def test_a_page_that_has_changed_is_old_until_the_live_frame(
    home: Home, timeless: RunningService
) -> None:
    with Link(port_of(timeless)) as link:
        home.visit(link.base_url)
        named = {"lockId": 1001, "remoteName": "Newcomer", "remoteNumber": "A-9"}
        add(timeless, named | {"remoteType": 1, "addType": 1})
        before = link.passed
        session = home.start(link.base_url, held=True)
        session.wait_until(lambda: link.passed > before + 1000, "the service has answered")
        home.let_go(session)
        session.wait_for("Newcomer")
    assert b"updated" not in session.raw[: session.raw.index(BY_TEXTUAL)]


def test_the_rows_stay_until_a_slow_service_has_answered(
    home: Home, running_service: Callable[..., RunningService]
) -> None:
    service = running_service()
    url, port = service.base_url, port_of(service)
    home.visit(url)
    service.stop()
    with socket.create_server(("127.0.0.1", port), reuse_port=False):  # and never answers
        session = home.start(url)
        session.wait_for("loading page 1")
        assert all(session.raw.count(row.encode()) == 1 for row in ROWS)
        before = cells_of(session)[1:22]
        session.press("j")
        session.wait_until(lambda: cells_of(session)[1:22] != before, "the cursor moves")
        session.press("\x11")
        assert session.wait_exit() == 0


def test_keys_that_move_take_effect_and_others_land_nowhere(
    home: Home, service: RunningService
) -> None:
    home.visit(service.base_url)
    session = home.start(service.base_url, held=True, env={"UNKNOWN_S": "60"})
    session.wait_for(SEEN)
    names = [line[4:].split("  ")[0].strip(" …") for line in session.lines[2:6]]
    session.press("j", "j", "j", "d", "j", "D", "enter")
    home.let_go(session)
    session.wait_for(LIVE)
    session.wait_until(lambda: b"\x1b[5n" in session.raw, "it asks when the frame is seen")
    session.press("a")  # typed before the live frame was seen: the terminal answers behind it
    session.send(b"\x1b[0n")
    session.wait_for("Typed too early: Nothing was done: 5 keys were typed")
    session.press("enter")
    session.wait_for("Created")
    assert names[3] in session.lines[0], "the fourth row was under the cursor"
    assert b"Delete" not in session.raw.replace(b"delete", b"")
    session.press("\x11")
    assert session.wait_exit() == 0


@pytest.mark.long
def test_a_terminal_that_does_not_answer_keeps_no_key_from_the_live_frame(
    home: Home, service: RunningService
) -> None:
    home.visit(service.base_url)
    session = home.start(service.base_url)
    session.wait_until(lambda: b"\x1b[5n" in session.raw, "the live frame")
    session.press("enter")
    session.wait_for("Created")
    assert "Typed too early" not in session.text


@pytest.mark.parametrize(
    "how",
    telling(
        [signal.SIGTERM, "\x03"],
        [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, "\x03"],
    ),
)
@pytest.mark.parametrize("at", [BEFORE_GUARD, TEXTUAL])
def test_a_signal_leaves_the_terminal_as_it_was(
    home: Home, service: RunningService, how: signal.Signals | str, at: str
) -> None:
    home.visit(service.base_url)
    session = home.start(service.base_url, held=True, at=at)
    session.wait_for(SEEN)
    session.wait_until((home.path / "held").exists, "it is about to be imported")
    assert session.attributes() != session.attributes_before
    session.press("j", "d")
    if isinstance(how, str):
        session.press(how)
    else:
        session.kill(how)
    number = signal.SIGINT if isinstance(how, str) else how
    assert session.wait_exit() == 128 + number
    assert given_back(session)
    assert session.waiting_input() == 0, "nothing of it is typed into the shell"
    assert home.frames, "the frame is kept for the next start"


@pytest.mark.long
@pytest.mark.parametrize("how", telling(["\x1a"], [signal.SIGTSTP, signal.SIGSTOP, "\x1a"]))
@pytest.mark.parametrize("at", [BEFORE_GUARD, TEXTUAL])
def test_stopped_and_going_on_it_begins_anew(
    home: Home, service: RunningService, how: signal.Signals | str, at: str
) -> None:
    clean = home.visit(service.base_url)
    session = home.start(service.base_url, held=True, at=at)
    session.wait_for(SEEN)
    session.wait_until((home.path / "held").exists, "it is about to be imported")
    process = psutil.Process(session.pid)
    if isinstance(how, str):
        session.press(how)
    else:
        session.kill(how)
    session.wait_until(lambda: process.status() == psutil.STATUS_STOPPED, "it has stopped")
    if how != signal.SIGSTOP:  # of which nobody is told
        session.wait_until(lambda: given_back(session), "the terminal is the shell's")
    session.kill(signal.SIGCONT)
    session.wait_until(lambda: given_back(session), "the terminal is the shell's")
    home.let_go(session)
    # The page may have been confirmed before it was stopped: that is not the one that is meant.
    session.wait_until(lambda: session.raw.count(b"\x1b[?1049h") == 2, "it has begun anew")
    session.wait_until(lambda: without_age(session.text) == without_age(clean), "the live page")
    session.press("q")
    assert session.wait_exit() == 0
    assert given_back(session)


@pytest.mark.long
@pytest.mark.parametrize(
    "sizes", telling([((61, 20),)], [((100, 30),), ((100, 30), (80, 24)), ((61, 20),)])
)
def test_another_size_is_drawn_anew(
    home: Home, service: RunningService, sizes: tuple[tuple[int, int], ...]
) -> None:
    clean = home.start(service.base_url, size=sizes[-1])
    clean.wait_for(LIVE)
    home.visit(service.base_url)
    session = home.start(service.base_url, held=True)
    session.wait_for(SEEN)
    session.wait_until((home.path / "held").exists, "it is about to import Textual")
    for size in sizes:
        session.resize(*size)
    session.screen.erase_in_display(2)  # a terminal may show anything then
    home.let_go(session)
    session.wait_for(LIVE)
    come_to_be_alike(session, clean)
    assert session.raw.count(b"\x1b[?1049h") == 1
    session.press("q")
    assert session.wait_exit() == 0
    assert given_back(session)


@pytest.mark.long
def test_a_terminal_that_became_too_small_says_so_and_can_be_left(
    home: Home, service: RunningService
) -> None:
    home.visit(service.base_url)
    session = home.start(service.base_url, held=True)
    session.wait_for(SEEN)
    session.resize(50, 15)
    home.let_go(session)
    session.wait_for("lockterm needs")
    session.press("q")
    assert session.wait_exit() == 0
    assert given_back(session)


@pytest.mark.long
def test_a_configuration_that_cannot_be_used_any_more_is_told_on_the_shells_screen(
    home: Home, service: RunningService
) -> None:
    home.visit(service.base_url)
    session = home.start(service.base_url, held=True, at=BEFORE_GUARD)
    session.wait_for(SEEN)
    file = home.path / "config" / "lockterm" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("profiles = 7")
    home.let_go(session)
    assert session.wait_exit() == 2
    assert given_back(session)
    assert session.raw.index(b"\x1b[?1049l") < session.raw.index(b"profiles must be tables")


@pytest.mark.long
def test_a_line_that_dies_ends_it(home: Home, service: RunningService) -> None:
    home.visit(service.base_url)
    session = home.start(service.base_url, held=True)
    session.wait_for(SEEN)
    session.wait_until((home.path / "held").exists, "it is about to import Textual")
    session.close_terminal()  # of which a shell would tell it, and nobody does
    home.let_go(session)
    assert session.wait_exit(reading=False) != 0


def profile(home: Home, url: str, more: str = "") -> None:
    file = home.path / "config" / "lockterm" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        f'[profiles.north]\nbase_url = "{url}"\n{more}\n'
        '[profiles.north.headers]\nAuthorization = "env:TOKEN"\n'
    )


def test_nothing_is_shown_to_other_credentials_nor_after_they_ended(
    home: Home, running_service: Callable[..., RunningService]
) -> None:
    service = running_service(token="first")
    port = port_of(service)
    profile(home, service.base_url)
    home.visit("", TOKEN="Bearer first")
    (frame,) = home.frames
    kept = frame.read_bytes()
    assert b"first" not in kept.replace(b"first page", b"")

    other = home.start("", env={"TOKEN": "Bearer other"})
    other.wait_for("401|refused|not authorized|token")
    assert not any(row.encode() in other.raw for row in ROWS)
    assert not frame.exists(), "its owner has other credentials now"
    other.press("\x11")
    assert other.wait_exit() == 0

    frame.write_bytes(kept)
    service.stop()
    running_service(port=port, token="second")
    ended = home.start("", env={"TOKEN": "Bearer first"}, held=True)
    ended.wait_for(OLD)
    home.let_go(ended)
    ended.wait_until(lambda: not any(row in ended.text for row in ROWS), "the rows go")
    ended.press("\x11")
    assert ended.wait_exit() == 0
    assert not home.frames


@pytest.mark.parametrize("how", telling(["--no-cache"], ["--no-cache", "cache = false"]))
def test_nothing_that_is_read_is_kept_where_that_is_not_wanted(
    home: Home, running_service: Callable[..., RunningService], how: str
) -> None:
    service = running_service(token="t")
    profile(home, service.base_url, how if "=" in how else "")
    arguments = () if "=" in how else (how,)
    home.visit("", *arguments, TOKEN="Bearer t")
    assert not (home.path / "cache").exists()

    profile(home, service.base_url)
    home.visit("", TOKEN="Bearer t")
    assert home.frames
    profile(home, service.base_url, how if "=" in how else "")
    session = home.start("", *arguments, env={"TOKEN": "Bearer t"})
    session.wait_for(LIVE)
    assert b"OLD" not in session.raw
    session.press("q")
    assert session.wait_exit() == 0
    assert not home.frames
    for file in (home.path / "cache").rglob("*"):
        assert not file.is_file() or ROWS[0].encode() not in file.read_bytes(), file


@pytest.mark.long
def test_a_change_drops_it_and_what_is_read_then_is_kept(
    home: Home, service: RunningService
) -> None:
    """A start never shows what was deleted from here."""
    home.visit(service.base_url)
    (frame,) = home.frames
    before = json.loads(frame.read_text())["at_ms"]
    session = home.start(service.base_url)
    session.wait_until(is_live(session), "the live frame")
    session.press("r")
    session.wait_until(lambda: not home.frames, "it is dropped")
    session.wait_for("updated just now")
    session.press("q")
    assert session.wait_exit() == 0
    (frame,) = home.frames
    assert json.loads(frame.read_text())["at_ms"] > before
    assert frame.stat().st_mode & 0o777 == 0o600


@pytest.mark.long
def test_a_damaged_frame_or_one_that_others_could_write_is_not_shown(
    home: Home, service: RunningService
) -> None:
    home.visit(service.base_url)
    (frame,) = home.frames
    kept = frame.read_bytes()
    for damage in (
        lambda: frame.chmod(0o622),
        lambda: frame.write_bytes(kept[:-1]),
        lambda: frame.write_bytes(kept.replace(b"Ines", b"Ine\\u001b")),
        lambda: frame.write_bytes(b""),
    ):
        damage()
        session = home.start(service.base_url)
        session.wait_for(LIVE)
        assert b"OLD" not in session.raw and b"\x1bs" not in session.raw
        session.press("q")
        assert session.wait_exit() == 0
        frame.chmod(0o600)
        assert session.lines == [""] * 24 or "lockterm:" not in session.text, "and nothing is said"
