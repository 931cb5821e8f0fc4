"""The last sentence of a command."""

from __future__ import annotations

import sys
from io import StringIO

import pytest

from lockterm.cli import exit_codes


@pytest.mark.parametrize(
    ("has_stderr", "has_stdout"), [(True, True), (False, True), (True, False), (False, False)]
)
def test_notify_writes_one_sentence_when_a_stream_is_open(
    monkeypatch: pytest.MonkeyPatch, has_stderr: bool, has_stdout: bool
) -> None:
    """A stream that was closed before the start is None."""
    streams = {"stderr": StringIO() if has_stderr else None}
    streams["stdout"] = StringIO() if has_stdout else None
    for name, stream in streams.items():
        monkeypatch.setattr(sys, name, stream)
    exit_codes.notify("Nothing was changed.")
    written = [stream.getvalue() for stream in streams.values() if stream is not None]
    expected = ["lockterm: Nothing was changed.\n", ""] if written else []
    assert written == expected[: len(written)]
