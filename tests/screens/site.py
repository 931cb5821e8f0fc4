"""What tests of screens need around them: a lock book, what the screen shows, hostile strings."""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen

from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.paths import Paths
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.table import RemotesTable
from lockterm.store.database import Database
from lockterm.store.lock_book import LockBook
from tests.api.fault_server import FaultServer, http
from tests.conftest import NOW_MS
from tests.screens.running_app import Demo, Starter, settled, strips, until
from tests.screens.running_app import fill_book as fill_book
from tests.servers import Line

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS

MAIN_GATE = Lock(
    1001,
    name="Main gate",
    alias="North campus, gate 1",
    vendor="nordriegel",
    model="NR-450",
    zone="Europe/Berlin",
    remotes=137,
    opened_ms=NOW_MS - 3 * DAY_MS,
    voice=VoiceChoice("de-DE", "anna"),
)
LOCKS = (
    MAIN_GATE,
    Lock(
        1002,
        name="Loading dock",
        vendor="nordriegel",
        model="NR-200",
        zone="Europe/Berlin",
        remotes=42,
        opened_ms=NOW_MS - 20 * 60_000,
    ),
    Lock(1003, name="Server room", remotes=9, opened_ms=NOW_MS - 30 * HOUR_MS),
    Lock(1006, name="化学品仓库", vendor="lumenlock", model="L7", zone="Asia/Shanghai"),
)

HOSTILE = (
    "[@click=app.quit]x[/]",
    "[/]",
    "[bold]b",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b[2J\x9b31m\x00",
    "\u202eevil\u202c\u200b\ufeff\u2066",
    "\ud800 half",
    "e\u0301" * 40,
    "長" * 300,
    "a\nb\r\nc\td",
    "\U000e0041\u2028",
    "$name {name} %s",
    "",
)
"""Strings that break terminals, markup or layouts where they are not shown with care."""

ScreenT = TypeVar("ScreenT", bound=Screen[Any])


def book_of(starter: Starter | Demo) -> dict[int, Lock]:
    """The lock book as it is on the disk."""
    database = Database(Paths.below(starter.directory).database)
    locks = LockBook(database, "demo").locks()
    database.close()
    return {lock.lock_id: lock for lock in locks}


def shown(app: App[Any]) -> str:
    """The text on the screen, line by line, as it would be sent to the terminal."""
    filters = app.get_line_filters()
    background = app.screen.styles.background
    text = []
    for strip in strips(app.screen):
        segments = list(strip)
        for line_filter in filters:
            segments = line_filter.apply(segments, background)
        text.append("".join(segment.text for segment in segments).rstrip())
    return "\n".join(text)


def words(app: App[Any]) -> str:
    """The text on the screen as one line, so that a sentence is found wherever it wraps."""
    return " ".join(shown(app).split())


def remotes_screen(pilot: Pilot[Any]) -> RemotesScreen:
    """Return the screen of a lock's remotes, even below a dialog."""
    return next(one for one in pilot.app.screen_stack[::-1] if isinstance(one, RemotesScreen))


def remotes_table(pilot: Pilot[Any]) -> RemotesTable:
    """Return the table of a lock's remotes, even below a dialog."""
    return remotes_screen(pilot).table


def marked_ids(pilot: Pilot[Any]) -> list[int | None]:
    """Return the IDs of the marked remotes."""
    return [remote.id for _, remote in remotes_screen(pilot).marks.rows]


def remote_names(pilot: Pilot[Any]) -> list[str | None]:
    """Return the names of the remotes in the table, from top to bottom."""
    return [row.remote.remote_name for row in remotes_table(pilot).rows]


async def press(pilot: Pilot[Any], *keys: str) -> str:
    """Press keys, wait for what they lead to, and return the text on the screen."""
    await pilot.press(*keys)
    await settled(pilot)
    return words(pilot.app)


async def press_to(pilot: Pilot[Any], screen: type[ScreenT], *keys: str) -> ScreenT:
    """Press keys, and return the screen that they lead to."""
    await pilot.press(*keys)
    await settled_when(pilot, lambda: isinstance(pilot.app.screen, screen))
    assert isinstance(pilot.app.screen, screen)
    return pilot.app.screen


async def settled_when(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Wait for a condition, and then until nothing is under way and all of it is painted."""
    await until(pilot, condition)
    await settled(pilot)


async def press_each(pilot: Pilot[Any], *keys: str) -> str:
    """Press keys, each after the effect of the one before; return the text on the screen."""
    for key in keys:
        await press(pilot, key)
    return words(pilot.app)


def answered(data: Any) -> dict[str, Any]:
    """Return a good answer of the service with some data (contract 2.1)."""
    return {"errcode": 0, "errmsg": "", "description": "", "data": data}


def page_of(records: Sequence[Any], query: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the page of a list of records that a query asks for (contract 4.3)."""
    asked = query or {"pageNo": "1", "pageSize": str(max(len(records), 20))}
    number, size = int(asked["pageNo"]), int(asked["pageSize"])
    counts = {"pages": -(-len(records) // size), "total": len(records)}
    shown = records[(number - 1) * size : number * size]
    return {"list": shown, "pageNo": number, "pageSize": size, **counts}


@asynccontextmanager
async def canned(answers: Mapping[str, Any]) -> AsyncIterator[Any]:
    """A service over real HTTP that answers as it is told.

    Args:
        answers: The end of a path -> the data of a good answer, or a function that makes the answer
            from the body or the query that came, at once or later; None: the connection is reset.
    """
    server = FaultServer()

    async def script(line: Line) -> None:
        asked = server.asked[-1]
        path, _, query = asked.start.split()[1].partition("?")
        told = next(made for end, made in answers.items() if path.endswith(end))
        if not callable(told):
            told = answered(told)
        else:
            told = told(json.loads(asked.body) if asked.body else dict(parse_qsl(query)))
        if inspect.isawaitable(told):
            told = await told
        if told is None:
            line.reset()
            return
        await line.send(http(json.dumps(told), 200, "Content-Type: application/json"))

    server.play(script)
    async with server.running():
        yield server
