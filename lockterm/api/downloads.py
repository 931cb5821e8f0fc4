"""The download of a voice pack (contract 2.5 and 2.6) into a file.

A download can be resumed, is limited in size, and is verified. lockterm resolves the name of a
pack's server once per request, and connects only to addresses that it has checked. The file's name
is a digest that lockterm computes, never the server's text, and lockterm does not unpack the file.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import httpx

from lockterm import __version__
from lockterm.api.answer import ChunkPacer
from lockterm.api.pack_address import addresses_of, checked_url, not_fetched, other_server
from lockterm.api.partial_file import PartialFile, on_disk
from lockterm.api.request import checked_headers
from lockterm.api.transport import SendProgress, not_sent
from lockterm.api.trust import tls_context
from lockterm.config.values import origin_of
from lockterm.domain.safe_text import clean
from lockterm.domain.voices import PackSource
from lockterm.errors import LocktermError, MalformedAnswerError, NoAnswerError, RefusedError
from lockterm.paths import make_directory
from lockterm.threads import to_its_end

if TYPE_CHECKING:
    from lockterm.config import Profile


MOST_BYTES = 512 * 1024 * 1024
"""Maximum size of a pack in bytes. lockterm stops a download that exceeds it."""
STALL_S = 30.0
"""Maximum time without progress, in seconds. After this time, lockterm stops a download."""
LEAST_PROGRESS = 1024
"""Number of bytes that must arrive before the time :data:`STALL_S` starts again.

With a smaller number, a server that sends single bytes could keep a download running for days.
"""
PROOF = 64 * 1024
"""Number of bytes that a new download must receive before it replaces an interrupted download.

The page of a login portal has fewer bytes, so it does not replace the interrupted download.
"""

_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,15})-[0-9]{1,15}/(?:([0-9]{1,15})|\*)")

ProgressCallback = Callable[[int, int | None], None]
"""A function that is called with the number of received bytes and the number of expected bytes.

The number of expected bytes is None if it is unknown.
"""


async def download(
    profile: Profile,
    wanted: PackSource,
    folder: Path,
    report: ProgressCallback,
    *,
    agreed: str = "",
) -> Path:
    """Fetch a pack, or resume an interrupted download of it.

    Args:
        profile: The profile; its headers are sent only to its own service.
        wanted: The pack, with its reported size and MD5.
        folder: The target folder; created with mode 0700 if it does not exist.
        report: A function that is called after every chunk.
        agreed: The server that the user confirmed, as :func:`other_server` returns it; empty for
            the profile's own service, which needs no confirmation.

    Returns:
        The path of the file, whose size and MD5 match those that the service reported.

    Raises:
        MalformedAnswerError: The URL or the answer cannot be used, or the file's size or MD5 is
            wrong. A file with a wrong size or MD5 was deleted.
        UnreachableError: The server could not be reached.
        NoAnswerError: The connection broke. The received bytes are kept if the download can be
            resumed.
        RefusedError: The server refused the request. The bytes received before are kept.
        StoreError: The file cannot be written. The received bytes are kept if the download can be
            resumed.
    """
    url = checked_url(wanted.url, profile.base_url)
    if (other := other_server(url, profile.base_url)) != agreed:
        where = other or "the service itself"
        raise not_fetched(
            f"The pack comes from {where}, which you did not confirm.", "Fetch the pack again."
        )
    if wanted.size is not None and not 0 <= wanted.size <= MOST_BYTES:
        size = clean(wanted.size, 30)
        raise not_fetched(f"The service reports that the pack has {size} bytes.")
    make_directory(folder)
    final = folder / wanted.file_name
    if wanted.md5 and final.is_file() and not final.is_symlink():
        return final  # lockterm gives this name only to checked files
    partial = PartialFile(final.with_suffix(".partial"))
    with on_disk(folder):
        partial.open()
    try:
        total = wanted.size
        if not partial.have or partial.have != total:
            total = await _Fetch(profile, url, wanted, partial, folder, report).run()
        with on_disk(folder):
            await to_its_end(_verify, wanted, total, partial)
            await to_its_end(partial.finish, final)
    finally:
        partial.close()
    return final


@dataclass
class _Fetch:
    """The download of one pack from its server into its partial file."""

    profile: Profile
    url: httpx.URL
    wanted: PackSource
    partial: PartialFile
    folder: Path
    report: ProgressCallback

    async def run(self) -> int | None:
        """Download the missing part of the pack, or the whole pack if it cannot be resumed.

        Returns:
            The size of the pack in bytes, as the service or the server of the pack reports it; None
            if neither does.
        """
        for _ in range(2):
            async with self._answer() as (response, deadline):
                if self._fits(response):
                    return await self._take(response, deadline)
                with on_disk(self.folder):
                    self.partial.restart()
        raise not_fetched("The server sent a different part of the file than requested.")

    def _fits(self, response: httpx.Response) -> bool:
        """Return whether the answer can be used: as the whole pack, or as its missing part.

        If it cannot be used, the whole pack must be requested.

        Raises:
            RefusedError: The HTTP status shows neither success nor a wrong range (416).
            MalformedAnswerError: The answer is a web page.
        """
        status, have = response.status_code, self.partial.have
        if status == 206:
            match = _CONTENT_RANGE.fullmatch(response.headers.get("content-range", ""))
            etag = response.headers.get("etag", self.partial.validator)
            same = not have or etag == self.partial.validator
            return match is not None and int(match[1]) == have and same
        if status not in (200, 416) or (status == 416 and not have):
            raise RefusedError(
                f"The server answered HTTP {status} instead of a pack.",
                status=status,
                hint="Redirects are not followed." if 300 <= status < 400 else "",
            )
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if status == 200 and kind in ("text/html", "application/xhtml+xml"):
            raise _instead("The server sent a web page instead of the pack.")
        return status == 200

    async def _take(self, response: httpx.Response, deadline: asyncio.Timeout) -> int | None:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise not_fetched("The server compressed the file. The file was not saved.")
        partial, size = self.partial, self.wanted.size
        begun = 0 if response.status_code == 200 else partial.have
        total = _length(response, begun) if size is None else size
        limit = MOST_BYTES if size is None else size
        # Use the raw stream without a chunk size: httpx would hold back bytes, which a break loses.
        stream = cast("AsyncGenerator[bytes, None]", response.aiter_raw())
        loop, pace = asyncio.get_running_loop(), ChunkPacer()
        new_bytes = 0
        chunks = stream if begun else self._from_its_beginning(stream, response)
        async with contextlib.aclosing(stream), contextlib.aclosing(chunks):
            async for chunk in chunks:
                new_bytes += len(chunk)
                if new_bytes >= LEAST_PROGRESS:
                    new_bytes = 0
                    deadline.reschedule(loop.time() + STALL_S)
                if partial.have + len(chunk) > limit:
                    partial.remove()
                    raise MalformedAnswerError(
                        f"The server sent more than {limit:,} bytes. The file was deleted.",
                        title="Pack damaged",
                    )
                with on_disk(self.folder):
                    await to_its_end(partial.append, chunk)
                self.report(partial.have, total)
                await pace.after(chunk)
        return total

    async def _from_its_beginning(
        self, chunks: AsyncGenerator[bytes, None], response: httpx.Response
    ) -> AsyncGenerator[bytes, None]:
        """Yield the chunks of a whole pack, after discarding the old bytes of the partial file.

        The old bytes are discarded only after the beginning of the answer was checked.

        Raises:
            MalformedAnswerError: The answer is another document. The old bytes stay in the file.
        """
        held, size, length = bytearray(), self.wanted.size, _length(response, 0)
        if self.partial.have:
            if size is not None and length is not None and length != size:
                raise _instead(f"The server sent {length:,} bytes instead of the pack.")
            async for chunk in chunks:
                held += chunk
                if len(held) >= PROOF:
                    break
            else:
                self._check(bytes(held))
        with on_disk(self.folder):
            self.partial.restart()
            self.partial.note_validator(response.headers.get("etag", ""))
        if held:
            yield bytes(held)
        async for chunk in chunks:
            yield chunk

    def _check(self, pack: bytes) -> None:
        """Check a complete answer that is shorter than ``PROOF``.

        Raises:
            MalformedAnswerError: The size or MD5 of the answer differs from the reported one.
        """
        size, md5 = self.wanted.size, self.wanted.md5.strip().lower()
        is_other = md5 and hashlib.md5(pack, usedforsecurity=False).hexdigest() != md5
        if is_other or size not in (None, len(pack)):
            raise _instead(f"The server sent {len(pack):,} bytes instead of the pack.")

    @contextlib.asynccontextmanager
    async def _answer(self) -> AsyncIterator[tuple[httpx.Response, asyncio.Timeout]]:
        sending = SendProgress()
        addresses = await addresses_of(self.url, self.profile.base_url)
        profile = self.profile
        context = await asyncio.to_thread(
            tls_context, str(self.url), profile.ca_file, ca_only=profile.ca_only
        )
        async with httpx.AsyncHTTPTransport(verify=context, trust_env=False) as transport:
            try:
                async with asyncio.timeout(STALL_S) as deadline:
                    for address in addresses:
                        request = self._request(address)
                        request.extensions["trace"] = sending.note
                        try:
                            response = await transport.handle_async_request(request)
                            break
                        except httpx.HTTPError:
                            if sending.left or address == addresses[-1]:
                                raise
                    try:
                        yield response, deadline
                    finally:
                        await response.aclose()
            except LocktermError:
                raise
            except Exception as error:  # any error of the HTTP stack; see lockterm.api.transport
                if not sending.left:
                    server = clean(self.url.netloc.decode("ascii"), 80)
                    raise not_sent(error, server) from error
                what = "The connection broke"
                if isinstance(error, (httpx.TimeoutException, TimeoutError)):
                    what = f"Almost no data arrived for {STALL_S:.0f} s"
                raise _broken(what, self.partial) from error

    def _request(self, address: str) -> httpx.Request:
        """Return a request to one address of the server, for the missing part of the pack."""
        headers = {"Host": self.url.netloc.decode("ascii")}
        if origin_of(str(self.url)) == origin_of(self.profile.base_url):
            headers |= checked_headers(self.profile)
        headers |= {"Accept-Encoding": "identity", "User-Agent": f"lockterm/{__version__}"}
        if self.partial.have:
            start = f"bytes={self.partial.have}-"
            headers |= {"Range": start, "If-Range": self.partial.validator}
        waits = {"connect": 10.0, "read": STALL_S, "write": STALL_S, "pool": STALL_S}
        # lockterm connects to the address, but the certificate must be for the name.
        extensions = {"timeout": waits, "sni_hostname": self.url.host}
        url = self.url.copy_with(host=address.partition("%")[0])
        return httpx.Request("GET", url, headers=headers, extensions=extensions)


def _instead(what: str) -> MalformedAnswerError:
    hint = "A login page may have answered instead. The bytes received before are kept."
    return not_fetched(f"{what} lockterm did not save the answer.", hint)


def _length(response: httpx.Response, have: int) -> int | None:
    if match := _CONTENT_RANGE.fullmatch(response.headers.get("content-range", "")):
        return int(match[2]) if match[2] else None
    length = response.headers.get("content-length", "")
    return have + int(length) if re.fullmatch("[0-9]{1,15}", length) else None


def _verify(wanted: PackSource, total: int | None, partial: PartialFile) -> None:
    if total is not None and partial.have < total:
        raise _broken(f"The server ended after {partial.have:,} of {total:,} bytes", partial)
    if wanted.md5 and partial.md5() != wanted.md5.strip().lower():
        partial.remove()
        raise MalformedAnswerError(
            "MD5 mismatch. The file was deleted.",
            title="Pack damaged",
            hint="Fetch the pack again.",
        )


def _broken(what: str, partial: PartialFile) -> NoAnswerError:
    if partial.validator and partial.have:
        message = f"{what}. The bytes received so far are kept."
        hint = "Fetch the pack again to resume."
    else:
        message = f"{what}, and this server cannot resume a download."
        hint = "Fetch the pack again from the beginning."
    return NoAnswerError(message, title="Pack not fetched completely", hint=hint)
