"""Runs the service in a thread of another program, or alone in one or more processes."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NoReturn, Self

import h11
from starlette.applications import Starlette
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from .answers import Code, RequestRefusedError, refusal
from .app import create_service
from .guards import LOOPBACK_HOSTS
from .tokens import Tokens, reason
from .watch import Log

if TYPE_CHECKING:
    from .figures import Figures

HEAD_TIMEOUT_S = 20.0
"""Maximum time in seconds until the headers of a request are complete; uvicorn has no limit."""
DRAIN_S = 10.0
"""Maximum seconds to wait for running requests after the service was asked to stop."""
_PROMPT_DRAIN_S = 0.8
"""The value of :data:`DRAIN_S` for a service inside another program, such as the demo."""
_TURNS = 5
"""Number of turns of the event loop until the request of an accepted connection is read."""
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# Without any handler, Python would print uvicorn's errors on the terminal of the program around.
logging.getLogger("uvicorn").addHandler(logging.NullHandler())


class RunningService:
    """The embedded service in a thread, with its own socket.

    Use it as a context manager, or call ``start`` and ``stop``. The socket listens as soon as the
    object exists, so the port is known even if it was 0.

    Args:
        host: Name or address to listen on.
        port: TCP port; 0 selects a free port.
        listening: A socket that already listens on ``host``. The service closes the socket when it
            stops.
        drain_s: Maximum seconds to wait for running requests after the service was asked to stop.
        options: The options of ``create_service``. By default, ``allowed_hosts`` has ``host`` and
            this machine's names.

    Raises:
        OSError: If the address or the database cannot be used.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        listening: socket.socket | None = None,
        drain_s: float = _PROMPT_DRAIN_S,
        **options: Any,
    ) -> None:
        self._socket = listening or listen(host, port)
        self._tokens: Tokens | None = options.get("tokens")
        self._log: Log = options.setdefault("log", Log())
        self._figures: Figures | None = options.get("figures")
        self.base_url = url_of(host, self._socket)
        """The address of the service, without a slash at the end."""
        try:
            options.setdefault("allowed_hosts", (*LOOPBACK_HOSTS, host, socket.gethostname()))
            self.app: Starlette = create_service(**options)
        except BaseException:
            self._socket.close()
            raise
        self.requests: deque[tuple[str, str]] = self.app.state.requests
        """The methods and paths of the last requests, the oldest first."""
        self.failures: deque[Exception] = self.app.state.failures
        """The exceptions behind answers with status 5xx, the oldest first."""
        config = Config(
            self.app,
            http=EnvelopeProtocol,
            ws="none",
            loop="asyncio",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
        )
        self._server = _Server(config, drain_s)
        self._asked = SimpleQueue[int]()
        self._thread = threading.Thread(target=self._serve, name="lockterm-service", daemon=True)

    def start(self) -> Self:
        """Start the service, and return when it answers requests or has failed to start."""
        self._thread.start()
        self._server.ready.wait()
        return self

    def ask_to_stop(self) -> None:
        """Ask the service to stop, from any thread, without waiting; ``stop`` also waits."""
        self._server.ask_to_exit()

    def stop(self) -> None:
        """Stop the service, and wait until it has stopped, at most about ``drain_s`` seconds.

        A second call does nothing.
        """
        self.ask_to_stop()
        if self._thread.ident is not None:
            self._thread.join()
        self._socket.close()
        self.app.state.site.database.close()

    def wait(self, asked: SimpleQueue[int]) -> None:
        """Wait until a signal arrives or the service ends.

        If there are tokens, ``SIGHUP`` only causes the service to read them again, and does not end
        the wait.

        Args:
            asked: The queue from ``asked_to_end``, which receives the numbers of signals.
        """
        self._asked = asked
        while self._thread.is_alive():
            if asked.get() != signal.SIGHUP or self._tokens is None:
                break
            read_again(self._tokens, self._log, self._figures)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _serve(self) -> None:
        try:
            asyncio.run(self._server.serve(sockets=[self._socket]))
        finally:
            self._server.ready.set()
            self._asked.put(0)


def serve(host: str = "127.0.0.1", port: int = 8080, **options: Any) -> None:
    """Run the service in the foreground until SIGINT, SIGTERM or, without tokens, SIGHUP.

    The first line on stdout is ``listening on http://HOST:PORT``. Call this in the main thread.

    Args:
        host: Name or address to listen on.
        port: TCP port; 0 selects a free port.
        options: The options of ``create_service``.

    Raises:
        OSError: If the address or the database cannot be used.
    """
    with asked_to_end() as asked, RunningService(host, port, drain_s=DRAIN_S, **options) as service:
        announce(service.base_url, options)
        service.wait(asked)


def announce(url: str, options: Mapping[str, Any]) -> None:
    """Print the address of the service, and log a warning if it has a database but no tokens.

    If stdout cannot be written, print the address and the reason on stderr.

    Args:
        url: The address.
        options: The options of ``create_service``.
    """
    line = f"listening on {url}"
    try:
        print(line, flush=True)
    except OSError as error:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else Python's last flush fails
            print(f"{line} (stdout cannot be written: {error.strerror})", file=sys.stderr)
    log: Log | None = options.get("log")
    if log and options.get("database") is not None and options.get("tokens") is None:
        log.tell("note", "note: without a token every user of this machine can change it.")


@contextmanager
def asked_to_end() -> Iterator[SimpleQueue[int]]:
    """Return a context manager with a queue of received signals: SIGINT, SIGTERM and SIGHUP.

    Inside the block, such a signal only adds its number to the queue.
    """
    asked = SimpleQueue[int]()  # an Event has a lock, on which a second signal would wait

    def ask(number: int, _: object) -> None:
        asked.put(number)

    before = {number: signal.signal(number, ask) for number in ENDINGS}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def read_again(tokens: Tokens, log: Log, figures: Figures | None) -> None:
    """Read the tokens again and log the result. If the reading fails, count the failure."""
    try:
        tokens.read_again()
        log.tell("tokens", "the tokens were read again")
    except (OSError, ValueError) as error:
        if figures is not None:
            figures.count_failed_reload()
        valid = len(tokens)
        consequence = (
            f"Valid tokens left: {valid}; new ones wait." if valid else "No token is valid."
        )
        log.tell(
            "tokens_failed",
            f"the tokens could not be read again: {reason(error)} {consequence}",
            valid=valid,
        )


class _Server(Server):
    """uvicorn's server without polling: the server sleeps until it is asked to exit."""

    def __init__(self, config: Config, drain_s: float) -> None:
        super().__init__(config)
        self._drain_s = drain_s
        self.ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._exit_asked = asyncio.Event()

    def ask_to_exit(self) -> None:
        """Ask the server to stop, from any thread."""
        self.should_exit = True
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has already ended
                self._loop.call_soon_threadsafe(self._exit_asked.set)

    async def main_loop(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.ready.set()
        if not self.should_exit:
            await self._exit_asked.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # uvicorn forgets connections that it accepts after its end. Therefore first stop to accept
        # them, then read the requests of those that were accepted.
        loop = asyncio.get_running_loop()
        for server in self.servers:
            for listening in server.sockets:
                loop.remove_reader(listening.fileno())
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        for server in self.servers:
            server.close()
        connections = self.server_state.connections
        for connection in list(connections):
            connection.shutdown()
        end_s = loop.time() + self._drain_s
        while (connections or self.server_state.tasks) and loop.time() < end_s:
            await asyncio.sleep(0.005)
        for task in list(self.server_state.tasks):
            task.cancel()
        for connection in list(connections):
            transport = getattr(connection, "transport", None)
            if transport is not None:
                transport.abort()
        await asyncio.sleep(0)
        await self.lifespan.shutdown()


class EnvelopeProtocol(H11Protocol):
    """uvicorn's HTTP protocol, with the contract's envelope in answers to invalid requests.

    The protocol also limits the time until the headers of a request are complete.
    """

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def _watch_head(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_watching()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_TIMEOUT_S, self.transport.abort)

    def _stop_watching(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def send_400_response(self, msg: str) -> None:
        """Send a 400 answer with ``errcode`` and ``errmsg``, and close the connection."""
        answer = refusal(
            "", RequestRefusedError(Code.MALFORMED, "This is not a valid HTTP request.")
        )
        headers = [*answer.raw_headers, (b"connection", b"close")]
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            for event in (
                h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
                h11.Data(data=bytes(answer.body)),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def url_of(host: str, listening: socket.socket) -> str:
    """Return the URL of a service that listens on a socket, without a slash at the end."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a host's TCP port; port 0 selects a free port.

    Raises:
        OSError: If the address cannot be used.
    """
    if not 0 <= port <= 65535:
        raise OSError(f"{port} is not a TCP port")
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    # asyncio sends without delay only if the socket has a protocol number.
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError:
        listening.close()
        raise
    return listening


# --- several processes ----------------------------------------------------------------------------
#
# The workers have no state. If a worker dies, another one replaces it, and the changes that it has
# answered are in the database. All workers end with their parent process, even if it is killed.

_PAUSE_S = 0.5
"""Pause in seconds before a new worker replaces a worker that ended unexpectedly."""


def serve_with_workers(workers: int, host: str, port: int, **options: Any) -> None:
    """Run the service in the foreground with several processes, until a signal asks it to stop.

    The first line on stdout is the same as from ``serve``. Call this in a process with only
    one thread, because the workers are forked.

    Args:
        workers: Number of processes.
        host: Name or address to listen on.
        port: TCP port; 0 selects a free port.
        options: The options of ``create_service``, with a database that processes can share.

    Raises:
        OSError: If the address or the database cannot be used.
    """
    tokens: Tokens | None = options.get("tokens")
    log: Log = options.setdefault("log", Log())
    children = set[int]()
    is_ending = False

    def end(*_: object) -> None:
        nonlocal is_ending
        is_ending = True
        listening.close()  # so that new connections are refused at once
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)

    def read_tokens(number: int, _: object) -> None:
        # New workers start with the parent's tokens; running workers read the file themselves.
        if tokens is None:
            end()
        else:
            read_again(tokens, log, options.get("figures"))
            for child in children:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGHUP)

    with listen(host, port) as listening:
        # Create the tables once, and report a problem with the database before any worker starts.
        create_service(**options).state.site.database.close()
        options["migrate"] = False
        url = url_of(host, listening)
        parent_lives, until_then = os.pipe()

        def start() -> None:
            with _undisturbed():  # a signal to end must reach the new process, too
                if is_ending:
                    return
                if child := os.fork():
                    children.add(child)
                    return
                for number in ENDINGS:
                    signal.signal(number, signal.SIG_DFL)
                os.close(until_then)
                _work(parent_lives, host, listening, options)

        before = {number: signal.signal(number, end) for number in ENDINGS}
        signal.signal(signal.SIGHUP, read_tokens)
        try:
            for _ in range(workers):
                start()
            announce(url, options)
            while children:
                ended, status = os.wait()
                if ended not in children:
                    continue  # the first process of a container also gets orphans of others
                children.remove(ended)
                if not is_ending:
                    how = os.waitstatus_to_exitcode(status)
                    log.tell("worker", f"a worker ended with {how}, one is started")
                    time.sleep(_PAUSE_S)
                start()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(parent_lives)
            os.close(until_then)


def _work(parent_lives: int, host: str, listening: socket.socket, options: Any) -> NoReturn:
    """Serve requests in a worker process until a signal arrives or its parent ends, then exit.

    The caller must have blocked the signals, so that none is lost.

    Args:
        parent_lives: The reading end of a pipe that closes when the parent process ends.
        host: The host on which the socket listens.
        listening: The socket that all workers share.
        options: The options of ``create_service``.
    """

    def watch() -> None:
        os.read(parent_lives, 1)  # nothing is ever written, so it returns when the parent ends
        os.kill(os.getpid(), signal.SIGTERM)

    code, log = 1, options["log"]
    try:
        with asked_to_end() as asked:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
            threading.Thread(target=watch, daemon=True).start()
            with RunningService(host, listening=listening, drain_s=DRAIN_S, **options) as service:
                service.wait(asked)
        code = 0
    except OSError as error:
        log.tell("worker", f"the worker cannot start: {error.strerror}")
    except BaseException as error:
        log.failed(error)
        if not log.as_json:
            traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


@contextmanager
def _undisturbed() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
