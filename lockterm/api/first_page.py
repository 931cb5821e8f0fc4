"""The first page of a lock's list, asked for in a thread while the rest of lockterm is imported.

It is the request that the client would send first, by the same rules: no proxy and no redirect,
TLS as configured, the profile's headers, the same limits of time and size, and h11 to read the
answer, as httpcore does. An answer is what the client's first attempt came to; where the line
broke, or an authority is wanted that takes long to load, nothing is lost but time: it is a read,
and the client asks as ever.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lockterm.address import PORTS, plain_address
from lockterm.api.answer import Answer, quoting
from lockterm.api.body_reader import BodyReader
from lockterm.api.headers import clock_offset_s, header_fields
from lockterm.api.payloads import page_of
from lockterm.api.pending_connection import PendingConnection
from lockterm.api.settings import checked_base_url, connect_limit_s, sent_headers
from lockterm.config.profile import USUAL_LINES
from lockterm.errors import ConfigError, LocktermError

if TYPE_CHECKING:
    import h11

    from lockterm.config import Profile
    from lockterm.domain.remotes import RemotePage

LIST_PATH = "/api/v1/bluetooth-remote/list"

_MOST_OF_A_HEAD = 100 * 1024
"""Bytes of a head, or of what frames a chunk; httpcore's number."""

_MOST_PIECES = 64
"""Pieces that an answer of 64 KiB may come in; more are left to the client, which rests between."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the request."""

    answer: Answer | None = None
    """A whole answer, whatever it says; None: there was none."""
    page: RemotePage | None = None
    """The page in it; None: it holds none."""
    at_s: float = 0.0
    """This machine's time at the middle of the exchange, in seconds since the epoch."""
    error: Exception | None = None
    """Why nothing was sent; None: it was, or may have been."""

    @property
    def clock_offset_s(self) -> float | None:
        """The service's clock minus this machine's in seconds; None where it has not told."""
        return clock_offset_s(self.answer.headers, self.at_s) if self.answer else None


def page_query(lock_id: int, page_no: int, page_size: int) -> dict[str, int]:
    """What a page of a lock's remotes is asked for with (4.3), at :data:`LIST_PATH`."""
    return {"lockId": lock_id, "pageNo": page_no, "pageSize": page_size}


def address_of(profile: Profile) -> tuple[str, str, int, str] | None:
    """Scheme, host, port and prefix of a service; None where only the client knows its address."""
    try:
        return plain_address(checked_base_url(profile))
    except ConfigError:  # which the client tells
        return None


class FirstPage:
    """The request and what becomes of it; :meth:`ask` begins it.

    Args:
        profile: Whose service is asked; an address that is not written plainly is not.
        lock_id: Whose remotes are listed.
        lines: Those of the terminal: a page may have as many remotes as fit.
        connection: To the service of a start that was like this one; None: one is made.
    """

    def __init__(
        self,
        profile: Profile,
        lock_id: int,
        lines: int = USUAL_LINES,
        connection: PendingConnection | None = None,
    ) -> None:
        self.profile = profile
        self._plain = address_of(profile)
        self._connection = connection
        self.key = (lock_id, 1, profile.page_rows(lines))
        """The lock, the page's number and its size."""
        self.outcome: Future[Outcome] = Future()
        """Never an error."""

    def ask(self) -> None:
        """Begin, and go on with something else."""
        self.outcome.set_running_or_notify_cancel()  # who waits for it can no longer cancel it
        if self._plain is not None:
            scheme, host, port, _ = self._plain
            self._connect(host, port)
            # The thread needs them; imported beside all that follows here, they take twice as long.
            if scheme == "https":
                import lockterm.api.trust  # noqa: F401
            import h11  # noqa: F401
        threading.Thread(target=self._run, name="first page", daemon=True).start()

    def _run(self) -> None:
        outcome = Outcome()
        try:
            outcome = self._exchanged()
        # Whatever it is, the client comes upon it as well, and knows how to say it.
        except Exception as error:
            _log.debug("the first page was not asked for early: %s", type(error).__name__)
        finally:
            if self._connection is not None:
                self._connection.close()
            self.outcome.set_result(outcome)

    def _exchanged(self) -> Outcome:
        end_s = time.monotonic() + self.profile.timeout_s
        if self._plain is None:
            return Outcome()
        scheme, host, port, prefix = self._plain
        try:
            line = self._connected(scheme, host, port)
        except OSError as error:
            if isinstance(error, ValueError):
                raise  # a certificate: authorities that the client alone has loaded may trust it
            return Outcome(error=error)
        at = host if port == PORTS[scheme] else f"{host}:{port}"
        with line:
            return self._asked(line, at, prefix + LIST_PATH, end_s)

    def _connect(self, host: str, port: int) -> PendingConnection:
        """The connection, begun now unless it was before."""
        if self._connection is None or self._connection.address != (host, port):
            if self._connection is not None:
                self._connection.close()
            limit_s = connect_limit_s(self.profile.timeout_s)
            self._connection = PendingConnection(host, port, limit_s)
        return self._connection

    def _connected(self, scheme: str, host: str, port: int) -> socket.socket:
        profile = self.profile
        limit_s = connect_limit_s(profile.timeout_s)
        connection, context = self._connect(host, port), None
        if scheme == "https":  # which takes a while, as does the connection
            from lockterm.api.trust import quick_tls_context

            context = quick_tls_context(profile.base_url, profile.ca_file, ca_only=profile.ca_only)
            context.set_alpn_protocols(["http/1.1"])
        line = socket.socket(fileno=connection.take(limit_s))
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line.settimeout(limit_s)
        return context.wrap_socket(line, server_hostname=host) if context is not None else line

    def _asked(self, line: socket.socket, at: str, path: str, end_s: float) -> Outcome:
        import h11

        lock_id, page_no, page_size = self.key
        query = page_query(lock_id, page_no, page_size)
        target = f"{path}?{'&'.join(f'{name}={number}' for name, number in query.items())}"
        headers = [("Host", at), *sent_headers(self.profile).items()]
        http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_OF_A_HEAD)
        request = http.send(h11.Request(method="GET", target=target, headers=headers)) or b""
        began, began_s = time.time(), time.monotonic()
        line.settimeout(max(end_s - began_s, 0.001))
        line.sendall(request + (http.send(h11.EndOfMessage()) or b""))
        answer, at_s = None, 0.0
        for event in _events(http, line, end_s):
            if isinstance(event, h11.Response):
                at_s = (began + time.time()) / 2
                told = header_fields(event.headers)
                reader = BodyReader(told.get("content-encoding", ""))
                status = event.status_code
            elif isinstance(event, h11.Data):
                reader.feed(bytes(event.data))
                if reader.flaw:
                    break
        reader.finish()
        took_ms = (time.monotonic() - began_s) * 1000
        _log.debug("%s %s: %s after %.0f ms", "GET", LIST_PATH, status, took_ms)
        quote = quoting(self.profile.headers.values())
        answer = Answer(status, told, bytes(reader.body), reader.flaw, quote)
        try:
            return Outcome(answer, page_of(answer, page_no, page_size, lock_id), at_s)
        except LocktermError:
            return Outcome(answer, None, at_s)


def _events(http: h11.Connection, line: socket.socket, end_s: float) -> Iterator[h11.Event]:
    """The parts of an answer, to its end.

    Raises:
        OSError: The line broke, time ran out, or it is an answer better left to the client.
        h11.RemoteProtocolError: It is not HTTP.
    """
    import h11

    pieces = size = 0
    while True:
        event = http.next_event()
        if event is h11.NEED_DATA:
            left_s = end_s - time.monotonic()
            if left_s <= 0 or pieces > _MOST_PIECES + size // 1024:
                raise TimeoutError
            line.settimeout(left_s)
            piece = line.recv(64 * 1024)
            pieces, size = pieces + 1, size + len(piece)
            http.receive_data(piece)
        elif isinstance(event, (h11.Response, h11.Data)):
            yield event
        elif isinstance(event, h11.EndOfMessage):
            return
        else:  # one that only informs, as may come for ever; or the end of the line
            raise OSError
