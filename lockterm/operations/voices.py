"""The voices of the service: packs of a lock, languages of a model, and downloads of packs."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from lockterm.domain.reading import Record
from lockterm.domain.voices import Language, PackSource, VoicePack
from lockterm.errors import ServiceError
from lockterm.operations.cached_reads import CachedReads, Fetched, Source

if TYPE_CHECKING:
    from lockterm.api.client import LockService
    from lockterm.config import Profile

_log = logging.getLogger(__name__)

R = TypeVar("R", bound=Record)

MOST_ASKED = 5
"""Maximum number of packs whose details :meth:`Voices.find_pack` requests."""


@dataclass
class Voices:
    """The voices of a service. Methods that read raise ``ServiceError`` if reading fails.

    Args:
        profile: The profile, whose HTTP headers are sent only to its own service.
        reads: The reader of the service, with its cache.
        packs_dir: The directory for downloaded packs.
    """

    profile: Profile
    reads: CachedReads
    packs_dir: Path

    async def packs(self, lock_id: int) -> list[VoicePack]:
        """Request the voice packs of a lock from the service (contract 4.9)."""
        return (await self.reads.read(_packs(lock_id))).value

    async def cached_packs(self, lock_id: int) -> Fetched[list[VoicePack]] | None:
        """Return the voice packs of a lock from the cache; None if they are not cached."""
        return await self.reads.kept(_packs(lock_id))

    async def pack(self, lock_id: int, name: str) -> VoicePack:
        """Request the address, size and MD5 of a pack from the service (contract 4.11)."""
        return await self.reads.ask(
            lambda service: service.voice_pack_detail(lock_id=lock_id, name=name)
        )

    async def listed(self, lock_id: int, name: str) -> VoicePack | None:
        """Request a lock's packs (contract 4.9), and return the pack with the given name.

        The result is None if there is no such pack, or if the packs cannot be read.
        """
        with contextlib.suppress(ServiceError):
            return next((one for one in await self.packs(lock_id) if one.name == name), None)
        return None

    async def find_pack(self, lock_id: int, url: str, timbre: str) -> VoicePack | None:
        """Return the pack of a lock with the address ``url``; None if it is not found.

        Only the details of a pack always contain its address, and each needs a request. Therefore
        only details of packs whose names contain the timbre are requested.
        """
        try:
            packs = await self.packs(lock_id)
            if (listed := next((one for one in packs if one.timbre_pack_url == url), None)) and (
                listed.file_size is not None or listed.file_md5
            ):
                return listed
            alike = [
                one.name for one in packs if timbre and timbre.lower() in (one.name or "").lower()
            ]
            for name in alike[:MOST_ASKED]:
                detail = await self.pack(lock_id, name or "")
                if detail.timbre_pack_url == url:
                    return detail
        except ServiceError as error:
            _log.info("nothing is known of the pack at %s: %s", url, error.message)
        return None

    async def languages(self, vendor: str, model: str) -> list[Language]:
        """Request the languages and timbres of a model from the service (contract 4.10)."""
        return (await self.reads.read(_languages(vendor, model))).value

    async def cached_languages(self, vendor: str, model: str) -> Fetched[list[Language]] | None:
        """Return the languages of a model from the cache; None if they are not cached."""
        return await self.reads.kept(_languages(vendor, model))

    async def fetch(
        self, wanted: PackSource, progress: Callable[[int, int | None], None], agreed: str = ""
    ) -> Path:
        """Download a pack to ``packs_dir``, and return the path of the file.

        For the errors, see ``lockterm.api.downloads.download``.

        Args:
            wanted: The source of the pack: its address, and its size and MD5 if known.
            progress: A function that is called with the number of received bytes, and the number of
                all bytes, which is None if unknown.
            agreed: The result of :meth:`server_of`, if the user has agreed to this server;
                otherwise empty.
        """
        downloads = await self._downloads()
        place: Path = await downloads.download(
            self.profile, wanted, self.packs_dir, progress, agreed=agreed
        )
        return place

    async def _downloads(self) -> ModuleType:
        await self.reads.connection.open()  # imports the client in a thread
        from lockterm.api import downloads

        return downloads

    async def server_of(self, wanted: PackSource) -> str:
        """Return the server that has a pack; empty if it is the service itself.

        The user must agree before lockterm contacts another server.

        Raises:
            MalformedAnswerError: lockterm cannot download a pack from this address.
        """
        downloads = await self._downloads()
        base_url = self.profile.base_url
        server: str = downloads.other_server(downloads.checked_url(wanted.url, base_url), base_url)
        return server


def _packs(lock_id: int) -> Source[list[VoicePack]]:
    def ask(service: LockService) -> Awaitable[list[VoicePack]]:
        return service.list_voice_packs(lock_id=lock_id)

    return _source_of_records(f"packs {lock_id}", VoicePack, ask)


def _languages(vendor: str, model: str) -> Source[list[Language]]:
    def ask(service: LockService) -> Awaitable[list[Language]]:
        return service.list_languages(vendor=vendor, model=model)

    return _source_of_records(f"languages {vendor!r} {model!r}", Language, ask)


def _source_of_records(
    key: str, kind: type[R], ask: Callable[[LockService], Awaitable[list[R]]]
) -> Source[list[R]]:
    def dump(records: list[R]) -> Any:
        return [record.raw for record in records]

    def load(raw: Any) -> list[R]:
        return [kind.read(one) for one in raw]

    return Source(key, ask, dump, load)
