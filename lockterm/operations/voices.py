"""Voices: the packs of a lock, the languages of a model, and the download of pack files."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lockterm.domain.voices import Language, VoicePack
from lockterm.errors import ServiceError
from lockterm.operations.cached_reads import CachedReads, Fetched, Source

if TYPE_CHECKING:
    from lockterm.config import Profile
    from lockterm.domain.voices import PackSource

_log = logging.getLogger(__name__)

MOST_ASKED = 5
"""Maximum number of pack details that are read to find the pack with an address."""


class Voices:
    """The voices of a service. Every read raises ``ServiceError`` if it fails.

    Args:
        profile: The profile, whose headers may go to its own service only.
        reads: The reads from the service, with their cache.
        packs_dir: The directory for fetched packs.
    """

    def __init__(self, profile: Profile, reads: CachedReads, packs_dir: Path) -> None:
        self.packs_dir = packs_dir
        self._profile = profile
        self._reads = reads

    async def packs(self, lock_id: int) -> list[VoicePack]:
        """Return the packs of a lock (4.9)."""
        return (await self._reads.read(_packs(lock_id))).value

    async def cached_packs(self, lock_id: int) -> Fetched[list[VoicePack]] | None:
        """Return the packs of a lock as they were last read; None if they were never read."""
        return await self._reads.kept(_packs(lock_id))

    async def pack(self, lock_id: int, name: str) -> VoicePack:
        """Return a pack's URL, size and MD5 (4.11)."""
        return await self._reads.ask(
            lambda service: service.voice_pack_detail(lock_id=lock_id, name=name)
        )

    async def listed(self, lock_id: int, name: str) -> VoicePack | None:
        """Return a pack from a lock's list (4.9); None if the list cannot be read or lacks it."""
        with contextlib.suppress(ServiceError):
            return next((one for one in await self.packs(lock_id) if one.name == name), None)
        return None

    async def find_pack(self, lock_id: int, url: str, timbre: str) -> VoicePack | None:
        """Return the lock's pack with this address; None if there is none.

        Only the details of a pack always contain its address, and they need a call. So only packs
        whose names contain the timbre are read.
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
        """Return the languages and timbres of a vendor's model (4.10)."""
        return (await self._reads.read(_languages(vendor, model))).value

    async def cached_languages(self, vendor: str, model: str) -> Fetched[list[Language]] | None:
        """Return the languages of a model as last read; None if they were never read."""
        return await self._reads.kept(_languages(vendor, model))

    async def fetch(
        self, wanted: PackSource, progress: Callable[[int, int | None], None], agreed: str = ""
    ) -> Path:
        """Fetch a voice pack to ``packs_dir``; see ``lockterm.api.downloads.download``.

        Args:
            wanted: The address of the file, and its known properties.
            progress: A function that is called with the bytes so far and, if known, the total.
            agreed: The result of :meth:`server_of`, once a person has agreed to it.
        """
        downloads = await self._downloads()
        place: Path = await downloads.download(
            self._profile, wanted, self.packs_dir, progress, agreed=agreed
        )
        return place

    async def _downloads(self) -> ModuleType:
        await self._reads.connection.open()  # imports the client in a thread
        from lockterm.api import downloads

        return downloads

    async def server_of(self, wanted: PackSource) -> str:
        """Return the server from which a pack is fetched; empty if it is the service itself.

        A person must agree to another server.

        Raises:
            MalformedAnswer: A pack cannot be fetched from this address.
        """
        downloads = await self._downloads()
        base_url = self._profile.base_url
        server: str = downloads.other_server(downloads.checked_url(wanted.url, base_url), base_url)
        return server


def _packs(lock_id: int) -> Source[list[VoicePack]]:
    def load(raw: Any) -> list[VoicePack]:
        return [VoicePack.read(one) for one in raw]

    return Source(
        f"packs {lock_id}",
        ask=lambda service: service.list_voice_packs(lock_id=lock_id),
        dump=lambda packs: [pack.raw for pack in packs],
        load=load,
    )


def _languages(vendor: str, model: str) -> Source[list[Language]]:
    def load(raw: Any) -> list[Language]:
        return [Language.read(one) for one in raw]

    return Source(
        f"languages {vendor!r} {model!r}",
        ask=lambda service: service.list_languages(vendor=vendor, model=model),
        dump=lambda languages: [language.raw for language in languages],
        load=load,
    )
