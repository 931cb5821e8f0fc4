"""The command ``lockterm demo``, which runs the embedded service and the UI in one process."""

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
from lockterm.cli.manual import list_examples, list_exit_codes
from lockterm.cli.options import take_options
from lockterm.cli.running import exit_code, run_profile
from lockterm.config import Options, load_settings
from lockterm.config.settings import keys_in
from lockterm.domain.locks import Lock
from lockterm.errors import ConfigError
from lockterm.paths import APP, Paths, make_directory, write_new
from lockterm.service.sample_data import LOCKS
from lockterm.store.database import Database
from lockterm.store.lock_book import LockBook
from lockterm.terminal import startup
from lockterm.terminal.signals import SignalGuard, require_terminal

if TYPE_CHECKING:
    from lockterm.service.running import RunningService

NAME = "demo"
"""The name of the demo's profile, which the header shows."""

_PREFIX = "lockterm-demo-"
_CHOSEN = ("LOCKTERM_PROFILE", "LOCKTERM_BASE_URL")
"""The environment variables that choose a service. The demo ignores all of them."""
_TRIES = 3
"""The maximum number of attempts to create a locked directory.

Another demo may remove a new directory before it is locked, because an unlocked directory looks
abandoned. After the last attempt, the demo uses its directory without a lock.
"""

_log = logging.getLogger("lockterm")


_DEMO_CODES = list_exit_codes(
    _1="lockterm failed; lockterm info shows where its log is",
    _2="an argument, a setting or the terminal is wrong",
)


@click.command(
    epilog=list_examples(
        _DEMO_CODES,
        "lockterm demo",
        "lockterm demo --lock 1001",
        'lockterm demo remotes list "Main gate"    # in another terminal',
    ),
    context_settings={"allow_interspersed_args": False},
)
@click.argument("command", metavar="[COMMAND]...", nargs=-1, type=click.UNPROCESSED)
@take_options("lock", "read_only", "no_mouse", "quiet", "log_level")
@click.pass_context
def demo(context: click.Context, options: Options, command: tuple[str, ...]) -> int:
    """Try the UI with sample data.

    With a COMMAND, run this lockterm command on the demo that is open in another terminal.
    """
    if not command:
        return run_demo(options)
    _use_running_demo()
    lockterm = context.find_root().command
    result = lockterm.main([*command], prog_name="lockterm", standalone_mode=False)
    return result if isinstance(result, int) else 0


def _use_running_demo() -> None:
    """Make this process use the files of the newest running demo.

    Raises:
        ConfigError: If this user has no running demo.
    """
    paths = (path for path in Path(gettempdir()).glob(f"{_PREFIX}*") if _is_running(path))
    root = max(paths, key=lambda path: path.stat().st_mtime, default=None)
    if root is None:
        raise ConfigError(
            "No demo is running.", hint='Start "lockterm demo" in another terminal first.'
        )
    for variable in _CHOSEN:
        os.environ.pop(variable, None)
    data_home = _kept_data()  # found before the variables change
    for kind in ("config", "state", "cache"):
        os.environ[f"XDG_{kind.upper()}_HOME"] = str(root / kind)
    os.environ["XDG_DATA_HOME"] = str(data_home)


def _kept_data() -> Path:
    """Return the directory for exports and downloads of demos.

    The files in it stay when a demo ends. The directory is separate from the exports of the user's
    own locks.
    """
    return Paths.standard().data_dir / NAME


def _is_running(path: Path) -> bool:
    """Return whether a directory is that of a running demo of this user, which keeps it locked."""
    if path.is_symlink() or not (path / "config" / APP / "config.toml").is_file():
        return False
    if path.stat().st_uid != os.getuid():
        return False
    if (lock := _lock_directory(path)) is not None:
        os.close(lock)
    return lock is None


def run_demo(options: Options) -> int:
    """Run the UI with sample data, remove the data, and return the exit code.

    Raises:
        ConfigError: If a setting is wrong, or names another service.
        NoTerminalError: If there is no usable terminal.
    """
    startup.begin()
    if options.profile is not None or options.base_url is not None:
        raise ConfigError(
            "The demo starts its own service.", hint="Leave out --profile and --base-url."
        )
    # The demo uses the keys of the configuration, so that people practice with their own keys.
    keymap = keys_in(Paths.standard().config_file)
    require_terminal(os.environ)
    log_file = Paths.standard().log_file  # the log stays when the demo's files are removed
    token = os.urandom(16).hex()  # without a token, every program here could use the service
    log_to(log_file, options.log_level, secrets=[token])
    with (
        SignalGuard(log_file) as guard,
        _make_home() as root,
        _LateService(token) as service,
    ):
        guard.at_last_resort(lambda: shutil.rmtree(root, ignore_errors=True))
        paths = Paths(
            config_file=root / "config" / APP / "config.toml",
            data_dir=_kept_data() / APP,
            state_dir=root / "state" / APP,
            cache_dir=root / "cache" / APP,
        )
        environment = {name: value for name, value in os.environ.items() if name not in _CHOSEN}
        settings = load_settings(
            paths.config_file, replace(options, base_url=service.base_url), environment
        )
        assert settings.profile is not None
        headers = {"Authorization": f"Bearer {token}"}
        profile = replace(settings.profile, name=NAME, headers=headers)
        settings = replace(settings, profile=profile, keymap=keymap)
        _fill_lock_book(paths)
        _write_profile(paths.config_file, service.base_url, token)
        startup.after_first_frame(service.start)
        startup.after_first_frame(_remove_abandoned)
        return exit_code(run_profile(settings, paths, guard), guard)


def _write_profile(file: Path, base_url: str, token: str) -> None:
    """Write a configuration file with which ``lockterm demo COMMAND`` reaches the service."""
    make_directory(file.parent)
    text = (
        f'[profiles.{NAME}]\nbase_url = "{base_url}"\n'
        f'[profiles.{NAME}.headers]\nAuthorization = "Bearer {token}"\n'
    )
    write_new(file, text.encode())


def _fill_lock_book(paths: Paths) -> None:
    database = Database(paths.database)
    book = LockBook(database, NAME)
    for lock_id, name, alias, vendor, model, _ in LOCKS:
        book.save(Lock(lock_id, name=name, alias=alias, vendor=vendor, model=model))
    database.close()


@contextmanager
def _make_home() -> Iterator[Path]:
    """Create and lock a directory for the files of this demo, and remove it afterwards.

    A later demo removes directories that are not locked, because the demos that created them were
    killed.
    """
    for _ in range(_TRIES):
        path = Path(mkdtemp(prefix=_PREFIX))
        if (lock := _lock_directory(path)) is not None:
            break
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _lock_directory(path: Path) -> int | None:
    """Lock a directory and return its file descriptor.

    Returns:
        The descriptor. None if another process holds the lock, or if the directory is missing or
        belongs to another user.
    """
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
    """Remove the directories of demos that were killed."""
    for path in Path(gettempdir()).glob(f"{_PREFIX}*"):
        if (lock := _lock_directory(path)) is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


class _LateService:
    """An embedded service that starts later than its listening socket.

    Until the service starts, requests wait in the queue of the socket. lockterm can therefore draw
    its first frame without waiting for the service.

    Args:
        token: The bearer token that requests must carry.
    """

    def __init__(self, token: str) -> None:
        self._token = token
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.base_url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._service: RunningService | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the service in a thread; the service then answers the waiting requests."""
        self._thread = threading.Thread(target=self._start, name="lockterm-demo", daemon=True)
        self._thread.start()

    def _start(self) -> None:
        try:
            from lockterm.service import running, tokens

            accepted = tokens.Tokens.only(self._token)
            self._service = running.RunningService(listening=self._socket, tokens=accepted).start()
        except Exception:
            _log.exception("the demo's service did not start")
            self._socket.close()  # a refused connection is clearer than a request without an answer

    def __enter__(self) -> _LateService:
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is not None:
            self._thread.join()
        if self._service is not None:
            self._service.stop()
        self._socket.close()
