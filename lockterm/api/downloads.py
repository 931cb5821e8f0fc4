"""Fetching a voice pack (2.5, 2.6) into a file: resumed, capped, and checked against what was told.

The file's name is our own digest, never the server's text; nothing is unpacked.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lockterm import __version__
from lockterm.api.failures import not_sent
from lockterm.api.http import httpx
from lockterm.api.pack_urls import checked_url, origin_of
from lockterm.api.partial_file import PartialFile, on_disk
from lockterm.api.settings import ServiceSettings, checked_headers
from lockterm.api.trust import tls_context
from lockterm.errors import LocktermError, MalformedAnswer, NoAnswer, Refused
from lockterm.models.packs import PackSource
from lockterm.paths import make_directory
from lockterm.text import clean

MOST_BYTES = 512 * 1024 * 1024
"""No pack is larger; a server that goes on sending is cut off."""
STALL_S = 30.0
"""Seconds without a byte after which a download is interrupted; it can be resumed."""

_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,15})-[0-9]{1,15}/(?:([0-9]{1,15})|\*)")

Progress = Callable[[int, int | None], None]
"""Told the bytes there are and the bytes there will be, None where that is not known."""


async def download(
    settings: ServiceSettings, wanted: PackSource, folder: Path, progress: Progress
) -> Path:
    """Fetch a pack, resuming where an earlier attempt was interrupted.

    Args:
        settings: The profile; its headers go to its own service alone.
        wanted: What to fetch, and what was told about it.
        folder: Where to; made with 0700.
        progress: Called after every chunk.

    Returns:
        The file; size and MD5 are those that were told, as far as they were told.

    Raises:
        MalformedAnswer: The URL cannot be used, or what came is not what was told; it was deleted.
        Unreachable: The server could not be reached.
        NoAnswer: The line broke; what came so far is kept where it can be resumed.
        Refused: The server does not give it; what came so far is kept.
        StoreError: The file cannot be written; what came so far is kept.
    """
    url = checked_url(wanted.url, settings.base_url)
    if wanted.size is not None and not 0 <= wanted.size <= MOST_BYTES:
        raise MalformedAnswer(
            f"The service says that the pack has {clean(wanted.size, 30)} bytes.",
            title="Pack not fetched",
        )
    make_directory(folder)
    final = folder / wanted.file_name
    if wanted.md5 and final.is_file() and not final.is_symlink():
        return final  # it was checked before it got this name
    partial = PartialFile(final.with_suffix(".partial"))
    with on_disk(folder):
        partial.open()
    try:
        total = wanted.size
        if not partial.have or partial.have != total:
            total = await _Fetch(settings, url, wanted.size, partial, folder, progress).run()
        with on_disk(folder):
            await _to_its_end(_verify, wanted, total, partial)
            await _to_its_end(partial.finish, final)
    finally:
        partial.close()
    return final


@dataclass
class _Fetch:
    """The way of one pack from its server into its partial file."""

    settings: ServiceSettings
    url: httpx.URL
    size: int | None
    """What was told of it; None where nothing was."""
    partial: PartialFile
    folder: Path
    progress: Progress

    async def run(self) -> int | None:
        """Fetch what is missing; all of it, where what there is cannot be continued.

        Returns:
            The bytes that the pack should have, by the service or else by the server.
        """
        for _ in range(2):
            async with self._answer() as response:
                if self._fits(response):
                    return await self._take(response)
                with on_disk(self.folder):
                    self.partial.restart()
        raise MalformedAnswer(
            "The server sent another part of the file than it was asked for.",
            title="Pack not fetched",
        )

    def _fits(self, response: httpx.Response) -> bool:
        """Whether the answer is the whole pack, or goes on where the file ends."""
        status, have = response.status_code, self.partial.have
        if status == 206:
            told = _CONTENT_RANGE.fullmatch(response.headers.get("content-range", ""))
            etag = response.headers.get("etag", self.partial.validator)
            same = not have or etag == self.partial.validator
            return told is not None and int(told[1]) == have and same
        if status not in (200, 416) or (status == 416 and not have):
            raise Refused(
                f"The server answered HTTP {status} and gave no pack.",
                status=status,
                hint="Redirects are not followed." if 300 <= status < 400 else "",
            )
        return status == 200

    async def _take(self, response: httpx.Response) -> int | None:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise MalformedAnswer(
                "The server packed the file once more; it was not taken.", title="Pack not fetched"
            )
        partial = self.partial
        with on_disk(self.folder):
            if response.status_code == 200:
                partial.restart()
            if not partial.have:
                partial.note_validator(response.headers.get("etag", ""))
        total = self.size if self.size is not None else _length(response, partial.have)
        most = MOST_BYTES if self.size is None else self.size
        # As it comes: httpx's own chunks would hold back up to one, which a break then loses.
        stream = cast("AsyncGenerator[bytes, None]", response.aiter_raw())
        async with contextlib.aclosing(stream) as chunks:
            async for chunk in chunks:
                if partial.have + len(chunk) > most:
                    partial.remove()
                    raise MalformedAnswer(
                        f"The server sent more than {most:,} bytes; what came was deleted.",
                        title="Pack damaged",
                    )
                with on_disk(self.folder):
                    await _to_its_end(partial.append, chunk)
                self.progress(partial.have, total)
        return total

    @contextlib.asynccontextmanager
    async def _answer(self) -> AsyncIterator[httpx.Response]:
        request, left = self._request(), False

        async def note(step: str, _info: object) -> None:
            nonlocal left
            left = left or not step.startswith("connection.")

        request.extensions["trace"] = note
        context = await asyncio.to_thread(tls_context, str(self.url), self.settings.ca_file)
        async with httpx.AsyncHTTPTransport(verify=context, trust_env=False) as transport:
            try:
                response = await transport.handle_async_request(request)
                try:
                    yield response
                finally:
                    await response.aclose()
            except LocktermError:
                raise
            except Exception as error:  # the HTTP stack's: see lockterm.api.transport
                if not left:
                    server = clean(self.url.netloc.decode("ascii"), 80)
                    raise not_sent(error, server) from error
                stalled = isinstance(error, httpx.TimeoutException)
                what = f"Nothing came for {STALL_S:.0f} s" if stalled else "The line broke"
                raise _broken(what, self.partial) from error

    def _request(self) -> httpx.Request:
        headers = {}
        if origin_of(str(self.url)) == origin_of(self.settings.base_url):
            headers = checked_headers(self.settings.headers)
        headers |= {"Accept-Encoding": "identity", "User-Agent": f"lockterm/{__version__}"}
        if self.partial.have:
            start = f"bytes={self.partial.have}-"
            headers |= {"Range": start, "If-Range": self.partial.validator}
        waits = {"connect": 10.0, "read": STALL_S, "write": STALL_S, "pool": STALL_S}
        return httpx.Request("GET", self.url, headers=headers, extensions={"timeout": waits})


def _length(response: httpx.Response, have: int) -> int | None:
    if told := _CONTENT_RANGE.fullmatch(response.headers.get("content-range", "")):
        return int(told[2]) if told[2] else None
    length = response.headers.get("content-length", "")
    return have + int(length) if re.fullmatch("[0-9]{1,15}", length) else None


def _verify(wanted: PackSource, total: int | None, partial: PartialFile) -> None:
    if total is not None and partial.have < total:
        raise _broken(f"The server ended after {partial.have:,} of {total:,} bytes", partial)
    if wanted.md5 and partial.md5() != wanted.md5.strip().lower():
        partial.remove()
        raise MalformedAnswer(
            "Its MD5 is not the one the service told. The file was deleted.",
            title="Pack damaged",
            hint="Fetch it again.",
        )


def _broken(what: str, partial: PartialFile) -> NoAnswer:
    if partial.validator and partial.have:
        message, hint = f"{what}. What came so far is kept.", "Fetch it again to resume."
    else:
        message = f"{what}, and this server does not let a download be resumed."
        hint = "Fetch it again, from the beginning."
    return NoAnswer(message, title="Pack not fetched whole", hint=hint)


async def _to_its_end(work: Callable[..., Any], *arguments: Any) -> None:
    """Work on the file in a thread; who is cancelled waits, lest the file be closed under it."""
    task = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):  # a dialog's end cancels twice
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()
        raise
