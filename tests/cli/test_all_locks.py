"""``lockterm find`` and ``report`` over all locks, even if some do not answer."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import subprocess
import time
import unicodedata
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lockterm.domain.locks import Lock
from lockterm.domain.remotes import Remote
from lockterm.domain.searching import is_found
from lockterm.service.running import RunningService
from lockterm.service.sample_data import LOCKS
from tests.cli.conftest import Scripts
from tests.faults.proxy import Exchange, FaultProxy
from tests.servers import port_of

HOSTILE = "\x1b]0;owned\x07\u202eEvil\r\n\x9b31m"
DAY_MS = 86_400_000
BOOK = [Lock(lock_id, name=name) for lock_id, name, *_ in LOCKS]


async def all_but_the_dock(exchange: Exchange) -> None:
    """Answer for each lock except 1002."""
    if "lockId=1002" in exchange.target:
        exchange.reset()
        return
    answer = await exchange.apply()
    await exchange.send(answer.head + b"\r\n\r\n" + answer.body)


@pytest.fixture
async def half(scripts: Scripts) -> AsyncIterator[FaultProxy]:
    """Keep a lock book of all locks, and start a proxy that answers none of lock 1002."""
    scripts.keep(BOOK)
    async with FaultProxy(port_of(scripts.service)).running() as proxy:
        proxy.arm("list", all_but_the_dock)
        scripts.use(proxy.base_url)
        yield proxy


async def run_command(scripts: Scripts, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a thread, so that the proxy keeps working."""
    return await asyncio.to_thread(scripts.run, *arguments)


def _records(scripts: Scripts) -> list[dict[str, Any]]:
    """Return all remotes of the site, as commands print them."""
    listed = [scripts.json("remotes", "list", str(lock.lock_id), "--all") for lock in BOOK]
    return [remote for one in listed for remote in one["remotes"]]


def test_find_lists_exactly_the_matching_remotes_of_all_locks(scripts: Scripts) -> None:
    scripts.keep(BOOK)
    scripts.have(1003, remoteName="Crew", extraData={"crew": {"boss": "Jonas WEBER"}})
    records = _records(scripts)
    for needle in ("weber", "1", "jonas weber", "王", "a-2"):
        told = scripts.json("find", needle)
        expected = {one["id"] for one in records if is_found(needle, Remote.read(one))}
        assert expected, needle
        assert {one["remote"]["id"] for one in told["found"]} == expected, needle
        assert len(told["found"]) == len(expected), "each of them once"
        assert all(one["lock"]["lockId"] == one["remote"]["lockId"] for one in told["found"])
    assert (told["locks"], told["read"], told["notRead"]) == (6, 6, [])
    assert scripts.writes() == []


def test_find_prints_a_table_and_csv(scripts: Scripts) -> None:
    scripts.keep(BOOK)
    scripts.have(1004, remoteName="Zora", remoteNumber="=Z-1")
    scripts.have(1003, remoteName="Zora")
    found = scripts.run("find", "ZORA")
    assert (found.returncode, found.stderr) == (0, "")
    lines = found.stdout.splitlines()
    assert lines[0].split()[:3] == ["Lock", "ID", "Name"]
    places = [line.partition("  ")[0] for line in lines[1:3]]
    assert sorted(places) == ["Roof hatch", "Server room"]
    assert lines[3:] == ["2 remotes on 2 of 6 locks"]
    rows = list(csv.DictReader(io.StringIO(scripts.run("find", "z-1", "--csv").stdout, newline="")))
    assert [(row["lockName"], row["remoteNumber"]) for row in rows] == [("Roof hatch", "'=Z-1")]


def test_find_ends_with_its_code_when_hit_book_or_word_is_missing(scripts: Scripts) -> None:
    empty = scripts.run("find", "weber")
    assert (empty.returncode, empty.stdout) == (2, "")
    assert "lock book" in empty.stderr
    scripts.keep(BOOK)
    nothing = scripts.run("find", "nobody at all")
    assert (nothing.returncode, nothing.stderr) == (1, "")
    assert nothing.stdout == "0 remotes on 0 of 6 locks\n"
    assert scripts.run("find", " ").returncode == 2


def test_find_cleans_hostile_names(scripts: Scripts) -> None:
    remote_id = scripts.have(1004)
    scripts.keep([Lock(1004, name=HOSTILE)])
    with scripts.service.app.state.site.database.writing() as db:
        change = "UPDATE remote SET name = ?, number = ?, extra_data = ? WHERE id = ?"
        db.execute(change, (HOSTILE, f"={HOSTILE}", json.dumps({HOSTILE: HOSTILE}), remote_id))
    shown = scripts.run("find", "evil")
    assert shown.returncode == 0
    assert "Evil" in shown.stdout
    for char in shown.stdout.replace("\n", "") + shown.stderr:
        assert unicodedata.category(char) not in ("Cc", "Cf", "Zl", "Zp"), repr(char)
    assert scripts.json("find", "evil")["found"][0]["remote"]["remoteName"] == HOSTILE


async def test_find_names_a_lock_when_it_does_not_answer(
    scripts: Scripts, half: FaultProxy
) -> None:
    scripts.have(1004, remoteName="Zora")
    found = await run_command(scripts, "find", "zora", "--json")
    assert found.returncode == 0
    assert found.stderr == "lockterm: 5 of 6 locks read, Loading dock: no answer\n"
    told = json.loads(found.stdout)
    assert told["notRead"] == [{"lockId": 1002, "name": "Loading dock", "why": "no answer"}]
    assert (told["locks"], told["read"]) == (6, 5)
    assert len(told["found"]) == 1
    missing = await run_command(scripts, "find", "nobody at all")
    assert missing.returncode == 3
    assert "5 of 6 locks read" in missing.stderr


@pytest.mark.long
async def test_find_tries_no_more_locks_when_the_service_is_unreachable(
    scripts: Scripts, half: FaultProxy
) -> None:
    scripts.keep(Lock(2000 + number) for number in range(50))
    await half.refuse()
    for command in (("find", "weber"), ("report",)):
        down = await run_command(scripts, *command)
        assert down.returncode == 3
        assert down.stderr.startswith("lockterm: 0 of 56 locks read, ")
        assert "lock 2000: not reached; " in down.stderr
        assert down.stderr.endswith("lock 2019: not reached; 36 more\n")


def _ending(days: float) -> dict[str, Any]:
    now_ms = int(time.time() * 1000)
    start = now_ms - 400 * DAY_MS
    return {"remoteType": 2, "startDate": start, "endDate": now_ms + int(days * DAY_MS)}


def test_report_lists_expired_and_expiring_remotes_by_day_and_lock(scripts: Scripts) -> None:
    scripts.keep([Lock(1004, name="Roof"), Lock(1003, name="Room", zone="Asia/Tokyo")])
    assert scripts.run("remotes", "clear", "1003", "--yes").returncode == 0
    nothing = scripts.run("report", "--within", "30d")
    assert (nothing.returncode, nothing.stderr) == (0, "")
    scripts.have(1004, remoteName="late", **_ending(40))
    scripts.have(1004, remoteName="always")
    assert scripts.run("report", "--within", "30d").returncode == 0
    scripts.have(1004, remoteName="soon", **_ending(20))
    scripts.have(1003, remoteName="over", **_ending(-3))
    told = scripts.json("report", "--within", "30d", code=1)
    assert [(one["remote"]["remoteName"], one["ended"]) for one in told["ends"]] == [
        ("over", True),
        ("soon", False),
    ]
    over, soon = told["ends"]
    assert over["end"].endswith("+09:00") and over["end"].startswith(over["day"])
    assert soon["lock"] == {"lockId": 1004, "name": "Roof"}
    table = scripts.run("report", "--within=+2mo")
    assert table.returncode == 1
    names = [line.split()[3] for line in table.stdout.splitlines()[1:-1]]
    assert names == ["over", "soon", "late"]
    assert table.stdout.splitlines()[-1].startswith("1 remote expired, 2 more will expire by ")
    cells = scripts.run("report", "--within", "1d", "--csv").stdout
    assert [row["remoteName"] for row in csv.DictReader(io.StringIO(cells, newline=""))] == ["over"]


@pytest.mark.parametrize("within", ["", "soon", "-3d", "2026-12-31", "30", "eom"])
def test_report_refuses_a_text_when_it_is_not_a_time_from_now(
    scripts: Scripts, within: str
) -> None:
    scripts.keep(BOOK)
    wrong = scripts.run("report", f"--within={within}")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "30d" in wrong.stderr
    assert not scripts.service.requests


async def test_report_ends_with_3_when_a_lock_was_not_read(
    scripts: Scripts, half: FaultProxy
) -> None:
    some = await run_command(scripts, "report", "--json")
    assert some.returncode == 3
    assert "Loading dock: no answer" in some.stderr
    assert json.loads(some.stdout)["ends"], "what the others have is there all the same"


@pytest.mark.parametrize("years", [-1, 1])
def test_report_uses_the_clock_of_the_service_when_clocks_differ(
    scripts: Scripts, running_service: Callable[..., RunningService], years: int
) -> None:
    now_ms = int(time.time() * 1000) + years * 365 * DAY_MS
    there = running_service(clock=lambda: now_ms, sample_data=False)
    scripts.service = there
    scripts.use(there.base_url)
    scripts.keep([Lock(1004, name="Gate")])
    period = {"remoteType": 2, "startDate": now_ms - 9 * DAY_MS}
    for name, days in (("Ended", -1), ("Soon", 5), ("Later", 90)):
        fields = {"remoteName": name, "remoteNumber": name, "endDate": now_ms + days * DAY_MS}
        scripts.have(**period, **fields)
    told = scripts.run("report", "--within", "30d", "--json")
    ends = [(one["remote"]["remoteName"], one["ended"]) for one in json.loads(told.stdout)["ends"]]
    assert (ends, told.returncode) == ([("Ended", True), ("Soon", False)], 1)
    side = "behind" if years > 0 else "ahead of"
    assert f"clock is 365 days {side} the service's" in told.stderr
    assert "lockterm uses the service's clock." in told.stderr
    listed = scripts.run("remotes", "list", "1004").stdout.splitlines()
    assert sum("expired" in line for line in listed) == 1, listed


@asynccontextmanager
async def _spoilt_ends(scripts: Scripts, *ends: str) -> AsyncIterator[None]:
    """A lock with so many remotes, whose ends a service sends as these strings."""
    scripts.keep([Lock(1004, name="Dock")])
    for number in range(1, len(ends) + 1):
        named = {"remoteName": f"Name S-{number}", "remoteNumber": f"S-{number}"}
        scripts.have(remoteType=2, startDate=1, endDate=3_802_608_000_000, **named)

    async def spoilt(exchange: Exchange) -> None:
        answer = await exchange.apply()
        data = json.loads(answer.body)
        for row, end in zip(data["data"]["list"], ends, strict=True):
            row["endDate"] = end
        body = json.dumps(data).encode()
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    async with FaultProxy(port_of(scripts.service)).running() as proxy:
        proxy.arm("list", spoilt)
        scripts.use(proxy.base_url)
        yield


async def test_report_names_five_remotes_when_more_periods_are_unreadable(scripts: Scripts) -> None:
    async with _spoilt_ends(scripts, *["soon"] * 6):
        told = (await run_command(scripts, "report")).stderr
        assert "6 remotes have a period that cannot be read: Name S-1 (S-1) on Dock" in told
        assert told.endswith("Name S-5 (S-5) on Dock (lock 1004) and 1 more.\n")


async def test_report_ends_with_1_when_a_period_is_unreadable(scripts: Scripts) -> None:
    async with _spoilt_ends(scripts, *SPOILT_ENDS):
        told = await run_command(scripts, "report")
        assert told.returncode == 1
        assert "0 remotes expired" in told.stdout
        assert (
            "2 remotes have a period that cannot be read: Name S-2 (S-2) on Dock (lock 1004),"
            " Name S-3 (S-3) on Dock (lock 1004)." in told.stderr
        )
        found = json.loads((await run_command(scripts, "report", "--json")).stdout)
        assert (found["unreadablePeriods"], found["ends"]) == (2, [])
        listed = (await run_command(scripts, "remotes", "list", "1004")).stdout
        assert "no end" not in listed
        assert "until 1 Jul 2090" in listed
        table = (await run_command(scripts, "remotes", "list", "1004", "--csv")).stdout
        ends = [row["end"] for row in csv.DictReader(io.StringIO(table))]
        assert ends == ["2090-07-01T18:00:00+02:00", *SPOILT_ENDS[1:]]
        path = scripts.home / "dock.csv"
        assert (await run_command(scripts, "export", "1004", "--output", str(path))).returncode == 0
        rows = [*csv.DictReader(io.StringIO(path.read_text()))]
        assert [row["endDate"] for row in rows] == ["2090-07-01 18:00 +02:00", *SPOILT_ENDS[1:]]
        assert (await run_command(scripts, "diff", str(path))).returncode == 0


SPOILT_ENDS = ["3802608000000", "2090-07-01T18:00:00Z", "soon"]
"""Dates as strings, as some services send them; only digits are readable."""
