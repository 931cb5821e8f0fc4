"""The commands on marked locks: set their voice, read their remotes, copy remotes to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from operator import attrgetter
from typing import TYPE_CHECKING

from textual.message import Message

from lockterm import screens
from lockterm.domain.text.amount import format_count
from lockterm.keymap.hints import with_keys
from lockterm.operations.all_locks import describe_reads
from lockterm.operations.planner import plan_voices
from lockterm.screens.list_screen import ListScreen
from lockterm.terminal.key_queue import opening

if TYPE_CHECKING:
    from lockterm.domain.locks import Lock, VoiceChoice
    from lockterm.domain.marks import Marks
    from lockterm.operations.all_locks import LockRead

READING = "read marked locks"
"""The name of the worker group that reads the marked locks."""

_NAMED = 5
"""The maximum number of locks that a notification names because they could not be read."""


class MarkedLocks:
    """The commands on marked locks. A command that changes locks shows a plan that names each lock.

    Args:
        screen: The screen of the lock book.
    """

    class CountsRead(Message):
        """Posted when the lock book has stored the numbers of remotes of marked locks."""

    def __init__(self, screen: ListScreen[None]) -> None:
        self._screen = screen
        self.reading = ""
        """A text about the progress of reading the marked locks; empty if no lock is being read."""

    @property
    def _marks(self) -> Marks[int, Lock]:
        return self._screen.marks

    @property
    def _current(self) -> Lock | None:
        lock: Lock | None = self._screen.row_to_mark
        return lock

    def disabled_reason(self, action: str) -> str:
        """Return why an action on marked locks is disabled; empty if it is enabled."""
        if action == "voice" and not any(map(_has_model, self._marks.rows)):
            return with_keys(
                "Vendor and model determine the voices, but no marked lock has both in the"
                " lock book. Press {locks.edit} to set them."
            )
        if action == "refresh" and self.reading:
            return with_keys("The marked locks are being read. Press {marks.none} to stop.")
        return ""

    def act(self) -> None:
        """Ask the user which action to apply to the marked locks."""
        labels = {"voice": "set the voice", "refresh": "read all remotes now"}
        does: dict[str, Callable[[], None]] = {"voice": self.set_voice, "refresh": self.read}
        if (source := self._current) is not None:
            labels["copies"] = f"copy the remotes of {source.title} to these locks"
            does["copies"] = self.copy_to

        def chosen(action: str | None) -> None:
            if action is None:
                return
            if reason := self.disabled_reason(action):
                self._screen.refuse_to_open("Marked locks", reason)
            else:
                does[action]()

        question = f"{format_count(len(self._marks), 'marked lock')}: choose an action"
        self._screen.app.push_screen(screens.ChoiceModal(question, [*labels.items()]), chosen)

    # --- the voice -----------------------------------------------------------------------------

    def set_voice(self) -> None:
        """Let the user choose a voice, and show a plan that sets it on all marked locks."""
        locks, current = self._marks.rows, self._current
        known = [lock for lock in locks if _has_model(lock)]
        entry = current if current is not None and current in known else known[0]

        def chosen(voice: VoiceChoice | None) -> None:
            if voice is not None:
                self._screen.run_worker(self._plan_voice(locks, voice), group="plan")

        self._screen.app.push_screen(
            screens.VoiceScreen(self._screen.operations, entry, locks), chosen
        )

    async def _plan_voice(self, locks: Sequence[Lock], voice: VoiceChoice) -> None:
        with opening(self._screen, "the plan", must_appear=True), self._screen.refusing_errors():
            # Read the locks again, because the voice screen may have saved missing models.
            find = self._screen.operations.locks.find
            now = [await find(lock.lock_id) for lock in locks]
            draft = await plan_voices(self._screen.operations, now, voice)
            self._screen.note_plan(draft.plan.id)
            self._screen.app.push_screen(screens.PlanScreen(draft))

    # --- reading -------------------------------------------------------------------------------

    def read(self) -> None:
        """Read all remotes of the marked locks in parallel, even while other screens are shown."""
        reading = self._read(self._marks.rows)
        self._screen.run_worker(reading, group=READING, exclusive=True)

    async def _read(self, locks: Sequence[Lock]) -> None:
        operations = self._screen.operations
        found: list[LockRead] = []
        has_ended = False
        try:
            self._tell(f"reading: 0 of {format_count(len(locks), 'lock')}")
            with self._screen.showing_errors():
                async with aclosing(operations.all_locks.read(locks=locks)) as reading:
                    async for one in reading:
                        found.append(one)
                        if one.listing is not None:  # a failing store is reported
                            counts = {one.lock.lock_id: one.listing.count}
                            await operations.locks.note_counts(counts)
                        self._tell(f"reading: {len(found):,} of {format_count(len(locks), 'lock')}")
                has_ended = True
        finally:
            self._tell("")
            if self._screen.is_attached:
                self._screen.post_message(self.CountsRead())
        if not has_ended:  # an error was reported, or the user stopped the read
            return
        found.sort(key=attrgetter("place"))
        count = sum(one.listing.count for one in found if one.listing is not None)
        self._screen.notify(
            f"{describe_reads(found, _NAMED)}. The locks that were read have"
            f" {format_count(count, 'remote')}.",
            title="Read",
            severity="warning" if any(one.problem for one in found) else "information",
        )

    def _tell(self, words: str) -> None:
        self.reading = words
        if self._screen.is_attached:
            self._screen.show_marks()

    # --- copying -------------------------------------------------------------------------------

    def copy_to(self) -> None:
        """Open the screen that copies the remotes of the selected lock to the marked locks."""
        current = self._current
        if current is not None:
            marked = [lock.lock_id for lock in self._marks.rows]
            copies = screens.CopyScreen(self._screen.operations, current, marked=marked)
            self._screen.app.push_screen(copies)


def _has_model(lock: Lock) -> bool:
    return bool(lock.vendor and lock.model)
