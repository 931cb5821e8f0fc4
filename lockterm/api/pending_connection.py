"""A TCP connection that is made in a thread, while a start goes on with something else.

A start waits for this module, so it imports little: no ``socket``, no ``threading``.
"""

from __future__ import annotations

import _socket
import _thread
import time

CONNECT_S = 5.0
"""The most seconds for a connection, and again for its TLS handshake."""

_NEXT_ADDRESS_S = 0.25
"""So long, in seconds, each address of a host is tried while there is another one (RFC 8305)."""


class PendingConnection:
    """A connection to the first address of a host that takes one; nothing is sent over it.

    Args:
        host: A name or an address, in ASCII.
        port: Its port.
        within_s: Seconds after which it is given up.
    """

    def __init__(self, host: str, port: int, within_s: float = CONNECT_S) -> None:
        self.address = (host, port)
        self._line: _socket.socket | None = None
        self._error: Exception | None = None
        self._is_wanted = True
        self._done = _thread.allocate_lock()
        """Held until there is a connection or an error, and from when someone has either."""
        self._done.acquire()
        _thread.start_new_thread(self._connect, (time.monotonic() + within_s,))

    def take(self, within_s: float) -> int:
        """Wait for the connection, which is the caller's from now on.

        Args:
            within_s: Seconds to wait at the most.

        Returns:
            Its file descriptor.

        Raises:
            OSError: There is none; it is what the first address came to.
            ValueError, OverflowError: No host or port has such a name.
        """
        if not self._done.acquire(timeout=max(within_s, 0)):
            self.close()
            raise TimeoutError
        if self._line is None:
            raise self._error or OSError("no address")
        return self._line.detach()

    def close(self) -> None:
        """Nobody wants it any more, if nobody has taken it yet."""
        self._is_wanted = False
        self._close_unwanted()

    def _close_unwanted(self) -> None:
        if not self._is_wanted and self._done.acquire(blocking=False) and self._line is not None:
            self._line.close()

    def _connect(self, end_s: float) -> None:
        try:
            self._line = self._first(end_s)
        except (OSError, ValueError, OverflowError) as error:
            self._error = error
        finally:
            self._done.release()
        self._close_unwanted()

    def _first(self, end_s: float) -> _socket.socket:
        failed: OSError | None = None
        host, port = self.address
        # As bytes: nothing is imported to encode it.
        addresses = _socket.getaddrinfo(host.encode(), port, 0, _socket.SOCK_STREAM)
        for number, (family, kind, protocol, _, address) in enumerate(addresses, 1):
            left_s = end_s - time.monotonic()
            if number < len(addresses):
                left_s = min(left_s, _NEXT_ADDRESS_S)
            line = _socket.socket(family, kind, protocol)
            line.settimeout(max(left_s, 0.001))
            try:
                line.connect(address)
            except OSError as error:
                line.close()
                failed = failed or error
            else:
                return line
        raise failed or OSError("no address")
