"""``lockterm demo``: the embedded service and the UI on it, in one process."""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import TYPE_CHECKING

import click

from lockterm.cli.logfile import log_to
from lockterm.cli.manual_parts import DEMO_CODES, list_examples
from lockterm.cli.options import takes
from lockterm.cli.running import exit_code, show
from lockterm.config import Options, load_settings
from lockterm.config.keys import keys_in
from lockterm.domain.locks import Lock
from lockterm.errors import ConfigError
from lockterm.paths import Paths
from lockterm.service.sample_data import LOCKS
from lockterm.store.database import Database
from lockterm.store.lock_book import LockBook
from lockterm.terminal import startup
from lockterm.terminal.signals import SignalGuard, require_terminal

if TYPE_CHECKING:
    from lockterm.service.running import RunningService

NAME = "demo"
"""The profile's name, for the title line."""

_PREFIX = "lockterm-demo-"
_TRIES = 3
"""A new directory may be taken for an abandoned one, once; where nothing can be locked, none is."""

_log = logging.getLogger("lockterm")


@click.command(epilog=list_examples(DEMO_CODES, "lockterm demo", "lockterm demo --lock 1001"))
@takes("lock", "read_only", "no_mouse", "quiet", "log_level")
def demo(options: Options) -> int:
    """Try the UI on a made-up site."""
    return run_demo(options)


def run_demo(options: Options) -> int:
    """Show the UI on a made-up site; nothing is left of it afterwards.

    Returns:
        The exit code.

    Raises:
        ConfigError: A setting is wrong, or one that means another service.
        NoTerminal: Here is nothing to draw on.
    """
    startup.begin()
    if options.profile is not None or options.base_url is not None:
        raise ConfigError(
            "The demo brings its own service.", hint="Leave out --profile and --base-url."
        )
    # Who practises here does so with the keys that hold in earnest, or is told that they cannot be.
    keymap = keys_in(Paths.standard().config_file)
    require_terminal(os.environ)
    log_file = Paths.standard().log_file  # what went wrong is worth keeping, even of the demo
    token = os.urandom(16).hex()  # so that no other program of this machine changes the demo
    log_to(log_file, options.log_level, secrets=[token])
    with (
        SignalGuard(log_file) as guard,
        _home() as root,
        _LateService(token) as service,
    ):
        guard.at_last_resort(lambda: shutil.rmtree(root, ignore_errors=True))
        paths = Paths.below(root)
        chosen = ("LOCKTERM_PROFILE", "LOCKTERM_BASE_URL")
        environment = {name: value for name, value in os.environ.items() if name not in chosen}
        settings = load_settings(
            paths.config_file, replace(options, base_url=service.base_url), environment
        )
        assert settings.profile is not None
        headers = {"Authorization": f"Bearer {token}"}
        profile = replace(settings.profile, name=NAME, headers=headers)
        settings = replace(settings, profile=profile, keymap=keymap)
        _fill_lock_book(paths)
        startup.after_first_frame(service.start)
        startup.after_first_frame(_remove_abandoned)
        return exit_code(show(settings, paths, guard), guard)


def _fill_lock_book(paths: Paths) -> None:
    database = Database(paths.database)
    book = LockBook(database, NAME)
    for lock_id, name, alias, vendor, model, _ in LOCKS:
        book.save(Lock(lock_id, name=name, alias=alias, vendor=vendor, model=model))
    database.close()


@contextmanager
def _home() -> Iterator[Path]:
    """A directory of this demo's own, gone with it.

    It is locked while it is in use: by that the next demo knows one that was left by a demo that
    was killed.
    """
    for _ in range(_TRIES):
        path = Path(mkdtemp(prefix=_PREFIX))
        if (lock := _locked(path)) is not None:
            break
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _locked(path: Path) -> int | None:
    """The locked directory; None where another process holds it, or it is not there any more."""
    try:
        directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if os.fstat(directory).st_uid == os.getuid():
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(directory).st_nlink:
                return directory
    except OSError:
        _log.debug("%s is in use", path)
    os.close(directory)
    return None


def _remove_abandoned() -> None:
    """Take away what demos left that were killed."""
    for path in Path(gettempdir()).glob(f"{_PREFIX}*"):
        if (lock := _locked(path)) is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


class _LateService:
    """The embedded service behind a socket that listens from the beginning.

    Whoever calls before the service has been imported waits in the socket's queue; so the first
    frame need not wait for the service.

    Args:
        token: What requests have to carry.
    """

    def __init__(self, token: str) -> None:
        self._token = token
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.base_url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._service: RunningService | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to answer, soon."""
        self._thread = threading.Thread(target=self._start, name="lockterm-demo", daemon=True)
        self._thread.start()

    def _start(self) -> None:
        try:
            from lockterm.service.running import RunningService
            from lockterm.service.tokens import Tokens

            tokens = Tokens.only(self._token)
            self._service = RunningService(listening=self._socket, tokens=tokens).start()
        except Exception:
            _log.exception("the demo's service did not start")
            self._socket.close()  # a refused connection says more than one that hangs

    def __enter__(self) -> _LateService:
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is not None:
            self._thread.join()
        if self._service is not None:
            self._service.stop()
        self._socket.close()
