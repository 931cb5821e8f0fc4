"""The commands on marked remotes, which several screens share.

Each change is shown as a plan first.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, cast

from lockterm import screens
from lockterm.domain.bulk import Target, Wanted, change_each, coerced, delete_each, extra_removed
from lockterm.domain.remotes import WORDS, Flag
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.operations.copying import CopySource
from lockterm.operations.export import export_files, remotes_as_csv, remotes_as_json
from lockterm.operations.planner import ReadLock, draft_plan
from lockterm.screens.base import HasOperations
from lockterm.screens.list_screen import ListScreen

if TYPE_CHECKING:
    from lockterm.domain.marks import Key, Marks, Row
    from lockterm.domain.plan import PlannedSteps, Step
    from lockterm.operations.planner import PlanDraft
    from lockterm.screens.remote_form.marked import Questions


class MarkedCommands:
    """The commands on marked remotes: renew, delete, change, copy and export.

    No command sends a change. A command that changes remotes shows a plan instead, which names
    every marked remote.

    Args:
        screen: The screen with the marked remotes.
    """

    def __init__(self, screen: ListScreen[None]) -> None:
        self._screen = screen
        self._typed: dict[str, dict[str, str]] = {}
        """Maps the verb of a form to the input that was last typed there, by field."""

    @property
    def _marks(self) -> Marks[Key, Row]:
        return self._screen.marks

    @property
    def _place(self) -> str:
        """The title of the lock, or the number of locks if there are several, as safe text."""
        lock_ids = {lock_id for lock_id, _ in self._marks.rows}
        if self._screen.lock_entry is not None or len(lock_ids) == 1:
            lock = self._screen.lock_entry or self._screen.locks[lock_ids.pop()]
            return clean(lock.title, 60)
        return f"{len(lock_ids):,} locks"

    def _zone_of(self, lock_id: int) -> tzinfo:
        return self._screen.operations.zone(self._screen.locks[lock_id])

    def _targets(self, rows: Sequence[Row]) -> list[Target]:
        return [Target(lock_id, remote, self._zone_of(lock_id)) for lock_id, remote in rows]

    def _left(self, what: str, rows: Sequence[Row]) -> list[Row]:
        """Return the rows that are still marked; if there are none, show a message.

        A run may have unmarked rows while the dialog was open.

        Args:
            what: The action, for the message if no row is marked anymore.
            rows: The rows that were marked when the dialog opened.
        """
        left = self._marks.still(rows)
        if not left:
            self._screen.refuse_to_open(
                what, "These rows are no longer marked, because a run has changed them."
            )
        return left

    # --- changes -------------------------------------------------------------------------------

    def delete(self, unread: Sequence[Step] = ()) -> None:
        """Show a plan that deletes all marked remotes.

        Args:
            unread: Steps for locks that could not be read and may have more remotes to delete.
        """
        targets = self._targets(self._marks.rows)
        planned = delete_each(targets)
        planned.left.extend(unread)
        self._show_plan("delete", len(targets), planned)

    def renew(self) -> None:
        """Ask for a new end date or a period, and show a plan that renews all marked remotes."""
        self._ask(screens.NewEnd(), self._marks.rows)

    def replace_fobs(self) -> None:
        """Ask for a new fob number, and show the plan to replace the fobs of the marked remotes."""

        def planned(draft: PlanDraft | None) -> None:
            if draft is not None:
                self._screen.note_plan(draft.plan.id)
                self._screen.app.push_screen(screens.PlanScreen(draft))

        targets = [(self._screen.locks[lock_id], remote) for lock_id, remote in self._marks.rows]
        dialog = screens.ReplaceModal(self._screen.operations, targets)
        self._screen.app.push_screen(dialog, planned)

    def act(self) -> None:
        """Ask the user which action to apply to the marked remotes."""
        choices: list[tuple[Callable[[Sequence[Row]], None], str]] = [
            (lambda rows: self._ask(screens.NewValidity(), rows), "change type or weekdays"),
            (self._set_coerced, "set the coerced flag"),
            (lambda rows: self._ask(screens.NewExtra(), rows), "set a key of the extra data"),
            (self._remove_extra, "remove a key of the extra data"),
            (self._export, "export to a CSV and a JSON file"),
        ]

        if self._screen.lock_entry is not None:  # a copy needs one source lock
            choices.insert(-1, (self._copy, "copy to other locks"))

        rows = self._marks.rows

        def chosen(begin: Callable[[Sequence[Row]], None] | None) -> None:
            if begin is not None and (left := self._left("Marked remotes", rows)):
                begin(left)

        question = f"{format_count(len(rows), 'marked remote')}: choose an action"
        self._screen.app.push_screen(screens.ChoiceModal(question, choices), chosen)

    def copy_to_locks(self) -> None:
        """Open the screen that copies the marked remotes of one lock to other locks."""
        self._copy(self._marks.rows)

    def _copy(self, rows: Sequence[Row]) -> None:
        assert self._screen.lock_entry is not None
        source = CopySource(self._screen.lock_entry, marked=[remote for _, remote in rows])
        self._screen.app.push_screen(screens.CopyScreen(self._screen.operations, source))

    def _set_coerced(self, rows: Sequence[Row]) -> None:
        def chosen(value: int | None) -> None:
            if value is not None:
                self._change("set the coerced flag", rows, coerced(value))

        question = f"Set the coerced flag of {format_count(len(rows), 'marked remote')}?"
        self._screen.app.push_screen(screens.ChoiceModal(question, [*WORDS[Flag].items()]), chosen)

    def _remove_extra(self, rows: Sequence[Row]) -> None:
        names = Counter(name for _, remote in rows for name in remote.extra_data or ())
        if not names:
            self._screen.refuse_to_open(
                "Remove a key of the extra data",
                "None of the marked remotes has extra data.",
            )
            return

        def chosen(name: str | None) -> None:
            if name is not None:
                self._change("remove a key of the extra data", rows, extra_removed(name))

        choices = [
            (name, f"{clean(name, 40)}  on {count:,}") for name, count in names.most_common()
        ]
        remotes = format_count(len(rows), "marked remote")
        question = f"Remove which key of the extra data from {remotes}?"
        self._screen.app.push_screen(screens.ChoiceModal(question, choices), chosen)

    def _ask(self, questions: Questions, rows: Sequence[Row]) -> None:
        targets = self._targets(rows)
        hidden = [remote for _, remote in self._marks.hidden(self._screen.rows_shown)]
        form = screens.MarkedForm(
            self._screen.operations,
            questions,
            targets,
            hidden,
            self._place,
            self._typed.setdefault(questions.verb, {}),
        )

        def answered(wanted: Wanted | None) -> None:
            if wanted is not None:
                self._change(questions.verb.lower(), rows, wanted)

        self._screen.app.push_screen(form, answered)

    def _change(self, verb: str, rows: Sequence[Row], wanted: Wanted) -> None:
        """Show a plan that changes those of ``rows`` that are still marked."""
        if left := self._left(verb.capitalize(), rows):
            planned = change_each(self._targets(left), wanted, self._screen.operations.now_ms())
            self._show_plan(verb, len(left), planned)

    def _show_plan(self, verb: str, count: int, planned: PlannedSteps) -> None:
        title = f"{verb}: {format_count(count, 'remote')}, {self._place}"
        draft = draft_plan(self._screen.operations, title, planned)
        self._screen.note_plan(draft.plan.id)
        self._screen.app.push_screen(screens.PlanScreen(draft))

    # --- files ---------------------------------------------------------------------------------

    def _export(self, rows: Sequence[Row]) -> None:
        self._screen.run_worker(self._write_files(rows), group="export", exclusive=True)

    async def _write_files(self, rows: Sequence[Row]) -> None:
        """Write the last known values of the remotes to a CSV and a JSON file."""
        operations = self._screen.operations
        directory = cast("HasOperations", self._screen.app).exports
        now_ms = operations.machine_ms()
        with self._screen.showing_errors():
            read = []
            for lock_id in dict.fromkeys(lock_id for lock_id, _ in rows):
                lock = await operations.locks.find(lock_id)
                of_lock = [remote for other, remote in rows if other == lock_id]
                read.append(ReadLock(lock, self._zone_of(lock_id), of_lock))
            as_table, as_object = (
                remotes_as_csv(read),
                remotes_as_json(read, operations.profile.base_url, now_ms),
            )
            files = await asyncio.to_thread(
                export_files, "remotes", as_table, as_object, directory, now_ms
            )
            self._screen.notify(
                f"Wrote {format_count(len(rows), 'remote')} to {files[0]} and {files[1].name}."
                " The data is from the last reading of each lock.",
                title="Exported",
            )
