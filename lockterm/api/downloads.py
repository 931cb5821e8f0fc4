"""The download of a voice pack (contract 2.5 and 2.6) into a file.

A download can be resumed, is limited in size, and is verified. A pack's URL comes from the service.
It must not lead to servers that only this machine can reach: its own services, the metadata service
of a cloud, or other machines of its network. lockterm resolves the server's name once per request
and connects only to addresses that it has checked. The file's name is a digest that lockterm
computes, never the server's text, and lockterm does not unpack the file.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import ipaddress
import os
import re
import socket
import stat
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import httpx

from lockterm import __version__
from lockterm.api.answer import ChunkPacer
from lockterm.api.request import checked_headers
from lockterm.api.transport import SendProgress, not_sent
from lockterm.api.trust import tls_context
from lockterm.config.values import PORTS, origin_of
from lockterm.domain.safe_text import clean, without_secrets
from lockterm.domain.voices import PackSource
from lockterm.errors import (
    LocktermError,
    MalformedAnswerError,
    NoAnswerError,
    RefusedError,
    StoreError,
    describe_os_error,
)
from lockterm.paths import make_directory
from lockterm.threads import to_its_end

if TYPE_CHECKING:
    from lockterm.config import Profile


_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def not_fetched(message: str, hint: str = "") -> MalformedAnswerError:
    """Return the error to raise if lockterm does not download a voice pack."""
    return MalformedAnswerError(message, title="Pack not fetched", hint=hint)


def checked_url(text: str, base_url: str) -> httpx.URL:
    """Check that lockterm may fetch a pack from a URL, and return the parsed URL.

    Args:
        text: ``timbrePackUrl`` as the service sent it.
        base_url: The profile's base URL.

    Raises:
        MalformedAnswerError: The URL is neither https nor an http URL of the profile's own service.
            If that service is on this machine, any http URL on this machine is allowed. Or the URL
            has a user name, or a character that is not allowed in URLs.
    """
    try:
        parts = urlsplit(text)
        origin = origin_of(text)
        near = parts.hostname in _LOOPBACK and urlsplit(base_url).hostname in _LOOPBACK
        plain = parts.scheme == "http" and (near or origin == origin_of(base_url))
        fit = (parts.scheme == "https" or plain) and bool(parts.hostname)
        fit = fit and "@" not in parts.netloc and parts.port != 0
        fit = fit and text.isascii() and text.isprintable() and not {" ", "\\"} & set(text)
        url = httpx.URL(text if fit else "")
        # urllib and httpx must find the same server in the URL.
        fit = fit and origin_of(str(url)) == origin and url.host == parts.hostname
    except (ValueError, httpx.InvalidURL):
        fit = False
    if not fit:
        raise not_fetched(
            f"{clean(without_secrets(text), 120)} is not an address for fetching a pack.",
            "The address must be an https URL without a user name.",
        )
    return url


def other_server(url: httpx.URL, base_url: str) -> str:
    """Return the host and port of a pack's server; empty if it is the profile's own service.

    Args:
        url: The URL of the pack, from :func:`checked_url`.
        base_url: The base URL of the profile.
    """
    same = origin_of(str(url)) == origin_of(base_url)
    return "" if same else clean(url.netloc.decode("ascii"), 253)


async def addresses_of(url: httpx.URL, base_url: str) -> list[str]:
    """Return the IP addresses of a pack's server, to which lockterm may connect.

    lockterm may connect to the profile's service and to public addresses. If the profile's service
    is on this machine, lockterm may connect to any address.

    Raises:
        MalformedAnswerError: lockterm may not connect to one of the addresses.
        UnreachableError: The server's name cannot be resolved.
    """
    if origin_of(str(url)) == origin_of(base_url):
        return [url.host]
    port = url.port or PORTS[url.scheme]
    loop = asyncio.get_running_loop()
    server = clean(url.netloc.decode("ascii"), 80)
    try:
        found = await loop.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise not_sent(error, server) from error
    addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
    here = urlsplit(base_url).hostname in _LOOPBACK
    if not here and not all(map(_is_public, addresses)):
        raise not_fetched(
            (
                f"{server} is not a public address, but the service is not on that network."
                " Nothing was fetched."
            ),
            "If the address is right, fetch the pack with another program.",
        )
    return addresses


def _is_public(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        address = inner or address
    return address.is_global and not address.is_multicast


MOST_BYTES = 512 * 1024 * 1024
"""Maximum size of a pack in bytes. lockterm stops a download that exceeds it."""
STALL_S = 30.0
"""Maximum time without progress, in seconds. After this time, lockterm stops a download."""
PROGRESS = 1024
"""Minimum number of bytes that count as progress of a download.

With a smaller number, a server that sends single bytes could keep a download running for days.
"""
PROOF = 64 * 1024
"""Number of bytes that a new download must receive before it replaces an interrupted download.

The page of a login portal has fewer bytes, so it does not replace the interrupted download.
"""

_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,15})-[0-9]{1,15}/(?:([0-9]{1,15})|\*)")

Progress = Callable[[int, int | None], None]
"""A function that is called with the number of received bytes and the number of expected bytes.

The number of expected bytes is None if it is unknown.
"""


async def download(
    profile: Profile,
    wanted: PackSource,
    folder: Path,
    progress: Progress,
    *,
    agreed: str = "",
) -> Path:
    """Fetch a pack, or resume an interrupted download of it.

    Args:
        profile: The profile; its headers are sent only to its own service.
        wanted: The pack, with its reported size and MD5.
        folder: The target folder; created with mode 0700 if it does not exist.
        progress: A function that is called after every chunk.
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
            total = await _Fetch(profile, url, wanted, partial, folder, progress).run()
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
    progress: Progress

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
        """Return whether the answer is the whole pack, or the part that follows the partial file.

        Raises:
            RefusedError: The HTTP status is neither success nor about the requested range.
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
        loop, progress, pace = asyncio.get_running_loop(), 0, ChunkPacer()
        chunks = stream if begun else self._from_its_beginning(stream, response)
        async with contextlib.aclosing(stream), contextlib.aclosing(chunks):
            async for chunk in chunks:
                progress += len(chunk)
                if progress >= PROGRESS:
                    progress = 0
                    deadline.reschedule(loop.time() + STALL_S)
                if partial.have + len(chunk) > limit:
                    partial.remove()
                    raise MalformedAnswerError(
                        f"The server sent more than {limit:,} bytes. The file was deleted.",
                        title="Pack damaged",
                    )
                with on_disk(self.folder):
                    await to_its_end(partial.append, chunk)
                self.progress(partial.have, total)
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
        """Return the request for the missing part of the pack, to an IP address of the server."""
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


# --- the partial file -----------------------------------------------------------------------------

# O_NONBLOCK prevents waiting if the path is a pipe.
_SAFE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_NEW = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | _SAFE
_STRONG = re.compile(r'"[\x21\x23-\x7e]{0,198}"')
"""Matches a strong ETag, which promises identical bytes. A weak ETag does not match."""
_TRIES = 5


@dataclass(slots=True)
class PartialFile:
    """The beginning of a pack on disk, with an ETag to check that the server's pack is the same.

    Only one session at a time can open the file. Only this session may call the other methods.
    """

    path: Path
    validator: str = ""
    """The strong ETag of the answer with these bytes; empty if the download cannot be resumed."""
    have: int = 0
    """Number of bytes in the file."""
    _file: int = field(default=-1)

    @property
    def _note(self) -> Path:
        return self.path.with_suffix(".etag")

    def open(self) -> None:
        """Open the file that an interrupted download left, or a new file.

        Raises:
            BlockingIOError: Another session has opened the file.
            OSError: The file cannot be created.
        """
        for _ in range(_TRIES):
            file = self._opened()
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(self.path, file):
                    os.fchmod(file, 0o600)
                    break
            except BaseException:
                os.close(file)
                raise
            os.close(file)  # another session has finished or deleted the file
        else:
            raise BlockingIOError
        self._file = file
        self.have = os.fstat(file).st_size
        self.validator = self._noted() if self.have else ""
        if not self.validator:
            self.restart()

    def _opened(self) -> int:
        with contextlib.suppress(FileExistsError):
            return os.open(self.path, _NEW, 0o600)
        with contextlib.suppress(OSError):
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | _SAFE)
            about = os.fstat(file)
            if stat.S_ISREG(about.st_mode) and about.st_nlink < 2:
                return file
            os.close(file)
        self.path.unlink(missing_ok=True)  # a link or a pipe, which lockterm did not create
        return os.open(self.path, _NEW, 0o600)

    def _noted(self) -> str:
        try:
            with os.fdopen(os.open(self._note, os.O_RDONLY | _SAFE), "rb") as file:
                noted = file.read(256).decode("ascii")
        except (OSError, ValueError):
            return ""
        return noted if _STRONG.fullmatch(noted) else ""

    def restart(self) -> None:
        """Discard all bytes and the saved ETag."""
        os.ftruncate(self._file, 0)
        self._note.unlink(missing_ok=True)
        self.validator, self.have = "", 0

    def note_validator(self, etag: str) -> None:
        """Save the ETag of the answer whose bytes will be appended. A weak ETag is not saved."""
        strong = etag if _STRONG.fullmatch(etag) else ""
        if strong != self.validator:
            self._note.unlink(missing_ok=True)
        if strong and strong != self.validator:
            note = os.open(self._note, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, 0o600)
            with os.fdopen(note, "w", encoding="ascii") as file:
                file.write(strong)
        self.validator = strong

    def append(self, chunk: bytes) -> None:
        """Add bytes at the end of the file.

        Raises:
            OSError: The disk failed; ``have`` counts the bytes that were written.
        """
        rest = memoryview(chunk)
        while rest:
            written = os.write(self._file, rest)
            self.have += written
            rest = rest[written:]

    def md5(self) -> str:
        """Return the MD5 of the whole file as hexadecimal digits."""
        digest = hashlib.md5(usedforsecurity=False)
        os.lseek(self._file, 0, os.SEEK_SET)
        while chunk := os.read(self._file, 1 << 20):
            digest.update(chunk)
        return digest.hexdigest()

    def finish(self, final: Path) -> None:
        """Flush the file to the disk, rename it to ``final``, and close it."""
        os.fsync(self._file)
        self._note.unlink(missing_ok=True)
        self.path.replace(final)
        self._close()

    def close(self) -> None:
        """Close the file, and delete it unless a later download can resume it."""
        if self._file >= 0 and not (self.have and self.validator):
            self.remove()
        self._close()

    def remove(self) -> None:
        """Delete the file and its saved ETag."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)
        self._close()

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _is_at(path: Path, file: int) -> bool:
    """Return whether an open file is still at a path, and was not deleted or replaced."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(file))
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def on_disk(folder: Path) -> Iterator[None]:
    """Return a context manager that converts an OSError to an error with a readable message.

    Args:
        folder: The folder of the pack, for the message.

    Raises:
        StoreError: The block raised an OSError.
    """
    try:
        yield
    except BlockingIOError:
        raise StoreError(
            "Another lockterm is already fetching this pack.", title="Pack not fetched"
        ) from None
    except OSError as error:
        raise StoreError(
            f"The pack cannot be written to {folder}: {describe_os_error(error)}.",
            title="Pack not fetched",
            hint="Check that the directory is yours, writable and not full.",
        ) from error
