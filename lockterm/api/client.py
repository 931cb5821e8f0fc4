"""The calls of the contract: a method for each of six reading calls, and one for all writes.

At the start, a thread reads the first page of a lock's remotes while the main thread imports the
UI. Import this module before that thread starts. If the thread imported it while the main thread
imports Textual, the first rows would appear later, by about 10 % of the startup time.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from lockterm.api.answer import Answer
from lockterm.api.envelope import (
    open_answer,
    page_of,
    read_many,
    read_one,
    read_remote,
    read_result,
)
from lockterm.api.request import encode_body
from lockterm.api.retry_policy import RetryPolicy
from lockterm.api.transport import Transport
from lockterm.config.profile import USUAL_SIZE
from lockterm.domain.callbacks import ignore
from lockterm.domain.dates import Clock
from lockterm.domain.remotes import READABLE_CALLS, Remote, RemotePage
from lockterm.errors import (
    NAME_EXISTS,
    LocktermError,
    MalformedAnswerError,
    NoAnswerError,
    RefusedError,
    ResultUnknownError,
)

if TYPE_CHECKING:
    from lockterm.api.retry_policy import CallPermit
    from lockterm.api.writes import Write
    from lockterm.config import Profile
    from lockterm.domain.voices import Language, VoicePack


T = TypeVar("T")

LIST_PATH = "/api/v1/bluetooth-remote/list"

LOOK = "Check the data of the service before you send the change again."
"""The hint for a write whose result is unknown."""
NO_LOOK = "The service does not report this value. You can send the same value again."
"""The hint for a write whose result is unknown and cannot be read (contract 4.8 and 4.12)."""
LARGE = 16 * 1024
"""Minimum size in bytes of a body that is decoded in a thread, so that keys need not wait."""


class LockService:
    """A client for the service of one profile.

    Usage::

        async with LockService(profile) as service:
            page = await service.list_remotes(lock_id=1001, page_no=1, page_size=20)
            await service.send(writes.delete_remote(page.remotes[0].id))

    Reading calls raise UnreachableError, NoAnswerError, MalformedAnswerError or RefusedError. If
    another attempt may help, a reading call is repeated before it raises the error. Writes raise
    UnreachableError or RefusedError if nothing was applied, and ResultUnknownError if the change
    may have been applied. The change of a canceled write may have been applied, too.

    Args:
        profile: The address, headers and settings of the service.
        retries: The policy for repeated attempts; None for the default policy.
        clock: This machine's clock, which is compared with the service's clock; tests replace it.

    Raises:
        ConfigError: The base URL or a header cannot be used.
        UntrustedServerError: The ca_file cannot be used. Only opening the service raises this
            error.
    """

    def __init__(
        self,
        profile: Profile,
        retries: RetryPolicy | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._profile = profile
        self._retries = retries or RetryPolicy()
        self._transport = Transport(profile, clock or Clock())

    async def __aenter__(self) -> Self:
        await self._transport.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._transport.close()

    @property
    def clock_offset_s(self) -> float | None:
        """The time of the service's clock minus the local time, in seconds.

        None until an answer contains a date.
        """
        return self._transport.clock_offset_s

    def tell_limits(self, on_limited: Callable[[float], None]) -> None:
        """Set the function to call after each answer with status 429 (too many requests).

        Args:
            on_limited: The function. Its argument is the wait in seconds that the service requests,
                or 0 if the service requests no wait.
        """
        self._transport.on_limited = on_limited

    # --- remotes -----------------------------------------------------------------------------

    async def check_remote_name(self, lock_id: int, remote_name: str) -> bool:
        """Return whether a name is still free for a remote on the lock (contract 4.2).

        Raises:
            RefusedError: The service refused the call for another reason than a taken name.
        """
        body = {"lockId": lock_id, "remoteName": remote_name}
        try:
            await self._post("/api/v1/bluetooth-remote/checkRemoteName", body, ignore)
        except RefusedError as refusal:
            if refusal.code == NAME_EXISTS and _EXISTS.search(_without_negation(refusal)):
                return False
            raise
        return True

    async def list_remotes(
        self,
        lock_id: int,
        page_no: int,
        page_size: int,
        place: CallPermit | None = None,
    ) -> RemotePage:
        """Return a page of a lock's remotes (contract 4.3).

        Args:
            lock_id: The lock.
            page_no: The page number, from 1.
            page_size: Number of remotes on a page.
            place: A permit, which is taken before each attempt, and is released while an answer
                with HTTP status 200 is decoded; None if the number of calls is not limited.
        """
        query = {"lockId": lock_id, "pageNo": page_no, "pageSize": page_size}

        async def attempt(within_s: float) -> RemotePage:
            if place is not None:
                await place.take()
            answer = await self._transport.exchange(
                "GET", LIST_PATH, query=query, within_s=within_s
            )
            read = partial(page_of, answer, page_no, page_size, lock_id)
            if place is None:
                return await _beside(answer, read)
            if answer.status == 200:
                place.leave()
            async with place.reading:
                return await _beside(answer, read)

        return await self._retries.read(attempt, self._profile.timeout_s)

    async def remote_detail(self, remote_id: int) -> Remote:
        """Return the details of a remote, with the names of its lock (contract 4.5)."""
        path = "/api/v1/bluetooth-remote/detail"
        read = partial(read_remote, remote_id=remote_id)
        return await self._post(path, {"remoteId": remote_id}, read)

    # --- voices ------------------------------------------------------------------------------

    async def list_voice_packs(self, lock_id: int) -> list[VoicePack]:
        """Return the voice packs of a lock, possibly without addresses (contract 4.9)."""
        read = partial(read_many, kind=_voices().VoicePack)
        return await self._post("/api/v1/voice/list", {"lockId": lock_id}, read)

    async def list_languages(self, vendor: str, model: str) -> list[Language]:
        """Return the languages and timbres for a vendor's lock model (contract 4.10)."""
        body = {"vendor": vendor, "model": model}
        read = partial(read_many, kind=_voices().Language)
        return await self._post("/api/v1/voice/packs", body, read)

    async def voice_pack_detail(self, lock_id: int, name: str) -> VoicePack:
        """Return the details of a voice pack: URL, size and MD5 (contract 4.11)."""
        body = {"lockId": lock_id, "name": name}
        read = partial(read_one, kind=_voices().VoicePack)
        return await self._post("/api/v1/voice/detail", body, read)

    # --- writes ------------------------------------------------------------------------------

    async def send(
        self, write: Write, on_leaving: Callable[[], Awaitable[None]] | None = None
    ) -> int | None:
        """Send a write (contract 4.1, 4.4, 4.6, 4.7, 4.8 and 4.12).

        A write is repeated only if nothing was sent or the service provably did not read the
        request.

        Args:
            write: A call that changes data, from a function of :mod:`lockterm.api.writes`.
            on_leaving: A function that is called after the connection is made, before the first
                byte is written.

        Returns:
            The resulting number (``remoteId`` or ``deletedCount``); None if the contract defines no
            such number, or the service did not send one.

        Raises:
            RuleViolationError: The body cannot be encoded. Nothing was sent.
            UnreachableError: Nothing was sent, or the service provably did not read the request.
            RefusedError: The service refused the write. Nothing was applied.
            ResultUnknownError: The service may have applied the change. The message contains the
                known facts.
        """
        encoding = "json" if write.always_json else self._profile.body
        content = encode_body(write.body, encoding)

        async def attempt(within_s: float) -> int | None:
            try:
                answer = await self._transport.exchange(
                    *("POST", write.path),
                    content=content,
                    fresh=True,
                    within_s=within_s,
                    on_leaving=on_leaving,
                )
                return await _understood(answer, partial(read_result, name=write.result))
            except (NoAnswerError, MalformedAnswerError) as error:
                raise ResultUnknownError(
                    f"The service may have recorded the change or not. {error.message}",
                    hint=LOOK if write.call in READABLE_CALLS else NO_LOOK,
                ) from error

        return await self._retries.write(attempt, self._profile.timeout_s)

    async def _post(self, path: str, body: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        content = encode_body(body, self._profile.body)

        async def attempt(within_s: float) -> T:
            answer = await self._transport.exchange(
                "POST", path, content=content, within_s=within_s
            )
            return await _understood(answer, read)

        return await self._retries.read(attempt, self._profile.timeout_s)


def _voices() -> ModuleType:
    """Return the module of voice records. It is imported late, so that the UI appears sooner."""
    from lockterm.domain import voices

    return voices


_EXISTS = re.compile(r"exist|taken|duplicat|already|in use|存在|重复|重複|已有|占用", re.IGNORECASE)
"""Matches words in a refusal which show that the name exists.

The code of the refusal is not enough, because the contract mentions the code -3 only as an example.
"""
_MISSING = re.compile(r"(\bnot|n['’]t|\bno longer|\bnever)\W+(\w+\W+)?exist|不存在", re.IGNORECASE)


def _without_negation(refusal: RefusedError) -> str:
    """Return the texts of a refusal without phrases such as ``does not exist``."""
    return _MISSING.sub("", f"{refusal.message} {refusal.description}")


async def _understood(answer: Answer, read: Callable[[Any], T]) -> T:
    return await _beside(answer, lambda: read(open_answer(answer)))


async def _beside(answer: Answer, understand: Callable[[], T]) -> T:
    return understand() if len(answer.body) < LARGE else await asyncio.to_thread(understand)


# --- the first page -------------------------------------------------------------------------------


class FirstRead(NamedTuple):
    """The result of the request for the first page."""

    page: RemotePage | None = None
    """The page; None if it could not be read."""
    clock_offset_s: float | None = None
    """The service's clock minus this machine's clock, in seconds; None if it is not known."""
    error: LocktermError | None = None
    """The error of the request; None if there is a page.

    After an unexpected error, this is also None. The UI then requests the page itself, and gets the
    same error.
    """


class FirstPage:
    """The request for the first page of a lock's remotes, in a thread with its own event loop.

    Args:
        profile: The profile of the service.
        lock_id: The lock whose remotes are listed.
        size: The numbers of columns and lines of the terminal, which may determine the page size.
    """

    def __init__(self, profile: Profile, lock_id: int, size: tuple[int, int] = USUAL_SIZE) -> None:
        self.profile = profile
        self.key = (lock_id, 1, profile.page_rows(size))
        """The lock ID, the page number and the page size of the request."""
        self.outcome: Future[FirstRead] = Future()

    def ask(self) -> None:
        """Start the thread that sends the request and stores the result in ``outcome``."""
        self.outcome.set_running_or_notify_cancel()  # a screen that stops waiting cannot cancel it
        threading.Thread(target=self._run, name="first page", daemon=True).start()

    def _run(self) -> None:
        try:
            read = asyncio.run(self._read())
        except LocktermError as error:
            read = FirstRead(error=error)
        except Exception:  # the next request, in the UI's thread, will raise the same error
            read = FirstRead()
        self.outcome.set_result(read)

    async def _read(self) -> FirstRead:
        async with LockService(self.profile) as service:
            page = await service.list_remotes(*self.key)
            return FirstRead(page, service.clock_offset_s)
