"""A service that says success and keeps something else: the next reading reports it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import RemoteChanges
from lockterm.operations import Operations
from lockterm.operations.discrepancies import find_discrepancies
from tests.faults.calls import new_remote
from tests.faults.proxy import Exchange, FaultProxy
from tests.faults.site import Site
from tests.operations.runs.planning import execute, update

HOUR_MS = 3_600_000


@dataclass
class Bench:
    """A lock with three remotes, and one session."""

    site: Site
    proxy: FaultProxy
    operations: Operations
    lock_id: int
    told: list[str]

    async def read(self) -> None:
        """Read the list, as a screen does."""
        page = (await self.operations.remotes.page(self.lock_id, 1, 20, fresh=True)).value
        await self.operations.journal.unlisted(self.lock_id, page, ())

    async def last(self) -> Operation:
        return (await self.operations.journal.history())[-1]

    def keep(self, call: str, **otherwise: Any) -> None:
        """Have the service keep other values than it is sent; None: it drops the field."""

        async def play(exchange: Exchange) -> None:
            body = json.loads(exchange.body) | otherwise
            body = {name: value for name, value in body.items() if value is not None}
            exchange.body = json.dumps(body).encode()
            answer = await exchange.apply()
            await exchange.send(answer.head + b"\r\n\r\n" + answer.body)

        self.proxy.arm(call, play, 1)


@pytest.fixture
async def bench(site: Site) -> AsyncIterator[Bench]:
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        bench = Bench(site, proxy, operations, lock_id, [])
        operations.journal.on_kept = lambda operation: bench.told.append(operation.message)
        yield bench


async def change(bench: Bench, **changes: Any) -> None:
    remote = bench.site.remotes(bench.lock_id)[2]
    await bench.operations.writes.update_remote(
        bench.lock_id, remote.id or 0, RemoteChanges(**changes), remote
    )


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
    bench.keep("add", **kept)
    await bench.operations.writes.add_remote(new_remote(bench.lock_id))
    await bench.read()
    await bench.read()
    assert [one.startswith(words) for one in bench.told] == [True], bench.told
    assert (await bench.last()).message == bench.told[0]
    assert (await bench.last()).state is OperationState.CONFIRMED


async def test_a_change_is_reported_when_the_service_rounds_it(bench: Bench):
    end_ms = 1_804_998_600_000
    bench.keep("update", endDate=end_ms - HOUR_MS // 2)
    await change(bench, end_ms=end_ms)
    await bench.read()
    (words,) = bench.told
    assert " instead of " in words and words.count(":") >= 2


async def test_nothing_is_reported_when_all_is_as_sent_or_the_list_is_behind(bench: Bench):
    await bench.operations.writes.add_remote(new_remote(bench.lock_id))
    bench.keep("update", remoteName="Fob 2")  # as it was: the list may be from before
    await change(bench, remote_name="Anna")
    await bench.read()
    assert bench.told == []


async def test_a_change_that_was_not_applied_is_reported_when_no_list_can_be_so_old(bench: Bench):
    bench.keep("update", remoteName="Fob 2")
    await change(bench, remote_name="Anna")
    (sent,) = await bench.operations.journal.history()
    remotes = bench.site.remotes(bench.lock_id)
    recorded = await bench.operations.journal.recorded(bench.lock_id)
    for minutes, count in ((0, 0), (2, 1)):
        later = replace(recorded, now_ms=recorded.now_ms + minutes * 60_000)
        found = list(find_discrepancies([sent], later, remotes, bench.operations.profile.zone))
        assert len(found) == count
    assert found[0][1] == "The service kept Name Fob 2 instead of Anna."
    others = [Remote.read({**one.raw, "remoteNumber": "Z-9"}) for one in remotes]
    for rows, seen in (
        ([replace(sent, state=OperationState.REFUSED)], remotes),
        ([sent, replace(sent, call="delete")], remotes),
        ([sent, replace(sent, state=OperationState.UNKNOWN)], remotes),
        ([sent], others),  # the ID is another remote's by now
    ):
        assert not [*find_discrepancies(rows, later, seen, bench.operations.profile.zone)]


async def test_an_add_that_was_applied_twice_is_reported(bench: Bench):
    remote_id = await bench.operations.writes.add_remote(new_remote(bench.lock_id))
    remotes = bench.site.remotes(bench.lock_id)
    remotes.append(Remote.read({**remotes[-1].raw, "id": 99}))
    recorded = await bench.operations.journal.recorded(bench.lock_id)
    rows = await bench.operations.journal.history()
    ((_, words),) = find_discrepancies(rows, recorded, remotes, bench.operations.profile.zone)
    assert words == f"The service kept the remote twice: remotes {remote_id} and 99."


async def test_a_run_shows_what_the_service_kept(bench: Bench):
    remote = bench.site.remotes(bench.lock_id)[0]
    bench.keep("update", remoteName="Anna W")
    done = await execute(bench.operations, [update(bench.lock_id, remote, remoteName="Anna Weber")])
    await bench.read()
    plan = await bench.operations.runs.find(done.id)
    assert [step.message for step in plan.steps] == [
        "The service kept Name Anna W instead of Anna Weber."
    ]
