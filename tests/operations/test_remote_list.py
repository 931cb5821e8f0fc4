"""A lock's list in pages: what is shown when pages fail or move, or a remote is asked for."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
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
from tests.operations.bench import reply, shows

PAGE_SIZE = 10


@dataclass
class Case:
    """A lock whose list has three pages, the last one half full."""

    site: Site
    proxy: FaultProxy
    operations: Operations
    lock_id: int

    def __post_init__(self) -> None:
        self.listing = RemoteList(self.operations, Lock(self.lock_id), lambda: None)
        self.listing.size = PAGE_SIZE


@asynccontextmanager
async def opened(site: Site, remotes: int) -> AsyncIterator[Case]:
    lock_id = site.new_lock(remotes)
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        yield Case(site, proxy, operations, lock_id)


@pytest.fixture
async def case(site: Site) -> AsyncIterator[Case]:
    async with opened(site, 25) as case:
        yield case


async def test_load_keeps_the_page_that_is_shown_when_the_wanted_one_fails(case: Case) -> None:
    listing = case.listing
    assert await listing.load() and listing.base_page_no == 1
    case.proxy.arm("list", reset)
    listing.page_no = 3
    assert not await listing.load()
    assert (listing.state.page_no, listing.page_no, listing.base_page_no) == (1, 3, 1)
    await case.proxy.heal()
    assert await listing.load()
    assert (listing.state.page_no, listing.page_no, listing.base_page_no) == (3, 3, 3)


async def test_load_asks_the_service_when_fresh_is_set(case: Case) -> None:
    for fresh, asked in ((False, 1), (False, 1), (True, 2)):
        await case.listing.load(fresh=fresh)
        assert case.proxy.asked.count("list") == asked


@pytest.mark.parametrize(("place", "page_no"), [(0, 1), (17, 2), (24, 3), (None, 1)])
async def test_load_goes_to_a_remote_or_names_it_when_no_page_near_an_end_has_it(
    case: Case, place: int | None, page_no: int
) -> None:
    listing, missed = case.listing, 999_999 if place is None else None
    listing.go_to = missed or case.site.remotes(case.lock_id)[place].id
    await listing.load()
    assert (listing.page_no, listing.go_to, listing.missed) == (page_no, None, missed)
    await listing.load()
    assert listing.missed is None


async def test_load_shows_a_page_when_nothing_of_it_can_be_read(case: Case) -> None:
    """It is there: only what is beyond the end leads one page back."""

    async def spoil(exchange: Exchange) -> None:
        answer = await exchange.apply()
        value = json.loads(answer.body)
        value["data"]["list"] = ["odd"] * len(value["data"]["list"])
        await exchange.send(http(json.dumps(value)))

    await case.listing.load()
    case.proxy.arm("list", spoil)
    case.listing.page_no = 3
    await case.listing.load()
    page = case.listing.state.page
    assert (page.page_no, page.unreadable, page.remotes) == (3, 5, ())


async def test_compare_with_journal_adds_nothing_when_another_page_has_come(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the list is behind with belongs to the page that was compared."""
    listing, first = case.listing, case.site.remotes(case.lock_id)[0]
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
    case: Case, status: int, may_have: bool
) -> None:
    case.proxy.arm("list", answers(refusal(), status), 1)
    with pytest.raises(RefusedError):
        await case.listing.read_sized(1, 7)
    assert case.listing.may_have(7) is may_have
    assert case.listing.may_have(8)


async def test_page_with_returns_the_page_that_has_a_remote_when_the_size_changes(
    case: Case,
) -> None:
    listing = case.listing
    listing.page_no = 2
    await listing.load()
    page = listing.state.page
    pages = [listing.page_with(page.remotes[row], 7) for row in (0, 3, 4, 9)]
    assert pages == [2, 2, 3, 3]
    assert listing.page_with(None, 7) == 2
    assert listing.page_with(case.site.remotes(case.lock_id)[0], 7) == 2


async def test_search_finds_each_remote_once_when_the_list_moves(site: Site) -> None:
    async with opened(site, 201) as case:
        gone = case.site.remotes(case.lock_id)[0]

        async def delete_behind(exchange: Exchange) -> None:
            await exchange.apply()
            case.site.ask("bluetooth-remote/delete", remoteId=gone.id)
            await reply(exchange)

        case.proxy.arm("list", delete_behind, 1)
        case.listing.change(needle="fob")
        assert await case.listing.search() is None
        found = case.listing.state.found
        assert found is not None and not found.running
        ids = [one.id for one in found.remotes]
        assert len(ids) == len(set(ids)) == 200 and gone.id not in ids


@pytest.mark.parametrize("more", [0, 1])
async def test_search_ends_early_when_it_finds_more_than_are_read(site: Site, more: int) -> None:
    async with opened(site, MOST_FOUND + more) as case:
        listing = case.listing
        listing.change(needle="fob")
        assert await listing.search() is None
        found = listing.state.found
        assert len(found.remotes) == MOST_FOUND
        assert bool(found.ended) is bool(more)
        listing.stop_search()
        assert listing.state.found is not None and not listing.state.found.running
