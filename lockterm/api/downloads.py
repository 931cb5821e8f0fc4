"""Fetching a voice pack (2.5, 2.6) into a file: resumed, capped, and checked against what was told.

The file's name is our own digest, never the server's text; nothing is unpacked.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from lockterm import __version__
from lockterm.api.failures import not_sent
from lockterm.api.http import httpx
from lockterm.api.partial_file import PartialFile
from lockterm.api.settings import ServiceSettings, checked_headers
from lockterm.api.trust import tls_context
from lockterm.errors import LocktermError, MalformedAnswer, NoAnswer, Refused, StoreError
from lockterm.models.packs import PackSource
from lockterm.paths import make_directory
from lockterm.text import clean

MOST_BYTES = 512 * 1024 * 1024
"""No pack is larger; a server that goes on sending is cut off."""
STALL_S = 30.0
"""Seconds without a byte after which a download is interrupted; it can be resumed."""
CHUNK = 64 * 1024

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
        NoAnswer: The line broke; what came so far is kept.
        Refused: The server does not give it.
        StoreError: The file cannot be written.
    """
    _check_url(wanted.url, settings.base_url)
    if wanted.size is not None and not 0 <= wanted.size <= MOST_BYTES:
        raise MalformedAnswer(f"The service says that the pack has {wanted.size} bytes.")
    final = folder / wanted.file_name
    partial = PartialFile(final.with_suffix(".partial"))
    try:
        make_directory(folder)
        if final.is_file() and not final.is_symlink():
            return final  # it was checked before it got this name
        partial.open()
        await _fetch(settings, wanted, partial, progress)
        await asyncio.to_thread(_verify, wanted, partial)
        partial.finish(final)
    except BlockingIOError:
        raise StoreError("Another lockterm is fetching this pack.", title="Not fetched") from None
    except OSError as error:
        raise StoreError(
            f"The pack cannot be written to {folder}: {error.strerror or error}.",
            hint="See that the directory is yours, writable and not full.",
        ) from error
    finally:
        partial.close()
    return final


def _check_url(url: str, base_url: str) -> None:
    try:
        parts = urlsplit(url)
        # Plain http where nobody is in between, or where the profile was warned of it already.
        plain = _origin(url) == _origin(base_url) or parts.hostname in (
            "localhost",
            "127.0.0.1",
            "::1",
        )
        fit = parts.scheme == "https" or (parts.scheme == "http" and plain)
        fit = fit and bool(parts.hostname) and "@" not in parts.netloc and url.isascii()
        fit = fit and url.isprintable() and parts.port != 0
    except ValueError:
        fit = False
    if not fit:
        raise MalformedAnswer(
            f"{clean(url, 120)} is no address to fetch a pack from.",
            title="Pack not fetched",
            hint="It has to be an https URL without a user name.",
        )


async def _fetch(
    settings: ServiceSettings, wanted: PackSource, partial: PartialFile, progress: Progress
) -> None:
    async with _answer(settings, wanted.url, partial) as response:
        if response.status_code == 416 or not _continues(response, partial):
            partial.restart()
        if response.status_code not in (200, 206):
            hint = "Start it again." if response.status_code == 416 else ""
            raise Refused(
                f"The server answered HTTP {response.status_code} and gave no pack.",
                status=response.status_code,
                hint=hint,
            )
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise MalformedAnswer("The server packed the file once more; it was not taken.")
        partial.note_validator(response.headers.get("etag", ""))
        total = wanted.size if wanted.size is not None else _length(response, partial.have)
        stream = cast("AsyncGenerator[bytes, None]", response.aiter_raw(CHUNK))
        async with contextlib.aclosing(stream) as chunks:
            async for chunk in chunks:
                await asyncio.to_thread(partial.append, chunk)
                if partial.have > (MOST_BYTES if wanted.size is None else wanted.size):
                    partial.restart()
                    raise MalformedAnswer(
                        "The server sent more than the pack's size; what came was deleted.",
                        title="Pack damaged",
                    )
                progress(partial.have, total)


@contextlib.asynccontextmanager
async def _answer(
    settings: ServiceSettings, url: str, partial: PartialFile
) -> AsyncIterator[httpx.Response]:
    headers = {"Accept-Encoding": "identity", "User-Agent": f"lockterm/{__version__}"}
    if _origin(url) == _origin(settings.base_url):
        headers.update(checked_headers(settings.headers))
    if partial.have:
        headers |= {"Range": f"bytes={partial.have}-", "If-Range": partial.validator}
    context = await asyncio.to_thread(tls_context, url, settings.ca_file)
    server = clean(urlsplit(url).netloc, 80)
    left = False

    async def note(step: str, _info: object) -> None:
        nonlocal left
        left = left or not step.startswith("connection.")

    waits = {"connect": 10.0, "read": STALL_S, "write": STALL_S, "pool": STALL_S}
    request = httpx.Request(
        "GET", url, headers=headers, extensions={"trace": note, "timeout": waits}
    )
    async with httpx.AsyncHTTPTransport(verify=context, trust_env=False) as transport:
        try:
            response = await transport.handle_async_request(request)
            try:
                yield response
            finally:
                await response.aclose()
        except (LocktermError, OSError):
            raise
        except Exception as error:  # the HTTP stack's: see lockterm.api.transport
            if not left:
                raise not_sent(error, server) from error
            raise NoAnswer(
                "The line broke. What came so far is kept.", hint="Start it again to resume."
            ) from error


def _continues(response: httpx.Response, partial: PartialFile) -> bool:
    """Whether the answer goes on where the file ends."""
    if response.status_code != 206:
        return partial.have == 0
    told: str = response.headers.get("content-range", "")
    return told.startswith(f"bytes {partial.have}-")


def _length(response: httpx.Response, have: int) -> int | None:
    told = response.headers.get("content-length", "")
    return have + int(told) if told.isascii() and told.isdigit() and len(told) < 16 else None


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def _verify(wanted: PackSource, partial: PartialFile) -> None:
    wrong = ""
    if wanted.size is not None and partial.have != wanted.size:
        if partial.have < wanted.size:
            raise NoAnswer(
                f"The server ended after {partial.have} of {wanted.size} bytes.",
                hint="Start it again to resume.",
            )
        wrong = f"It has {partial.have} bytes, not {wanted.size}."
    elif wanted.md5 and partial.md5() != wanted.md5.strip().lower():
        wrong = "Its MD5 is not the one the service told."
    if wrong:
        partial.remove()
        raise MalformedAnswer(
            f"{wrong} The file was deleted.", title="Pack damaged", hint="Fetch it again."
        )
