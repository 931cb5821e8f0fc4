"""A service that sends what breaks terminals, markup, layouts and the contract."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from lockterm.screens.plan import PlanScreen
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.detail import RemoteDetailScreen
from tests.conftest import NOW_MS
from tests.long import telling
from tests.screens.running_app import Starter, settled, shown
from tests.screens.site import (
    HOSTILE,
    answered,
    canned,
    page_of,
    press,
    press_to,
    settled_when,
    words,
)

ODD: tuple[Any, ...] = (None, True, -1, 2**70, 1.5, [], {"a": "[/]"}, ["\x1b[2J"], "\x1b]0;x\x07")
"""Values of the wrong kind for every field."""

FIELDS = (
    *("id", "lockId", "remoteName", "remoteNumber", "remoteType", "remoteTypeName", "addType"),
    *("addTypeName", "startDate", "endDate", "weekDay", "isCoerced", "extraData", "status"),
    *("statusName", "apiUserId", "createTime", "updateTime", "mac", "electricQuantity"),
    *("firmwareInfo", "remoteUserNo", "businessId", "remoteRight", "lockInfo", "[@click=x]y"),
)


def record(number: int, **fields: Any) -> dict[str, Any]:
    return {
        **{"id": number, "lockId": 7, "remoteName": f"Remote {number}", "addType": 1},
        **{"remoteNumber": f"R-{number}", "remoteType": 4, "weekDay": [1, 2], "isCoerced": 0},
        **{"startDate": NOW_MS - 1000, "endDate": NOW_MS + 86_400_000, "extraData": {}},
        "status": 1,
    } | fields


def hostile_records() -> list[dict[str, Any]]:
    named = ("remoteName", "remoteNumber", "remoteTypeName", "addTypeName", "statusName", "mac")
    texts = [
        record(
            100 + place,
            **dict.fromkeys(named, text),
            extraData={text: [text]},
            lockInfo={"lockId": 7, "lockName": text, "lockAlias": text, text: text},
            **{text or "empty": text},
        )
        for place, text in enumerate(HOSTILE)
    ]
    odd = [
        record(1000 + 20 * row + column, **{field: value})
        for row, field in enumerate(FIELDS)
        for column, value in enumerate(ODD)
    ]
    wholly = [record(0, **dict.fromkeys(FIELDS, value)) for value in ODD]
    # The same id twice, and nothing at all.
    return texts + wholly + odd + [record(1), record(1), {}]


def enveloped(data: Any) -> dict[str, Any]:
    return {"errcode": 0, "errmsg": "[/]", "description": "\x1b[2J", "data": data}


def check(pilot: Pilot[Any]) -> None:
    """Nothing that steers a terminal stands in what would be painted, every line fits."""
    for line in shown(pilot).split("\n"):
        bad = [char for char in line if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")]
        assert not bad, line
        assert not set("\u202e\u2066\ufeff\u200b") & set(line), line


@pytest.mark.parametrize("size", telling([(60, 20)], [(80, 24), (60, 20), (140, 40)]))
async def test_hostile_records_in_the_table(lockterm_app: Starter, size: tuple[int, int]) -> None:
    records = hostile_records()
    answers = {"/list": lambda _: enveloped(page_of(records))}
    async with canned(answers) as server, lockterm_app(server, 7, size=size) as pilot:
        for _ in range(len(records) // (size[1] - 5) + 1):
            check(pilot)
            starts = [
                cell_len(line.partition("recurring")[0])
                for line in shown(pilot).split("\n")
                if "recurring" in line and size[0] > 60 and "BT" in line
            ]
            assert len(set(starts)) <= 1, "the columns are not in line"
            await pilot.press("pagedown")
            await pilot.press("up")
        await press(pilot, "G", "y")
        check(pilot)
        assert pilot.app.is_running


@pytest.mark.long
async def test_hostile_records_in_detail_and_dialogs(lockterm_app: Starter) -> None:
    records = {index: item for index, item in enumerate(hostile_records())}

    def one(body: dict[str, Any]) -> Any:
        return enveloped(records[body["remoteId"]] | {"id": body["remoteId"]})

    answers = {"/list": page_of([]), "/detail": one}
    async with canned(answers) as server, lockterm_app(server, 7) as pilot:
        base = pilot.app.screen
        assert isinstance(base, RemotesScreen)
        for index in range(len(HOSTILE) + len(ODD)):
            name = str(records[index]["remoteName"])
            detail = RemoteDetailScreen(base.operations, base.lock_entry, index, name)
            pilot.app.push_screen(detail)
            keys = [("y", "G", "y", "d"), ("escape", "u"), ("escape",)] * (index < len(HOSTILE))
            for pressed in ((), *keys):
                await press(pilot, *pressed)
                check(pilot)
            assert detail.state.seen is not None
            await pilot.press("escape")
        for message in pilot.app.messages:
            assert (message.title + message.text).isprintable()


async def test_a_remote_whose_name_is_spaces_is_asked_about_by_its_id(
    lockterm_app: Starter,
) -> None:
    remote = {"id": 48227, "lockId": 7, "remoteName": "   ", "remoteNumber": "\u3000"}
    answers = {"/list": page_of([remote]), "/detail": remote}
    async with canned(answers) as server, lockterm_app(server, 7) as pilot:
        await settled(pilot)
        assert '"   "' in shown(pilot)
        await pilot.press("d")
        await settled_when(pilot, lambda: "Delete remote 48227 from lock 7?" in shown(pilot))
        await press_to(pilot, PlanScreen, "escape", "space", "d")
        assert "remote 48227, lock 7: " in shown(pilot)


# --- another remote or lock than the list showed -------------------------------------------------

ANOTHER_LOCK: tuple[dict[str, Any], ...] = ({"lockId": 8}, {"lockInfo": {"lockId": 8}})


def service(sent: list[str], **detail: Any) -> Any:
    def write(_: Any) -> dict[str, Any]:
        sent.append("write")
        return answered({})

    return canned(
        {
            "list": page_of([record(5)]),
            "detail": record(5, **detail),
            "checkRemoteName": {},
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
        await press(pilot, "d")
        assert "The remote is now on lock 8. lockterm deleted nothing." in words(pilot.app)
        await press(pilot, "D")
        assert sent == []


async def test_a_number_that_has_changed_is_shown_before_a_delete(lockterm_app: Starter) -> None:
    async with service([], remoteNumber="B-9") as site, lockterm_app(site, 7) as pilot:
        await press(pilot, "d")
        assert "Number: R-5 -> B-9" in words(pilot.app)


@pytest.mark.parametrize("detail", [*ANOTHER_LOCK, {"remoteNumber": "B-9"}])
async def test_an_edit_of_another_remote_is_not_sent(
    detail: dict[str, Any], lockterm_app: Starter
) -> None:
    sent: list[str] = []
    async with service(sent, **detail) as site, lockterm_app(site, 7) as pilot:
        await press(pilot, "e")
        await press(pilot, "x", "ctrl+s")
        said = words(pilot.app)
        another = "to another remote: Remote 5 (B-9). Nothing was sent."
        assert "now belongs to lock 8. Nothing was sent." in said or another in said, said
        assert sent == []
