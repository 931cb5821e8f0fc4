"""``lockterm edit``: the edited table becomes a plan."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Scripts
from tests.terminal.pty_session import PtySession

EDITOR = """\
import os, pathlib, signal, sys
os.kill(os.getppid(), signal.SIGINT)  # ctrl+c is a key of the editor
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "and works in it"
file = pathlib.Path(sys.argv[1])
text = file.read_text("utf-8")
changes = pathlib.Path(__file__).with_name("changes")
before, after, *rest = changes.read_text().split("|")
changes.write_text("|".join(rest))
if after != "Open":
    file.write_text(text.replace(before, after), "utf-8")
if after == "Killed":
    os.kill(os.getpid(), signal.SIGKILL)
if after == "Removed":
    file.unlink()
"""


def editing(scripts: Scripts, changes: str, *options: str, visual: str = "") -> PtySession:
    """Edit lock 1004 with an editor that replaces texts such as ``before|after``."""
    scripts.file("changes", changes)
    editor = shlex.join([sys.executable, scripts.file("editor.py", EDITOR)])
    environment = {"VISUAL": visual or editor, "TMPDIR": str(scripts.home)}
    return scripts.terminal("edit", "1004", *options, **environment)


def answer(terminal: PtySession, question: str, key: str) -> None:
    terminal.wait_for(question)
    terminal.press(key, "enter")


AGAIN = r"Edit the table again\? \[y/N\]:"


def kept(folder: Path) -> list[Path]:
    return [*folder.glob("lockterm-*/lock-1004.csv")]


def test_edit_shows_and_runs_the_plan_when_a_person_agrees(scripts: Scripts) -> None:
    scripts.have()
    with editing(scripts, "Anna|Anna W.") as terminal:
        terminal.wait_for(r"Name: Anna -> Anna W\.")
        answer(terminal, r"1 to change\. Run the plan\? \[y/N\]:", "y")
        assert terminal.wait_exit() == 0
    assert [row["name"] for row in scripts.remotes(1004)] == ["Anna W."]
    assert kept(scripts.home) == []
    with editing(scripts, "x|x") as terminal:
        assert terminal.wait_exit() == 0
        assert "lock 1004 is unchanged." in terminal.text
    assert kept(scripts.home) == []


def test_edit_keeps_the_table_when_it_is_invalid(scripts: Scripts) -> None:
    scripts.have()
    with editing(scripts, "permanent|forever|forever|permanent") as terminal:
        answer(terminal, AGAIN, "y")
        terminal.wait_for(r"lock 1004 is unchanged\.")
        assert terminal.wait_exit() == 0
    with editing(scripts, "Anna|Removed") as terminal:
        answer(terminal, AGAIN, "n")
        assert terminal.wait_exit() == 2
        assert "is kept in" not in terminal.text
    assert not [*scripts.home.glob("lockterm-*")]
    with editing(scripts, "permanent|forever") as terminal:
        answer(terminal, AGAIN, "n")
        assert terminal.wait_exit() == 2
        assert "The edited table is kept in" in terminal.text
    (file,) = kept(scripts.home)
    assert "forever" in file.read_text()
    file.unlink()
    with editing(scripts, "Anna|Killed") as terminal:
        assert terminal.wait_exit() == 2
        assert "was ended by signal 9. Nothing was sent" in " ".join(terminal.text.split())
        assert "The edited table is kept in" in terminal.text
    (file,) = kept(scripts.home)
    assert "Killed" in file.read_text()
    assert scripts.writes() == []


def test_edit_skips_a_remote_when_someone_else_changed_it(scripts: Scripts) -> None:
    scripts.have()
    other = scripts.have(remoteName="Ben", remoteNumber="B-1")
    with editing(scripts, "Anna|Anna W.") as terminal:
        terminal.wait_for(r"Run the plan\?")
        scripts.rename(other, "Benno")
        terminal.press("y", "enter")
        assert terminal.wait_exit() == 0
    assert sorted(row["name"] for row in scripts.remotes(1004)) == ["Anna W.", "Benno"]


def test_edit_deletes_removed_lines_only_when_pruning(scripts: Scripts) -> None:
    line = f"1004,{scripts.have()},Anna,A-1,permanent,bluetooth,,,,default,"
    with editing(scripts, f"{line}|") as terminal:
        assert terminal.wait_exit() == 0
    with editing(scripts, f"{line}|", "--prune") as terminal:
        question = r"(?s)to be deleted: Anna \(A-1\).*Run the plan\? \[y/N\]:"
        answer(terminal, question, "y")
        assert terminal.wait_exit() == 0
    assert scripts.remotes(1004) == []


def test_edit_sends_nothing_when_terminal_or_editor_is_missing(scripts: Scripts) -> None:
    assert scripts.run("edit", "1004").returncode == 2
    with editing(scripts, "", visual="no-such-editor") as terminal:
        assert terminal.wait_exit() == 2
        assert re.search(r"The editor no-such-editor cannot\s+be started", terminal.text)
        assert not [*scripts.home.glob("lockterm-*")], "nothing was typed into it"
    assert scripts.writes() == []


def test_edit_keeps_the_table_when_the_editor_returns_at_once(scripts: Scripts) -> None:
    """Editors that open a window do; the table counts if a person says that it is saved."""
    scripts.have()
    question = r"Have you saved the table and closed the editor\? \[y/N\]:"
    with editing(scripts, "Anna|Open") as terminal:
        answer(terminal, question, "n")
        assert terminal.wait_exit() == 2
        told = " ".join(terminal.text.split())
        assert "returned at once" in told and "--wait" in told
        (file,) = kept(scripts.home)
        assert "The table is kept in" in terminal.text
        assert "lock 1004 is unchanged." not in terminal.text
    file.unlink()
    with editing(scripts, "Anna|Open") as terminal:
        terminal.wait_for(question)
        (file,) = kept(scripts.home)
        file.write_text(file.read_text("utf-8").replace("Anna", "Anna W."), "utf-8")
        terminal.press("y", "enter")
        answer(terminal, r"Name: Anna -> Anna W\.", "y")
        assert terminal.wait_exit() == 0
    assert [row["name"] for row in scripts.remotes(1004)] == ["Anna W."]
    assert kept(scripts.home) == []


@pytest.mark.parametrize("name", ["vim.basic", "nvim", "nano"])
def test_edit_turns_modelines_off_when_the_editor_is_vim(name: str, scripts: Scripts) -> None:
    scripts.have(remoteName="vim: set makeprg=x:")
    editor = scripts.home / "bin" / name
    editor.parent.mkdir()
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{scripts.home}/given\nexit 3\n')
    editor.chmod(0o700)
    (scripts.home / "bin/vi").symlink_to(editor)
    with editing(scripts, "", visual=f"{scripts.home}/bin/vi -n") as terminal:
        assert terminal.wait_exit() == 2
    given = (scripts.home / "given").read_text().splitlines()
    options = [] if name == "nano" else ["--cmd", "autocmd BufReadPre * set nomodeline"]
    assert given[:-1] == ["-n", *options]
