"""The detail that is read before a write is another remote's than the list showed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.screens.running_app import Starter, settled
from tests.screens.site import canned, words
from tests.screens.test_remotes_hostile import record

ANOTHER_LOCK: tuple[dict[str, Any], ...] = ({"lockId": 8}, {"lockInfo": {"lockId": 8}})


def service(sent: list[str], **detail: Any) -> Any:
    def write(_: Any) -> dict[str, Any]:
        sent.append("write")
        return {"errcode": 0, "data": {}}

    def page(_: Any) -> dict[str, Any]:
        counts = {"pageNo": 1, "pageSize": 20, "pages": 1, "total": 1}
        return {"errcode": 0, "data": {"list": [record(5)], **counts}}

    return canned(
        {
            "list": page,
            "detail": lambda _: {"errcode": 0, "data": record(5, **detail)},
            "checkRemoteName": lambda _: {"errcode": 0, "data": {}},
            "delete": write,
            "update": write,
        }
    )


@pytest.mark.parametrize("detail", ANOTHER_LOCK)
async def test_a_remote_of_another_lock_is_not_deleted(
    detail: dict[str, Any], lockterm_app: Starter
) -> None:
    sent: list[str] = []
    async with service(sent, **detail) as site, lockterm_app(site, 7) as pilot:
        await pilot.press("d")
        await settled(pilot)
        assert "The remote is now on lock 8. lockterm deleted nothing." in words(pilot.app)
        await pilot.press("D")
        await settled(pilot)
        assert sent == []


async def test_a_number_that_has_changed_is_shown_before_a_delete(lockterm_app: Starter) -> None:
    async with service([], remoteNumber="B-9") as site, lockterm_app(site, 7) as pilot:
        await pilot.press("d")
        await settled(pilot)
        assert "Number: R-5 -> B-9" in words(pilot.app)


@pytest.mark.parametrize("detail", [*ANOTHER_LOCK, {"remoteNumber": "B-9"}])
async def test_an_edit_of_another_remote_is_not_sent(
    detail: dict[str, Any], lockterm_app: Starter
) -> None:
    sent: list[str] = []
    async with service(sent, **detail) as site, lockterm_app(site, 7) as pilot:
        await pilot.press("e")
        await settled(pilot)
        await pilot.press("x", "ctrl+s")
        await settled(pilot)
        said = words(pilot.app)
        another = "to another remote: Remote 5 (B-9). Nothing was sent."
        assert "now belongs to lock 8. Nothing was sent." in said or another in said, said
        assert sent == []
