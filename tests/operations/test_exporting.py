"""The exported history: what a spreadsheet reads from it, and what others on the machine can."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import stat
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm.cli.output import put_csv
from lockterm.domain.operation import Operation, OperationState
from lockterm.errors import StoreError
from lockterm.operations.export import export_history, history_as_csv, history_as_json
from tests.conftest import NOW_MS
from tests.samples import an_operation

BERLIN, TOKYO = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Tokyo")


def operation(**other: Any) -> Operation:
    body = {"remoteId": 5, "remoteName": "=1+1"}
    fields = {"body": body, "remote_id": 5, "before": ({"id": 5},), "state": OperationState.REFUSED}
    return an_operation(**{"profile": "site", "code": -3, "message": "", **fields, **other})


anything = st.text(st.characters(), max_size=12)
dangerous = st.builds(str.__add__, st.sampled_from("=+-@\t\r\n＝＋－＠"), anything)


@given(st.lists(anything | dangerous, min_size=3, max_size=3))
def test_no_cell_is_a_formula_and_no_text_changes(texts: list[str]) -> None:
    remote_name, lock_name, message = texts
    row = operation(remote_name=remote_name, lock_name=lock_name, message=message)
    raw = history_as_csv([row, row], BERLIN, {})
    titles, first, second = csv.reader(io.StringIO(raw.decode("utf-8"), newline=""))
    assert first == second
    cells = dict(zip(titles, first, strict=True))
    for name, text in (
        ("Remote", remote_name or "remote 5"),
        ("Lock", lock_name or "lock 1001"),
        ("Note", message),
    ):
        readable = text.encode("utf-8", "backslashreplace").decode()
        assert cells[name].replace("'", "") == readable.replace("'", "")
    for name, cell in cells.items():
        assert not cell.startswith(tuple("=+-@\t\r\n＝＋－＠")), (name, cell)
    (exported, _) = json.loads(history_as_json([row, row], BERLIN))
    assert exported["remote_name"] == remote_name


parts = st.sampled_from(['"', "'", ";", "\t", "\n", "\r\n", ",", " ", "=1", "+1", "-1", "@x", "a"])


@given(st.lists(parts, max_size=12).map("".join))
def test_no_cell_is_a_formula_wherever_a_spreadsheet_splits(text: str) -> None:
    """Also where it splits in the middle of our cells, and takes a quote for nothing special."""
    raw = history_as_csv([operation(remote_name=text, message=text)], BERLIN, {}).decode()
    put = io.TextIOWrapper(io.BytesIO())
    with contextlib.redirect_stdout(put):
        put_csv(("id", "remoteName"), [{"id": -5, "remoteName": text}])
    for table in (raw, put.buffer.getvalue().decode()):
        for delimiter in ";\t":
            for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
                rows = csv.reader(
                    io.StringIO(table, newline=""), delimiter=delimiter, quoting=quoting
                )
                for cell in (cell for row in rows for cell in row):
                    assert not cell.lstrip(' "').startswith(tuple("=+-@")), (delimiter, cell, text)


def test_people_get_words_and_the_times_of_the_lock() -> None:
    row = operation(body={"remoteId": 5, "endDate": NOW_MS}, state=OperationState.CONFIRMED)
    raw = history_as_csv([row], BERLIN, {1001: TOKYO}).decode()
    assert raw.endswith("\r\n") and raw.count("\r\n") == 2
    assert next(csv.DictReader(io.StringIO(raw, newline=""))) == {
        "When": "2026-11-20 09:00 +01:00",
        "What": "change",
        "Lock": "Main gate",
        "Remote": "Anna",
        "Details": "End: none -> 20 Nov 2026 17:00 +09:00",
        "Result": "recorded by the service",
        "Note": "",
    }


def test_the_files_are_new_and_private(tmp_path: Path) -> None:
    directory = tmp_path / "data" / "exports"
    one = export_history([operation()], directory, BERLIN, NOW_MS, {})
    other = export_history([operation()], directory, BERLIN, NOW_MS, {})
    assert [path.name for path in (*one, *other)] == [
        "history-20261120-080000Z.csv",
        "history-20261120-080000Z.json",
        "history-20261120-080000Z-2.csv",
        "history-20261120-080000Z-2.json",
    ]
    for path in (*one, *other):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


@pytest.mark.parametrize("is_link", [False, True])
def test_what_is_in_the_way_is_neither_replaced_nor_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_link: bool
) -> None:
    """A file that another session made just now, or a link."""
    theirs, victim = tmp_path / "history-20261120-080000Z.json", tmp_path / "victim"
    if is_link:
        theirs.symlink_to(victim)
    else:
        theirs.write_text("theirs")
        monkeypatch.setattr("lockterm.operations.export.os.path.lexists", lambda path: False)
    files = export_history([operation()], tmp_path, BERLIN, NOW_MS, {})
    assert [file.stem[-2:] for file in files] == ["-2", "-2"]
    assert not victim.exists() and (is_link or theirs.read_text() == "theirs")
    assert len(list(tmp_path.iterdir())) == 3


def test_what_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lockterm.operations.export.os.fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        export_history([operation()], tmp_path, BERLIN, NOW_MS, {})
    assert list(tmp_path.iterdir()) == []
