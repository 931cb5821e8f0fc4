"""A bug of lockterm ends it with a sentence, the log has the traceback, and nobody sees secrets."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.terminal.pty_session import PtySession, clean_environment

SECRET = "hunter2-hunter2"


@pytest.mark.long
def test_a_crash_shows_no_locals(tmp_path: Path) -> None:
    command = [sys.executable, str(Path(__file__).with_name("crashing.py"))]
    environment = clean_environment(tmp_path, SECRET=SECRET)
    with PtySession(command, environment, size=(120, 40)) as session:
        session.wait_for("Locks.*127.0.0.1:1")
        session.send(b"\x1b[20~")  # F9

        assert session.wait_exit() == 1

        assert session.attributes() == session.attributes_before
        log = (tmp_path / "state/lockterm/lockterm.log").read_text()
    assert "ended because of a bug" in session.text
    assert b"Traceback" not in session.raw
    assert SECRET.encode() not in session.raw
    assert "Traceback" in log
    assert "key_f9" in log
    assert SECRET not in log
