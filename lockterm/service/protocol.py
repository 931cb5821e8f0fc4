"""uvicorn's HTTP/1.1 protocol, answering even what is no HTTP with an envelope."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from .answers import refusal
from .codes import MALFORMED, Refusal

HEAD_TIMEOUT_S = 20.0
"""How long the head of a request may take; uvicorn itself would wait for ever."""


class EnvelopeProtocol(H11Protocol):
    """Replaces the plain text that uvicorn answers to a broken request, and ends slow ones."""

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a first request."""
        super().connection_made(transport)
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        """Take what came; a head that has begun has to end."""
        super().data_received(data)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_watching()
        super().connection_lost(exc)

    def _watch_head(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_watching()
        elif self._patience is None:
            self._patience = self.loop.call_later(HEAD_TIMEOUT_S, self.transport.abort)

    def _stop_watching(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def send_400_response(self, msg: str) -> None:
        """Answer in the spelling of the remote endpoints, and hang up."""
        answer = refusal("", Refusal(MALFORMED, "This is no valid HTTP request."))
        headers = [*answer.raw_headers, (b"connection", b"close")]
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            for event in (
                h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
                h11.Data(data=bytes(answer.body)),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
