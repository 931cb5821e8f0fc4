"""Two technicians at one service: what the other one changed is found in the kept lists."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from lockterm.config import Profile
from lockterm.domain.changes_elsewhere import ChangeElsewhere, ChangeKind
from lockterm.domain.listing import Block, Listing
from lockterm.domain.locks import Lock
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import RemoteChanges
from lockterm.operations import Operations
from lockterm.service.running import RunningService
from lockterm.store import cache as cache_module
from lockterm.store.cache import Cache
from tests.faults.calls import id_of, new_remote

LOCK = 1003


@dataclass
class Technician:
    """A technician's machine, with a store and kept lists of its own."""

    operations: Operations

    async def found(self) -> Sequence[ChangeElsewhere]:
        return await self.operations.kept_lists.changes()

    async def news(self) -> list[tuple[str, str, list[str]]]:
        """Read the lock whole, and return what, name and fields of all changes."""
        async for one in self.operations.all_locks.read(locks=[Lock(LOCK)]):
            assert not one.problem
        return sorted((one.what.value, one.name, [*one.names]) for one in await self.found())


Pair = tuple[Technician, Technician]


@pytest.fixture
async def pair(service: RunningService, tmp_path: Path) -> AsyncIterator[Pair]:
    profile, opened = Profile(name="p", base_url=service.base_url), []
    for folder in (tmp_path / "a", tmp_path / "b"):
        cache = Cache(folder / "answers.db", profile)
        store = folder / "lockterm.db"
        opened.append(Operations(profile, store, open_cache=lambda cache=cache: cache))
    here, there = opened
    yield Technician(here), Technician(there)
    for one in opened:
        await one.close()


async def change_all(there: Technician) -> tuple[str, str]:
    """Rename, delete and add a remote; return the name before and of the deleted remote."""
    writes, remotes = there.operations.writes, await there.operations.remotes.all(LOCK)
    first, last = remotes[0], remotes[-1]
    changes = RemoteChanges(remote_name="Renamed", is_coerced=2 if first.is_coerced == 1 else 1)
    await writes.update_remote(LOCK, id_of(first), changes, first)
    await writes.delete_remote(LOCK, last)
    await writes.add_remote(new_remote(LOCK))
    return first.remote_name or "", last.remote_name or ""


async def test_changes_of_the_other_technician_are_found_and_own_ones_are_not(pair: Pair) -> None:
    here, there = pair
    assert await here.news() == [] and await there.news() == [], "the first reading shows nothing"
    _, deleted = await change_all(there)
    assert await there.news() == []
    assert await here.news() == [
        ("changed", "Renamed", ["remoteName", "isCoerced"]),
        ("gone", deleted, []),
        ("new", "New fob", []),
    ]
    assert await here.news() == await here.news(), "a further reading adds nothing"
    change = next(one for one in await here.found() if one.what is ChangeKind.CHANGED)
    assert change.since_ms <= change.until_ms
    await here.operations.kept_lists.note_seen(change.until_ms)
    assert await here.operations.kept_lists.unseen() == {}
    assert len(await here.found()) == 3


async def test_page_shows_changes_and_never_that_a_remote_is_gone(pair: Pair) -> None:
    here, there = pair
    await here.news()
    await change_all(there)
    seen = await here.operations.remotes.page(LOCK, 1, 200, fresh=True)
    kept_lists = here.operations.kept_lists
    await kept_lists.compare_page(LOCK, seen.value.remotes, seen.at_ms)
    assert {one.what for one in await here.found()} == {ChangeKind.CHANGED, ChangeKind.NEW}
    until = {one.remote_id: one.until_ms for one in await here.found()}
    assert [what for what, *_ in await here.news()] == ["changed", "gone", "new"], "each once"
    for one in await here.found():
        assert one.until_ms == until.get(one.remote_id, one.until_ms), "the narrower time stays"
    # A page that is older than the kept list proves nothing.
    old = [Remote.read({**one.raw, "remoteName": "Old"}) for one in seen.value.remotes]
    await kept_lists.compare_page(LOCK, old, seen.at_ms - 60_000)
    assert len(await here.found()) == 3


def listing(at_ms: int, *names: str, unreadable: int = 0) -> Listing:
    remotes = [Remote.read({"id": len(name), "remoteName": name}) for name in names]
    return Listing([Block.of(remotes)], at_ms, unreadable=unreadable)


async def test_partial_readings_give_nothing_false(pair: Pair) -> None:
    here, _ = pair
    kept_lists, now_ms = here.operations.kept_lists, here.operations.machine_ms()
    await kept_lists.keep(LOCK + 1, listing(now_ms - 5000, "a", "bb"))  # it ended now
    await kept_lists.keep(LOCK + 1, listing(now_ms - 4000, "a"))
    assert await here.found() == [], "readings at the same time are not compared"
    now_ms += 1000
    await kept_lists.keep(LOCK, listing(now_ms, "a", "bb"))
    await kept_lists.keep(LOCK, listing(now_ms + 1, "a", unreadable=1))
    assert await here.found() == [], "bb may be the record that cannot be read"
    await kept_lists.keep(LOCK, listing(now_ms + 2, "a", "bb"))
    assert await here.found() == [], "bb may have been there"
    await kept_lists.keep(LOCK, listing(now_ms + 3, "a"))
    assert [one.what for one in await here.found()] == [ChangeKind.GONE]
    await kept_lists.keep(LOCK, listing(now_ms + 4, "a", "bb"))
    assert await here.found() == [], "one reading did not show it, so it was not deleted"


async def test_list_that_another_session_has_replaced_stays(tmp_path: Path) -> None:
    """Otherwise the changes between the two new lists would never be found."""
    cache = Cache(tmp_path / "answers.db", Profile("p", "http://x"))
    cache.put_list(LOCK, listing(1, "a"))
    base = cache.records(LOCK)
    cache.put_list(LOCK, listing(2, "a", "bb"))
    cache.put_list(LOCK, listing(3, "a"), 3, base)
    assert [one.remote_name for one in cache.lists()[LOCK].remotes()] == ["a", "bb"]
    cache.close()


def change(remote_id: int, until_ms: int) -> ChangeElsewhere:
    after = {"remoteName": f"Remote {remote_id}"}
    return ChangeElsewhere(LOCK, remote_id, ChangeKind.NEW, {}, after, until_ms - 1, until_ms)


async def test_kept_changes_are_limited_and_go_with_the_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "MOST_CHANGES", 5)
    cache = Cache(tmp_path / "answers.db", Profile("p", "http://x"))
    cache.put_changes([change(number, number) for number in range(1, 9)])
    assert [one.remote_id for one in cache.changes()] == [8, 7, 6, 5, 4]
    assert [one.remote_id for one in cache.changes(since_ms=7)] == [8, 7]
    cache.put_changes([change(1, cache_module.KEPT_MS + 7)])
    assert [one.remote_id for one in cache.changes()] == [1, 8, 7]
    cache.note_seen(8)
    assert [one.remote_id for one in cache.changes(unseen=True)] == [1]
    cache.forget("")
    assert cache.changes() == []
    cache.close()
