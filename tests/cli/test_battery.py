"""``lockterm report --battery`` against services that do and do not return battery levels."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lockterm.domain.locks import Lock
from lockterm.operations.batteries import PROBED
from tests.cli.conftest import Scripts
from tests.cli.test_all_locks import all_but_the_dock, run_command
from tests.faults.catalogue import reset
from tests.faults.proxy import Exchange, FaultProxy
from tests.servers import port_of
from tests.terminal.pty_session import LOCKTERM, clean_environment


@asynccontextmanager
async def _details(scripts: Scripts, *fields: dict[str, Any]) -> AsyncIterator[FaultProxy]:
    """A roof with a remote for each of the fields, which a service adds to its details."""
    scripts.keep([Lock(1004, name="Roof")])
    ids = [
        scripts.have(remoteName=f"Name {number}", remoteNumber=f"N-{number}")
        for number in range(len(fields))
    ]

    async def spoil(exchange: Exchange) -> None:
        answer = await exchange.apply()
        envelope = json.loads(answer.body)
        envelope["data"] |= fields[ids.index(envelope["data"]["id"])]
        body = json.dumps(envelope).encode()
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    async with FaultProxy(port_of(scripts.service)).running() as proxy:
        proxy.arm("detail", spoil)
        scripts.use(proxy.base_url)
        yield proxy


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


async def test_report_battery_lists_low_levels_and_counts_the_unknown(scripts: Scripts) -> None:
    async with _details(scripts, *LEVELS):
        shown = await run_command(scripts, "report", "--battery", "20")
        assert (shown.returncode, shown.stderr) == (1, "")
        titles, first, second, end = shown.stdout.splitlines()
        assert titles.split() == ["Battery", "Lock", "ID", "Name", "Number", "Firmware"]
        assert first.split()[:3] == ["3", "%", "Roof"] and first.endswith("N-2     -")
        assert second.split()[:3] == ["20", "%", "Roof"] and '"version"' in second
        assert "\x1b" not in shown.stdout
        assert end == "2 remotes at or below 20 %, 8 of 8 remotes read, 4 without a battery level"
        answer = await run_command(scripts, "report", "--battery", "20", "--json")
        told = json.loads(answer.stdout)
        assert [(one["level"], one["remote"]["remoteNumber"]) for one in told["low"]] == [
            (3, "N-2"),
            (20, "N-1"),
        ]
        assert (told["withoutLevel"], told["remotesNotRead"]) == (4, 0)
        table = (await run_command(scripts, "report", "--battery", "0", "--csv")).stdout
        assert [*csv.DictReader(io.StringIO(table, newline=""))] == []
        fine = await run_command(scripts, "report", "--battery", "2")
        assert (fine.returncode, fine.stdout.count("\n")) == (0, 1)


async def test_report_battery_says_once_when_the_service_reports_none(scripts: Scripts) -> None:
    async with _details(scripts, *[{}] * 45):
        shown = await run_command(scripts, "report", "--battery", "20")
    read = scripts.service.requests
    assert (shown.returncode, shown.stdout) == (3, "")
    assert shown.stderr.startswith("lockterm: The service does not report battery levels. ")
    assert shown.stderr.count("\n") == 1
    asked = sum(path.endswith("/detail") for _, path in read)
    assert PROBED <= asked < PROBED + 10, "it did not ask for all of them"


async def test_report_battery_reads_at_most_the_given_number(scripts: Scripts) -> None:
    async with _details(scripts, *[{"electricQuantity": 9}] * 4):
        shown = await run_command(scripts, "report", "--battery", "20", "--max-details", "3")
    assert shown.returncode == 3
    assert shown.stdout.endswith("3 remotes at or below 20 %, 3 of 4 remotes read\n")
    assert shown.stderr == "lockterm: 1 remote not read. Raise --max-details to read more.\n"


@pytest.mark.long
async def test_report_battery_stops_when_the_service_stops_answering(scripts: Scripts) -> None:
    async with _details(scripts, *[{"electricQuantity": 9}] * 30) as proxy:
        proxy.arm("detail", reset)
        shown = await run_command(scripts, "report", "--battery", "20")
        assert shown.returncode == 3
        assert shown.stderr.startswith("lockterm: 30 remotes not read. No answer")
        proxy.arm("list", all_but_the_dock)
        scripts.keep([Lock(1002, name="Dock")])
        unread = await run_command(scripts, "report", "--battery", "20")
        assert unread.returncode == 3 and "Dock: no answer" in unread.stderr


async def test_report_battery_prints_what_was_read_when_interrupted(scripts: Scripts) -> None:
    held, free = asyncio.Event(), asyncio.Event()
    async with _details(scripts, *[{"electricQuantity": 9}] * 30) as proxy:

        async def hold(exchange: Exchange) -> None:
            if sum(call == "detail" for call in proxy.asked) > 12:
                held.set()
                await free.wait()
            answer = await exchange.apply()
            envelope = json.loads(answer.body)
            envelope["data"]["electricQuantity"] = 9
            body = json.dumps(envelope).encode()
            head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
            await exchange.send(head + body)

        proxy.arm("detail", hold)
        command = await asyncio.create_subprocess_exec(
            *LOCKTERM, "report", "--battery", "20", env=clean_environment(scripts.home),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        await asyncio.wait_for(held.wait(), 30)
        command.send_signal(signal.SIGINT)
        await asyncio.wait_for(command.stderr.readuntil(b"under way ...\n"), 30)
        free.set()
        out, err = await asyncio.wait_for(command.communicate(), 30)
    assert command.returncode == 130, err
    assert 12 <= int(out.splitlines()[-1].split()[0]) < 30, "what was read is shown"
    assert b"remotes not read. Interrupted." in err


@pytest.mark.parametrize(
    "wrong",
    [
        ("--battery", "101"),
        ("--battery", "-1"),
        ("--battery", "low"),
        ("--battery", "20", "--within", "3d"),
        ("--battery", "20", "--html", "a.html"),
        ("--battery", "20", "--max-details", "0"),
        ("--max-details", "5"),
    ],
)
def test_report_battery_refuses_wrong_options(scripts: Scripts, wrong: tuple[str, ...]) -> None:
    refused = scripts.run("report", *wrong)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert not scripts.service.requests
