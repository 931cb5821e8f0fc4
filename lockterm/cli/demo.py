"""``lockterm demo``: the embedded service and the UI on it, in one process."""

from __future__ import annotations

import logging
import os
import shutil
import socket
import threading
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from lockterm import startup
from lockterm.cli.ui import exit_code, show
from lockterm.config import Options, load_settings
from lockterm.config.keys import keys_in
from lockterm.errors import ConfigError
from lockterm.logfile import log_to
from lockterm.paths import Paths
from lockterm.terminal import SignalGuard, require_terminal

if TYPE_CHECKING:
    from lockterm.service.running import RunningService

NAME = "demo"
"""The profile's name, for the title line."""

_log = logging.getLogger("lockterm")


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
    log_to(log_file, options.log_level)
    with (
        SignalGuard(log_file) as guard,
        TemporaryDirectory(prefix="lockterm-demo-", ignore_cleanup_errors=True) as root,
        _LateService() as service,
    ):
        guard.at_last_resort(lambda: shutil.rmtree(root, ignore_errors=True))
        paths = Paths.below(Path(root))
        settings = load_settings(
            paths.config_file, replace(options, base_url=service.base_url), _environment()
        )
        assert settings.profile is not None
        settings = replace(settings, profile=replace(settings.profile, name=NAME), keymap=keymap)
        _fill_lock_book(paths)
        startup.after_first_frame(service.start)
        return exit_code(show(settings, paths, guard), guard)


def _environment() -> dict[str, str]:
    """The environment without what chooses a service."""
    chosen = ("LOCKTERM_PROFILE", "LOCKTERM_BASE_URL")
    return {name: value for name, value in os.environ.items() if name not in chosen}


def _fill_lock_book(paths: Paths) -> None:
    from lockterm.models.locks import Lock
    from lockterm.service.sample_data import LOCKS
    from lockterm.store.database import Database
    from lockterm.store.lock_book import LockBook

    database = Database(paths.database)
    book = LockBook(database, NAME)
    for lock_id, name, alias, vendor, model, _ in LOCKS:
        book.save(Lock(lock_id, name=name, alias=alias, vendor=vendor, model=model))
    database.close()


class _LateService:
    """The embedded service behind a socket that listens from the beginning.

    Whoever calls before the service has been imported waits in the socket's queue; so the first
    frame need not wait for the service.
    """

    def __init__(self) -> None:
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

            self._service = RunningService(listening=self._socket).start()
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
