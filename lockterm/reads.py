"""What can be read: the lock book, pages with their neighbours ahead, details, names, voices."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from zoneinfo import ZoneInfo

from lockterm.connection import Connection
from lockterm.errors import MalformedAnswer
from lockterm.models.locks import Lock
from lockterm.store.lock_book import LockBook

if TYPE_CHECKING:
    from lockterm.config import Profile
    from lockterm.models.packs import PackSource
    from lockterm.models.remotes import Remote, RemotePage
    from lockterm.models.voices import Language, VoicePack
    from lockterm.store.cache import Cache
    from lockterm.store.database import Database

T = TypeVar("T")

AHEAD_S = 60.0
"""How long a page that was fetched ahead may be shown, in seconds; its age is shown with it."""

WALK_PAGE_SIZE = 200
"""Remotes a page when the whole list is read."""

MOST_REMOTES = 1_000_000
"""A list of more remotes is not read whole: it would not fit into memory."""

WALKS = 4
"""How often a walk is begun at the most when the list changes meanwhile."""

COUNTS = ("page_no", "page_size", "pages", "total", "unreadable")
"""What is kept of a page beside its remotes."""


@dataclass(frozen=True, slots=True)
class Seen(Generic[T]):
    """Something read from the service, and when."""

    value: T
    at_ms: int
    """When the answer arrived, by this machine's clock."""


class Reads(Connection):
    """Everything a screen can read, on one profile.

    Args:
        profile: Where the service is and how to talk to it.
        database: The local store.
        cache: What was last read, for a time without the service; None keeps nothing.
        clock: Seconds since the epoch; replaced in tests.
    """

    def __init__(
        self,
        profile: Profile,
        database: Database,
        *,
        cache: Cache | None,
        clock: Callable[[], float],
    ) -> None:
        super().__init__(profile, clock=clock)
        self._cache = cache
        self.packs_dir = database.path.parent / "packs"
        """Where fetched voice packs go; the app has a better place than beside the store."""
        self.reads_ahead = True
        """Whether pages may be fetched that nobody has asked for yet."""
        self._book = LockBook(database, profile.name)
        self._pages: dict[tuple[int, int, int], asyncio.Task[Seen[RemotePage]]] = {}
        self._waiting: Counter[asyncio.Task[Seen[RemotePage]]] = Counter()

    def zone(self, lock: Lock) -> ZoneInfo:
        """The zone in which a lock's times are shown: its own, else the profile's."""
        if lock.zone:
            try:
                return ZoneInfo(lock.zone)
            except (OSError, ValueError, KeyError):  # an entry from another machine's zone list
                return self.profile.zone
        return self.profile.zone

    # --- the lock book ---------------------------------------------------------------------

    async def locks(self) -> list[Lock]:
        """The lock book of this profile, the last opened first."""
        return await asyncio.to_thread(self._book.locks)

    async def find_lock(self, lock_id: int) -> Lock:
        """The lock's entry in the book, or a bare one where it has none."""
        return await asyncio.to_thread(self._book.find, lock_id) or Lock(lock_id)

    async def save_lock(self, lock: Lock) -> None:
        """Add a lock to the book or replace its entry; the service is not asked."""
        await asyncio.to_thread(self._book.save, lock)

    async def remove_lock(self, lock_id: int) -> None:
        """Take a lock out of the book; nothing changes at the service."""
        await asyncio.to_thread(self._book.remove, lock_id)

    async def open_lock(self, lock: Lock, remotes: int) -> None:
        """Note in the book that the lock was opened just now and how many remotes it had."""
        await asyncio.to_thread(self._book.note_look, lock.lock_id, remotes, self.now_ms())

    # --- remotes ---------------------------------------------------------------------------

    async def page(
        self, lock_id: int, page_no: int, page_size: int, *, fresh: bool = False
    ) -> Seen[RemotePage]:
        """A page of a lock's remotes (4.3); one fetched ahead may serve unless ``fresh``.

        Raises:
            ServiceError: Every attempt failed; see ``lockterm.errors``.
        """
        key = (lock_id, page_no, page_size)
        task = self._pages.get(key)
        if task is None or fresh or self._too_old(task):
            old, task = task, self._background(self._load_page(*key))
            self._pages[key] = task
            if old is not None:
                self._drop_unwanted(key, old)
        self._waiting[task] += 1
        try:
            # Shielded: when a newer page supersedes a screen's worker, the answer serves later.
            return await asyncio.shield(task)
        finally:
            self._waiting[task] -= 1
            self._drop_unwanted(key, task)

    def look_ahead(self, lock_id: int, page_no: int, page_size: int) -> None:
        """Fetch a page in the background, so that the next key needs no round trip."""
        if not self.reads_ahead:
            return
        key = (lock_id, page_no, page_size)
        task = self._pages.get(key)
        if task is None or self._too_old(task):
            self._pages[key] = self._background(self._load_page(*key))

    def forget_pages(self, lock_id: int) -> None:
        """Drop what was fetched of a lock, after a change."""
        for key in [key for key in self._pages if key[0] == lock_id]:
            self._drop_unwanted(key, self._pages.pop(key))
        if self._cache is not None:
            self._background(asyncio.to_thread(self._cache.forget, f"page {lock_id} "))

    def _drop_unwanted(self, key: tuple[int, int, int], task: asyncio.Task[Any]) -> None:
        """Stop what nobody waits for and nobody can find: on a stalled line, it holds a place."""
        if not self._waiting[task]:
            del self._waiting[task]
            if self._pages.get(key) is not task:
                task.cancel()

    def _too_old(self, task: asyncio.Task[Seen[RemotePage]]) -> bool:
        if not task.done():
            return False
        if task.cancelled() or task.exception() is not None:
            return True
        return self.now_ms() - task.result().at_ms > AHEAD_S * 1000

    async def _load_page(self, lock_id: int, page_no: int, page_size: int) -> Seen[RemotePage]:
        page = await self._read(
            lambda service: service.list_remotes(
                lock_id=lock_id, page_no=page_no, page_size=page_size
            )
        )
        seen = Seen(page, self.now_ms())
        kept: dict[str, Any] = {name: getattr(page, name) for name in COUNTS}
        kept["remotes"] = [remote.raw for remote in page.remotes]
        await self._keep(f"page {lock_id} {page_no} {page_size}", kept, seen.at_ms)
        return seen

    async def cached_page(
        self, lock_id: int, page_no: int, page_size: int
    ) -> Seen[RemotePage] | None:
        """The page as it was last read, perhaps long ago; None where it never was."""
        kept = await self._kept(f"page {lock_id} {page_no} {page_size}")
        if kept is None:
            return None
        from lockterm.models.remotes import Remote, RemotePage

        remotes = tuple(Remote.read(raw) for raw in kept.value.pop("remotes"))
        return Seen(RemotePage(remotes=remotes, **kept.value), kept.at_ms)

    async def walk(self, lock_id: int) -> AsyncIterator[tuple[list[Remote], int]]:
        """Read the whole list of a lock, page by page, merged by id.

        Yields:
            All remotes read so far and the service's total. When the total changes on the way,
            the walk begins again.

        Raises:
            ServiceError: A page could not be read.
            MalformedAnswer: The list kept moving.
        """
        for _ in range(WALKS):
            found: dict[object, Remote] = {}
            total: int | None = None
            page_no, pages, moved, unreadable = 1, 1, False, 0
            while page_no <= pages and not moved:
                page = (await self._load_page(lock_id, page_no, WALK_PAGE_SIZE)).value
                is_told, before = "total" not in page.odd, len(found) + unreadable
                moved = is_told and total is not None and page.total != total
                total, pages = page.total, page.pages
                unreadable += page.unreadable
                for remote in page.remotes:
                    found[remote.id if remote.id is not None else id(remote)] = remote
                read = len(found) + unreadable
                is_empty = not page.remotes and not page.unreadable
                if not is_told and "pages" in page.odd:  # nobody said where it ends
                    pages = page_no if is_empty else page_no + 1
                # A list without an end would otherwise be read until the memory is full.
                repeats = read == before and page_no > 1 and not (is_empty and page_no == pages)
                moved = moved or repeats or (is_told and read > total + WALK_PAGE_SIZE)
                if max(read, total) > MOST_REMOTES:
                    raise MalformedAnswer(f"Lock {lock_id} has more remotes than can be read.")
                if not moved:
                    yield list(found.values()), total if is_told else read
                page_no += 1
            if not moved and (not is_told or read >= (total or 0)):
                return
        raise MalformedAnswer(
            f"The list of lock {lock_id} kept changing while it was read.",
            title="The list is moving",
            hint="Someone else is changing this lock's remotes. Try again in a moment.",
        )

    async def all_remotes(self, lock_id: int) -> list[Remote]:
        """The whole list of a lock; errors as for :meth:`walk`.

        What the service listed and nobody can read is there as a remote of which nothing is known.
        """
        remotes: list[Remote] = []
        total = 0
        async for so_far, told in self.walk(lock_id):
            remotes, total = so_far, told
        if total > len(remotes):
            from lockterm.models.remotes import Remote

            remotes += [Remote.read({})] * (total - len(remotes))
        return remotes

    async def remote(self, remote_id: int) -> Remote:
        """A remote's detail (4.5), read now."""
        remote = await self._read(lambda service: service.remote_detail(remote_id=remote_id))
        await self._keep(f"remote {remote_id}", remote.raw, self.now_ms())
        return remote

    async def cached_remote(self, remote_id: int) -> Seen[Remote] | None:
        """The detail as it was last read, perhaps long ago; None where it never was."""
        kept = await self._kept(f"remote {remote_id}")
        if kept is None:
            return None
        from lockterm.models.remotes import Remote

        return Seen(Remote.read(kept.value), kept.at_ms)

    async def is_name_free(self, lock_id: int, name: str) -> bool:
        """Whether the lock has no remote of that name yet (4.2)."""
        return await self._read(
            lambda service: service.check_remote_name(lock_id=lock_id, remote_name=name)
        )

    # --- voices ----------------------------------------------------------------------------

    async def voice_packs(self, lock_id: int) -> list[VoicePack]:
        """The packs of a lock (4.9)."""
        packs = await self._read(lambda service: service.list_voice_packs(lock_id=lock_id))
        await self._keep(f"packs {lock_id}", [pack.raw for pack in packs], self.now_ms())
        return packs

    async def cached_voice_packs(self, lock_id: int) -> Seen[list[VoicePack]] | None:
        """The packs as they were last read; None where they never were."""
        kept = await self._kept(f"packs {lock_id}")
        if kept is None:
            return None
        from lockterm.models.voices import VoicePack

        return Seen([VoicePack.read(raw) for raw in kept.value], kept.at_ms)

    async def voice_pack(self, lock_id: int, name: str) -> VoicePack:
        """A pack's URL, size and MD5 (4.11)."""
        return await self._read(
            lambda service: service.voice_pack_detail(lock_id=lock_id, name=name)
        )

    async def languages(self, vendor: str, model: str) -> list[Language]:
        """The languages and timbres there are for a vendor's model (4.10)."""
        languages = await self._read(
            lambda service: service.list_languages(vendor=vendor, model=model)
        )
        raw = [language.raw for language in languages]
        await self._keep(f"languages {vendor!r} {model!r}", raw, self.now_ms())
        return languages

    async def cached_languages(self, vendor: str, model: str) -> Seen[list[Language]] | None:
        """The languages as they were last read; None where they never were."""
        kept = await self._kept(f"languages {vendor!r} {model!r}")
        if kept is None:
            return None
        from lockterm.models.voices import Language

        return Seen([Language.read(raw) for raw in kept.value], kept.at_ms)

    async def fetch_pack(
        self, wanted: PackSource, progress: Callable[[int, int | None], None]
    ) -> Path:
        """Fetch a voice pack to ``packs_dir``; see ``lockterm.api.downloads.download``.

        Args:
            wanted: Where from, and what was told about it.
            progress: Told the bytes there are and, where known, the bytes there will be.
        """
        await self._open()  # imports the client in a thread
        from lockterm.api.downloads import download

        return await download(self.profile, wanted, self.packs_dir, progress)

    # --- the cache -------------------------------------------------------------------------

    async def _keep(self, key: str, value: Any, at_ms: int) -> None:
        if self._cache is not None:
            await asyncio.to_thread(self._cache.put, key, value, at_ms)

    async def _kept(self, key: str) -> Seen[Any] | None:
        if self._cache is None:
            return None
        kept = await asyncio.to_thread(self._cache.get, key)
        return Seen(*kept) if kept else None
