"""The body of an answer as it arrives: unpacked, counted, and stopped at 8 MiB."""

from __future__ import annotations

import zlib

MAX_BODY = 8 * 1024 * 1024
"""Bytes of an unpacked body; a page of 200 remotes has some 100 KB."""


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
        encoding = encoding.strip().lower()
        self._gzip = zlib.decompressobj(zlib.MAX_WBITS | 16) if encoding == "gzip" else None
        if encoding not in ("", "identity", "gzip"):
            self.flaw = "it is packed in a way that was not asked for"

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes from the line; afterwards there may be a flaw."""
        if self.flaw:
            return
        self._packed += len(chunk)
        room = MAX_BODY - len(self.body)
        if self._gzip is not None:
            try:
                # One byte more than there is room for tells a full body from a larger one.
                chunk = self._gzip.decompress(chunk, room + 1)
            except zlib.error:
                self.flaw = "its gzip packing is damaged"
                return
            if self._gzip.unused_data:
                self.flaw = "something follows its gzip packing"
        self.body += chunk[:room]
        if len(chunk) > room:
            self.flaw = "it is larger than 8 MiB"

    def finish(self) -> None:
        """Say that the answer has ended."""
        if not self.flaw and self._gzip is not None and self._packed and not self._gzip.eof:
            self.flaw = "its gzip packing is cut short"
