"""The doctor asks the terminal itself, hangs on none, and leaves nothing of the answers behind."""

from __future__ import annotations

import json
import os
import re
import select
import shlex
import signal
import socket
import termios
from pathlib import Path
from typing import Any

import pytest

from lockterm.cli.doctor_terminal import KEYS
from lockterm.keymap.hints import written
from lockterm.keymap.keys import PLACES
from tests.terminal.multiplexers import in_screen, in_tmux
from tests.terminal.pty_session import LOCKTERM, PtySession, clean_environment

PLACE, PRIMARY = rb"\x1b\[6n", rb"\x1b\[c"
MODERN = {
    PRIMARY: b"\x1b[?62;22;52c",
    rb"\x1b\[>c": b"\x1b[>41;390;0c",
    rb"\x1b\[>0q": b"\x1bP>|XTerm(390)\x1b\\",
    rb"\x1b\[\?u": b"\x1b[?0u",
    rb"\x1b\[\?2026\$p": b"\x1b[?2026;2$y",
    rb"\x1b\[\?2004\$p": b"\x1b[?2004;2$y",
    rb"\x1b\[\?1006\$p": b"\x1b[?1006;2$y",
    rb"\x1b\[\?2048\$p": b"\x1b[?2048;0$y",
    rb"\x1bP\$qm\x1b\\": b"\x1bP1$r0;48:2::1:2:3m\x1b\\",
}
"""Question -> answer of a terminal that can do most."""


class Answering(PtySession):
    """A terminal that answers, and knows where its cursor is.

    Args:
        answers: Question -> answer; for the place of the cursor pyte tells the truth.
        wider: Cells that everything takes more than it should.
    """

    def __init__(self, *arguments: Any, answers: dict[bytes, bytes], wider: int = 0) -> None:
        super().__init__(*arguments)
        self._answers = answers
        self._questions = re.compile(b"|".join([PLACE, *answers]))
        self._wider = wider
        self._places: list[str] = []
        self._answered = 0
        self.screen.write_process_input = self._places.append  # type: ignore[method-assign]

    def pump(self, within_s: float) -> bool:
        """Read, and answer what is asked in what was read."""
        found = super().pump(within_s)
        places = [place for place in self._places if place.endswith("R")]
        for question in self._questions.finditer(self.raw, self._answered):
            self._answered = question.end()
            if question[0] == b"\x1b[6n":
                row, column = map(int, re.findall(r"\d+", places.pop(0)))
                wider = self._wider if column < 10 else 0
                self.send(b"\x1b[%d;%dR" % (row, column + wider))
                continue
            self.send(
                next(told for ask, told in self._answers.items() if re.match(ask, question[0]))
            )
        self._places.clear()
        return found

    def assert_left_in_order(self) -> None:
        """The terminal is as before, and a shell would read nothing that was not typed."""
        assert self.attributes() == self.attributes_before
        raw = termios.tcgetattr(self._slave)
        raw[3] &= ~termios.ICANON
        termios.tcsetattr(self._slave, termios.TCSANOW, raw)
        assert not select.select([self._slave], [], [], 0.1)[0], os.read(self._slave, 1000)


def doctor(*arguments: str, to: Path | None = None) -> list[str]:
    """The command; its JSON goes to a file, so that stdout is not the terminal."""
    command = [*LOCKTERM, "doctor", *arguments]
    if to is None:
        return command
    return ["sh", "-c", f"{shlex.join([*command, '--json'])} > {to}"]


def ask(home: Path, *, answers: dict[bytes, bytes], wider: int = 0, **env: str) -> dict[str, Any]:
    """Run the doctor in a terminal that answers, and return its report."""
    out = home / "report.json"
    environment = clean_environment(home, **env)
    with Answering(doctor(to=out), environment, (80, 24), answers=answers, wider=wider) as terminal:
        if wider:
            terminal.screen.resize(40, 132)
        terminal.wait_exit()
        assert terminal.text.strip() == "" or wider, "the line that was drawn on is empty again"
        terminal.assert_left_in_order()
    report: dict[str, Any] = json.loads(out.read_text())
    return report


def facts(report: dict[str, Any]) -> dict[str, Any]:
    """All facts about the terminal."""
    found: dict[str, Any] = {}
    for finding in report["findings"]:
        if finding["subject"] == "terminal":
            found |= finding["facts"]
    return found


def sentences(report: dict[str, Any]) -> dict[str, str]:
    """First word of a line about the terminal -> state, sentence and advice."""
    return {
        one["found"].split(":")[0]: f"{one['state']} {one['found']} {one['advice']}".strip()
        for one in report["findings"]
        if one["subject"] == "terminal"
    }


def test_a_terminal_that_answers_is_believed(tmp_path: Path) -> None:
    report = ask(tmp_path, answers=MODERN)
    found, lines = facts(report), sentences(report)
    assert found["name"] == "XTerm(390)"
    modes = {"synchronizedOutput": True, "bracketedPaste": True, "mouse": True}
    assert found["modes"] == {**modes, "sizeInBand": False}
    assert (found["kittyKeys"], found["says24Bit"], found["saysItCopies"]) == (True, True, True)
    assert found["saysSize"] == [80, 24]
    assert set(found["widths"].values()) == {1, 2}
    assert "export COLORTERM=truecolor" in lines["Colors"]
    assert "The terminal reports that it supports OSC 52" in lines["Copying"]
    assert lines["Size"] == "OK Size: 80x24."
    assert "have the expected width" in lines["Glyphs"]
    assert all(line.startswith("OK") for line in lines.values()), lines
    lines = sentences(ask(tmp_path, answers=MODERN, COLORTERM="truecolor"))
    assert lines["Colors"].startswith("OK Colors: 16,777,216")


def test_doctor_reports_a_terminal_unlike_its_variables(tmp_path: Path) -> None:
    """Its size, its widths, its colors and its kind are others than the environment says."""
    answers = MODERN | {
        rb"\x1b\[>c": b"\x1b[>84;0;0c",
        rb"\x1b\[>0q": b"\x1bP>|tmux 3.4\x1b\\",
        rb"\x1bP\$qm\x1b\\": b"\x1bP1$r0;48;5;16m\x1b\\",
    }
    lines = sentences(ask(tmp_path, answers=answers, wider=1, COLORTERM="truecolor"))
    assert "WARN Size: 80x24 is set, but the terminal has 132x40." in lines["Size"]
    assert "stty columns 132 rows 40" in lines["Size"]
    assert re.search(r"WARN.*draws .*─.*rows shift.*glyphs = \"ascii\"", lines["Glyphs"])
    assert lines["Colors"].startswith("WARN")
    setting = 'In the configuration, write [terminal] copy = "tmux"'
    assert f"this terminal is tmux 3.4. {setting}" in lines["Copying"]


@pytest.mark.long
def test_a_terminal_that_answers_nothing_holds_nothing_up(tmp_path: Path) -> None:
    # More rows than usual: the paths of a test are long, and what it says would leave the screen.
    with PtySession(doctor(), clean_environment(tmp_path), (80, 40)) as terminal:
        assert terminal.wait_exit() == 1, "no service is known"
        assert "does not answer queries" in " ".join(terminal.text.split())
        assert bytes(terminal.raw).count(b"\x1b[c") == 1, "it is asked once and left alone"
        assert terminal.attributes() == terminal.attributes_before


def test_answers_that_mean_harm_are_only_read(tmp_path: Path) -> None:
    """Numbers without end, and lines that a shell would run."""
    long, line = b"9" * 6000, b"\rtouch PWNED\r\n"
    answers = MODERN | {
        rb"\x1b\[>c": b"\x1b[>" + long + b";1c" + line + b"\x1b[" + long + b";1R",
        rb"\x1b\[>0q": b"\x1bP>|" + line + b"x" * 3000 + b"\x1b\\" + b"\x1b[?" + long + b";1$y",
        PRIMARY: b"\x1b[" + long + b";" + long + b"R" + line + b"\x1b[?62;52c" + line,
    }
    out = tmp_path / "report.json"
    environment = clean_environment(tmp_path)
    with Answering(doctor(to=out), environment, (80, 24), answers=answers) as terminal:
        assert terminal.wait_exit() == 1  # no service is known
        terminal.assert_left_in_order()
    assert facts(json.loads(out.read_bytes()))["name"] is None, "an answer ends before a return"
    assert len(out.read_bytes()) < 6000
    with Answering(doctor(), environment, (80, 24), answers=answers) as terminal:
        terminal.wait_exit()
        assert not any(line.startswith("touch") for line in terminal.lines), terminal.lines


@pytest.mark.long
def test_late_answer_is_not_typed_text(tmp_path: Path) -> None:
    config = tmp_path / "config/lockterm/config.toml"
    config.parent.mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        config.write_text(f'[profiles.a]\nbase_url = "{url}"\ntimeout_s = 1\n')
        with Answering(doctor(), clean_environment(tmp_path), answers={}) as terminal:
            terminal.wait_for("profile a uses")
            terminal.send(MODERN[PRIMARY])
            terminal.wait_exit()
            assert b"62;22;52" not in terminal.raw, "it is not echoed"
            terminal.assert_left_in_order()


@pytest.mark.parametrize("option", [(), ("--keys",)])
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, None])
def test_a_signal_leaves_the_terminal_in_order(
    tmp_path: Path, how: signal.Signals | None, option: tuple[str, ...]
) -> None:
    with Answering(doctor(*option), clean_environment(tmp_path), answers={}) as terminal:
        if option:
            terminal.wait_until(lambda: is_raw(terminal), "the keys are listened to")
        else:
            terminal.wait_until(lambda: b"\x1b[c" in terminal.raw, "the first question")
        assert terminal.attributes() != terminal.attributes_before
        if how is not None:
            terminal.kill(how)
        else:
            terminal.send(b"\x03")
        interrupted = 0 if option else 130
        assert terminal.wait_exit() == (interrupted if how is None else 128 + how)
        terminal.assert_left_in_order()


def test_programs_get_json_and_no_question(tmp_path: Path) -> None:
    with PtySession(doctor("--json"), clean_environment(tmp_path), (120, 40)) as terminal:
        terminal.wait_exit()
        report = json.loads(bytes(terminal.raw))
    assert facts(report)["asked"] is False
    assert "did not query" in sentences(report)["Type"]


@pytest.mark.parametrize("term", ["dumb", "linux", "vt100"])
def test_old_terminals_are_asked_only_what_they_do_not_draw(tmp_path: Path, term: str) -> None:
    environment = clean_environment(tmp_path, TERM=term)
    with Answering(doctor(), environment, answers={PRIMARY: b"\x1b[?6c"}) as terminal:
        terminal.wait_exit()
        raw = bytes(terminal.raw)
    if term == "dumb":
        assert b"\x1b" not in raw
        assert b"cannot show a full screen" in raw
    else:
        assert b"\x1bP" not in raw
        assert b"\x1b[>" not in raw
        assert b"Glyphs: ASCII" in raw


def test_in_the_background_it_asks_nothing_and_is_not_stopped(tmp_path: Path) -> None:
    command = ["sh", "-c", f"set -m; {shlex.join(doctor())} & wait; echo DONE"]
    with PtySession(command, clean_environment(tmp_path), (120, 30)) as terminal:
        terminal.wait_for("DONE")
        assert "did not query" in terminal.text


@pytest.mark.parametrize(
    ("size", "is_too_small"), [((59, 24), True), ((60, 19), True), ((60, 20), False)]
)
def test_a_terminal_that_is_too_small_is_wrong(
    tmp_path: Path, size: tuple[int, int], is_too_small: bool
) -> None:
    with Answering(doctor(), clean_environment(tmp_path), size, answers=MODERN) as terminal:
        assert terminal.wait_exit() == 1
    says = b"FAIL  terminal       Size: %dx%d is too small. Make" % size
    assert (says in terminal.raw) == is_too_small


@pytest.mark.long
def test_tmux_is_asked_how_it_is_set(tmp_path: Path) -> None:
    out = tmp_path / "report.json"

    def report(*options: str, over_ssh: bool = False, **env: str) -> dict[str, Any]:
        command = [*(("env", "-u", "TMUX") if over_ssh else ()), *doctor(to=out)]
        with in_tmux(command, tmp_path, *options, **env) as terminal:
            terminal.wait_exit()
        found: dict[str, Any] = json.loads(out.read_text())
        return found

    inside = report("set -g allow-passthrough on")
    found, lines = facts(inside), sentences(inside)
    assert found["name"].startswith("tmux 3.")
    assert found["tmux"]["setClipboard"] == "external"
    assert found["tmux"]["allowPassthrough"] == "on"
    assert lines["Copying"] == "OK Copying: tmux passes copied values on to xterm-256color."
    assert "Ctrl+B" in lines["Keys"]
    linux = sentences(report(TERM="linux"))["Copying"]
    assert "set -as terminal-features ',linux:clipboard'" in linux
    for term, advice in (
        ("screen-256color", 'write [terminal] copy = "tmux"'),
        ("tmux-256color", "Set in that tmux: set -s set-clipboard on"),
    ):
        remote = report(f"set -g default-terminal {term}", over_ssh=True)
        assert advice in sentences(remote)["Copying"]


def test_gnu_screen_is_asked_nothing_that_it_would_spill(tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    with in_screen(doctor(to=out), tmp_path) as terminal:
        terminal.wait_exit()
        assert b"$q" not in terminal.raw
    report = json.loads(out.read_text())
    assert facts(report)["name"] == "GNU screen"
    assert "Ctrl+A" in sentences(report)["Keys"]
    assert "in pieces that GNU screen passes on" in sentences(report)["Copying"]


def is_raw(terminal: PtySession) -> bool:
    return not terminal.attributes()[3] & termios.ICANON


def test_doctor_shows_keys_as_they_arrive(tmp_path: Path) -> None:
    with Answering(
        doctor("--keys"), clean_environment(tmp_path), (100, 40), answers={}
    ) as terminal:
        terminal.wait_for("Press each of these keys")
        terminal.wait_until(lambda: is_raw(terminal), "the keys are listened to")
        for key, line in (
            ("enter", r"enter +arrives as \\r"),
            ("escape", r"esc +arrives as \\x1b$"),
            ("pagedown", r"pgdn +arrives as \\x1b\[6~"),
            ("f2", r"f2 +arrives as \\x1bOQ"),
            ("\x13", r"ctrl\+s +arrives as \\x13"),
            ("\x1b[115;5u", r"ctrl\+s +arrives as \\x1b\[115;5u"),
            ("\x1b[17~", r"f6 +arrives as .* not used by lockterm"),
            ("ž", r"arrives as \\u017e"),
            ("q", r"^ +q +arrives as q"),
        ):
            terminal.press(key, seen=line)
        assert terminal.wait_exit() == 0
        assert f"5 of {len(KEYS)} keys arrived." in terminal.text
        assert "Not seen: tab shift+tab" in terminal.text
        assert bytes(terminal.raw).rstrip().endswith(b"[keys].")
        terminal.assert_left_in_order()


def test_every_key_that_may_be_kept_is_in_the_test_of_keys() -> None:
    for place in PLACES.values():
        bound = {written(key) for keys in place.keys.values() for key in keys}
        assert {key for key in bound if len(key) > 1} <= set(KEYS), place.words
