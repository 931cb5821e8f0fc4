"""The one door from the screens to the service and the store.

Reads may come from pages fetched ahead; every write leaves through :meth:`Operations._send`, the
place where the journal will record it before the first byte is sent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from zoneinfo import ZoneInfo

from lockterm.errors import RuleViolation, ServiceError, StoreError, Unreachable
from lockterm.models.locks import Lock, VoiceChoice
from lockterm.store.lock_book import LockBook

if TYPE_CHECKING:
    from lockterm.api import LockService
    from lockterm.api.writes import Write
    from lockterm.config import Profile
    from lockterm.models.remotes import Remote, RemotePage
    from lockterm.models.requests import NewRemote, RemoteChanges
    from lockterm.models.voices import Language, VoicePack
    from lockterm.store.database import Database

T = TypeVar("T")

AHEAD_S = 60.0
"""How long a page that was fetched ahead may be shown, in seconds; its age is shown with it."""


@dataclass(frozen=True, slots=True)
class Seen(Generic[T]):
    """Something read from the service, and when."""

    value: T
    at_ms: int
    """When the answer arrived, by this machine's clock."""


class Operations:
    """Everything a screen can ask for, on one profile.

    The service client and pydantic are imported on the first call, in a thread: the first frame
    does not need them.

    Args:
        profile: Where the service is and how to talk to it.
        database: The local store.
        clock: Seconds since the epoch; replaced in tests.
    """

    def __init__(
        self, profile: Profile, database: Database, *, clock: Callable[[], float] = time.time
    ) -> None:
        self.profile = profile
        self.online: bool | None = None
        """Whether the last call reached the service; None before the first."""
        self.watch_online: Callable[[bool], None] = lambda online: None
        """Called whenever ``online`` changes."""
        self._book = LockBook(database, profile.name)
        self._database = database
        self._clock = clock
        self._service: LockService | None = None
        self._opening = asyncio.Lock()
        self._pages: dict[tuple[int, int, int], asyncio.Task[Seen[RemotePage]]] = {}

    def now_ms(self) -> int:
        """The time of this machine, in milliseconds since the epoch."""
        return int(self._clock() * 1000)

    def zone(self, lock: Lock) -> ZoneInfo:
        """The zone in which a lock's times are shown: its own, else the profile's."""
        if lock.zone:
            try:
                return ZoneInfo(lock.zone)
            except (OSError, ValueError):  # an entry from another machine's zone list
                return self.profile.zone
        return self.profile.zone

    async def close(self) -> None:
        """Close the connections and the store."""
        tasks = list(self._pages.values())
        self._pages.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._service is not None:
            await self._service.__aexit__(None, None, None)
            self._service = None
        self._database.close()

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

    # --- reads -----------------------------------------------------------------------------

    async def page(
        self, lock_id: int, page_no: int, page_size: int, *, fresh: bool = False
    ) -> Seen[RemotePage]:
        """A page of a lock's remotes (4.3); one fetched ahead may serve unless ``fresh``.

        Raises:
            ServiceError: Every attempt failed; see ``lockterm.errors``.
        """
        key = (lock_id, page_no, page_size)
        task = self._pages.pop(key, None)
        if task is None or fresh or self._too_old(task):
            task = asyncio.create_task(self._load_page(*key))
        self._pages[key] = task
        try:
            return await asyncio.shield(task)  # a superseded screen worker must not stop it
        except BaseException:
            if task.done() and self._pages.get(key) is task:
                del self._pages[key]
            raise

    def look_ahead(self, lock_id: int, page_no: int, page_size: int) -> None:
        """Fetch a page in the background, so that the next key needs no round trip."""
        key = (lock_id, page_no, page_size)
        task = self._pages.get(key)
        if task is None or self._too_old(task):
            self._pages[key] = asyncio.create_task(self._load_page(*key))

    def forget_pages(self, lock_id: int) -> None:
        """Drop what was fetched ahead of a lock, after a change."""
        for key in [key for key in self._pages if key[0] == lock_id]:
            self._pages.pop(key).cancel()

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
        return Seen(page, self.now_ms())

    async def remote(self, remote_id: int) -> Remote:
        """A remote's detail (4.5), read now."""
        return await self._read(lambda service: service.remote_detail(remote_id=remote_id))

    async def is_name_free(self, lock_id: int, name: str) -> bool:
        """Whether the lock has no remote of that name yet (4.2)."""
        return await self._read(
            lambda service: service.check_remote_name(lock_id=lock_id, remote_name=name)
        )

    async def voice_packs(self, lock_id: int) -> list[VoicePack]:
        """The packs of a lock (4.9)."""
        return await self._read(lambda service: service.list_voice_packs(lock_id=lock_id))

    async def voice_pack(self, lock_id: int, name: str) -> VoicePack:
        """A pack's URL, size and MD5 (4.11)."""
        return await self._read(
            lambda service: service.voice_pack_detail(lock_id=lock_id, name=name)
        )

    async def languages(self, vendor: str, model: str) -> list[Language]:
        """The languages and timbres there are for a vendor's model (4.10)."""
        return await self._read(lambda service: service.list_languages(vendor=vendor, model=model))

    # --- writes ----------------------------------------------------------------------------

    async def add_remote(self, request: NewRemote) -> int | None:
        """Add a remote (4.1).

        Returns:
            Its id, or None where the service recorded it without telling the id.

        Raises:
            RuleViolation: A rule of the contract is broken; nothing was sent.
            Unreachable: Nothing was sent.
            Refused: The service said no.
            OutcomeUnknown: It may have been recorded.
        """
        from lockterm.api import writes

        return await self._send(request.lock_id, writes.add_remote(request))

    async def update_remote(
        self, lock_id: int, remote_id: int, changes: RemoteChanges, before: Remote
    ) -> None:
        """Change a remote (4.4); errors as for :meth:`add_remote`.

        Args:
            lock_id: The lock the remote belongs to.
            remote_id: The remote.
            changes: What to send.
            before: What the remote was when the person decided.
        """
        from lockterm.api import writes

        await self._send(lock_id, writes.update_remote(lock_id, remote_id, changes))

    async def delete_remote(self, lock_id: int, remote: Remote) -> None:
        """Delete a remote (4.6); errors as for :meth:`add_remote`."""
        from lockterm.api import writes

        await self._send(lock_id, writes.delete_remote(_id_of(remote)))

    async def clear_remotes(self, lock_id: int) -> int | None:
        """Delete every remote of a lock (4.7); errors as for :meth:`add_remote`.

        Returns:
            How many the service says it deleted, or None where it did not say.
        """
        from lockterm.api import writes

        return await self._send(lock_id, writes.clear_remotes(lock_id))

    async def set_user_no(self, lock_id: int, remote: Remote, remote_user_no: int) -> None:
        """Set a remote's user number (4.8); errors as for :meth:`add_remote`."""
        from lockterm.api import writes

        write = writes.update_remote_user_no(lock_id, _id_of(remote), remote_user_no)
        await self._send(lock_id, write)

    async def set_voice(self, lock: Lock, voice: VoiceChoice) -> None:
        """Set the voice of a lock (4.12) and remember it as last set from here."""
        from lockterm.api import writes

        await self._send(lock.lock_id, writes.set_voice(lock.lock_id, voice.lang, voice.timbre))
        try:
            await asyncio.to_thread(self._book.note_voice, lock.lock_id, voice)
        except StoreError:  # the change itself is recorded by the service: do not report it failed
            return

    async def _send(self, lock_id: int, write: Write) -> Any:
        """Send a write, once."""
        if self.profile.read_only:
            raise RuleViolation({"read_only": f"The profile {self.profile.name} is read-only."})
        try:
            return await self._call(lambda service: service.send(write))
        finally:
            self.forget_pages(lock_id)

    # --- the service -----------------------------------------------------------------------

    async def _read(self, call: Callable[[LockService], Awaitable[T]]) -> T:
        return await self._call(call)

    async def _call(self, call: Callable[[LockService], Awaitable[T]]) -> T:
        service = await self._open()
        try:
            result = await call(service)
        except Unreachable:
            self._note_online(False)
            raise
        except ServiceError:
            self._note_online(True)
            raise
        self._note_online(True)
        return result

    def _note_online(self, online: bool) -> None:
        if online != self.online:
            self.online = online
            self.watch_online(online)

    async def _open(self) -> LockService:
        async with self._opening:
            if self._service is None:
                service = (await asyncio.to_thread(_load_client))(self.profile)
                self._service = await service.__aenter__()
            return self._service


def _load_client() -> type[LockService]:
    from lockterm.api import LockService

    return LockService


def _id_of(remote: Remote) -> int:
    if remote.id is None:
        raise RuleViolation({"id": "The service listed this remote without a usable id."})
    return remote.id
