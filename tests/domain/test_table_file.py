"""Table files: what is read of whatever a spreadsheet writes, and what is refused, and where."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm.cli.remotes import CSV_COLUMNS
from lockterm.domain.table_columns import guarded, unguarded
from lockterm.domain.table_file import TableFileError, read_table
from lockterm.operations.export import FORMULA_STARTS

HEADER = "lockId,remoteNumber,remoteName\r\n"


def said(data: bytes) -> list[str]:
    try:
        problems = read_table(data).problems
    except TableFileError as refused:
        problems = refused.problems
    return [str(problem) for problem in problems]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_every_delimiter_and_encoding_is_read(delimiter: str, encoding: str) -> None:
    text, odd = io.StringIO(newline=""), '王; "Anna", Tür\t1'
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(["Lock id", "NUMBER", "Name", "action"])
    writer.writerow(["1001", "0012", odd, "add"])
    (row,) = read_table(text.getvalue().encode(encoding)).rows
    cells = {"lockId": "1001", "remoteNumber": "0012", "remoteName": odd, "action": "add"}
    assert dict(row.cells) == cells


def test_lines_are_those_of_the_file_and_of_the_remotes_of_an_export() -> None:
    for first in (b"sep=;\r\n", b"SEP=;\n", b'"sep=;"\n'):
        rows = read_table(first + b'lockId;remoteName\r\n1;"a\nb"\r\n;\r\n2;c\r\n').rows
        assert [(row.line, row.cells["remoteName"]) for row in rows] == [(3, "a\nb"), (6, "c")]
    remotes = [{"remoteName": '}{"][', "extraData": {"a": [{}, {}]}}, {"remoteName": "b"}]
    locks = [{"lockId": 7, "remotes": remotes}]
    whole = json.dumps({"format": "lockterm-remotes", "version": 1, "locks": locks}, indent=1)
    text = whole.split("\n")
    names = ('"remoteName": "}{', '"remoteName": "b"')
    for row, name in zip(read_table(whole.encode()).rows, names, strict=True):
        assert text[row.line - 1].strip() == "{"
        assert text[row.line].strip().startswith(name)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "The file is empty."),
        (b"\xef\xbb\xbf \r\n", "The file is empty."),
        (b'PK\x03\x04rest', "This is a spreadsheet file."),
        (HEADER.encode() + b"1,2,\x00", "line 2: Not a text file: it contains the byte 0x00."),
        (HEADER.encode() + b"1,2,T\xfcr", "line 2: Neither UTF-8 nor UTF-16: byte 0xFC is"),
        (b'lockId,remoteName,color\n', "line 1, column color, “color”: Unknown column."),
        (b"lockId;Name;remoteName\n", "line 1, column remoteName, “remoteName”: Duplicate column."),
        (b"remoteName\nAnna\n", "line 1: The column lockId is missing."),
        (b'lockId,endDate\n1,2\n', "line 1: No column identifies the remote."),
        (HEADER.encode() + b"1,2\n", "line 2: Part of the line is missing: it has 2 of 3 cells."),
        (HEADER.encode() + b"1,2,3,4\n", "line 2: “4” is in a column without a name."),
        (b"lockId,remoteName,\n1,2,3\n", "line 2: “3” is in a column without a name."),
        (HEADER.encode() + b'1,2,"3\n', "line 2: The CSV cannot be read from here on:"),
        (b"[]", 'Not an export of lockterm: "format" is not "lockterm-remotes".'),
        (b"{\n,", "line 2: Not JSON at column 1: a name in double quotes is missing."),
        (b"[" * 100_000, "The JSON cannot be read: too many brackets or digits."),
        (b'{"format": 1, "format": 2}', "The key “format” occurs twice in one object."),
        (b'{"format": "lockterm-remotes", "version": 2, "locks": []}', "The export has version"),
        (b'{"format": "lockterm-remotes", "version": 1, "lock": []}', "“lock” does not have"),
        (b'{"format": "lockterm-remotes", "version": 1, "locks": [{"lockId": "1"}]}',
         "Lock 1 of the file does not have the format of an export."),
    ],
)  # fmt: skip
def test_file_is_refused_when_it_is_not_a_table(data: bytes, words: str) -> None:
    (problem,) = said(data)
    assert problem.startswith(words)


def test_every_wrong_line_is_reported_and_the_others_keep_their_columns() -> None:
    assert said(HEADER.encode() + b"1,2\n1,2,3\n1,2,3,4\n") == [
        "line 2: Part of the line is missing: it has 2 of 3 cells.",
        "line 4: “4” is in a column without a name.",
    ]
    table = read_table(b"lockId,remoteName,color\n1,Anna,red\n1,2\n")
    assert [problem.line for problem in table.problems] == [1, 3]
    assert [dict(row.cells) for row in table.rows] == [{"lockId": "1", "remoteName": "Anna"}]
    table = read_table(b"lockId,,remoteNumber,remoteName\n1,,'2,Anna,, ,\n1,x,2,Anna\n")
    anna = {"lockId": "1", "remoteNumber": "'2", "remoteName": "Anna"}
    assert [dict(row.cells) for row in table.rows] == [anna]
    assert [*map(str, table.problems)] == ["line 3: “x” is in a column without a name."]


@given(st.text() | st.text("'=+-@ \t;\n\"a＝"))
def test_what_could_be_a_formula_is_guarded_and_comes_back(text: str) -> None:
    cell = guarded(text)
    assert unguarded(cell) == text
    for part in cell.replace("\n", ";").replace("\t", ";").split(";"):
        assert not part.lstrip().startswith(tuple(FORMULA_STARTS)), cell


@given(
    st.binary(max_size=200) | st.text(max_size=200).map(str.encode),
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["lockId", "remotes", "id", "lockInfo"]), inner)
        ),
    ),
)
def test_nothing_but_a_refusal_comes_of_whatever_bytes_and_json(data: bytes, locks: Any) -> None:
    whole = json.dumps({"format": "lockterm-remotes", "version": 1, "locks": locks}).encode()
    for given_bytes in (data, HEADER.encode() + data, whole[:30] + data, whole):
        try:
            read_table(given_bytes)
        except TableFileError as error:
            assert error.problems


def test_the_output_of_a_list_is_refused_with_the_command_that_writes_tables() -> None:
    columns = ",".join(CSV_COLUMNS)
    for header in (columns, f"lockName,{columns}"):
        (problem,) = said(f"{header}\n".encode())
        assert 'with "lockterm export LOCK --csv"' in problem
