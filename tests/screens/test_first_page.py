"""The page that was asked for before the app was there: shown at once, once, and by nobody else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.api.client import FirstPage, FirstRead
from lockterm.app import LocktermApp
from lockterm.config import Profile
from lockterm.errors import UntrustedServerError
from lockterm.paths import Paths
from lockterm.service.running import RunningService
from tests.conftest import NOW_MS
from tests.faults.proxy import Exchange, FaultProxy
from tests.screens.running_app import Demo, notices, settled, shown, strips, until
from tests.screens.site import MAIN_GATE, book_of, fill_book, press
from tests.servers import port_of

FIRST_ROW = "Omar Haddad"
"""On the first page of lock 1001."""
FIRST_ASKED = "pageNo=1&"


class Asked(list[str]):
    """What was asked of the service for lists: the targets, in their order."""

    def note(self, exchange: Exchange) -> None:
        if exchange.call == "list":
            self.append(exchange.target)

    @property
    def firsts(self) -> list[str]:
        return [target for target in self if FIRST_ASKED in target]


@asynccontextmanager
async def proxied(service: RunningService) -> AsyncIterator[tuple[FaultProxy, Asked]]:
    asked = Asked()
    async with FaultProxy(port_of(service), on_asked=asked.note).running() as proxy:
        yield proxy, asked


async def answered(profile: Profile, lock_id: int = 1001) -> FirstPage:
    first = FirstPage(profile, lock_id)
    first.ask()
    await asyncio.wrap_future(first.outcome)
    return first


@asynccontextmanager
async def opened(
    demo: Demo, profile: Profile, first: FirstPage | None = None
) -> AsyncIterator[Pilot[Any]]:
    """A running app that was given its first page; if none is given, one that was answered."""
    paths, first = Paths.below(demo.directory), first or await answered(profile)
    app = LocktermApp(profile, paths, open_lock=1001, clock=demo.clock, first=first)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        yield pilot


async def test_first_page_is_in_the_first_frame_and_requested_once(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures: list[str] = []
    online: list[bool | None] = []
    display = LocktermApp._display

    def note(self: LocktermApp, screen: Any, renderable: Any) -> None:
        pictures.append("\n".join(strip.text for strip in strips(screen)))
        online.append(self.operations.connection.online)
        display(self, screen, renderable)

    monkeypatch.setattr(LocktermApp, "_display", note)
    async with proxied(demo.service) as (proxy, asked):
        profile = Profile("p", proxy.base_url)
        async with opened(demo, profile) as pilot:
            operations = pilot.app.operations
            await settled(pilot)
            assert FIRST_ROW in next(picture for picture in pictures if "Name" in picture)
            assert not any("oading" in picture for picture in pictures)
            assert online[0] is None and operations.connection.online is True
            assert operations.connection.clock_offset_s is not None
            await until(pilot, lambda: len(asked) == 2)  # and the page behind it, ahead
            assert len(asked.firsts) == 1
            kept = await operations.remotes.cached_page(1001, 1, profile.page_rows())
            assert kept is not None and kept.value.total == 137
            await pilot.press("r")
            await until(pilot, lambda: len(asked.firsts) == 2)


def held(may_answer: asyncio.Event) -> Callable[[Exchange], Awaitable[None]]:
    """A service that answers only when it may."""

    async def hold(exchange: Exchange) -> None:
        answer = await exchange.apply()
        await may_answer.wait()
        await exchange.send(answer.head + b"\r\n\r\n" + answer.body)

    return hold


async def test_connection_is_online_when_the_first_page_alone_has_answered(demo: Demo) -> None:
    may_answer = asyncio.Event()
    async with proxied(demo.service) as (proxy, _):
        profile = Profile("p", proxy.base_url)
        first = await answered(profile)
        proxy.arm("list", held(may_answer))
        async with opened(demo, profile, first) as pilot:
            connection = pilot.app.operations.connection
            await until(pilot, lambda: connection.online)
            assert connection.clock_offset_s is not None
            may_answer.set()
            await settled(pilot)


async def test_late_first_page_is_awaited_and_its_lock_noted_as_viewed(
    demo: Demo,
) -> None:
    may_answer = asyncio.Event()
    fill_book(demo, replace(MAIN_GATE, remotes=None, opened_ms=None))
    async with proxied(demo.service) as (proxy, asked):
        proxy.arm("list", held(may_answer), 1)
        profile = Profile("demo", proxy.base_url)
        first = FirstPage(profile, 1001)
        first.ask()
        async with opened(demo, profile, first) as pilot:
            await until(pilot, lambda: "Loading the remotes" in shown(pilot))
            may_answer.set()
            await until(pilot, lambda: FIRST_ROW in shown(pilot))
            await settled(pilot)
            assert len(asked.firsts) == 1
            assert pilot.app.operations.connection.online is True
    noted = book_of(demo)[1001]
    assert (noted.remotes, noted.opened_ms) == (137, NOW_MS)


async def test_first_page_is_dropped_when_lock_profile_token_or_size_differs(
    demo: Demo,
) -> None:
    async with proxied(demo.service) as (proxy, asked), proxied(demo.service) as (other, _):
        profile = Profile("p", proxy.base_url)
        for others, lock_id in (
            (replace(profile, base_url=other.base_url), 1001),
            (replace(profile, name="q"), 1001),
            (replace(profile, headers={"Authorization": "Bearer another"}), 1001),
            (replace(profile, page_size=50), 1001),
            (profile, 1002),
        ):
            first = await answered(others, lock_id)
            assert first.outcome.result().page is not None
            asked.clear()
            async with opened(demo, profile, first) as pilot:
                await until(pilot, lambda: FIRST_ROW in shown(pilot))
                assert asked.firsts == [
                    "/api/v1/bluetooth-remote/list?lockId=1001&pageNo=1&pageSize=20"
                ]


async def test_first_page_refusal_is_shown_after_one_request(demo: Demo) -> None:
    async def refuse(exchange: Exchange) -> None:
        body = b'{"errcode": 7, "errmsg": "not \x1b[31myours", "description": ""}'
        await exchange.send(
            b"HTTP/1.1 403 No\r\nContent-Length: %d\r\n\r\n" % len(body) + body,
        )

    async with proxied(demo.service) as (proxy, asked):
        proxy.arm("list", refuse)
        profile = Profile("p", proxy.base_url)
        async with opened(demo, profile) as pilot:
            await until(pilot, lambda: "not" in shown(pilot) and "yours" in shown(pilot))
            await settled(pilot)
            assert len(asked) == 1
            assert "\x1b" not in shown(pilot) + notices(pilot)


async def test_first_page_keeps_the_pause_that_the_service_asks_for(demo: Demo) -> None:
    async def pause(exchange: Exchange) -> None:
        await exchange.send(
            b"HTTP/1.1 429 No\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n",
        )

    async with proxied(demo.service) as (proxy, asked):
        proxy.arm("list", pause)
        profile = Profile("p", proxy.base_url)
        async with opened(demo, profile) as pilot:
            operations = pilot.app.operations
            await until(pilot, lambda: operations.connection.wait_s > 0)
            await settled(pilot)
            await press(pilot, "r")
            assert len(asked) == 1


@pytest.mark.long
async def test_first_page_is_requested_again_when_the_service_returns(demo: Demo) -> None:
    """A portal that had a certificate of its own, until somebody logged in to it."""
    async with proxied(demo.service) as (proxy, _):
        profile = Profile("p", proxy.base_url)
        first = FirstPage(profile, 1001)
        first.outcome.set_result(
            FirstRead(error=UntrustedServerError("Its certificate is self-signed."))
        )
        async with opened(demo, profile, first) as pilot:
            await until(pilot, lambda: FIRST_ROW in shown(pilot))
