"""The state directory goes while sessions run: nothing they know is lost, none counts as dead."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lockterm.domain.operation import OperationState
from lockterm.errors import StoreError
from lockterm.operations.refusals import PendingChangeError
from lockterm.store.sessions import StoreSession
from tests.faults.calls import CALLS, new_remote
from tests.faults.proxy import Exchange
from tests.faults.site import Site, until
from tests.operations.test_two_sessions import Pair, pair

__all__ = ["pair"]

SLEEPER = """
import sys
from pathlib import Path
from lockterm.store.sessions import StoreSession
session = StoreSession(Path(sys.argv[1]))
session.open()
print(session.id, flush=True)
sys.stdin.read()
"""


def state(pair: Pair) -> Path:
    return pair.here.journal.database.path.parent


async def test_an_unsettled_line_stays_and_holds_back(pair: Pair) -> None:
    operation = await pair.lose("add")
    await pair.there.journal.list_unconfirmed()
    shutil.rmtree(state(pair))
    for session in (pair.here, pair.there):
        assert await session.journal.list_unconfirmed() == [operation]
        with pytest.raises(PendingChangeError):
            await session.writes.add_remote(new_remote(pair.scene.lock_id, "Other fob"))
    await pair.there.resolution.give_up(operation)
    assert await pair.here.journal.list_unconfirmed() == []
    assert len(await pair.here.journal.history()) == 1
    assert (state(pair) / "sessions" / pair.here.journal.session.id).exists()


async def test_add_under_way_is_not_sent_by_another_session(pair: Pair) -> None:
    """The other session meets its row before it can show again that it lives."""
    gate = asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        await gate.wait()
        answer = await exchange.apply()
        await exchange.send(answer.head + b"\r\n\r\n" + answer.body)

    await pair.there.journal.list_unconfirmed()
    pair.proxy.arm("add", slow, 1)
    adding = asyncio.create_task(CALLS["add"](pair.here, pair.scene))
    await until(lambda: "add" in pair.proxy.asked)
    shutil.rmtree(state(pair))
    assert await pair.there.journal.list_unconfirmed() == []
    with pytest.raises(PendingChangeError, match=pair.here.journal.session.id):
        await CALLS["add"](pair.there, pair.scene)
    gate.set()
    await adding
    assert [row.state for row in await pair.there.journal.history()] == [OperationState.CONFIRMED]


async def test_where_it_cannot_be_made_again_nothing_is_changed_or_hidden(pair: Pair) -> None:
    operation = await pair.lose("add")
    place = state(pair)
    shutil.rmtree(place)
    place.write_text("in the way")
    assert await pair.here.journal.list_unconfirmed() == [operation]
    asked = pair.proxy.asked.count("delete")
    with pytest.raises(StoreError):
        await CALLS["delete"](pair.here, pair.scene)
    assert pair.proxy.asked.count("delete") == asked
    place.unlink()
    assert await pair.here.journal.list_unconfirmed() == [operation]
    await CALLS["delete"](pair.here, pair.scene)
    assert len(await pair.there.journal.history()) == 2


async def test_session_keeps_its_writes_when_the_state_is_removed(pair: Pair, site: Site) -> None:
    operation = await pair.lose("update")
    shutil.rmtree(state(pair))
    async with site.operations(pair.proxy, pair.here.journal.database.path) as new:
        lock_id = site.new_lock()
        await new.writes.add_remote(new_remote(lock_id))
        rows = {row.id for row in await new.journal.history()}
        assert await pair.here.journal.list_unconfirmed() == [operation]
        assert {row.id for row in await new.journal.history()} == {operation.id} | rows
        assert await new.journal.list_unconfirmed() == [operation]


def test_a_process_without_its_file_lives_until_it_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SLEEPER, str(tmp_path / "sessions")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one:
        other = one.stdout.readline().strip()
        here = StoreSession(tmp_path / "sessions")
        here.open()
        assert here.is_alive(other)
        shutil.rmtree(tmp_path / "sessions")
        assert here.is_alive(other)
        os.kill(one.pid, signal.SIGKILL)
        one.wait()
    assert not here.is_alive(other)
    here.close()


def test_the_files_of_sessions_that_have_ended_go(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for name in ("1-dead", "2-3f-0badcafe"):
        (folder / name).touch()
    first, second = StoreSession(folder), StoreSession(folder)
    first.open()
    second.open()
    first.remove_dead()
    assert {entry.name for entry in folder.iterdir()} == {first.id, second.id}
    first.close()
    second.close()
    assert not any(folder.iterdir())
