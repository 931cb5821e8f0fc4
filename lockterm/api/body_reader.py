"""The body of an answer as it arrives: unpacked, counted, and stopped at 8 MiB."""

from __future__ import annotations

import zlib

MAX_BODY = 8 * 1024 * 1024
"""Bytes of an unpacked body; a page of 200 remotes has some 100 KB."""


_GZIP = ("gzip", "x-gzip")
_MOST_MEMBERS = 1000
"""A service that packs each part by itself sends some; each takes time, an empty one too."""


class BodyReader:
    """Collects a body, never holding more than :data:`MAX_BODY` of it.

    Args:
        encoding: The Content-Encoding of the answer; only gzip is asked for.
    """

    def __init__(self, encoding: str = "") -> None:
        self.body = bytearray()
        """What was unpacked so far."""
        self.flaw = ""
        """Why the body cannot be used, in a few words; empty as long as it can."""
        self._packed = 0
        self._members = 0
        encoding = encoding.strip().lower()
        self._gzip = _unpacker() if encoding in _GZIP else None
        if encoding not in ("", "identity", *_GZIP):
            self.flaw = "it is packed in a way that was not asked for"

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes from the line; afterwards there may be a flaw."""
        if self.flaw:
            return
        self._packed += len(chunk)
        if self._gzip is None:
            self._add(chunk)
            return
        while chunk and not self.flaw:
            if self._gzip.eof:  # the next member of the same body
                self._gzip = _unpacker()
                self._members += 1
            try:
                # One byte more than there is room for tells a full body from a larger one.
                self._add(self._gzip.decompress(chunk, MAX_BODY - len(self.body) + 1))
            except zlib.error:
                self.flaw = "its gzip packing is damaged"
            chunk = self._gzip.unused_data
            if self._members > _MOST_MEMBERS:
                self.flaw = "it is packed in too many parts"

    def finish(self) -> None:
        """Say that the answer has ended."""
        if not self.flaw and self._gzip is not None and self._packed and not self._gzip.eof:
            self.flaw = "its gzip packing is cut short"

    def _add(self, chunk: bytes) -> None:
        room = MAX_BODY - len(self.body)
        self.body += chunk[:room]
        if len(chunk) > room:
            self.flaw = "it is larger than 8 MiB"


def _unpacker() -> zlib._Decompress:
    return zlib.decompressobj(zlib.MAX_WBITS | 16)
