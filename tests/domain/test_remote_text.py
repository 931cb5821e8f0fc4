"""A remote field by field in words."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import pytest

from lockterm.domain.remotes import UNLISTED, Remote
from lockterm.domain.text.remote import describe_backup, describe_remote
from lockterm.domain.text.validity import describe_validity

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


def test_backup_words_are_of_one_remote_when_nothing_else_is_said() -> None:
    assert describe_backup({}).endswith("A restored remote gets a new ID.")
    assert describe_backup({}, many=True).endswith("Restored remotes get new IDs.")


def test_describe_backup_names_the_fields_that_it_lacks() -> None:
    record = dict.fromkeys(field.name for field in UNLISTED if field.name != "mac")
    assert describe_backup(record) == (
        "lockterm keeps a backup. It lacks MAC address, because the service does not"
        " return it. A restored remote gets a new ID."
    )
    assert "battery level, business ID and firmware info, because" in describe_backup({})


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
