"""Looking through a long list: what is found alone is kept, and told of now and then."""

from __future__ import annotations

import gc
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from lockterm.domain.remotes import Remote
from lockterm.operations.list_walk import PAGES_AT_ONCE
from lockterm.paths import Paths
from lockterm.screens.remotes import RemotesScreen
from tests.screens.running_app import Starter, settled, shown, until
from tests.screens.site import canned, press

PAGES, PAGE = 60, 200
EVERY = 1000
"""Each so many remotes, one is found."""


def page(query: dict[str, str]) -> Any:
    number, size = int(query["pageNo"]), int(query["pageSize"])
    start = (number - 1) * size
    records = [
        {"id": one, "remoteType": 1, "remoteName": f"{'Anna' if one % EVERY == 7 else 'Bo'} {one}"}
        for one in range(start, start + size)
    ]
    pages = PAGES * PAGE // size
    data = {"list": records, "pageNo": number, "pageSize": size, "pages": pages}
    answer = {"errcode": 0, "errmsg": "", "description": ""}
    return answer | {"data": data | {"total": PAGES * PAGE}}


def kept_answers(starter: Starter) -> set[str]:
    file = Paths.below(starter.directory).cache_dir / "answers.db"
    with closing(sqlite3.connect(file)) as connection:
        return {key for (key,) in connection.execute("SELECT key FROM answers")}


@pytest.mark.long
async def test_a_search_keeps_what_it_finds_and_nothing_else(
    lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    alive: list[int] = []
    painted: list[str] = []

    def answer(query: dict[str, str]) -> Any:
        if query["pageSize"] == str(PAGE):
            asked.append(int(query["pageNo"]))
            alive.append(sum(isinstance(one, Remote) for one in gc.get_objects()))
        return page(query)

    paint = RemotesScreen.paint

    def counted(screen: RemotesScreen, *, top: bool = False) -> None:
        painted.append("rows")
        paint(screen, top=top)

    monkeypatch.setattr(RemotesScreen, "paint", counted)
    async with canned({"/list": answer}) as server, lockterm_app(server, 7) as pilot:
        before = {f"page 7 {number} 20" for number in (1, 2)}
        await until(pilot, lambda: kept_answers(lockterm_app) == before)
        await press(pilot, "slash", *"anna")
        painted.clear()
        await press(pilot, "enter")
        found = PAGES * PAGE // EVERY
        assert f"{found} of {PAGES * PAGE:,} match" in shown(pilot)
        assert sorted(asked) == [*range(1, PAGES + 1)]  # connections may change places
        # The first page has one, the clock of this test stands still, and the end is told.
        assert len(painted) == 2, painted
        assert max(alive) < (PAGES_AT_ONCE + 2) * PAGE, (
            "of the pages before, only what was found is left"
        )
        assert kept_answers(lockterm_app) == before


@pytest.mark.long
async def test_long_search_reports_progress_less_often(
    lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page takes 0.1 s: it is told at every 0.3 s of two, and at every second of four more."""
    painted: list[str] = []
    paint = RemotesScreen.paint

    def answer(query: dict[str, str]) -> Any:
        if query["pageSize"] == str(PAGE):
            lockterm_app.clock.now_s += 0.1
        return page(query)

    def counted(screen: RemotesScreen, *, top: bool = False) -> None:
        painted.append("rows")
        paint(screen, top=top)

    monkeypatch.setattr(RemotesScreen, "paint", counted)
    async with canned({"/list": answer}) as server, lockterm_app(server, 7) as pilot:
        await settled(pilot)
        await press(pilot, "slash", *"nobody")
        painted.clear()
        await pilot.press("enter")
        await until(pilot, lambda: f"{PAGES * PAGE:,} remotes searched" in shown(pilot))
        assert 8 < len(painted) < 14, painted
