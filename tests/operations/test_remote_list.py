"""A lock's list in pages: what is shown when pages fail or move, or a remote is asked for."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from lockterm.domain.locks import Lock
from lockterm.errors import RefusedError
from lockterm.operations import Operations
from lockterm.operations.remote_list import MOST_FOUND, RemoteList
from tests.api.fault_server import http
from tests.faults.catalogue import answers, refusal, reset
from tests.faults.proxy import Exchange, FaultProxy
from tests.faults.site import Site
from tests.operations.bench import shows

PAGE_SIZE = 10


@dataclass
class Case:
    """A lock whose list has three pages, the last one half full."""

    site: Site
    proxy: FaultProxy
    operations: Operations
    lock_id: int
    changes: list[int] = field(default_factory=list)

    def open(self) -> RemoteList:
        listing = RemoteList(
            self.operations, Lock(self.lock_id), lambda: self.changes.append(listing.page_no)
        )
        listing.size = PAGE_SIZE
        return listing


@asynccontextmanager
async def opened(site: Site, remotes: int = 25) -> AsyncIterator[Case]:
    lock_id = site.new_lock(remotes)
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        yield Case(site, proxy, operations, lock_id)


async def test_load_keeps_the_page_that_is_shown_when_the_wanted_one_fails(site: Site) -> None:
    async with opened(site) as case:
        listing = case.open()
        assert await listing.load() and listing.at == 1
        case.proxy.arm("list", reset)
        listing.page_no = 3
        assert not await listing.load()
        assert (listing.state.page_no, listing.page_no, listing.at) == (1, 3, 1)
        await case.proxy.heal()
        assert await listing.load()
        assert (listing.state.page_no, listing.page_no, listing.at) == (3, 3, 3)


async def test_load_asks_the_service_when_fresh_is_set(site: Site) -> None:
    async with opened(site) as case:
        listing = case.open()
        await listing.load()
        asked = case.proxy.asked.count("list")
        await listing.load()
        assert case.proxy.asked.count("list") == asked
        await listing.load(fresh=True)
        assert case.proxy.asked.count("list") == asked + 1


@pytest.mark.parametrize(("place", "page_no"), [(0, 1), (17, 2), (24, 3)])
async def test_load_goes_to_a_remote_when_it_is_near_an_end(
    site: Site, place: int, page_no: int
) -> None:
    async with opened(site) as case:
        listing = case.open()
        listing.go_to = case.site.remotes(case.lock_id)[place].id
        await listing.load()
        assert (listing.page_no, listing.go_to, listing.missed) == (page_no, None, None)


async def test_load_names_the_remote_when_no_page_near_an_end_has_it(site: Site) -> None:
    async with opened(site) as case:
        listing = case.open()
        listing.go_to = 999_999
        await listing.load()
        assert (listing.page_no, listing.go_to, listing.missed) == (1, None, 999_999)
        await listing.load()
        assert listing.missed is None


async def test_load_shows_a_page_when_nothing_of_it_can_be_read(site: Site) -> None:
    """It is there: only what is beyond the end leads one page back."""

    async def spoil(exchange: Exchange) -> None:
        answer = await exchange.apply()
        value = json.loads(answer.body)
        value["data"]["list"] = ["odd"] * len(value["data"]["list"])
        await exchange.send(http(json.dumps(value)))

    async with opened(site) as case:
        listing = case.open()
        await listing.load()
        case.proxy.arm("list", spoil)
        listing.page_no = 3
        await listing.load()
        page = listing.state.page
        assert (page.page_no, page.unreadable, page.remotes) == (3, 5, ())


async def test_compare_with_journal_adds_nothing_when_another_page_has_come(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the list is behind with belongs to the page that was compared."""
    async with opened(site) as case:
        listing = case.open()
        first = case.site.remotes(case.lock_id)[0]
        await case.operations.writes.delete_remote(case.lock_id, first)
        case.proxy.arm("list", shows(lambda record: record.update(first.raw)), 1)
        await listing.load(fresh=True)
        really = case.operations.journal.unlisted
        is_flipped = False

        async def flip(*arguments: Any) -> Any:
            nonlocal is_flipped
            found = await really(*arguments)
            if not is_flipped:
                is_flipped, listing.page_no = True, 2
                await listing.load()
            return found

        monkeypatch.setattr(case.operations.journal, "unlisted", flip)
        await listing.compare_with_journal()
        assert (listing.state.page_no, listing.state.unlisted) == (2, None)


@pytest.mark.parametrize(("status", "may_have"), [(200, False), (401, True)])
async def test_read_sized_notes_a_size_only_when_the_service_understood_it(
    site: Site, status: int, may_have: bool
) -> None:
    async with opened(site) as case:
        listing = case.open()
        case.proxy.arm("list", answers(refusal(), status), 1)
        with pytest.raises(RefusedError):
            await listing.read_sized(1, 7)
        assert listing.may_have(7) is may_have
        assert listing.may_have(8)


async def test_page_with_returns_the_page_that_has_a_remote_when_the_size_changes(
    site: Site,
) -> None:
    async with opened(site) as case:
        listing = case.open()
        listing.page_no = 2
        await listing.load()
        page = listing.state.page
        pages = [listing.page_with(page.remotes[row], 7) for row in (0, 3, 4, 9)]
        assert pages == [2, 2, 3, 3]
        assert listing.page_with(None, 7) == 2
        assert listing.page_with(case.site.remotes(case.lock_id)[0], 7) == 2


async def test_search_finds_each_remote_once_when_the_list_moves(site: Site) -> None:
    async with opened(site, 201) as case:
        listing = case.open()
        gone = case.site.remotes(case.lock_id)[0]

        async def delete_behind(exchange: Exchange) -> None:
            answer = await exchange.apply()
            case.site.ask("bluetooth-remote/delete", remoteId=gone.id)
            await exchange.send(answer.head + b"\r\n\r\n" + answer.body)

        case.proxy.arm("list", delete_behind, 1)
        listing.change(needle="fob")
        assert await listing.search() is None
        found = listing.state.found
        assert found is not None and not found.running
        ids = [one.id for one in found.remotes]
        assert len(ids) == len(set(ids)) == 200 and gone.id not in ids


@pytest.mark.parametrize("more", [0, 1])
async def test_search_ends_early_when_it_finds_more_than_are_read(site: Site, more: int) -> None:
    async with opened(site, MOST_FOUND + more) as case:
        listing = case.open()
        listing.change(needle="fob")
        assert await listing.search() is None
        found = listing.state.found
        assert len(found.remotes) == MOST_FOUND
        assert bool(found.ended) is bool(more)
        listing.stop_search()
        assert listing.state.found is not None and not listing.state.found.running
