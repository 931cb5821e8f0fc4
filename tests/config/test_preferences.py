"""What was chosen and is kept: whatever stands in the place of its file, lockterm starts."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from lockterm.config.preferences import LARGEST, Preferences


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "choices.json"


def test_what_is_kept_is_there_again(file: Path) -> None:
    first, second = Preferences(file), Preferences(file)
    first.keep("theme", "nord")
    second.keep("columns", ["name"])
    second.keep("nothing", None)
    again = Preferences(file)
    assert (again.get("theme"), again.get("columns")) == ("nord", ["name"])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [entry.name for entry in file.parent.iterdir()] == ["choices.json"]
    again.keep("theme", None)
    assert json.loads(file.read_bytes()) == {"columns": ["name"]}


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b"null", b"{", b"\xff\xfe", b'{"theme": "nord"}' + b" " * LARGEST),
        *(b"[" * 50_000, b'{"theme": ' + b"9" * 5000 + b"}"),
    ],
    ids=lambda content: repr(content[:12]),
)
def test_what_cannot_be_read_is_nothing_chosen(file: Path, content: bytes) -> None:
    file.parent.mkdir(mode=0o700)
    file.write_bytes(content)
    # Left by a killed session: in containers every session may have the same process ID.
    (file.parent / f".choices.json.{os.getpid()}").write_bytes(b"half")
    choices = Preferences(file)
    assert choices.get("theme") is None
    choices.keep("theme", "nord")
    assert Preferences(file).get("theme") == "nord"


def test_a_pipe_or_a_device_is_not_waited_for(file: Path, tmp_path: Path) -> None:
    file.parent.mkdir(mode=0o700)
    os.mkfifo(file)
    assert Preferences(file).get("theme") is None
    endless = tmp_path / "endless.json"
    endless.symlink_to("/dev/zero")
    assert Preferences(endless).get("theme") is None
