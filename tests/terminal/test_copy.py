"""Copied values reach the terminal through real tmux and GNU screen, whole or not at all."""

from __future__ import annotations

import base64
import re
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.widgets import Input, TextArea

from lockterm.app.terminal_app import TerminalApp
from lockterm.config.look import Look
from lockterm.config.preferences import Preferences
from lockterm.terminal.clipboard import LONGEST, copy, sequences
from tests.long import telling
from tests.terminal.multiplexers import PATIENT, in_screen, in_tmux
from tests.terminal.pty_session import PtySession, clean_environment

ARRIVED = re.compile(rb"\x1b\]52;c?;([A-Za-z0-9+/=]*)(?:\x07|\x1b\\)")
VALUE = "A-2041 žluťoučký"
LONG = "https://packs.example/" + "0123456789" * 400

# Once a key says that the terminal is there: copies a value as the app does, then says so.
_COPIER = """
import os, sys
from lockterm.config.look import multiplexer
from lockterm.terminal import clipboard
clipboard.TMUX_ANSWERS_S = 60
class Driver:
    def write(self, text): os.write(2, text.encode())
class App:
    class look: copy = multiplexer(os.environ)
    _driver = Driver()
    def notify(self, text, **_): self.said = text
input("ready? ")
app = App()
clipboard.copy(app, sys.argv[1], "value")
print("DONE", app.said[-70:])
input()
"""


def arrived(session: PtySession) -> list[str]:
    """What the terminal was told to put into its clipboard, in order."""
    found = ARRIVED.findall(bytes(session.raw))
    return [base64.b64decode(one).decode() for one in found]


def copied(inside: AbstractContextManager[PtySession]) -> tuple[list[str], str]:
    """Run the copier; what arrived, and what the display said afterwards."""
    with inside as session:
        session.wait_for("ready")
        session.press("enter", seen="DONE")
        while session.pump(0.3):
            pass
        said = session.text
        session.press("enter")
        session.wait_exit()
        return arrived(session), said


def copier(value: str, *without: str) -> list[str]:
    """The copier, as if it ran over SSH: without some variables."""
    names = [word for name in without for word in ("-u", name)]
    return ["env", *names, f"PYTHONPATH={Path.cwd()}", sys.executable, "-c", _COPIER, value]


@pytest.mark.parametrize("clipboard", telling(["off"], ["on", "external", "off"]))
@pytest.mark.parametrize("passthrough", telling(["on"], ["on", "off"]))
def test_inside_of_tmux_a_value_arrives_once_however_it_is_set(
    tmp_path: Path, clipboard: str, passthrough: str
) -> None:
    options = (f"set -s set-clipboard {clipboard}", f"set -g allow-passthrough {passthrough}")
    values, said = copied(in_tmux(copier(VALUE), tmp_path, *options))
    assert values == [VALUE]
    assert "sent to the terminal through tmux." in " ".join(said.split())
    assert "If you cannot paste it," not in said


@pytest.mark.parametrize(
    ("clipboard", "passthrough", "term", "times"),
    [
        pytest.param("on", "off", "tmux-256color", 1, marks=pytest.mark.long),
        ("off", "on", "tmux-256color", 1),
        pytest.param("external", "off", "tmux-256color", 0, marks=pytest.mark.long),
        pytest.param("on", "on", "tmux-256color", 2, marks=pytest.mark.long),
        # tmux's own default for TERM
        pytest.param("on", "off", "screen-256color", 1, marks=pytest.mark.long),
        pytest.param("external", "on", "screen-256color", 0, marks=pytest.mark.long),
    ],
)
def test_over_ssh_from_inside_of_tmux_either_option_is_enough(
    tmp_path: Path, clipboard: str, passthrough: str, term: str, times: int
) -> None:
    options = (
        f"set -s set-clipboard {clipboard}",
        f"set -g allow-passthrough {passthrough}",
        f"set -g default-terminal {term}",
    )
    inside = in_tmux(copier(VALUE, "TMUX", "TMUX_PANE"), tmp_path, *options)
    values, said = copied(inside)
    assert set(values) <= {VALUE}
    assert (VALUE in values) is (times > 0)
    assert "If you cannot paste it," in " ".join(said.split()), "what to set is said"


@pytest.mark.long
def test_half_of_a_long_value_is_never_taken_for_the_whole(tmp_path: Path) -> None:
    """A tmux that calls itself screen gets pieces that it cannot put together."""
    options = ("set -s set-clipboard on", "set -g default-terminal screen-256color")
    values, said = copied(in_tmux(copier(LONG, "TMUX"), tmp_path, *options))
    assert values in ([], [LONG])
    assert re.search(r"ready\?\s+DONE", said), "nothing is spilt onto the display"

    options = ("set -s set-clipboard on", "set -g default-terminal tmux-256color")
    assert copied(in_tmux(copier(LONG, "TMUX"), tmp_path, *options))[0] == [LONG]


@pytest.mark.parametrize("value", telling([LONG], [VALUE, LONG]))
@pytest.mark.parametrize("without", telling([("STY",)], [(), ("STY",)]))
def test_gnu_screen_hands_a_value_on_whole_and_spills_nothing(
    tmp_path: Path, value: str, without: tuple[str, ...]
) -> None:
    values, said = copied(in_screen(copier(value, *without), tmp_path))
    assert values == [value]
    assert "through GNU screen" in " ".join(said.split())
    assert re.search(r"ready\?\s+DONE", said), said


def test_the_limit_of_a_piece_is_that_of_the_real_screen(tmp_path: Path) -> None:
    """767 bytes pass, 768 spill: pieces of 240 leave room for versions that take 256."""
    for length, passes in ((240, True), (767, True), (768, False)):
        payload = b"\x1b]52;c;" + b"A" * (length - 8) + b"\x07"
        file = tmp_path / "payload"
        file.write_bytes(b"\x1bP" + payload + b"\x1b\\")
        script = f"printf 'ready'; read x; cat {file}; echo DONE; read x"
        with in_screen(["sh", "-c", script], tmp_path) as session:
            session.wait_for("ready")
            session.press("enter", seen="DONE")
            assert (payload in session.raw) is passes, length
            session.press("enter")
            session.wait_exit()


@pytest.mark.parametrize("inside", telling([None], [None, "tmux", "screen"]))
def test_y_in_lockterm_reaches_the_clipboard(tmp_path: Path, inside: str | None) -> None:
    command = [*PATIENT, "demo", "--lock", "1001"]
    session: AbstractContextManager[PtySession]
    if inside == "tmux":
        session = in_tmux(command, tmp_path, size=(100, 30))
    elif inside == "screen":
        session = in_screen(command, tmp_path, (100, 30))
    else:
        session = PtySession(command, clean_environment(tmp_path), (100, 30))
    with session as terminal:
        number = terminal.wait_for(r"A-\d+")[0]
        terminal.press("y", seen="Copy which value")
        terminal.press("enter", seen=f"{number} - sent to the terminal")
        terminal.wait_until(lambda: arrived(terminal) == [number], "it arrives")
        terminal.press("\x11")  # ctrl+q
        terminal.wait_exit()


class Fields(TerminalApp[None]):
    """Fields of Textual's own, and what is written to the terminal."""

    def compose(self) -> Any:
        """One of each."""
        yield Input("of the line")
        yield TextArea('{\n\t"a": 1\n}')


@pytest.mark.parametrize("through", ["plain", "tmux", "screen"])
async def test_textual_copy_is_wrapped_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, through: Any
) -> None:
    for name in ("TMUX", "STY"):
        monkeypatch.delenv(name, raising=False)
    app = Fields(Look(copy=through), Preferences(tmp_path / "choices.json"))
    async with app.run_test() as pilot:
        written: list[str] = []
        monkeypatch.setattr(app._driver, "write", written.append)
        for field, value in ((Input, "of the line"), (TextArea, '{\n\t"a": 1\n}')):
            app.query_one(field).focus()
            await pilot.pause()
            app.query_one(field).select_all()
            await pilot.press("ctrl+c")
            await pilot.pause()
            assert sequences(value.encode(), through, {}) in written
            assert app.clipboard == value
            assert "sent to the terminal" in app.messages[-1].text


class Silent(App[None]):
    """Keeps what it is told, and what is written to its terminal."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.written: list[str] = []
        driver = type("Driver", (), {"write": staticmethod(self.written.append)})
        self._driver = driver()  # type: ignore[assignment]

    def notify(self, message: str, **more: Any) -> None:  # type: ignore[override]
        """Keep it."""
        self.said.append(f"{more.get('title')}: {message}")


def test_long_copy_is_reported_and_not_sent() -> None:
    app = Silent()
    copy(app, "x" * LONGEST, "value")
    assert len(app.written[0]) <= 100_000
    copy(app, "é" * (LONGEST // 2 + 1), "value")
    assert len(app.written) == 1
    assert re.search(r"Too long to copy: value: The value has 74,996 bytes", app.said[1])
    copy(app, "a\x1b]0;evil\x07\ud800\nb", "name")
    assert base64.b64decode(app.written[1][7:-1]).decode() == "a�]0;evil���b"
    assert "Invisible characters were replaced" in app.said[2]


def test_a_tmux_that_does_not_answer_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too old, of another user, or gone: both spellings are written instead."""
    app = Silent()
    app.look = Look(copy="tmux")  # type: ignore[attr-defined]
    monkeypatch.setenv("TMUX", f"{tmp_path}/gone,1,0")
    copy(app, "A-1", "number")
    assert app.written == [sequences(b"A-1", "tmux", {})]
    assert "set -s set-clipboard on" in app.said[0]
    monkeypatch.setenv("PATH", str(tmp_path))
    copy(app, "A-1", "number")
    assert len(app.written) == 2
