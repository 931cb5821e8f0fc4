"""A service that says success and keeps something else: the next reading reports it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from lockterm.domain.operation import OperationState
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import RemoteChanges
from lockterm.operations.recorded import find_discrepancies
from tests.faults.proxy import Exchange
from tests.operations.bench import Bench, reply
from tests.operations.runs.planning import execute, update

HOUR_MS = 3_600_000


def keep(bench: Bench, call: str, **otherwise: Any) -> None:
    """Have the service keep other values than it is sent; None: it drops the field."""

    async def play(exchange: Exchange) -> None:
        body = json.loads(exchange.body) | otherwise
        body = {name: value for name, value in body.items() if value is not None}
        exchange.body = json.dumps(body).encode()
        await reply(exchange)

    bench.proxy.arm(call, play, 1)


async def read(bench: Bench) -> list[str]:
    """Read the list twice, as a screen does; what is reported."""
    told: list[str] = []
    bench.journal.on_kept = lambda operation: told.append(operation.message)
    for _ in range(2):
        page = (await bench.operations.remotes.page(bench.lock_id, 1, 20, fresh=True)).value
        await bench.journal.unlisted(bench.lock_id, page, ())
    return told


async def change(bench: Bench, **changes: Any) -> None:
    remote = bench.third
    changed = RemoteChanges(**changes)
    await bench.writes.update_remote(bench.lock_id, remote.id or 0, changed, remote)


@pytest.mark.parametrize(
    ("kept", "words"),
    [
        ({"weekDay": []}, "The service kept Weekdays none instead of Mon, Fri."),
        ({"endDate": 1_805_000_000_000 - HOUR_MS}, "The service kept End "),
        ({"remoteType": 2, "weekDay": []}, "The service kept Type time-limited instead of recu"),
    ],
)
async def test_an_add_is_reported_when_the_service_keeps_it_otherwise(
    bench: Bench, kept: dict[str, Any], words: str
):
    keep(bench, "add", **kept)
    await bench.call("add")
    told = await read(bench)
    assert [one.startswith(words) for one in told] == [True], told
    (row,) = await bench.history()
    assert (row.message, row.state) == (told[0], OperationState.CONFIRMED)


async def test_a_change_is_reported_when_the_service_rounds_it(bench: Bench):
    end_ms = 1_804_998_600_000
    keep(bench, "update", endDate=end_ms - HOUR_MS // 2)
    await change(bench, end_ms=end_ms)
    (words,) = await read(bench)
    assert " instead of " in words and words.count(":") >= 2


async def test_nothing_is_reported_when_all_is_as_sent_or_the_list_is_behind(bench: Bench):
    await bench.call("add")
    keep(bench, "update", remoteName="Fob 2")  # as it was: the list may be from before
    await change(bench, remote_name="Anna")
    assert await read(bench) == []


async def test_a_change_that_was_not_applied_is_reported_when_no_list_can_be_so_old(bench: Bench):
    keep(bench, "update", remoteName="Fob 2")
    await change(bench, remote_name="Anna")
    (sent,), remotes, zone = await bench.history(), bench.remotes, bench.operations.profile.zone
    recorded = await bench.journal.recorded(bench.lock_id)
    for minutes, count in ((0, 0), (2, 1)):
        later = replace(recorded, now_ms=recorded.now_ms + minutes * 60_000)
        found = list(find_discrepancies([sent], later, remotes, zone))
        assert len(found) == count
    assert found[0][1] == "The service kept Name Fob 2 instead of Anna."
    others = [Remote.read({**one.raw, "remoteNumber": "Z-9"}) for one in remotes]
    for rows, seen in (
        ([replace(sent, state=OperationState.REFUSED)], remotes),
        ([sent, replace(sent, call="delete")], remotes),
        ([sent, replace(sent, state=OperationState.UNKNOWN)], remotes),
        ([sent], others),  # the ID is another remote's by now
    ):
        assert not [*find_discrepancies(rows, later, seen, zone)]


async def test_an_add_that_was_applied_twice_is_reported(bench: Bench):
    remote_id = await bench.call("add")
    remotes = bench.remotes
    remotes.append(Remote.read({**remotes[-1].raw, "id": 99}))
    recorded, rows = await bench.journal.recorded(bench.lock_id), await bench.history()
    ((_, words),) = find_discrepancies(rows, recorded, remotes, bench.operations.profile.zone)
    assert words == f"The service kept the remote twice: remotes {remote_id} and 99."


async def test_a_run_shows_what_the_service_kept(bench: Bench):
    keep(bench, "update", remoteName="Anna W")
    step = update(bench.lock_id, bench.first, remoteName="Anna Weber")
    done = await execute(bench.operations, [step])
    await read(bench)
    (step,) = (await bench.runs.find(done.id)).steps
    assert step.message == "The service kept Name Anna W instead of Anna Weber."
