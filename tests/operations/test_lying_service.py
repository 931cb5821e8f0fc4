"""A service whose answers cannot be true: nothing is claimed for it, nothing else is hit."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from lockterm.api.envelope import read_remote
from lockterm.config import Profile
from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.remotes import Remote
from lockterm.errors import MalformedAnswerError
from lockterm.operations import Operations
from lockterm.operations.proof import judge_clear, judge_delete, judge_update
from tests.api.fault_server import FaultServer, http
from tests.samples import an_operation
from tests.servers import Line

Listing = Callable[[int], dict[str, Any]]
"""Page number -> ``data`` of the list."""


def record(remote_id: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": remote_id,
        "remoteName": f"Remote {remote_id}",
        "remoteNumber": f"A-{remote_id}",
        "createTime": 1_700_000_000_000,
    } | fields


def operation(call: str, before: list[dict[str, Any]], **body: Any) -> Operation:
    about = {"lock_id": 1, "remote_id": body.get("remoteId"), "state": OperationState.UNKNOWN}
    return an_operation(call, body=body, before=tuple(before), prepared_ms=0, **about)


def listed(*records: dict[str, Any]) -> list[Remote]:
    return [Remote.read(one) for one in records]


# --- what a reading may claim ----------------------------------------------------------------


@pytest.mark.parametrize("odd", ["5", "five", None, True, 5.0])
def test_a_remote_without_a_usable_id_may_be_the_one_that_was_deleted(odd: object):
    deleted = operation("delete", [record(5)], remoteId=5)
    cleared = operation("clear", [record(5)], lockId=1)
    for verdict in (
        judge_delete(deleted, listed(record(odd))),
        judge_clear(cleared, listed(record(odd))),
    ):
        assert verdict.state is OperationState.UNKNOWN and "no usable ID" in verdict.words
    assert judge_delete(deleted, listed(record(6))).state is OperationState.CONFIRMED_BY_READING


@pytest.mark.parametrize("other", [{"remoteNumber": "B-1"}, {"createTime": 1_800_000_000_000}])
def test_an_id_that_was_given_to_another_remote_is_left_alone(other: dict[str, Any]):
    deleted = operation("delete", [record(5)], remoteId=5)
    assert judge_delete(deleted, listed(record(5, **other))).state is OperationState.CONFLICT
    renamed = record(5, remoteName="Renamed meanwhile")
    assert judge_delete(deleted, listed(renamed)).state is OperationState.NOT_SEEN

    cleared = operation("clear", [record(5), record(6)], lockId=1)
    verdict = judge_clear(cleared, listed(record(5, **other), record(6)))
    assert verdict.candidates == (6,), "the newcomer would be deleted with the rest"


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ({"extraData": {"on": 1}}, {"extraData": {"on": True}}),
        ({"weekDay": [1]}, {"weekDay": [True]}),
    ],
)
def test_what_is_equal_for_python_alone_confirms_nothing(
    sent: dict[str, Any], shown: dict[str, Any]
):
    update = operation("update", [record(5)], lockId=1, remoteId=5, **sent)
    assert judge_update(update, Remote.read(record(5, **shown))).state is OperationState.CONFLICT


def test_a_detail_is_of_the_remote_that_was_asked_for():
    for odd in ("6", True, 5.5, {"id": 5}):
        with pytest.raises(MalformedAnswerError, match="not about remote 5"):
            read_remote(record(odd), 5)
    without = record(5)
    del without["id"]
    assert read_remote(without, 5).id == 5, "else an edit of it would be sent to remote 0"
    assert read_remote(record(None), 5).id == 5


# --- the whole list ------------------------------------------------------------------------------


async def read(folder: Path, listing: Listing) -> list[int | None]:
    """The ids of the whole list of a service that answers so."""

    async def script(line: Line) -> None:
        query = parse_qs(server.asked[-1].start.split()[1].partition("?")[2])
        data = listing(int(query["pageNo"][0]))
        line.keep = True
        await line.send(http(json.dumps({"errcode": 0, "data": data})))

    async with FaultServer([script]).running() as server:
        profile = Profile(name="p", base_url=server.base_url, timezone="UTC")
        operations = Operations(profile, folder / "lockterm.db")
        try:
            async with asyncio.timeout(20):
                return [remote.id for remote in await operations.remotes.all(1)]
        finally:
            await operations.close()


async def test_list_without_a_total_is_read_to_its_empty_page(tmp_path: Path):
    def listing(page_no: int) -> dict[str, Any]:
        first = (page_no - 1) * 50  # it never gives more than 50, and does not say so
        return {"list": [record(n) for n in range(first + 1, 121)][:50]}

    assert await read(tmp_path, listing) == list(range(1, 121))


@pytest.mark.long
@pytest.mark.parametrize(
    "told", [{"pages": 10**18, "total": 10**18}, {"pages": 10**18, "total": 5}, {}]
)
@pytest.mark.parametrize("new", [True, False])
async def test_a_list_without_an_end_is_given_up(tmp_path: Path, told: dict[str, int], new: bool):
    def listing(page_no: int) -> dict[str, Any]:
        first = page_no * 1000 if new and "total" in told else 0
        return {"list": [record(first + n) for n in range(1, 4)], "pageSize": 3, **told}

    with pytest.raises(MalformedAnswerError):
        await read(tmp_path, listing)


async def test_items_that_cannot_be_read_count_as_remotes_without_an_id(tmp_path: Path):
    listed = {"list": [record(1), None], "total": 2, "pages": 1}
    assert await read(tmp_path, lambda page_no: listed) == [1, None]
