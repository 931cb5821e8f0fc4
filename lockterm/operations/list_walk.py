"""A walk through the whole list of a lock, page by page."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lockterm.api.place import Place, Places
from lockterm.config.profile import MAX_PAGE_SIZE
from lockterm.errors import ListTooLarge, MalformedAnswer
from lockterm.operations.cached_reads import CachedReads
from lockterm.operations.remote_sources import page_source
from lockterm.operations.walk_limits import SeenIds, WalkBudget

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote, RemotePage

WALK_PAGE_SIZE = MAX_PAGE_SIZE
"""Remotes a page when the whole list is read."""

PAGES_AT_ONCE = 4
"""So many pages are asked for at the same time by a search: a far service is waited for a quarter
as often, and a near one makes pages while others are read."""

MOST_REMOTES = 1_000_000
"""A list that is said to have more remotes is not begun: it would not fit into memory."""

WALKS = 4
"""How often a list that changes meanwhile is read at the most."""


@dataclass(frozen=True, slots=True)
class Step:
    """A page of a walk through a list."""

    remotes: Sequence[Remote]
    """Those on the page."""
    new: Sequence[Remote]
    """Those that were on no page before it."""
    is_first: bool
    """Whether it is the first page: where the walk begins again, what came before is void."""
    read: int
    """How many remotes were on it and the pages before."""
    total: int
    """How many the service says there are."""


async def walk(
    reads: CachedReads, lock_id: int, budget: WalkBudget, place: Place | None, *, ahead: bool
) -> AsyncGenerator[Step, None]:
    """Read the whole list of a lock; see :meth:`Remotes.walk`."""
    at_once = PAGES_AT_ONCE if ahead else 1
    for _ in range(WALKS):
        ids, without_id, unreadable = SeenIds(), 0, 0
        total: int | None = None
        page_no, pages, moved, read = 1, 1, False, 0
        places = Places(at_once)
        coming: deque[asyncio.Task[RemotePage]] = deque()
        try:
            while page_no <= pages and not moved:
                for number in range(page_no + len(coming), min(page_no + at_once, pages + 1)):
                    at = place or Place(places)
                    source = page_source(lock_id, number, WALK_PAGE_SIZE, place=at)
                    coming.append(reads.connection.background(reads.ask(source.ask)))
                page = await coming.popleft()
                budget.read(page.answer_bytes)
                is_told, before = "total" not in page.odd, read
                moved = is_told and total is not None and page.total != total
                total, pages = page.total, page.pages
                new = [one for one in page.remotes if one.id is None or ids.add(one.id)]
                without_id += sum(one.id is None for one in new)
                unreadable += page.unreadable
                read = len(ids) + without_id + unreadable
                is_empty = not page.remotes and not page.unreadable
                if not is_told and "pages" in page.odd:  # nobody said where it ends
                    pages = page_no if is_empty else page_no + 1
                # A list without an end would otherwise be read until the memory is full.
                repeats = read == before and page_no > 1 and not (is_empty and page_no == pages)
                moved = moved or repeats or (is_told and read > total + WALK_PAGE_SIZE)
                if max(read, total) > MOST_REMOTES:
                    raise ListTooLarge(f"Lock {lock_id} has more remotes than can be read.")
                if not moved:
                    told, shown = total if is_told else read, read - unreadable
                    yield Step(page.remotes, new, page_no == 1, shown, told)
                page_no += 1
        finally:
            for task in coming:
                task.cancel()
        if not moved and (not is_told or read >= (total or 0)):
            return
    raise moving(f"The list of lock {lock_id} kept changing while it was read.")


def moving(message: str) -> MalformedAnswer:
    """The error of a list that kept changing."""
    return MalformedAnswer(
        message,
        title="The list is moving",
        hint="Someone else is changing this lock's remotes. Try again in a moment.",
    )
