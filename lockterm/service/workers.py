"""A service of several worker processes on one socket, for a database that they can share.

The workers have no state. If a worker dies, another one replaces it, and the changes that it has
answered are in the database. All workers end with their parent process, even if it is killed.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from .app import create_service
from .running import (
    DRAIN_S,
    ENDINGS,
    RunningService,
    announce,
    asked_to_end,
    listen,
    read_again,
    url_of,
)
from .tokens import Tokens
from .watch import Log

_PAUSE_S = 0.5
"""Pause in seconds before a new worker replaces a worker that ended unexpectedly."""


def serve_with_workers(workers: int, host: str, port: int, **options: Any) -> None:
    """Run the service in the foreground with several processes, until a signal asks it to stop.

    The first line on stdout is the same as from ``running.serve``. Call this in a process with only
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
