"""Services that store other values than sent, and services whose list lags."""

from __future__ import annotations

import json
from typing import Any

from tests.cli.conftest import Scripts, answer_changed
from tests.faults.proxy import Exchange, FaultProxy

START_MS = 1_795_000_000_000
END_MS = 1_900_000_000_000
HALF_HOUR_MS = 1_800_000


async def round_end(exchange: Exchange) -> None:
    """Store an end that is half an hour earlier than sent."""
    body = json.loads(exchange.body)
    exchange.body = json.dumps(body | {"endDate": body["endDate"] - HALF_HOUR_MS}).encode()
    await answer_changed(exchange, lambda answer: None)


async def test_diff_shows_the_stored_value_when_it_differs_from_the_sent_one(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    scripts.have(remoteType=2, startDate=START_MS, endDate=END_MS)
    rows = f"lockId,remoteNumber,endDate\n1004,A-1,{END_MS + 10 * HALF_HOUR_MS}\n"
    table = scripts.file("gate.csv", rows)
    first = await scripts.arun("diff", table)
    assert "sent the same values earlier" not in first.stdout
    proxy.arm("update", round_end)
    applied = await scripts.arun("apply", table, "--yes")
    assert applied.returncode == 0, applied.stderr
    listed = await scripts.arun("remotes", "list", "1004")
    assert "The service kept End" in listed.stderr and " instead of " in listed.stderr
    run_id = (await scripts.arun("runs", "list")).stdout.splitlines()[1].split()[0]
    words = "The service kept End"
    for command, shown in (
        (("diff", table), f"lockterm sent the same values earlier. {words}"),
        (("history",), words),
        (("runs", "show", run_id), words),
    ):
        assert shown in " ".join((await scripts.arun(*command)).stdout.split()), command


async def test_list_names_missing_remotes_when_the_service_lags(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    add = ("remotes", "add", "1004", "--name", "Anna", "--number", "A-1", "--type", "permanent")
    scripts.have(remoteName="Bea", remoteNumber="B-1")
    old = await scripts.arun("remotes", "list", "1004")
    assert (await scripts.arun(*add, "--yes")).returncode == 0

    def keep_bea(page: dict[str, Any]) -> None:
        page["data"]["list"] = [one for one in page["data"]["list"] if one["remoteName"] == "Bea"]
        page["data"]["total"] = 1

    async def without_anna(exchange: Exchange) -> None:
        await answer_changed(exchange, keep_bea)

    proxy.arm("list", without_anna)
    behind = await scripts.arun("remotes", "list", "1004")
    assert behind.stdout == old.stdout
    assert "note: the list is out of date: Anna (A-1) was just added." in behind.stderr
