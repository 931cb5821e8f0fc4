"""What is imported before the first request leaves, and before the first frame is painted."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.terminal.pty_session import LOCKTERM, PtySession, clean_environment

_CODE = """
import _thread, os, sys
_, folder, asks, *arguments = sys.argv
start_new_thread = _thread.start_new_thread

def tell(name):
    with open(f"{folder}/{name}", "w") as file:
        print(*sys.modules, file=file)

def begun(*arguments):  # the first thread of all connects
    if not os.path.exists(f"{folder}/connection"):
        tell("connection")
    return start_new_thread(*arguments)

def ask(self):
    tell("request")
    self._run()  # here: so the page is there before its screen, however busy the machine is

def painted(self, picture):
    tell("frame")
    os._exit(0)

if asks:  # else it is not imported by then
    from lockterm.api.first_page import FirstPage
    FirstPage.ask = ask
from lockterm.terminal.replay import Replay
show, take = Replay.show, Replay.take

def drawing(self, *arguments):  # the driver begins; before, nothing of Textual is imported
    from lockterm.terminal.frame_diff import FrameDiff
    FrameDiff.changed = painted
    return take(self, *arguments)

def show_again(self, *arguments):
    show(self, *arguments)
    tell("replay")

_thread.start_new_thread = begun
Replay.show, Replay.take = show_again, drawing
sys.argv = ["lockterm", *arguments]
from lockterm.__main__ import main
main()
"""


def imported(
    home: Path, base_url: str, *arguments: str, asks: bool | None = None
) -> tuple[set[str], set[str]]:
    """Start lockterm in a terminal, until its first frame is painted.

    Args:
        home: An empty folder.
        base_url: A service.
        arguments: What is typed.
        asks: Whether a request leaves; None: where a lock is typed.

    Returns:
        The modules there are when the first request leaves, none where none does; and those there
        are at the first frame.
    """
    early = "asks" if asks or (asks is None and "--lock" in arguments) else ""
    options = ("--base-url", base_url, *arguments)
    command = [sys.executable, "-c", _CODE, str(home), early, *options]
    with PtySession(command, clean_environment(home)) as session:
        assert session.wait_exit() == 0, session.text()
    request, frame = home / "request", home / "frame"
    before = set(request.read_text().split()) if request.exists() else set()
    return before, set(frame.read_text().split())


def connecting(home: Path, base_url: str, *arguments: str) -> set[str]:
    """As :func:`imported`: the modules there are when a connection is begun."""
    imported(home, base_url, *arguments, asks=False)
    return set((home / "connection").read_text().split())


def imported_for_replay(home: Path, base_url: str, *arguments: str) -> set[str]:
    """Start lockterm twice, on a lock; the modules there are when its last frame is shown again."""
    options = ("--base-url", base_url, *arguments)
    with PtySession([*LOCKTERM, *options], clean_environment(home)) as session:
        session.wait_for("updated just now")
        session.press("q")
        assert session.wait_exit() == 0
    imported(home, base_url, *arguments, asks=False)
    return set((home / "replay").read_text().split())
