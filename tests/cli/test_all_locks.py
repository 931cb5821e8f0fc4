"""``lockterm find`` and ``report`` over all locks, even if some do not answer."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from lockterm.domain.locks import Lock
from lockterm.domain.remotes import Remote
from lockterm.domain.searching import is_found
from lockterm.service.running import RunningService
from lockterm.service.sample_data import LOCKS
from tests.cli.conftest import HOSTILE, Scripts, answer_changed, assert_harmless, parse_csv
from tests.faults.proxy import Exchange, FaultProxy

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
async def half(scripts: Scripts, proxy: FaultProxy) -> FaultProxy:
    """Keep a lock book of all locks, and have a proxy answer none of lock 1002."""
    scripts.keep(BOOK)
    proxy.arm("list", all_but_the_dock)
    return proxy


def test_find_lists_exactly_the_matching_remotes_of_all_locks(scripts: Scripts) -> None:
    scripts.keep(BOOK)
    scripts.have(1003, remoteName="Crew", extraData={"crew": {"boss": "Jonas WEBER"}})
    listed = [scripts.json("remotes", "list", str(lock.lock_id), "--all") for lock in BOOK]
    records = [remote for one in listed for remote in one["remotes"]]
    for needle in ("weber", "1", "jonas weber", "王", "a-2"):
        told = scripts.json("find", needle)
        expected = {one["id"] for one in records if is_found(needle, Remote.read(one))}
        assert expected, needle
        assert {one["remote"]["id"] for one in told["found"]} == expected, needle
        assert len(told["found"]) == len(expected), "each of them once"
        assert all(one["lock"]["lockId"] == one["remote"]["lockId"] for one in told["found"])
    assert (told["locks"], told["read"], told["notRead"]) == (6, 6, [])
    assert scripts.writes() == []


def test_find_prints_a_table_and_csv_or_ends_with_its_code(scripts: Scripts) -> None:
    scripts.refuse("find", "weber", words="lock book")
    scripts.keep(BOOK)
    scripts.have(1004, remoteName="Zora", remoteNumber="=Z-1")
    scripts.have(1003, remoteName="Zora")
    found = scripts.run("find", "ZORA")
    assert (found.returncode, found.stderr) == (0, "")
    lines = found.stdout.splitlines()
    assert lines[0].split()[:3] == ["Lock", "ID", "Name"]
    assert sorted(line.partition("  ")[0] for line in lines[1:3]) == ["Roof hatch", "Server room"]
    assert lines[3:] == ["2 remotes on 2 of 6 locks"]
    rows = parse_csv(scripts.run("find", "z-1", "--csv").stdout)
    assert [(row["lockName"], row["remoteNumber"]) for row in rows] == [("Roof hatch", "'=Z-1")]
    nothing = scripts.run("find", "nobody at all")
    assert (nothing.returncode, nothing.stderr) == (1, "")
    assert nothing.stdout == "0 remotes on 0 of 6 locks\n"
    scripts.refuse("find", " ")


def test_find_cleans_hostile_names(scripts: Scripts) -> None:
    scripts.rename(scripts.have(1004), HOSTILE, extra_data=json.dumps({HOSTILE: HOSTILE}))
    scripts.keep([Lock(1004, name=HOSTILE)])
    shown = scripts.run("find", "evil")
    assert shown.returncode == 0 and "Evil" in shown.stdout
    assert_harmless(shown.stdout + shown.stderr)
    assert scripts.json("find", "evil")["found"][0]["remote"]["remoteName"] == HOSTILE


async def test_find_and_report_name_a_lock_when_it_does_not_answer(
    scripts: Scripts, half: FaultProxy
) -> None:
    scripts.have(1004, remoteName="Zora")
    found = await scripts.arun("find", "zora", "--json")
    assert found.returncode == 0
    assert found.stderr == "lockterm: 5 of 6 locks read, Loading dock: no answer\n"
    told = json.loads(found.stdout)
    assert told["notRead"] == [{"lockId": 1002, "name": "Loading dock", "why": "no answer"}]
    assert (told["locks"], told["read"], len(told["found"])) == (6, 5, 1)
    missing = await scripts.arun("find", "nobody at all")
    assert (missing.returncode, "5 of 6 locks read" in missing.stderr) == (3, True)
    some = await scripts.arun("report", "--json")
    assert (some.returncode, "Loading dock: no answer" in some.stderr) == (3, True)
    assert json.loads(some.stdout)["ends"], "what the others have is there all the same"


@pytest.mark.long
async def test_find_tries_no_more_locks_when_the_service_is_unreachable(
    scripts: Scripts, half: FaultProxy
) -> None:
    scripts.keep(Lock(2000 + number) for number in range(50))
    await half.refuse()
    for command in (("find", "weber"), ("report",)):
        down = await scripts.arun(*command)
        assert down.returncode == 3
        assert down.stderr.startswith("lockterm: 0 of 56 locks read, ")
        assert "lock 2000: not reached; " in down.stderr
        assert down.stderr.endswith("lock 2019: not reached; 36 more\n")


def ending(days: float) -> dict[str, Any]:
    """Return the fields of a remote that expires in so many days."""
    end_ms = int(time.time() * 1000 + days * DAY_MS)
    return {"remoteType": 2, "startDate": end_ms - 400 * DAY_MS, "endDate": end_ms}


def test_report_lists_expired_and_expiring_remotes_by_day_and_lock(scripts: Scripts) -> None:
    scripts.keep([Lock(1004, name="Roof"), Lock(1003, name="Room", zone="Asia/Tokyo")])
    assert scripts.run("remotes", "clear", "1003", "--yes").returncode == 0
    nothing = scripts.run("report", "--within", "30d")
    assert (nothing.returncode, nothing.stderr) == (0, "")
    scripts.have(1004, remoteName="late", **ending(40))
    scripts.have(1004, remoteName="always")
    assert scripts.run("report", "--within", "30d").returncode == 0
    scripts.have(1004, remoteName="soon", **ending(20))
    scripts.have(1003, remoteName="over", **ending(-3))
    over, soon = scripts.json("report", "--within", "30d", code=1)["ends"]
    assert (over["remote"]["remoteName"], over["ended"]) == ("over", True)
    assert (soon["remote"]["remoteName"], soon["ended"]) == ("soon", False)
    assert over["end"].endswith("+09:00") and over["end"].startswith(over["day"])
    assert soon["lock"] == {"lockId": 1004, "name": "Roof"}
    table = scripts.run("report", "--within=+2mo")
    assert table.returncode == 1
    names = [line.split()[3] for line in table.stdout.splitlines()[1:-1]]
    assert names == ["over", "soon", "late"]
    assert table.stdout.splitlines()[-1].startswith("1 remote expired, 2 more will expire by ")
    rows = parse_csv(scripts.run("report", "--within", "1d", "--csv").stdout)
    assert [row["remoteName"] for row in rows] == ["over"]


def test_report_refuses_a_text_when_it_is_not_a_time_from_now(scripts: Scripts) -> None:
    scripts.keep(BOOK)
    for within in ("", "soon", "-3d", "2026-12-31", "30", "eom"):
        scripts.refuse("report", f"--within={within}", words="30d")
    assert not scripts.service.requests


@pytest.mark.parametrize("years", [-1, 1])
def test_report_uses_the_clock_of_the_service_when_clocks_differ(
    scripts: Scripts, running_service: Callable[..., RunningService], years: int
) -> None:
    now_ms = int(time.time() * 1000) + years * 365 * DAY_MS
    scripts.service = running_service(clock=lambda: now_ms, sample_data=False)
    scripts.use(scripts.service.base_url)
    scripts.keep([Lock(1004, name="Gate")])
    for name, days in (("Ended", -1), ("Soon", 5), ("Later", 90)):
        period = {"startDate": now_ms - 9 * DAY_MS, "endDate": now_ms + days * DAY_MS}
        scripts.have(remoteType=2, remoteName=name, remoteNumber=name, **period)
    told = scripts.run("report", "--within", "30d", "--json")
    ends = [(one["remote"]["remoteName"], one["ended"]) for one in json.loads(told.stdout)["ends"]]
    assert (ends, told.returncode) == ([("Ended", True), ("Soon", False)], 1)
    side = "behind" if years > 0 else "ahead of"
    assert f"clock is 365 days {side} the service's" in told.stderr
    assert "lockterm uses the service's clock." in told.stderr
    listed = scripts.run("remotes", "list", "1004").stdout.splitlines()
    assert sum("expired" in line for line in listed) == 1, listed


async def test_report_ends_with_1_when_a_period_is_unreadable(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    """Some services send dates as strings, of which only digits are readable."""
    ends = ["3802608000000", "2090-07-01T18:00:00Z", "soon"]
    scripts.keep([Lock(1004, name="Dock")])

    async def spoilt(exchange: Exchange) -> None:
        await answer_changed(
            exchange,
            lambda page: [
                row.update(endDate=end) for row, end in zip(page["data"]["list"], ends, strict=True)
            ],
        )

    def have(number: int) -> None:
        named = {"remoteName": f"Name S-{number}", "remoteNumber": f"S-{number}"}
        scripts.have(remoteType=2, startDate=1, endDate=3_802_608_000_000, **named)

    proxy.arm("list", spoilt)
    for number in (1, 2, 3):
        have(number)
    told = await scripts.arun("report")
    assert told.returncode == 1
    assert "0 remotes expired" in told.stdout
    assert (
        "2 remotes have a period that cannot be read: Name S-2 (S-2) on Dock (lock 1004),"
        " Name S-3 (S-3) on Dock (lock 1004)." in told.stderr
    )
    found = json.loads((await scripts.arun("report", "--json")).stdout)
    assert (found["unreadablePeriods"], found["ends"]) == (2, [])
    listed = (await scripts.arun("remotes", "list", "1004")).stdout
    assert "no end" not in listed and "until 1 Jul 2090" in listed
    table = (await scripts.arun("remotes", "list", "1004", "--csv")).stdout
    assert [row["end"] for row in parse_csv(table)] == ["2090-07-01T18:00:00+02:00", *ends[1:]]
    path = scripts.home / "dock.csv"
    assert (await scripts.arun("export", "1004", "--output", str(path))).returncode == 0
    rows = parse_csv(path.read_text())
    assert [row["endDate"] for row in rows] == ["2090-07-01 18:00 +02:00", *ends[1:]]
    assert (await scripts.arun("diff", str(path))).returncode == 0

    for number in (4, 5, 6):
        have(number)
    ends[:] = ["soon"] * 6
    told = await scripts.arun("report")
    assert "6 remotes have a period that cannot be read: Name S-1 (S-1) on Dock" in told.stderr
    assert told.stderr.endswith("Name S-5 (S-5) on Dock (lock 1004) and 1 more.\n")
