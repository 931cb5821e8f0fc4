"""Files of locks: every form they come in, and what is wrong with one, line by line."""

from __future__ import annotations

import codecs

import pytest

from lockterm.domain.lock_file import LockFileError, read_locks
from lockterm.domain.locks import Lock


@pytest.mark.parametrize(
    "text",
    [
        "1001,Main gate\n1002\n",
        "1001;Main gate\n1002;\n",
        "1001\tMain gate\r\n1002\t\r\n",
        'lockId,name\n1001,"Main gate"\n1002,\n',
        "Name;Vendor;Lock id\nMain gate;;1001\n;;1002",
        "\n\n 1001 , Main gate \n\n1002\n",
        "lockId,name,alias,remotes,opened\n1001,Main gate,Gate,7,\n1002,,,,\n",
    ],
)
def test_lines_and_columns_in_any_order(text: str) -> None:
    for data in (text.encode(), codecs.BOM_UTF8 + text.encode(), text.encode("utf-16")):
        found = read_locks(data)
        assert [(one.lock_id, dict(one.told)) for one in found] == [
            (1001, {"name": "Main gate"}),
            (1002, {}),
        ]


def test_line_changes_only_its_own_fields() -> None:
    (line,) = read_locks(b"1001,,nordriegel,,Europe/Berlin\n")
    known = Lock(1001, name="Gate", vendor="old", model="NR", remotes=7)
    assert line.onto(known) == Lock(
        1001, name="Gate", vendor="nordriegel", model="NR", zone="Europe/Berlin", remotes=7
    )
    assert line.onto(None) == Lock(1001, vendor="nordriegel", zone="Europe/Berlin")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", ["no lock"]),
        (b"lockId,name\n", ["no lock"]),
        (b"1001\nabc,Gate\n0\n", ["line 2: the ID is 'abc'", "line 3: the ID is '0'"]),
        (b"1001,A\n1002\n1001,B\n", ["line 3: lock 1001 is on line 1 already"]),
        (b"1001,A\x1b[31m\n", ["line 1: Not a text file: it contains the byte 0x1B"]),
        (b"1001,A,,,Europe/Berln\n", ["line 1: the zone 'Europe/Berln' is not a time zone"]),
        (b"1001,A,v,m,,more\n", ["line 1: the line has 6 cells"]),
        (b"lockId,color\n1,red\n", ["line 1: unknown column", "color"]),
        (b"name,vendor\nA,B\n", ["lockId"]),
        (b"id,lockId\n1,1\n", ["once"]),
        (b'1001,"Gate\n', ["The CSV cannot be read"]),
        (b"1001,A\n1002,\xff\n", ["line 2: Neither UTF-8 nor UTF-16: byte 0xFF"]),
        (b"1001,A\n\x00\x01\n", ["line 2: Not a text file"]),
        (b"sep=;\nlockId;name\nabc;Tor\n", ["line 3: the ID is 'abc'"]),
    ],
)
def test_problems_name_their_line(data: bytes, words: list[str]) -> None:
    with pytest.raises(LockFileError) as caught:
        read_locks(data)
    said = "\n".join(caught.value.problems)
    for word in words:
        assert word in said
    assert "\x1b" not in said
