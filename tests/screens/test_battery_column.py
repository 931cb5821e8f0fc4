"""The column with battery levels, which only details have."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from lockterm.screens.remotes.columns import SortOrder
from tests.screens.running_app import Starter, notices, settled, shown, until
from tests.screens.site import answered, canned, page_of, press, remote_names
from tests.screens.test_columns import titles, use

LEVELS: dict[int, Any] = {1: 87, 2: None, 3: 5, 4: -1, 5: "x\x1b", 6: 100}


class _Service:
    """A service with some remotes, whose details have these battery levels."""

    def __init__(self, levels: dict[int, Any]) -> None:
        self.levels = levels
        self.asked: list[int] = []
        self.lock_id = 0
        self.refuses = False

    @asynccontextmanager
    async def app(
        self, starter: Starter, size: tuple[int, int] = (80, 24)
    ) -> AsyncIterator[Pilot[int]]:
        answers = {"/list": self.list, "/detail": self.detail}
        async with canned(answers) as server, starter(server, 1001, size=size) as pilot:
            yield pilot

    def _record(self, remote_id: int) -> dict[str, Any]:
        named = {"remoteName": f"Fob {remote_id}", "remoteNumber": f"N-{remote_id}"}
        return {"id": remote_id, "lockId": self.lock_id, "remoteType": 1, "addType": 1, **named}

    def list(self, query: Any) -> dict[str, Any]:
        self.lock_id = int(query["lockId"])
        records = [self._record(one) for one in self.levels]
        return answered(page_of(records))

    def detail(self, body: Any) -> dict[str, Any] | None:
        remote_id = int(body["remoteId"])
        self.asked.append(remote_id)
        if self.refuses:
            return {"errcode": -1, "errmsg": "not now", "description": ""}
        level = self.levels[remote_id]
        more = {} if level is None else {"electricQuantity": level}
        return answered({**self._record(remote_id), **more})


def _battery(pilot: Any) -> list[str]:
    """Return the last word of each row."""
    lines = [line for line in shown(pilot).splitlines() if "Fob " in line]
    return [line.rstrip("│ ").rpartition("  ")[2].strip() for line in lines]


async def test_battery_column_shows_levels_and_asks_once_a_remote(lockterm_app: Starter) -> None:
    site = _Service(LEVELS)
    async with site.app(lockterm_app) as pilot:
        assert site.asked == [], "nothing is asked while the column is not chosen"
        await use(pilot, "name", "battery")
        await until(pilot, lambda: "..." not in _battery(pilot))
        assert titles(pilot) == ["Name", "Battery"]
        assert _battery(pilot) == ["87 %", "unknown", "5 %", "unknown", "unknown", "100 %"]
        await use(pilot, "name", "battery", by=SortOrder("battery", descending=False))
        assert remote_names(pilot)[:3] == ["Fob 3", "Fob 1", "Fob 6"]
        await use(pilot, "name", "battery", by=SortOrder("battery", descending=True))
        assert remote_names(pilot)[:3] == ["Fob 6", "Fob 1", "Fob 3"]
        assert sorted(site.asked) == [*LEVELS]
        site.levels = {**LEVELS, 3: 90}
        await press(pilot, "r")
        await until(pilot, lambda: "90 %" in _battery(pilot))
        assert not notices(pilot)


async def test_battery_column_says_once_when_the_service_reports_none(
    lockterm_app: Starter,
) -> None:
    site = _Service(dict.fromkeys(range(1, 8)))
    async with site.app(lockterm_app) as pilot:
        await use(pilot, "name", "battery")
        await until(pilot, lambda: _battery(pilot) == ["unknown"] * 7)
        await settled(pilot)
        said = "The service does not report battery levels."
        assert notices(pilot).count(said) == 1
        await use(pilot, "name", "battery", by=SortOrder("name"))
        await settled(pilot)
        await press(pilot, "escape", "o", *"1002", "enter")
        await until(pilot, lambda: _battery(pilot) == ["unknown"] * 7)
        assert len(site.asked) == 7, "it is not asked again, not even for another lock"
        assert notices(pilot).count(said) == 1


async def test_battery_column_asks_only_when_it_fits(lockterm_app: Starter) -> None:
    site = _Service(LEVELS)
    columns = ("name", "number", "type", "valid", "state", "battery")
    async with site.app(lockterm_app, (60, 20)) as pilot:
        await use(pilot, *columns)
        assert "Battery" not in titles(pilot) and site.asked == []
        await pilot.resize_terminal(120, 24)
        await until(pilot, lambda: "87 %" in shown(pilot))


async def test_battery_column_shows_unknown_when_details_are_refused(
    lockterm_app: Starter,
) -> None:
    site = _Service({1: 87, 2: 50})
    site.refuses = True
    async with site.app(lockterm_app) as pilot:
        await use(pilot, "name", "battery")
        await until(pilot, lambda: _battery(pilot) == ["unknown"] * 2)
        await use(pilot, "name", "battery", by=SortOrder("name"))
        await settled(pilot)
        assert len(site.asked) == 2
