"""Where lockterm cannot be drawn it says so in one sentence and ends with 2."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal.pty_session import LOCKTERM, PtySession, clean_environment

Start = Callable[..., PtySession]


@pytest.mark.parametrize(
    ("env", "word"),
    [
        ({"TERM": "dumb"}, "dumb"),
        ({"TERM": ""}, "TERM"),
        ({"PYTHONIOENCODING": "latin-1"}, "LC_ALL=C.UTF-8"),
    ],
)
def test_a_terminal_that_cannot_show_a_screen(
    lockterm: Start, env: dict[str, str], word: str
) -> None:
    session = lockterm("demo", env=env)
    assert session.wait_exit() == 2
    assert b"\x1b" not in session.raw
    assert session.text.strip().startswith("lockterm: ")
    assert word in session.text


def test_lockterm_works_in_the_c_locale(lockterm: Start) -> None:
    session = lockterm("demo", env={"LANG": "C", "LC_ALL": "C"})
    session.wait_for("Main gate")
    session.press("q")
    assert session.wait_exit() == 0


@pytest.mark.parametrize("stream", ["stdin", "stderr"])
def test_ui_is_refused_when_a_stream_is_not_a_terminal(stream: str, tmp_path: Path) -> None:
    master, slave = pty.openpty()
    others = {"stdin": slave, "stdout": subprocess.PIPE, "stderr": slave}
    others[stream] = subprocess.DEVNULL if stream == "stdin" else subprocess.PIPE
    try:
        result = subprocess.run(
            [*LOCKTERM, "demo"],
            env=clean_environment(tmp_path),
            **others,  # type: ignore[call-overload]
            start_new_session=True,
            timeout=30,
            check=False,
        )
        assert result.returncode == 2
        said = os.read(master, 4096) if stream == "stdin" else result.stderr
    finally:
        os.close(master)
        os.close(slave)
    assert said.startswith(b"lockterm: ")
    assert stream.encode() in said
    assert said.count(b"\n") == 1


def test_a_closed_stderr(tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *LOCKTERM, "demo"]
    master, slave = pty.openpty()
    try:
        result = subprocess.run(
            command,
            env=clean_environment(tmp_path),
            stdin=slave,
            stdout=subprocess.PIPE,
            start_new_session=True,
            timeout=30,
            check=False,
        )
    finally:
        os.close(master)
        os.close(slave)
    assert (result.returncode, b"stderr" in result.stdout) == (2, True)
