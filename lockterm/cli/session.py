"""The session that connects a command to service and store, and finds the typed lock or remote."""

from __future__ import annotations

import asyncio
import difflib
import os
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from lockterm.cli import output
from lockterm.cli.exit_codes import NO_SERVICE, CommandInterruptedError, UsageError, notify
from lockterm.cli.logfile import log_to
from lockterm.cli.options import WriteOptions
from lockterm.cli.running import close_loop
from lockterm.config import Options, load_settings, values
from lockterm.domain.glyphs import quoted
from lockterm.domain.locks import Lock
from lockterm.domain.names import normalize_name
from lockterm.domain.operation import IN_FLIGHT, UNCONFIRMED
from lockterm.domain.remotes import Remote
from lockterm.domain.safe_text import clean
from lockterm.domain.text.operation import STATE_NAMES
from lockterm.domain.text.service import describe_clock, describe_read_only
from lockterm.errors import ConfigError, LocktermError, RuleViolationError, StoreError
from lockterm.keymap import hints
from lockterm.operations import Operations
from lockterm.paths import Paths
from lockterm.store.cache import cache_of
from lockterm.terminal.signals import ENDING_SIGNALS

if TYPE_CHECKING:
    from lockterm.api.writes import Write
    from lockterm.operations.sending import Order

T = TypeVar("T")


class RequestNotSentError(Exception):
    """An error that contains a request, because a dry run did not send it.

    Args:
        write: The request that was not sent.
    """

    def __init__(self, write: Write) -> None:
        super().__init__(write.call)
        self.write = write


class DryRunSender:
    """The sender in a dry run, which sends no changes and writes nothing into the journal."""

    under_way = 0

    async def send(self, order: Order) -> NoReturn:
        """Raise an error that contains the request, instead of sending it.

        Raises:
            RequestNotSentError: Always; a dry run sends nothing.
        """
        raise RequestNotSentError(order.write)


class Session:
    """A context manager that opens :class:`lockterm.operations.Operations` for a command.

    Commands are plain functions. They call the service through ``run``, and may ask the user
    between two calls. A signal cancels the current call, and the message of
    :class:`CommandInterruptedError` then reports the state of the last change of the command.

    Args:
        options: The options of the command.
        writes: Whether the command sends changes. If so, it continues even if no program reads its
            output.
        dry_run: Whether to send no changes; see :class:`DryRunSender`.

    Raises:
        ConfigError: If a setting is wrong, or no service is known.
        RuleViolationError: If the command sends changes, but the profile is read-only, and this is
            not a dry run.
    """

    def __init__(self, options: Options, *, writes: bool = False, dry_run: bool = False) -> None:
        paths = Paths.standard()
        settings = load_settings(paths.config_file, options, os.environ)
        hints.use(settings.keymap)
        profile = settings.profile
        if profile is None:
            raise ConfigError(
                NO_SERVICE,
                hint=f"Add --base-url URL, or write a profile into {paths.config_file}.",
            )
        for warning in profile.warnings:
            notify(f"note: {warning}")
        log_to(paths.log_file, options.log_level, secrets=profile.headers.values())
        if writes:
            output.ignore_missing_reader()
            if profile.read_only and not dry_run:
                raise RuleViolationError(
                    {"read_only": describe_read_only(profile.name, "Nothing was sent")}
                )
        self.profile = profile
        self.dry_run = dry_run
        self.operations = Operations(
            profile,
            paths.database,
            packs_dir=paths.data_dir / "packs",
            open_cache=partial(cache_of, paths.cache_dir, profile),
            sender=DryRunSender() if dry_run else None,
            reads_back=False,
        )
        self.operations.connection.on_clock = self._report_clock
        # At its end, asyncio.run would wait for look-ups of host names, which can take very long.
        self._loop = asyncio.new_event_loop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            self._loop.run_until_complete(self.operations.close())
            if isinstance(error, CommandInterruptedError):
                error.sentence = self._loop.run_until_complete(self._describe_interruption())
        finally:
            close_loop(self._loop)

    def _report_clock(self) -> None:
        """Report on stderr if the clocks of this machine and the service differ."""
        connection = self.operations.connection
        if connection.doubts_clock:
            notify(f"note: {describe_clock(connection.clock_offset_s or 0)}")

    def run(self, work: Coroutine[Any, Any, T], *, stop: Callable[[int], None] | None = None) -> T:
        """Run a coroutine and return its result.

        Args:
            work: The coroutine to run.
            stop: A function that is called at the first signal, with the number of the signal. It
                asks the work to end early. Without this function, the first signal cancels the
                work. A second signal always cancels the work.

        Raises:
            LocktermError: If the work failed.
            CommandInterruptedError: If a signal canceled the work.
        """
        received: list[int] = []
        task = self._loop.create_task(work)

        def interrupt(number: int) -> None:
            received.append(number)
            if stop is not None and len(received) == 1:
                stop(number)
            else:
                task.cancel()

        # Ignored signals, as under nohup, stay ignored.
        numbers = [n for n in ENDING_SIGNALS if signal.getsignal(n) is not signal.SIG_IGN]
        for number in numbers:
            self._loop.add_signal_handler(number, interrupt, number)
        try:
            return self._loop.run_until_complete(task)
        except asyncio.CancelledError:
            raise CommandInterruptedError(received[0] if received else signal.SIGINT) from None
        finally:
            for number in numbers:
                self._loop.remove_signal_handler(number)

    async def _describe_interruption(self) -> str:
        """Return a sentence about the last change that the command sent, or that it sent none."""
        try:
            history = await self.operations.journal.history()
        except LocktermError:
            return "Interrupted. The journal cannot be read."
        finally:
            await self.operations.close()  # reading the journal has opened the store again
        mine = [one for one in history if one.session == self.operations.journal.session.id]
        if not mine:
            return "Interrupted. Nothing was changed."
        if mine[-1].state in UNCONFIRMED | IN_FLIGHT:
            return (
                "Interrupted while the change was being sent, so the change is"
                " unconfirmed. To verify it, run: lockterm unconfirmed check. Or press"
                f" {hints.key('app.history')} in the UI."
            )
        return f"Interrupted. The change was {STATE_NAMES[mine[-1].state]}."


@contextmanager
def open_lock(
    options: Options, typed: str, how: WriteOptions | None = None
) -> Iterator[tuple[Session, Lock]]:
    """Open a session, and find the lock that the user typed.

    Args:
        options: The options of the command.
        typed: The ID or the name of the lock.
        how: The options of a command that sends changes; None if the command only reads.

    Raises:
        ConfigError: If a setting is wrong, or no service is known.
        RuleViolationError: If the session cannot send changes; see :class:`Session`.
        UsageError: If no lock or several locks match the text; nothing was sent.
        StoreError: If the text is a name, and the lock book cannot be read.
    """
    dry_run = how is not None and how.dry_run
    with Session(options, writes=how is not None, dry_run=dry_run) as session:
        yield session, find_lock(session, typed)


def find_lock(session: Session, typed: str) -> Lock:
    """Return the lock whose ID or name the user typed.

    If the text is an ID, the lock need not be in the lock book.

    Raises:
        UsageError: If no lock or several locks match the text; nothing was sent.
        StoreError: If the text is a name, and the lock book cannot be read.
    """
    typed = typed.strip()
    if not typed.isascii() or not typed.isdigit():
        return _find_by_name(session.run(session.operations.locks.all()), typed)
    try:
        lock_id = values.lock_id(typed)
    except ValueError as error:
        raise UsageError(f"LOCK {error}.") from None
    book: list[Lock] = []
    with suppress(StoreError):  # a lock can be found by its ID without the lock book
        book = session.run(session.operations.locks.all())
    others = [lock for lock in book if typed in (lock.name, lock.alias) and lock.lock_id != lock_id]
    if others:
        raise UsageError(
            f"{typed} is the ID of a lock, and also the name of lock {others[0].lock_id}.",
            hint=f"Rename lock {others[0].lock_id}, or use its ID.",
        )
    with suppress(StoreError):
        return session.run(session.operations.locks.find(lock_id))
    return Lock(lock_id)


def _find_by_name(book: list[Lock], typed: str) -> Lock:
    normalizers = (normalize_name, lambda name: normalize_name(name.casefold()))
    for normalize in normalizers:
        found = [
            lock
            for lock in book
            if normalize(typed) in map(normalize, filter(None, (lock.name, lock.alias)))
        ]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(str(lock.lock_id) for lock in found)
            raise UsageError(
                f"Several locks in the lock book are named {_quoted(typed)}: {ids}.",
                hint="Use the ID.",
            )
    if not book:
        raise UsageError(
            f"No lock named {_quoted(typed)}, because the lock book of this profile is empty.",
            hint="Use the ID of the lock, such as 1001, or add the lock with lockterm locks add.",
        )
    names = [lock.name for lock in book if lock.name]
    close = difflib.get_close_matches(typed, names, n=1)
    hint = (
        f"Did you mean {_quoted(close[0])}?"
        if close
        else "Run lockterm locks list to see names and IDs."
    )
    raise UsageError(f"No lock named {_quoted(typed)} in the lock book.", hint=hint)


def read_remote(session: Session, lock: Lock, remote_id: int) -> Remote:
    """Read a remote from the service, and check that it belongs to the lock.

    Raises:
        UsageError: If the remote belongs to another lock.
    """
    remote = session.run(session.operations.remotes.detail(remote_id))
    if remote.lock_id not in (None, lock.lock_id):
        raise UsageError(
            f"Remote {remote_id} belongs to lock {remote.lock_id}, not to"
            f" {format_lock(lock)}. Nothing was changed.",
            hint="Check the IDs of the lock and the remote.",
        )
    return remote


def lock_json(lock: Lock) -> dict[str, Any]:
    """Return a lock as values for JSON: its ID, and its name or None."""
    return {"lockId": lock.lock_id, "name": lock.name or None}


def format_lock(lock: Lock) -> str:
    """Return a lock as ``Main gate (lock 1001)``, without control characters."""
    return f"{clean(lock.name, 60)} (lock {lock.lock_id})" if lock.name else lock.title


def _quoted(text: str) -> str:
    return quoted(clean(text, 60))
