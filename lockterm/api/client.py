"""The 12 calls of the contract as typed methods."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from lockterm.api import writes
from lockterm.api.bodies import encode_body
from lockterm.api.envelope import open_answer
from lockterm.api.patience import Patience
from lockterm.api.payloads import read_many, read_one, read_page, read_remote, read_result
from lockterm.api.settings import ServiceSettings
from lockterm.api.transport import Answer, Transport
from lockterm.api.writes import Write
from lockterm.errors import MalformedAnswer, NoAnswer, OutcomeUnknown, Refused
from lockterm.models.remotes import Remote, RemotePage

if TYPE_CHECKING:
    from lockterm.models.requests import NewRemote, RemoteChanges
    from lockterm.models.voices import Language, VoicePack

T = TypeVar("T")

NAME_EXISTS = -3
"""The code of ``checkRemoteName`` for a name that is taken (7.3); elsewhere it means nothing."""
LARGE = 16 * 1024
"""Bytes of a body from which on it is read beside the event loop, so that keys go on working."""


class LockService:
    """The service behind one profile.

    Usage::

        async with LockService(profile) as service:
            page = await service.list_remotes(lock_id=1001, page_no=1, page_size=20)

    Reads raise Unreachable, NoAnswer, MalformedAnswer or Refused, after trying again where that may
    help. Writes raise Unreachable and Refused, both of which mean that nothing was applied, and
    OutcomeUnknown. A write that is cancelled may have been applied, like one of unknown outcome.

    Args:
        settings: The profile.
        patience: How persistently calls are tried.
        clock: Seconds since the epoch; replaced in tests.

    Raises:
        ConfigError: The base URL or a header cannot be used; on opening, the ca_file.
    """

    def __init__(
        self,
        settings: ServiceSettings,
        patience: Patience | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._patience = patience or Patience()
        self._transport = Transport(settings, clock)

    async def __aenter__(self) -> Self:
        await self._transport.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._transport.close()

    @property
    def clock_offset_s(self) -> float | None:
        """The service's clock minus this machine's in seconds; None before it has told its time."""
        return self._transport.clock_offset_s

    @property
    def last_contact(self) -> float | None:
        """When the service last answered, on the monotonic clock; None if it never did."""
        return self._transport.last_contact

    # --- remotes -----------------------------------------------------------------------------

    async def add_remote(self, request: NewRemote) -> int | None:
        """Add a remote (4.1).

        Returns:
            Its id, or None if the service recorded it without telling the id: read it back.
        """
        return await self.send(writes.add_remote(request))

    async def check_remote_name(self, lock_id: int, remote_name: str) -> bool:
        """Whether the lock has no remote of that name yet (4.2)."""
        body = {"lockId": lock_id, "remoteName": remote_name}
        try:
            await self._post("/api/v1/bluetooth-remote/checkRemoteName", body, lambda data: None)
        except Refused as refusal:
            if refusal.code == NAME_EXISTS:
                return False
            raise
        return True

    async def list_remotes(self, lock_id: int, page_no: int, page_size: int) -> RemotePage:
        """A page of a lock's remotes (4.3), counted by the service; pages start at 1."""
        query = {"lockId": lock_id, "pageNo": page_no, "pageSize": page_size}

        async def attempt(within_s: float) -> RemotePage:
            path = "/api/v1/bluetooth-remote/list"
            answer = await self._transport.exchange("GET", path, query=query, within_s=within_s)
            return await _understood(
                answer, lambda data: read_page(data, page_no, page_size, lock_id)
            )

        return await self._patience.read(attempt, self._settings.timeout_s)

    async def update_remote(self, lock_id: int, remote_id: int, changes: RemoteChanges) -> None:
        """Change the given fields of a remote (4.4)."""
        await self.send(writes.update_remote(lock_id, remote_id, changes))

    async def remote_detail(self, remote_id: int) -> Remote:
        """A remote with its lock's names (4.5)."""
        path = "/api/v1/bluetooth-remote/detail"
        return await self._post(
            path, {"remoteId": remote_id}, lambda data: read_remote(data, remote_id)
        )

    async def delete_remote(self, remote_id: int) -> None:
        """Delete a remote (4.6)."""
        await self.send(writes.delete_remote(remote_id))

    async def clear_remotes(self, lock_id: int) -> int | None:
        """Delete every remote of a lock (4.7).

        Returns:
            How many there were, or None if the service did not say.
        """
        return await self.send(writes.clear_remotes(lock_id))

    async def update_remote_user_no(
        self, lock_id: int, remote_id: int, remote_user_no: int
    ) -> None:
        """Set the user number of a remote (4.8)."""
        await self.send(writes.update_remote_user_no(lock_id, remote_id, remote_user_no))

    # --- voices ------------------------------------------------------------------------------

    async def list_voice_packs(self, lock_id: int) -> list[VoicePack]:
        """The voice packs of a lock, in short (4.9)."""
        from lockterm.models.voices import VoicePack

        path = "/api/v1/voice/list"
        return await self._post(path, {"lockId": lock_id}, lambda data: read_many(data, VoicePack))

    async def list_languages(self, vendor: str, model: str) -> list[Language]:
        """The languages and timbres that exist for a vendor's model (4.10)."""
        from lockterm.models.voices import Language

        body = {"vendor": vendor, "model": model}
        return await self._post("/api/v1/voice/packs", body, lambda data: read_many(data, Language))

    async def voice_pack_detail(self, lock_id: int, name: str) -> VoicePack:
        """A voice pack of a lock with its URL, size and MD5 (4.11)."""
        from lockterm.models.voices import VoicePack

        body = {"lockId": lock_id, "name": name}
        path = "/api/v1/voice/detail"
        return await self._post(path, body, lambda data: read_one(data, VoicePack))

    async def set_voice(self, lock_id: int, lang: str, timbre: str) -> None:
        """Set the language and timbre that a lock speaks with (4.12)."""
        await self.send(writes.set_voice(lock_id, lang, timbre))

    # --- the two ways to call ----------------------------------------------------------------

    async def send(self, write: Write) -> int | None:
        """Send a write; only what was provably not sent is tried again.

        Returns:
            The number it resulted in (``remoteId``, ``deletedCount``); None where the contract has
            none or the service did not tell.

        Raises:
            RuleViolation: Its body cannot be encoded; nothing was sent.
            Unreachable: Nothing was sent.
            Refused: The service said no; nothing was applied.
            OutcomeUnknown: It may have been applied; the message says what is known.
        """
        encoding = "json" if write.always_json else self._settings.body
        content = encode_body(write.body, encoding)

        async def attempt(within_s: float) -> int | None:
            try:
                answer = await self._transport.exchange(
                    "POST", write.path, content=content, fresh=True, within_s=within_s
                )
                return await _understood(answer, lambda data: read_result(data, write.result))
            except (NoAnswer, MalformedAnswer) as error:
                raise OutcomeUnknown(
                    f"The service may have recorded it or not. {error.message}",
                    hint="Look at what the service has now before you send it again.",
                ) from error

        return await self._patience.write(attempt, self._settings.timeout_s)

    async def _post(self, path: str, body: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        content = encode_body(body, self._settings.body)

        async def attempt(within_s: float) -> T:
            answer = await self._transport.exchange(
                "POST", path, content=content, within_s=within_s
            )
            return await _understood(answer, read)

        return await self._patience.read(attempt, self._settings.timeout_s)


async def _understood(answer: Answer, read: Callable[[Any], T]) -> T:
    def understand() -> T:
        return read(open_answer(answer))

    return understand() if len(answer.body) < LARGE else await asyncio.to_thread(understand)
