"""Paths that people type, paste or drop into a field."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockterm.paths import find_typed
from lockterm.widgets.completion import complete


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / "my files" / "site \u00fc.csv"
    file.parent.mkdir()
    file.write_text("lockId\n")
    return file


@pytest.mark.parametrize(
    "typed",
    [
        "{folder}/my files/site \u00fc.csv",
        "'{folder}/my files/site \u00fc.csv'",
        '"{folder}/my files/site \u00fc.csv"',
        "{folder}/my\\ files/site\\ \u00fc.csv",
        "'{folder}/my files/site \u00fc.csv' ",
        "file://{folder}/my%20files/site%20%C3%BC.csv",
        "file://localhost{folder}/my%20files/site%20%C3%BC.csv",
        "~/my files/site \u00fc.csv",
        "~/my\\ files/site\\ \u00fc.csv",
    ],
)
def test_find_typed_removes_one_layer_of_quoting(file: Path, typed: str) -> None:
    text = typed.format(folder=file.parent.parent)
    assert find_typed(text) == file
    assert complete(text.strip()).is_whole


@pytest.mark.parametrize("name", ["'a b'", "a\\ b", '"', "it's", "file:"])
def test_find_typed_takes_a_name_as_it_is_when_it_exists(file: Path, name: str) -> None:
    there = file.parent / name
    there.write_text("lockId\n")
    assert find_typed(f"{file.parent}/{name}") == there


@pytest.mark.parametrize(
    "typed", ["nowhere.csv", "'nowhere.csv'", "it's", "file://elsewhere/x", "a\0b", "x" * 5000]
)
def test_find_typed_returns_what_was_typed_when_nothing_is_there(file: Path, typed: str) -> None:
    assert find_typed(typed) == Path(typed)
