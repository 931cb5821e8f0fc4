"""Texts of remotes, differences, durations and languages; the document of all texts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from lockterm.domain import dates
from lockterm.domain.languages import name_of
from lockterm.domain.remotes import UNLISTED, Remote
from lockterm.domain.text.remote import describe_backup, describe_remote, find_differences
from lockterm.domain.text.validity import describe_validity
from tests.texts import DOCUMENT, find_unrendered, render

NOW = 1_795_161_600_000
"""2026-11-20T08:00:00Z."""


def shown(**raw: Any) -> dict[str, str]:
    """The lines of a detail: the contract's name -> what it says."""
    remote = Remote.read({"id": 7, **raw})
    return {
        one.name: one.shown
        for one in describe_remote(remote, describe_validity(remote, NOW, UTC), UTC, NOW)
        if one.name
    }


@pytest.mark.parametrize("kind", [1, 2, 4])
@pytest.mark.parametrize("end", [0, NOW])
def test_detail_calls_an_end_permanent_only_when_type_and_end_say_so(kind: int, end: int) -> None:
    says = shown(remoteType=kind, startDate=0, endDate=end)["endDate"]
    assert (says == "none (permanent)") == (kind == 1 and end == 0)
    assert ("20 Nov 2026" in says) == (end == NOW)


def test_describe_backup_names_the_fields_that_it_lacks() -> None:
    record = dict.fromkeys(field.name for field in UNLISTED if field.name != "mac")
    assert describe_backup(record) == (
        "lockterm keeps a backup. It lacks MAC address, because the service does not"
        " return it. A restored remote gets a new ID."
    )
    assert "battery level, business ID and firmware info, because" in describe_backup({})
    assert describe_backup({}, many=True).endswith("Restored remotes get new IDs.")


@pytest.mark.parametrize(
    ("lock_info", "says"),
    [
        ({"lockId": 1001, "lockName": "Gate"}, ""),
        ({"lockId": 1002, "lockName": "Gate"}, "1002 (differs from the lock ID above)"),
        ({"lockId": "x", "lockName": "Gate"}, "x (differs from the lock ID above)"),
    ],
)
def test_detail_names_the_lock_of_the_info_when_it_is_another(
    lock_info: dict[str, Any], says: str
) -> None:
    assert shown(lockId=1001, lockInfo=lock_info).get("lockInfo", "") == says


BERLIN = ZoneInfo("Europe/Berlin")


def test_differences_are_named_and_safe_to_show() -> None:
    before = Remote(remote_name="A", remote_type=1, extra_data={"a": 1})
    end_ms, changed = NOW + dates.DAY_MS, {"a": True}
    after = Remote(remote_name="\x1b[31m", remote_type=2, start_ms=NOW, end_ms=end_ms)
    after = replace(after, extra_data=changed)
    assert [str(item) for item in find_differences(before, after, BERLIN)] == [
        "Name: A -> �[31m",
        "Type: permanent -> time-limited",
        "Start: none -> 20 Nov 2026 09:00 +01:00",
        "End: none -> 21 Nov 2026 09:00 +01:00",
        'Extra data: {"a": 1} -> {"a": true}',
    ]
    assert find_differences(before, before, BERLIN) == []
    rooms = {"note": "Snow clearing and gritting, all car parks", "rooms": [101, 102, 103]}
    before = Remote(extra_data={**rooms, "badge": {"code": 7009, "color": "red"}})
    after = Remote(extra_data={**rooms, "badge": {"code": 7010, "color": "red"}})
    (difference,) = find_differences(before, after, BERLIN)
    assert str(difference) == "Extra data badge.code: 7009 -> 7010", "only the part that differs"


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("de-DE", ("German", "Deutsch", "German (Germany)", "Deutsch (Deutschland)")),
        ("zh_Hant", ("Chinese", "中文", "Chinese (Traditional)", "中文 (繁體)")),
        ("DE-abc", ("German", "", "German", "")),  # the CLDR does not have the region
        *((code, None) for code in ("", "d", "xx", "zz-DE", "deutsch", "d\xe9", "de" * 21)),
    ],
)
def test_name_of_returns_all_names_or_none(code: str, names: tuple[str, ...] | None) -> None:
    found = name_of(code)
    assert (found and (found.english, found.own, found.english_full, found.own_full)) == names


def test_document_of_texts_is_current() -> None:
    """After a change of words: ``python -m tests.texts``, and read what has changed."""
    assert render() == DOCUMENT.read_text("utf-8")


def test_document_shows_every_function_that_returns_words() -> None:
    assert find_unrendered() == []
