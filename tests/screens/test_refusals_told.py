"""A refusal is told with the service's code, message and description, wherever it is told (7.2)."""

from __future__ import annotations

from typing import Any

import pytest

from lockterm.screens.remote_form.saving import TAKEN
from tests.screens.running_app import Starter, notices
from tests.screens.site import MAIN_GATE, answered, canned, fill_book, page_of, press, words

NO = {"errcode": -77, "errmsg": "gate shut", "description": "maintenance until noon", "data": {}}
NO_TOO = {"errorCode": -77, "errorMsg": "gate shut", "description": "maintenance until noon"}
WHOLE = "gate shut (code -77): maintenance until noon"
REMOTE = {
    **{"id": 5, "lockId": 1001, "remoteName": "Anna", "remoteNumber": "A-1", "remoteType": 1},
    **{"startDate": 0, "endDate": 0, "weekDay": [], "status": 1},
}


class Site:
    """A service with one remote that can begin to refuse what is told."""

    def __init__(self, *refuses: str) -> None:
        self.refuses = {*refuses}

    def running(self) -> Any:
        data = {
            "/list": page_of([REMOTE]),
            "/detail": REMOTE,
            "/delete": {},
            "/checkRemoteName": {},
        }
        made = {end: self._answer(end, value) for end, value in data.items()}
        return canned({"/voice/list": lambda _: NO, "/voice/packs": lambda _: NO_TOO, **made})

    def _answer(self, end: str, value: Any) -> Any:
        return lambda _: NO if end in self.refuses else answered(value)


@pytest.mark.parametrize(
    ("call", "keys"),
    [
        ("/list", [()]),
        pytest.param("/detail", [("enter",)], marks=pytest.mark.long),
        pytest.param("/checkRemoteName", [("a",), (*"Ben", "tab")], marks=pytest.mark.long),
    ],
)
async def test_page_detail_and_form_quote_a_refusal(
    lockterm_app: Starter, call: str, keys: list[tuple[str, ...]]
) -> None:
    async with Site(call).running() as server, lockterm_app(server, 1001) as pilot:
        for pressed in keys:
            await press(pilot, *pressed)
        assert WHOLE in words(pilot.app)
        assert call != "/list" or WHOLE in notices(pilot), "the messages have it, too"


@pytest.mark.long
@pytest.mark.parametrize(
    ("width", "told"), [(160, f"refused by the service: {WHOLE}"), (80, "refused (code -77)")]
)
async def test_old_page_says_that_reading_it_again_was_refused(
    lockterm_app: Starter, width: int, told: str
) -> None:
    site = Site()
    async with site.running() as server, lockterm_app(server, 1001, size=(width, 30)) as pilot:
        site.refuses = {"/list"}
        await press(pilot, "r")
        assert f"{told} · r to try again" in words(pilot.app)
        await press(pilot, "M")
        assert WHOLE in words(pilot.app)


async def test_in_a_notice_a_question_and_the_history(lockterm_app: Starter) -> None:
    site = Site()
    async with site.running() as server, lockterm_app(server, 1001) as pilot:
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


@pytest.mark.parametrize("name", ["Ben", "Anna"])
async def test_form_shows_the_words_of_the_name_check_when_the_list_lacks_the_name(
    lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    site = Site("/checkRemoteName")
    monkeypatch.setitem(globals(), "NO", {"errcode": -3, "errmsg": "Invalid Parameter."})
    async with site.running() as server, lockterm_app(server, 1001) as pilot:
        await press(pilot, "a")
        await press(pilot, *name, "tab")
        is_listed = name == REMOTE["remoteName"]
        assert (TAKEN in words(pilot.app)) is is_listed
        assert ("Invalid Parameter (code -3)" in words(pilot.app)) is not is_listed


@pytest.mark.long
async def test_in_both_halves_of_the_voices(lockterm_app: Starter) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with Site().running() as server, lockterm_app(server, 1001, size=(120, 40)) as pilot:
        await press(pilot, "v")
        assert words(pilot.app).count("(code -77)") == 2
        assert WHOLE in notices(pilot)


@pytest.mark.long
async def test_refusal_is_reported_once(lockterm_app: Starter) -> None:
    site = Site()
    async with site.running() as server, lockterm_app(server, 1001) as pilot:
        site.refuses = {"/list", "/detail"}
        await press(pilot, "r")
        await press(pilot, "enter")
        for _ in range(2):  # over the detail, then over the page
            told, asked = notices(pilot), len(server.asked)
            await press(pilot, "M")
            await press(pilot, "escape")
            assert (notices(pilot), len(server.asked)) == (told, asked)
            await press(pilot, "escape")
