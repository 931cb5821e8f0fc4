"""Where lockterm cannot be drawn it says so in one sentence and ends with 2."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.terminal.pty_session import LOCKTERM, Start, clean_environment


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


@pytest.mark.parametrize("stream", ["stdin", "stderr", "closed stderr"])
def test_ui_is_refused_when_a_stream_is_not_a_terminal(stream: str, tmp_path: Path) -> None:
    master, slave = pty.openpty()
    streams: dict[str, int] = {"stdin": slave, "stdout": subprocess.PIPE, "stderr": slave}
    if stream != "closed stderr":
        streams[stream] = subprocess.DEVNULL if stream == "stdin" else subprocess.PIPE
    closed = " 2>&-" if stream == "closed stderr" else ""
    try:
        result = subprocess.run(
            ["/bin/sh", "-c", f'exec "$@"{closed}', "sh", *LOCKTERM, "demo"],
            env=clean_environment(tmp_path),
            **streams,  # type: ignore[call-overload]
            start_new_session=True,
            timeout=30,
            check=False,
        )
        assert result.returncode == 2
        said = os.read(master, 4096) if stream == "stdin" else result.stderr or result.stdout
    finally:
        os.close(master)
        os.close(slave)
    assert said.startswith(b"lockterm: ")
    assert stream.removeprefix("closed ").encode() in said
    assert said.count(b"\n") == 1
