"""The facade, through which commands and screens reach the service and the local store."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from lockterm.config.zones import find_zone
from lockterm.domain.callbacks import ignore
from lockterm.domain.dates import Clock, UnknownZone
from lockterm.errors import StoreError
from lockterm.operations.batteries import BatteryReader
from lockterm.operations.cached_reads import CachedReads
from lockterm.operations.connection import Connection
from lockterm.operations.rate_limiter import RateLimiter
from lockterm.operations.remotes import Remotes

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

    from lockterm.api.client import FirstPage
    from lockterm.config import Profile
    from lockterm.domain.locks import Lock
    from lockterm.domain.plan import Plan, Run
    from lockterm.operations.all_locks import AllLocksReader
    from lockterm.operations.draft_keeper import DraftKeeper
    from lockterm.operations.journal_store import JournalStore
    from lockterm.operations.kept_lists import KeptLists
    from lockterm.operations.resolution import Resolution
    from lockterm.operations.runs import Runs
    from lockterm.operations.sending import Sender
    from lockterm.operations.voices import Voices
    from lockterm.operations.watching import Watch
    from lockterm.operations.writes import Writes
    from lockterm.store.cache import Cache
    from lockterm.store.database import Database
    from lockterm.store.lock_book import Locks

_log = logging.getLogger(__name__)


class Operations:
    """All operations of one profile. Each attribute has the methods for one subject.

    Args:
        profile: The profile, with the address and the credentials of the service.
        store: The path of the local store.
        packs_dir: The directory for downloaded voice packs; None for ``packs`` beside the store.
        open_cache: A function that opens the cache of answers, or returns None if there is none.
        clock: The clock; tests replace it.
        sender: The sender of writes; None for the HTTP sender.
        reads_back: Whether unconfirmed changes are verified in the background.
        first: The page that lockterm requested at the start, without this class; ignored if it
            belongs to another profile.
    """

    def __init__(
        self,
        profile: Profile,
        store: Path,
        *,
        packs_dir: Path | None = None,
        open_cache: Callable[[], Cache | None] = lambda: None,
        clock: Clock | None = None,
        sender: Sender | None = None,
        reads_back: bool = True,
        first: FirstPage | None = None,
    ) -> None:
        self.profile = profile
        self.clock = clock or Clock()
        self.connection = Connection(profile, self.clock)
        """The connection to the service."""
        self._store = store
        self._packs_dir = packs_dir or store.parent / "packs"
        self._reads = CachedReads(self.connection, open_cache)
        is_ours = first is not None and first.profile == profile
        self.remotes = Remotes(self._reads, lambda: self.journal, first if is_ours else None)
        """The remotes of locks, as the service lists them."""
        self.run_here: Run | None = None
        """The active run of this session, or its last run; None if there was none."""
        self.on_run: Callable[[Run], None] = ignore
        """The function to call when a run begins, changes or ends in this session."""
        self._sender = sender
        self._reads_back = reads_back
        if reads_back:
            self.connection.on_reached = self._verify

    def _verify(self) -> None:
        """Start verifying unconfirmed changes, if there are any.

        The code for the verification is imported only if it is needed.
        """

        async def watch() -> None:
            try:
                if await self.journal.list_unconfirmed():
                    self.watch.start()
            except StoreError as error:
                _log.info("nothing can be read back without the store: %s", error.message)

        self.connection.background(watch())

    # A module that the start does not need is imported when its attribute is first used.

    @cached_property
    def database(self) -> Database:
        """The database of the local store."""
        from lockterm.store.database import Database

        return Database(self._store)

    @cached_property
    def journal(self) -> JournalStore:
        """The journal of the changes that this machine has sent."""
        from lockterm.operations.journal_store import JournalStore

        return JournalStore(self.profile, self.database, self.connection)

    @cached_property
    def locks(self) -> Locks:
        """The lock book."""
        from lockterm.store.lock_book import Locks

        return Locks(self.database, self.profile.name, self.clock)

    @cached_property
    def drafts(self) -> DraftKeeper:
        """The drafts of unfinished forms."""
        from lockterm.operations.draft_keeper import DraftKeeper

        return DraftKeeper(self.journal, self.clock)

    @cached_property
    def voices(self) -> Voices:
        """The reader of voices, which also downloads voice packs."""
        from lockterm.operations.voices import Voices

        return Voices(self.profile, self._reads, self._packs_dir)

    @cached_property
    def watch(self) -> Watch:
        """The background task that verifies unconfirmed changes."""
        from lockterm.operations.watching import Watch

        return Watch(
            self.connection,
            self.journal,
            self.remotes,
            self.kept_lists,
            self.pace,
            by_itself=self._reads_back,
        )

    @cached_property
    def pace(self) -> RateLimiter:
        """The rate limiter of runs and verifications, which adapts to the service's answers."""
        pace = RateLimiter(self.clock, self.profile.calls_per_minute)
        self.connection.on_limited, self.connection.on_answered = pace.limit, pace.answer
        return pace

    @cached_property
    def sender(self) -> Sender:
        """The sender of all writes."""
        from lockterm.operations.sending import HttpSender

        return self._sender or HttpSender(
            self.profile, self.connection, self.journal, self.locks, self.remotes, self.watch
        )

    @cached_property
    def writes(self) -> Writes:
        """The six writes of the contract."""
        from lockterm.operations.writes import Writes

        return Writes(self.sender, self.journal, self.locks, self.remotes, self.zone)

    @cached_property
    def resolution(self) -> Resolution:
        """The user's decisions about unconfirmed changes."""
        from lockterm.operations.resolution import Resolution

        return Resolution(self.journal, self.remotes, self.watch, self.sender, self.writes)

    @cached_property
    def runs(self) -> Runs:
        """The plans of the profile, and their runs."""
        from lockterm.operations import runs, steps

        executor = steps.Steps(
            self.writes, self.journal, self.remotes, self.watch, self.pace, self.locks, self.zone
        )
        return runs.Runs(self.profile, self.connection, self.journal, executor, self.pace)

    def preload(self) -> None:
        """Open the cache in advance, before it is needed."""
        self._reads.preload()

    def begin_run(self, plan: Plan) -> Run:
        """Start running a confirmed plan in the background, and return the run.

        The run continues if the screen is closed.

        Args:
            plan: The plan. No other plan may be running in this session.
        """
        from lockterm.domain.plan import Run

        assert self.run_under_way is None
        run = self.run_here = Run(plan, self.clock)
        run.on_change = self.on_run
        self.connection.background(self.runs.execute(run))
        self.on_run(run)
        return run

    @property
    def run_under_way(self) -> Run | None:
        """The active run of this session; None if there is none."""
        return (
            self.run_here if self.run_here is not None and not self.run_here.is_finished else None
        )

    @cached_property
    def batteries(self) -> BatteryReader:
        """The reader of battery levels, with the levels that this session has read."""
        return BatteryReader(self.connection)

    @cached_property
    def all_locks(self) -> AllLocksReader:
        """The reader of all locks in the lock book."""
        from lockterm.operations.all_locks import AllLocksReader

        return AllLocksReader(self.connection, self.locks, self.remotes, self.kept_lists)

    @cached_property
    def kept_lists(self) -> KeptLists:
        """The complete lists that this machine stores, and the changes by others found in them."""
        from lockterm.operations.kept_lists import KeptLists

        return KeptLists(self._reads, self.journal)

    def now_ms(self) -> int:
        """Return the current time to compare with dates of remotes, in milliseconds.

        The result is the service's time if this machine's clock is not trusted.
        """
        return self.connection.now_ms()

    def machine_ms(self) -> int:
        """Return the time by this machine's clock, in milliseconds, as used in stored records."""
        return self.clock.now_ms()

    def zone(self, lock: Lock) -> tzinfo:
        """Return the time zone of a lock; the profile's time zone if the lock has none of its own.

        If this machine does not know the lock's zone, the result is an ``UnknownZone``, which shows
        times in UTC.
        """
        if lock.zone:
            try:
                return find_zone(lock.zone)
            except (OSError, ValueError, KeyError):  # the entry comes from another machine
                return UnknownZone(lock.zone)
        return self.profile.zone

    async def close(self) -> None:
        """Cancel background tasks, save drafts, and close the connection, journal and cache."""
        await self.connection.close()
        await self.drafts.flush()
        self.journal.close()
        await self._reads.close()
