"""Voices: the packs of a lock, the languages of a model, and fetching a pack's file."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockterm.domain.voices import Language, VoicePack
from lockterm.errors import ServiceError
from lockterm.operations.cached_reads import CachedReads, Fetched, Source

if TYPE_CHECKING:
    from lockterm.config import Profile
    from lockterm.domain.voices import PackSource

_log = logging.getLogger(__name__)

MOST_ASKED = 5
"""How many details are read at most to find the one with an address."""


class Voices:
    """What a service tells of voices. Every read raises ``ServiceError`` where it failed.

    Args:
        profile: Whose headers may go to its own service.
        reads: Reads from the service.
        packs_dir: Where fetched packs go.
    """

    def __init__(self, profile: Profile, reads: CachedReads, packs_dir: Path) -> None:
        self.packs_dir = packs_dir
        self._profile = profile
        self._reads = reads

    async def packs(self, lock_id: int) -> list[VoicePack]:
        """The packs of a lock (4.9)."""
        return (await self._reads.read(_packs(lock_id))).value

    async def cached_packs(self, lock_id: int) -> Fetched[list[VoicePack]] | None:
        """The packs as they were last read; None where they never were."""
        return await self._reads.kept(_packs(lock_id))

    async def pack(self, lock_id: int, name: str) -> VoicePack:
        """A pack's URL, size and MD5 (4.11)."""
        return await self._reads.ask(
            lambda service: service.voice_pack_detail(lock_id=lock_id, name=name)
        )

    async def listed(self, lock_id: int, name: str) -> VoicePack | None:
        """Return a pack as the list of a lock has it (4.9); None if the list is not there."""
        with contextlib.suppress(ServiceError):
            return next((one for one in await self.packs(lock_id) if one.name == name), None)
        return None

    async def find_pack(self, lock_id: int, url: str, timbre: str) -> VoicePack | None:
        """Return what the packs of a lock say of the file at an address; None if nothing.

        Only a detail has the address for certain, and each is a call: those whose names have the
        timbre are asked for.
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
        """The languages and timbres there are for a vendor's model (4.10)."""
        return (await self._reads.read(_languages(vendor, model))).value

    async def cached_languages(self, vendor: str, model: str) -> Fetched[list[Language]] | None:
        """The languages as they were last read; None where they never were."""
        return await self._reads.kept(_languages(vendor, model))

    async def fetch(
        self, wanted: PackSource, progress: Callable[[int, int | None], None], agreed: str = ""
    ) -> Path:
        """Fetch a voice pack to ``packs_dir``; see ``lockterm.api.downloads.download``.

        Args:
            wanted: Where from, and what was told about it.
            progress: Told the bytes there are and, where known, the bytes there will be.
            agreed: What :meth:`server_of` says, once a person has agreed to it.
        """
        await self._reads.connection.open()  # imports the client in a thread
        from lockterm.api.downloads import download

        return await download(self._profile, wanted, self.packs_dir, progress, agreed=agreed)

    async def server_of(self, wanted: PackSource) -> str:
        """The server a pack comes from, to be agreed to; empty where it is the service itself.

        Raises:
            MalformedAnswer: A pack cannot be fetched from there.
        """
        await self._reads.connection.open()
        from lockterm.api.downloads import checked_url, other_server

        base_url = self._profile.base_url
        return other_server(checked_url(wanted.url, base_url), base_url)


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
