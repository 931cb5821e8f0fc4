"""The remotes of locks, to be read: pages with their neighbors ahead, whole lists, details."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from lockterm.domain.callbacks import ignore
from lockterm.domain.names import normalize_name
from lockterm.domain.remotes import Remote, is_still
from lockterm.domain.text.remote import format_remote
from lockterm.errors import NAME_EXISTS, MalformedAnswer, Refused, RuleViolation, StoreError
from lockterm.operations.cached_reads import (
    CachedReads,
    Fetched,
    detail_source,
    has_name,
    page_source,
)
from lockterm.operations.known_remotes import KnownRemotes
from lockterm.operations.list_walk import ASKED, WALK_PAGE_SIZE, WALKS, WalkBudget, moving, walk

if TYPE_CHECKING:
    from lockterm.api.retry_policy import Place
    from lockterm.domain.listing import Ends, Listing
    from lockterm.domain.remotes import Remote, RemotePage
    from lockterm.operations.cached_reads import Source
    from lockterm.operations.first_page import FirstPage, FirstRead
    from lockterm.operations.journal_store import JournalStore
    from lockterm.operations.list_walk import Step, WalkBudget, WalkLimits
    from lockterm.operations.recorded import Recorded

AHEAD_S = 60.0
"""How long a page that was fetched ahead may be shown, in seconds; its age is shown with it."""

JUST_READ_S = 2.0
"""A lock that is opened asks for its page unless it came within so many seconds."""

MOST_PAGES = 16
"""Pages kept in memory: those just seen, and their neighbors."""

PageKey = tuple[int, int, int]
"""The lock, the page's number and its size."""


class Remotes:
    """The remotes of locks, as the service shows them.

    Every read raises ``ServiceError`` where all attempts failed; see ``lockterm.errors``.

    Args:
        reads: Reads from the service.
        journal: Tells what of it was changed from here, and a copy may not show yet.
        first: A page that was asked for already; None: none was.
    """

    def __init__(
        self,
        reads: CachedReads,
        journal: Callable[[], JournalStore],
        first: FirstPage | None = None,
    ) -> None:
        self.reads_ahead = True
        """Whether pages may be fetched that nobody has asked for yet."""
        self._reads = reads
        self._connection = reads.connection
        self._journal = journal
        self._first = first
        self._pages: dict[PageKey, asyncio.Future[Fetched[RemotePage]]] = {}
        self._waiting: Counter[asyncio.Future[Fetched[RemotePage]]] = Counter()
        self._changes: Counter[int] = Counter()
        self.known = KnownRemotes()
        """Some remotes of each lock, as they were last shown."""
        reads.on_denial = self._forget_pages

    # --- pages -----------------------------------------------------------------------------

    @property
    def is_reading(self) -> bool:
        """Whether a page is on its way, asked for or ahead."""
        return not all(task.done() for task in self._pages.values())

    async def page(
        self,
        lock_id: int,
        page_no: int,
        page_size: int,
        *,
        fresh: bool = False,
        at_most_s: float = AHEAD_S,
    ) -> Fetched[RemotePage]:
        """A page of a lock's remotes (4.3).

        Args:
            lock_id: The lock.
            page_no: Which one, from 1.
            page_size: Remotes on a page.
            fresh: Ask the service in any case.
            at_most_s: How old, in seconds, a page may be that serves without asking.
        """
        key = (lock_id, page_no, page_size)
        task = self._pages.pop(key, None)
        if task is None or fresh or self._too_old(task, at_most_s):
            old, task = task, self._connection.background(self._load_page(*key))
            if old is not None:
                self._drop_unwanted(key, old)
        self._keep_page(key, task)
        self._waiting[task] += 1
        try:
            # Shielded: when a newer page supersedes a screen's worker, the answer serves later.
            return await asyncio.shield(task)
        finally:
            self._waiting[task] -= 1
            self._drop_unwanted(key, task)

    def first_page(
        self, lock_id: int, page_no: int, page_size: int
    ) -> tuple[Fetched[RemotePage], Callable[[], None]] | None:
        """A page that is there before its screen: seen a while ago, or asked for at the start.

        Returns:
            The page, and what is to be called once it is shown; None where it is another one, did
            not come yet, or is none: then :meth:`page` has what became of it.
        """
        first, key = self._first, (lock_id, page_no, page_size)
        if self.has_page(*key):
            return self._pages[key].result(), ignore
        if first is None or first.key != key or not first.outcome.done():
            return None
        outcome = first.outcome.result()
        if outcome.page is None:
            return None
        self._first = None
        seen = Fetched.now(outcome.page, self._connection.clock)
        read = asyncio.get_running_loop().create_future()
        read.set_result(seen)
        self._keep_page(key, read)
        # Who leaves at once finds it at the next start.
        self._reads.note_due(page_source(*key), seen)
        return seen, partial(self._note_first, key, outcome, seen)

    def _note_first(self, key: PageKey, outcome: FirstRead, seen: Fetched[RemotePage]) -> None:
        """Do after the first page what goes with every answer."""
        source = page_source(*key)
        self.known.note_page(key[0], seen.value)
        self._connection.note_reached(outcome.clock_offset_s)
        self._reads.note_due(source, seen)
        self._connection.background(self._reads.keep(source, seen))

    def at_hand(self, lock_id: int) -> Iterator[Remote]:
        """The remotes of a lock that were read lately, or ahead."""
        for key, task in self._pages.items():
            if key[0] == lock_id and task.done() and not self._too_old(task):
                yield from task.result().value.remotes

    def look_ahead(self, lock_id: int, page_no: int, page_size: int) -> None:
        """Fetch a page in the background, so that the next key needs no round trip."""
        if not self.reads_ahead:
            return
        key = (lock_id, page_no, page_size)
        task = self._pages.get(key)
        if task is None or self._too_old(task):
            self._keep_page(key, self._connection.background(self._load_page(*key)))

    def _keep_page(self, key: PageKey, task: asyncio.Future[Fetched[RemotePage]]) -> None:
        """Keep a page as the newest, and let the oldest go."""
        self._pages[key] = task
        while len(self._pages) > MOST_PAGES:
            oldest = next(iter(self._pages))
            self._drop_unwanted(oldest, self._pages.pop(oldest))

    def has_page(self, lock_id: int, page_no: int, page_size: int) -> bool:
        """Whether a page was read, so that :meth:`page` has it at once."""
        task = self._pages.get((lock_id, page_no, page_size))
        return task is not None and task.done() and not self._too_old(task)

    def forget(self, lock_id: int, *, changed: bool = False) -> None:
        """Drop the pages that were fetched of a lock's list.

        Args:
            lock_id: The lock.
            changed: Whether something of it was changed from here: then its whole list, which
                stays to be searched, is told to be behind.
        """
        self._forget_pages(lock_id)
        self._connection.background(self._reads.forget(f"page {lock_id} "))
        if changed:
            self._changes[lock_id] += 1
            self._connection.background(self._reads.note_changed(lock_id))

    def changes(self, lock_id: int) -> int:
        """How often something of a lock was changed from here.

        A list is up to date where that is the same before its reading began and after it.
        """
        return self._changes[lock_id]

    def _forget_pages(self, lock_id: int | None = None) -> None:
        """Drop the pages of a lock, or all of them."""
        for key in [key for key in self._pages if lock_id in (None, key[0])]:
            self._drop_unwanted(key, self._pages.pop(key))

    def _drop_unwanted(self, key: PageKey, task: asyncio.Future[Any]) -> None:
        """Stop what nobody waits for and nobody can find: on a stalled line, it holds a place."""
        if not self._waiting[task]:
            del self._waiting[task]
            if self._pages.get(key) is not task:
                task.cancel()

    def _too_old(
        self, task: asyncio.Future[Fetched[RemotePage]], at_most_s: float = AHEAD_S
    ) -> bool:
        if not task.done():
            return False
        if task.cancelled() or task.exception() is not None:
            return True
        read_ms = task.result().steady_ms
        return read_ms is None or self._connection.clock.steady_ms() - read_ms > at_most_s * 1000

    async def _load_page(self, lock_id: int, page_no: int, page_size: int) -> Fetched[RemotePage]:
        first, key = self._first, (lock_id, page_no, page_size)
        self._first = None  # it is of the first moment, whoever asks later
        if first is None or first.key != key:
            return await self._read_page(page_source(*key), lock_id)
        try:  # the look-up of a name has no limit of its own
            outcome = await asyncio.wait_for(
                asyncio.wrap_future(first.outcome), first.profile.timeout_s
            )
        except TimeoutError:
            return await self._read_page(page_source(*key), lock_id)
        if outcome.page is None:
            return await self._read_page(page_source(*key, outcome.error), lock_id)
        seen = Fetched.now(outcome.page, self._connection.clock)
        self._note_first(key, outcome, seen)
        return seen

    async def _read_page(self, source: Source[RemotePage], lock_id: int) -> Fetched[RemotePage]:
        seen = await self._reads.read(source)
        self.known.note_page(lock_id, seen.value)
        return seen

    async def cached_page(
        self, lock_id: int, page_no: int, page_size: int
    ) -> Fetched[RemotePage] | None:
        """The page as it was last read, perhaps long ago; None where it never was."""
        return await self._reads.kept(page_source(lock_id, page_no, page_size))

    # --- whole lists -----------------------------------------------------------------------

    def walk(
        self,
        lock_id: int,
        budget: WalkBudget | None = None,
        place: Place | None = None,
        *,
        ahead: bool = False,
    ) -> AsyncGenerator[Step, None]:
        """Read the whole list of a lock, page by page; nothing of it is kept.

        Args:
            lock_id: Whose list it is.
            budget: What the walk may take; None: what a person asks for may.
            place: See :meth:`LockService.list_remotes`.
            ahead: Whether the pages after each are asked for before it is there: for a search,
                which proves nothing. Whoever stops in the middle closes the walk, which ends that.

        Yields:
            Each page. When the total changes on the way, the walk begins again, with what is left
            of the budget.

        Raises:
            ServiceError: A page could not be read.
            MalformedAnswer: The list kept moving.
            ListTooLarge: The limits were reached.
        """
        return walk(self._reads, lock_id, budget or WalkBudget(lock_id), place, ahead=ahead)

    async def all(self, lock_id: int, limits: WalkLimits | None = None) -> list[Remote]:
        """The whole list of a lock, merged by id; arguments and errors as for :meth:`whole`.

        What the service listed and nobody can read is there as a remote of which nothing is known.
        """
        budget = WalkBudget(lock_id, limits or ASKED)
        found: dict[object, Remote] = {}
        total = 0
        async for step in self.walk(lock_id, budget):
            # Beside the event loop: a page may have 100,000 parts.
            await asyncio.to_thread(budget.keep, [remote.raw for remote in step.remotes])
            if step.is_first:
                found.clear()
            for remote in step.remotes:
                found[remote.id if remote.id is not None else id(remote)] = remote
            total = step.total
        remotes = [*found.values()]
        self.known.note(lock_id, remotes, is_whole=total <= len(remotes))
        if total > len(remotes):
            remotes += [Remote.read({})] * (total - len(remotes))
        return remotes

    async def whole(
        self, lock_id: int, limits: WalkLimits | None = None, *, recorded: Recorded | None = None
    ) -> list[Remote]:
        """The whole list of a lock, or a clear no: a backup that lacks a remote cannot restore it.

        It is read until two readings in turn have the same remotes. Totals are no proof: where one
        goes from a page that was read and another comes, a walk over pages misses one and its total
        is the same. A list of one page is read once, unless ``recorded`` is given.

        Args:
            lock_id: Whose list it is.
            limits: What each reading may take; None: what a person asks for may.
            recorded: What the journal knows; a list that contradicts it is not up to date.

        Raises:
            ServiceError: A page could not be read.
            MalformedAnswer: No two agreed, or the list is behind what was recorded.
        """
        ids_before, behind = None, ""
        for _ in range(WALKS):
            remotes = await self.all(lock_id, limits)
            behind = recorded.contradiction(remotes) if recorded else ""
            if recorded is None and len(remotes) <= WALK_PAGE_SIZE:
                return remotes
            ids = sorted(remote.id if remote.id is not None else -1 for remote in remotes)
            if ids == ids_before and not behind:
                return remotes
            ids_before = ids
        if behind:
            raise MalformedAnswer(
                f"{behind} Nothing was changed from here.",
                title="The list is not up to date",
                hint="A service may take a minute. Try again then.",
            )
        raise moving(
            f"The list of lock {lock_id} changed each time it was read. Nothing was changed from"
            " here."
        )

    async def keep_list(self, lock_id: int, listing: Listing) -> None:
        """Keep a whole list for :meth:`lists`, where anything is kept."""
        await self._reads.keep_list(lock_id, listing)

    async def lists(self) -> Mapping[int, Listing]:
        """The whole lists as they were last kept, by the id of their lock."""
        return await self._reads.lists()

    async def ends(self, lock_id: int) -> Ends | None:
        """What has ended and ends soon, by the whole list as it was last kept; None: none is."""
        return await self._reads.ends(lock_id)

    async def last_known(self, lock_id: int) -> list[Remote]:
        """The remotes of a lock in its whole list as it was last kept; it may be old, or none."""
        listing = (await self._reads.lists(lock_id)).get(lock_id)
        return [] if listing is None else await asyncio.to_thread(list, listing.remotes())

    async def ids_before(self, lock_id: int, at_ms: int) -> set[int | None] | None:
        """Return the ids of a lock's last whole list that was kept.

        Args:
            lock_id: The lock.
            at_ms: By this machine's clock.

        Returns:
            None if no list is kept, or one that was read later than ``at_ms``.
        """
        listing = (await self._reads.lists(lock_id)).get(lock_id)
        if listing is None or listing.at_ms >= at_ms:
            return None
        return {remote_id for block in listing.blocks for remote_id in block.ids}

    async def is_behind(self, lock_id: int) -> bool:
        """Whether a whole list is not there, or something of it was changed from here since."""
        return await self._reads.is_behind(lock_id)

    # --- one remote ------------------------------------------------------------------------

    async def detail(self, remote_id: int) -> Remote:
        """A remote's detail (4.5), read now, with a change from here that it is still without.

        A service may answer from a copy that is behind what it has recorded itself.
        """
        remote = await self.detail_as_shown(remote_id)
        if remote.lock_id is None:
            return remote
        try:
            recorded = await self._journal().recorded(remote.lock_id)
        except StoreError:  # a detail can be looked at without the journal
            return remote
        return recorded.newest(remote)

    async def still(self, before: Remote, lock_id: int) -> Remote:
        """The detail of a remote that was read before, where its id means that one and its lock.

        Raises:
            RuleViolation: It does not: nothing may be sent that was meant for it.
        """
        now = await self.detail(before.id or 0)
        words = ""
        if (other := now.other_lock(lock_id)) is not None:
            words = f"The service says that remote {before.id} belongs to lock {other} now."
        elif not is_still(before.raw, now):
            words = f"The service gave the id {before.id} to another remote: {format_remote(now)}."
        if words:
            hint = "Read the lock's list again."
            raise RuleViolation({"remoteId": f"{words} Nothing was sent."}, hint=hint)
        return now

    async def detail_as_shown(self, remote_id: int) -> Remote:
        """A remote's detail as the service shows it, perhaps not up to date."""
        return (await self._reads.read(detail_source(remote_id))).value

    async def detail_or_gone(self, remote_id: int | None) -> Remote | None:
        """As :meth:`detail_as_shown`; None where the service says that there is no such remote."""
        try:
            return await self.detail_as_shown(remote_id or 0)
        except Refused as error:
            if not error.is_gone:
                raise
            return None

    async def cached_detail(self, remote_id: int) -> Fetched[Remote] | None:
        """The detail as it was last read, perhaps long ago; None where it never was."""
        return await self._reads.kept(detail_source(remote_id))

    async def is_name_free(self, lock_id: int, name: str) -> bool:
        """Whether the lock has no remote of that name yet (4.2), and none was added just now.

        The list decides where the service refuses with the code of a taken name and other words.
        """
        name = normalize_name(name)
        with contextlib.suppress(StoreError):  # a name can be asked for without the journal
            if await self._journal().lately_added(lock_id, name) is not None:
                return False
        try:
            return await self._reads.ask(
                lambda service: service.check_remote_name(lock_id=lock_id, remote_name=name)
            )
        except Refused as refusal:
            if refusal.code == NAME_EXISTS and await has_name(self.all(lock_id), name):
                return False
            raise
