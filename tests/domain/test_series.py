"""What the next remote of a series is called."""

from __future__ import annotations

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm.domain.remotes import Remote
from lockterm.domain.typed_remote import NamesInUse, counted_up, next_like, typed_like


@pytest.mark.parametrize(
    ("before", "taken", "after"),
    [
        ("A-9001", (), "A-9002"),
        ("A-9001", ("A-9002", "A-9003", "A-9005"), "A-9004"),
        ("0099", (), "0100"),
        ("A-99", (), "A-100"),
        ("Crew 9 (night)", (), "Crew 10 (night)"),
        ("2 keys, door 7", (), "2 keys, door 8"),
        ("Anna Weber", (), "Anna Weber 2"),
        ("Anna Weber", ("Anna Weber 2",), "Anna Weber 3"),
        ("\N{ARABIC-INDIC DIGIT SEVEN}", (), "\N{ARABIC-INDIC DIGIT SEVEN} 2"),
        ("", (), "2"),
        ("9" * 5000, (), "9" * 5000 + " 2"),
    ],
)
def test_the_last_number_counts(before: str, taken: tuple[str, ...], after: str) -> None:
    assert counted_up(before, taken) == after


@given(st.text(max_size=20), st.integers(1, 20))
def test_a_series_never_comes_back_to_what_is_taken(first: str, length: int) -> None:
    taken = {first}
    name = first
    for _ in range(length):
        name = counted_up(name, taken)
        assert name not in taken and len(name) >= len(first.strip())
        taken.add(name)


def test_what_belongs_to_one_device_is_not_the_next_ones() -> None:
    typed = {"remoteName": " Crew 1 ", "remoteNumber": "A-1", "endDate": "+30d", "remoteRight": "1"}
    device = {"mac": "C4:4E", "electricQuantity": "87", "firmwareInfo": "{}", "remoteUserNo": "7"}
    taken = NamesInUse([Remote.read({"id": 2, "remoteName": "Crew 2", "remoteNumber": "B-1"})])
    assert next_like(typed | device, taken) == typed | dict.fromkeys(device, "") | {
        "remoteName": "Crew 3",
        "remoteNumber": "A-2",
    }


def test_typed_like_takes_what_a_remote_has_when_it_can_be_typed() -> None:
    had = {"remoteName": "Anna", "remoteNumber": "A-1", "remoteType": "2", "isCoerced": "2"}
    raw = {**had, "id": 5, "startDate": 3_600_000, "endDate": "soon"}
    expected = typed_like(Remote(), UTC) | had | {"startDate": "1970-01-01 01:00"}
    assert typed_like(Remote.read(raw | {"remoteType": 2, "isCoerced": 2}), UTC) == expected


def test_taken_describes_same_and_near_names_and_numbers() -> None:
    taken = NamesInUse([Remote.read({"id": 1, "remoteName": "Zo\u00eb", "remoteNumber": "F0A9"})])
    same, near = (taken.describe_number(number) for number in ("F0A9", "f0a9"))
    assert same == "Zo\u00eb on this lock has the same number."
    assert near == "Zo\u00eb on this lock has nearly the same number, F0A9."
    assert taken.describe_number("F0A8") == taken.describe_number("") == ""
    assert "similar name: “Zo\u00eb”" in taken.describe_name("Zoe")
    assert taken.describe_name("Zoe\u0308") == taken.describe_name("Ben") == ""
    one, other = (Remote.read({"id": id, "remoteNumber": f"A-{id}"}) for id in (1, 2))
    assert NamesInUse([one, other, one], 2).words == NamesInUse([one, other], None).words == ""
    words = NamesInUse([one, one], 2).words
    assert words == "Only 1 of 2 remotes were read, so another remote may have this number."
