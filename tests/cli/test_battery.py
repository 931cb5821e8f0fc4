"""``lockterm report --battery`` against services that do and do not return battery levels."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable
from typing import Any

import pytest

from lockterm.domain.locks import Lock
from lockterm.operations.batteries import PROBED
from tests.cli.conftest import Scripts, answer_changed, parse_csv
from tests.cli.test_all_locks import all_but_the_dock
from tests.faults.catalogue import reset
from tests.faults.proxy import Exchange, FaultProxy


@pytest.fixture
def details(scripts: Scripts, proxy: FaultProxy) -> Callable[..., None]:
    """Add a remote to a roof for each of some fields, which the service adds to its details."""

    def details(*fields: dict[str, Any]) -> None:
        scripts.keep([Lock(1004, name="Roof")])
        ids = [
            scripts.have(remoteName=f"Name {number}", remoteNumber=f"N-{number}")
            for number in range(len(fields))
        ]

        async def spoil(exchange: Exchange) -> None:
            await answer_changed(
                exchange, lambda one: one["data"].update(fields[ids.index(one["data"]["id"])])
            )

        proxy.arm("detail", spoil)

    return details


Details = Callable[..., None]
REPORT = ("report", "--battery", "20")


LEVELS: list[dict[str, Any]] = [
    {"electricQuantity": 55},
    {"electricQuantity": 20, "firmwareInfo": {"version": "1.2\x1b[31m"}},
    {"electricQuantity": 3},
    {"electricQuantity": 21},
    {"electricQuantity": None},
    {"electricQuantity": -1},
    {"electricQuantity": "4"},
    {},
]


async def test_report_battery_lists_low_levels_and_counts_the_unknown(
    scripts: Scripts, details: Details
) -> None:
    details(*LEVELS)
    shown = await scripts.arun(*REPORT)
    assert (shown.returncode, shown.stderr) == (1, "")
    titles, first, second, end = shown.stdout.splitlines()
    assert titles.split() == ["Battery", "Lock", "ID", "Name", "Number", "Firmware"]
    assert first.split()[:3] == ["3", "%", "Roof"] and first.endswith("N-2     -")
    assert second.split()[:3] == ["20", "%", "Roof"] and '"version"' in second
    assert "\x1b" not in shown.stdout
    assert end == "2 remotes at or below 20 %, 8 of 8 remotes read, 4 without a battery level"
    told = json.loads((await scripts.arun(*REPORT, "--json")).stdout)
    low = [(one["level"], one["remote"]["remoteNumber"]) for one in told["low"]]
    assert low == [(3, "N-2"), (20, "N-1")]
    assert (told["withoutLevel"], told["remotesNotRead"]) == (4, 0)
    assert parse_csv((await scripts.arun("report", "--battery", "0", "--csv")).stdout) == []
    fine = await scripts.arun("report", "--battery", "2")
    assert (fine.returncode, fine.stdout.count("\n")) == (0, 1)


async def test_report_battery_says_once_when_the_service_reports_none(
    scripts: Scripts, details: Details
) -> None:
    details(*[{}] * 45)
    shown = await scripts.arun(*REPORT)
    assert (shown.returncode, shown.stdout) == (3, "")
    assert shown.stderr.startswith("lockterm: The service does not report battery levels. ")
    assert shown.stderr.count("\n") == 1
    asked = sum(path.endswith("/detail") for _, path in scripts.service.requests)
    assert PROBED <= asked < PROBED + 10, "it did not ask for all of them"


async def test_report_battery_reads_at_most_the_given_number(
    scripts: Scripts, details: Details
) -> None:
    details(*[{"electricQuantity": 9}] * 4)
    shown = await scripts.arun(*REPORT, "--max-details", "3")
    assert shown.returncode == 3
    assert shown.stdout.endswith("3 remotes at or below 20 %, 3 of 4 remotes read\n")
    assert shown.stderr == "lockterm: 1 remote not read. Raise --max-details to read more.\n"


@pytest.mark.long
async def test_report_battery_stops_when_the_service_stops_answering(
    scripts: Scripts, details: Details, proxy: FaultProxy
) -> None:
    details(*[{"electricQuantity": 9}] * 30)
    proxy.arm("detail", reset)
    shown = await scripts.arun(*REPORT)
    assert shown.returncode == 3
    assert shown.stderr.startswith("lockterm: 30 remotes not read. No answer")
    proxy.arm("list", all_but_the_dock)
    scripts.keep([Lock(1002, name="Dock")])
    unread = await scripts.arun(*REPORT)
    assert unread.returncode == 3 and "Dock: no answer" in unread.stderr


async def test_report_battery_prints_what_was_read_when_interrupted(
    scripts: Scripts, details: Details, proxy: FaultProxy
) -> None:
    held, free = asyncio.Event(), asyncio.Event()
    details(*[{}] * 30)

    async def hold(exchange: Exchange) -> None:
        if sum(call == "detail" for call in proxy.asked) > 12:
            held.set()
            await free.wait()
        await answer_changed(exchange, lambda one: one["data"].update(electricQuantity=9))

    proxy.arm("detail", hold)
    command = await scripts.start(*REPORT)
    await asyncio.wait_for(held.wait(), 30)
    command.send_signal(signal.SIGINT)
    await asyncio.wait_for(command.stderr.readuntil(b"under way ...\n"), 30)
    free.set()
    out, err = await asyncio.wait_for(command.communicate(), 30)
    assert command.returncode == 130, err
    assert 12 <= int(out.splitlines()[-1].split()[0]) < 30, "what was read is shown"
    assert b"remotes not read. Interrupted." in err


def test_report_battery_refuses_wrong_options(scripts: Scripts) -> None:
    for wrong in (
        ("--battery", "101"),
        ("--battery", "-1"),
        ("--battery", "low"),
        ("--battery", "20", "--within", "3d"),
        ("--battery", "20", "--html", "a.html"),
        ("--battery", "20", "--max-details", "0"),
        ("--max-details", "5"),
    ):
        scripts.refuse("report", *wrong)
    assert not scripts.service.requests
