"""A command's way to service and store: opened for it, closed after it, whatever ends it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Self, TypeVar

from lockterm.cli.ending import Interrupted, tell
from lockterm.cli.rehearsal import OneCommand, Rehearsal
from lockterm.config import Options, load_settings
from lockterm.errors import ConfigError, LocktermError, RuleViolation
from lockterm.keymap import spoken
from lockterm.logfile import log_to
from lockterm.models.operation import IN_FLIGHT, STATE_WORDS, UNSETTLED
from lockterm.paths import Paths
from lockterm.store.cache import Cache
from lockterm.store.database import Database
from lockterm.terminal import ENDING_SIGNALS

if TYPE_CHECKING:
    from types import TracebackType

T = TypeVar("T")

NO_SERVICE = "lockterm knows no service yet."


class Door:
    """A context manager around :class:`lockterm.operations.Operations`.

    Commands are plain functions and ask through ``run``: between two calls they may ask a person.
    A signal ends the call under way, the journal is told, and :class:`Interrupted` says what is
    known of it.

    Args:
        options: What was typed.
        dry_run: Send nothing that changes; see :class:`Rehearsal`.

    Raises:
        ConfigError: A setting is wrong, or no service is known.
    """

    def __init__(self, options: Options, *, dry_run: bool = False) -> None:
        paths = Paths.standard()
        settings = load_settings(paths.config_file, options, os.environ)
        spoken.use(settings.keymap)
        profile = settings.profile
        if profile is None:
            raise ConfigError(
                NO_SERVICE,
                hint=f"Give --base-url URL, or write a profile into {paths.config_file}.",
            )
        for warning in profile.warnings:
            tell(f"note: {warning}")
        log_to(paths.log_file, options.log_level, secrets=profile.headers.values())
        kind = Rehearsal if dry_run else OneCommand
        self.profile = profile
        self.dry_run = dry_run
        self.operations = kind(
            profile,
            Database(paths.database),
            cache=Cache(paths.cache_dir / "answers.db", profile.base_url),
        )
        # Not asyncio.run: it would wait at its end for look-ups of names that hang.
        self._loop = asyncio.new_event_loop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._loop.run_until_complete(self.operations.close())
            if isinstance(error, Interrupted):
                error.sentence = self._loop.run_until_complete(self._what_is_known())
        finally:
            self._loop.close()

    def require_writable(self) -> None:
        """See that this profile may change anything; a dry run changes nothing.

        Raises:
            RuleViolation: It is read-only.
        """
        if self.profile.read_only and not self.dry_run:
            words = f"The profile {self.profile.name} is read-only: nothing was sent."
            raise RuleViolation({"read_only": words})

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry out a call.

        Raises:
            LocktermError: It failed.
            Interrupted: A signal came.
        """
        received: list[int] = []
        task = self._loop.create_task(work)

        def interrupt(number: int) -> None:
            received.append(number)
            task.cancel()

        # What is ignored, as by nohup, stays so.
        numbers = [n for n in ENDING_SIGNALS if signal.getsignal(n) is not signal.SIG_IGN]
        for number in numbers:
            self._loop.add_signal_handler(number, interrupt, number)
        try:
            return self._loop.run_until_complete(task)
        except asyncio.CancelledError:
            raise Interrupted(received[0] if received else signal.SIGINT) from None
        finally:
            for number in numbers:
                self._loop.remove_signal_handler(number)

    async def _what_is_known(self) -> str:
        """What became of the change that this command was sending, if any."""
        try:
            history = await self.operations.history()
        except LocktermError:
            return "Interrupted; the journal cannot be read."
        finally:
            await self.operations.close()  # reading has opened the store anew
        mine = [one for one in history if one.session == self.operations.session]
        if not mine:
            return "Interrupted; nothing was changed."
        if mine[-1].state in UNSETTLED | IN_FLIGHT:
            return (
                "Interrupted while it was being sent: whether it was recorded is not known."
                " lockterm reads it back when its UI is started, and"
                f" {spoken.key('app.history')} shows what it found."
            )
        return f"Interrupted; the change was {STATE_WORDS[mine[-1].state]}."
