"""The parsing of an HTTP answer: its header fields, and its body while it arrives, up to 8 MiB."""

from __future__ import annotations

import asyncio
import re
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from lockterm.domain.safe_text import clean, masked, spellings

QUOTED = 200
"""Maximum number of characters of an answer that an error shows."""

Quote = Callable[[str | bytes], str]
"""A function that returns an excerpt of an answer that is safe to show in an error message.

The excerpt is short, on one line, and without secrets and control characters.
"""


class Answer(NamedTuple):
    """A complete HTTP answer."""

    status: int
    headers: Mapping[str, str]
    """The header fields, by lower-case name."""
    body: bytes
    """The decompressed body. If the body has a flaw, this may be only its beginning."""
    flaw: str
    """The reason why the body cannot be trusted, in a few words; empty if the body is sound."""
    quote: Quote
    """The function that makes a text of this answer safe for an error message."""


def quoting(headers: Iterable[str]) -> Quote:
    """Return a function that shortens an answer for an error message and masks secrets in it.

    Args:
        headers: The values of the sent headers; all of them count as secrets.
    """
    secrets = spellings(headers)

    def quote(text: str | bytes) -> str:
        # Processing all of 8 MiB would delay keys. The margin keeps a secret at the cut whole.
        text = text[: 16 * QUOTED + max(map(len, secrets), default=0)]
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        text = masked(text, secrets)[: 16 * QUOTED]
        return clean(" ".join(text.split()), QUOTED)

    return quote


MOST_S = 60.0
"""Maximum wait that an answer can request, in seconds. A longer wait counts as this value."""


def header_fields(came: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the header fields of an answer, by lower-case name.

    The values of a repeated field are joined by commas.
    """
    fields: dict[bytes, bytes] = {}
    for name, value in ((name.lower(), value) for name, value in came):
        fields[name] = fields[name] + b", " + value if name in fields else value
    try:
        return {name.decode(): value.decode() for name, value in fields.items()}
    except UnicodeDecodeError:
        return {name.decode("latin-1"): value.decode("latin-1") for name, value in fields.items()}


def http_date(text: str | None) -> float | None:
    """Return an HTTP date in seconds since the epoch; None if it is missing or invalid."""
    try:
        moment = parsedate_to_datetime(text or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError, OSError):
        return None


def clock_offset_s(headers: Mapping[str, str], local_s: float) -> float | None:
    """Return the time of the service's clock minus the time of this machine, in seconds.

    Args:
        headers: The answer's headers by lower-case name.
        local_s: This machine's time at the middle of the call, in seconds since the epoch.

    Returns:
        The difference; None if the answer has no date, or has an old date because a cache sent it.
    """
    if headers.get("age", "0").strip() != "0":
        return None
    there = http_date(headers.get("date"))
    # The date has whole seconds, so the best estimate is half a second later.
    return None if there is None else there + 0.5 - local_s


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the wait that the field Retry-After of an answer requests, in seconds, at most 60.

    If the field contains a date, the wait counts from the date of the answer, so that a wrong local
    clock does not matter. The result is None if the answer requests no wait.
    """
    text = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]+", text):
        return min(float(text[:9]), MOST_S)
    until = http_date(text)
    if until is None:
        return None
    there = http_date(headers.get("date"))
    return min(max(until - (time.time() if there is None else there), 0.0), MOST_S)


MAX_BODY = 8 * 1024 * 1024
"""Maximum size of a decompressed body in bytes; a page of 200 remotes has about 100 KB."""

_GZIP = ("gzip", "x-gzip")
_MOST_MEMBERS = 1000
"""Maximum number of gzip members in one answer, because even an empty member takes time."""


class BodyReader:
    """The body of an answer as it arrives, decompressed, with at most :data:`MAX_BODY` bytes.

    Args:
        encoding: The Content-Encoding of the answer. lockterm requests only gzip.
    """

    def __init__(self, encoding: str = "") -> None:
        self.body = bytearray()
        """The bytes decompressed so far."""
        self.flaw = ""
        """The reason why the body cannot be used, in a few words; empty if no flaw is known."""
        self._packed = 0
        self._members = 0
        encoding = encoding.strip().lower()
        self._gzip = _unpacker() if encoding in _GZIP else None
        if encoding not in ("", "identity", *_GZIP):
            self.flaw = "it is compressed in a way that lockterm did not request"

    def feed(self, chunk: bytes) -> None:
        """Decompress received bytes and add them to ``body``. If this fails, set ``flaw``."""
        if self.flaw:
            return
        self._packed += len(chunk)
        if self._gzip is None:
            self._add(chunk)
            return
        while chunk and not self.flaw:
            if self._gzip.eof:  # the body has a further gzip member
                self._gzip = _unpacker()
                self._members += 1
            try:
                # One byte more than the limit shows that the body is too large.
                self._add(self._gzip.decompress(chunk, MAX_BODY - len(self.body) + 1))
            except zlib.error:
                self.flaw = "its gzip compression is damaged"
            chunk = self._gzip.unused_data
            if self._members > _MOST_MEMBERS:
                self.flaw = "it is compressed in too many parts"

    def finish(self) -> None:
        """Mark the answer as complete. If its compressed data is cut short, set ``flaw``."""
        if not self.flaw and self._gzip is not None and self._packed and not self._gzip.eof:
            self.flaw = "its gzip data is cut short"

    def _add(self, chunk: bytes) -> None:
        room = MAX_BODY - len(self.body)
        self.body += chunk[:room]
        if len(chunk) > room:
            self.flaw = "it is larger than 8 MiB"


def _unpacker() -> zlib._Decompress:
    return zlib.decompressobj(zlib.MAX_WBITS | 16)


SMALL = 512
"""Size in bytes below which a piece of an answer counts as small, because most of its cost is
overhead."""

IN_ONE_GO = 32
"""Number of small pieces that are processed before a pause. They take 1 to 2 ms."""

REST_S = 0.008
"""Duration of a pause in seconds. Data that arrives during the pause is then read in one piece."""


class ChunkPacer:
    """An object that pauses between the pieces of an answer if they are many and small.

    A service, or a proxy before it, may send chunks of one byte. Each chunk costs as much work as a
    chunk of 64 KiB. Without pauses, key presses would wait and one core would be busy until the
    answer ends.
    """

    def __init__(self) -> None:
        self._small = 0
        self._taken = 0

    async def after(self, piece: bytes) -> None:
        """Pause if :data:`IN_ONE_GO` small pieces were processed since the last pause.

        Otherwise, let other tasks run once after every 64 KiB, without a pause.

        Args:
            piece: The piece of the answer that was just processed.
        """
        self._taken += len(piece)
        self._small += len(piece) < SMALL
        if self._small >= IN_ONE_GO:
            self._small = self._taken = 0
            await rest(REST_S)
        elif self._taken >= 64 * 1024:
            self._taken = 0
            await rest(0)  # a fast network delivers large pieces without any gap


rest = asyncio.sleep
"""The function that pauses; tests replace it."""
