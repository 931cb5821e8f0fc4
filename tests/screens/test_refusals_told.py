"""A refusal is told with the service's code, message and description, wherever it is told (7.2)."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.screens.remote_form.fields import TAKEN
from tests.screens.running_app import Starter, notices, settled
from tests.screens.site import MAIN_GATE, canned, fill_book, words

NO = {"errcode": -77, "errmsg": "gate shut", "description": "maintenance until noon", "data": {}}
NO_TOO = {"errorCode": -77, "errorMsg": "gate shut", "description": "maintenance until noon"}
WHOLE = "gate shut (code -77): maintenance until noon"
REMOTE = {
    "id": 5,
    "lockId": 1001,
    "remoteName": "Anna",
    "remoteNumber": "A-1",
    "remoteType": 1,
    "startDate": 0,
    "endDate": 0,
    "weekDay": [],
    "status": 1,
}


class Site:
    """A service with one remote that can begin to refuse what is told."""

    def __init__(self) -> None:
        self.refuses: set[str] = set()

    def answers(self) -> dict[str, Any]:
        data = {
            "/list": {"list": [REMOTE], "pageNo": 1, "pageSize": 20, "pages": 1, "total": 1},
            "/detail": REMOTE,
            "/delete": {},
            "/checkRemoteName": {},
        }
        made = {end: self._answer(end, value) for end, value in data.items()}
        return {
            "/voice/list": lambda body: NO,
            "/voice/packs": lambda body: NO_TOO,
            **made,
        }

    def _answer(self, end: str, value: Any) -> Any:
        good = {"errcode": 0, "errmsg": "ok", "description": "", "data": value}
        return lambda body: NO if end in self.refuses else good


async def press(pilot: Pilot[Any], *keys: str) -> None:
    await pilot.press(*keys)
    await settled(pilot)


async def test_where_a_page_should_be(lockterm_app: Starter) -> None:
    site = Site()
    site.refuses = {"/list"}
    async with canned(site.answers()) as server, lockterm_app(server, 1001) as pilot:
        assert f"Refused by the service {WHOLE}" in words(pilot.app)
        assert WHOLE in notices(pilot)  # the message log has it, to be read again


@pytest.mark.long
async def test_below_an_old_page_and_in_the_messages(lockterm_app: Starter) -> None:
    site = Site()
    async with canned(site.answers()) as server:
        async with lockterm_app(server, 1001, size=(160, 30)) as pilot:
            site.refuses = {"/list"}
            await press(pilot, "r")
            assert f"refused by the service: {WHOLE} · r to try again" in words(pilot.app)
        site.refuses = set()
        async with lockterm_app(server, 1001) as pilot:  # where all of it has no room
            site.refuses = {"/list"}
            await press(pilot, "r")
            assert "refused (code -77) · r to try again" in words(pilot.app)
            await press(pilot, "M")
            assert WHOLE in words(pilot.app)


async def test_in_a_notice_a_question_and_the_history(lockterm_app: Starter) -> None:
    site = Site()
    async with canned(site.answers()) as server, lockterm_app(server, 1001) as pilot:
        site.refuses = {"/delete"}
        await press(pilot, "d")
        await press(pilot, "D")
        assert WHOLE in notices(pilot)
        await press(pilot, "H")
        assert "delete refused -77" in words(pilot.app)
        await press(pilot, "enter")
        assert WHOLE in words(pilot.app)
        await press(pilot, "escape")
        await press(pilot, "escape")
        site.refuses = {"/detail"}
        await press(pilot, "d")
        assert WHOLE in words(pilot.app)


@pytest.mark.long
async def test_on_the_detail_of_a_remote(lockterm_app: Starter) -> None:
    site = Site()
    site.refuses = {"/detail"}
    async with canned(site.answers()) as server, lockterm_app(server, 1001) as pilot:
        await press(pilot, "enter")
        assert WHOLE in words(pilot.app)


@pytest.mark.long
async def test_beside_the_name_in_the_form(lockterm_app: Starter) -> None:
    site = Site()
    site.refuses = {"/checkRemoteName"}
    async with canned(site.answers()) as server, lockterm_app(server, 1001) as pilot:
        await press(pilot, "a")
        await press(pilot, *"Ben", "tab")
        assert WHOLE in words(pilot.app)


@pytest.mark.parametrize("name", ["Ben", "Anna"])
async def test_form_shows_the_words_of_the_name_check_when_the_list_lacks_the_name(
    lockterm_app: Starter, name: str
) -> None:
    site = Site()
    answers = site.answers()
    answers["/checkRemoteName"] = lambda _: {"errcode": -3, "errmsg": "Invalid Parameter."}
    async with canned(answers) as server, lockterm_app(server, 1001) as pilot:
        await press(pilot, "a")
        await press(pilot, *name, "tab")
        is_listed = name == REMOTE["remoteName"]
        assert (TAKEN in words(pilot.app)) is is_listed
        assert ("Invalid Parameter (code -3)" in words(pilot.app)) is not is_listed


@pytest.mark.long
async def test_in_both_halves_of_the_voices(lockterm_app: Starter) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    site = Site()
    async with (
        canned(site.answers()) as server,
        lockterm_app(server, 1001, size=(120, 40)) as pilot,
    ):
        await press(pilot, "v")
        assert words(pilot.app).count("(code -77)") == 2
        assert WHOLE in notices(pilot)


@pytest.mark.long
async def test_refusal_is_reported_once(
    lockterm_app: Starter,
) -> None:
    site = Site()
    async with canned(site.answers()) as server, lockterm_app(server, 1001) as pilot:
        site.refuses = {"/list", "/detail"}
        await press(pilot, "r")
        await press(pilot, "enter")
        for _ in range(2):  # over the detail, then over the page
            told, asked = notices(pilot), len(server.asked)
            await press(pilot, "M")
            await press(pilot, "escape")
            assert (notices(pilot), len(server.asked)) == (told, asked)
            await press(pilot, "escape")
