"""uvicorn's HTTP/1.1 protocol, answering even what is no HTTP with an envelope."""

from __future__ import annotations

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from .answers import refusal
from .codes import MALFORMED, Refusal


class EnvelopeProtocol(H11Protocol):
    """Replaces the plain text that uvicorn answers to a broken request."""

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
