"""The commands on marked remotes, on whichever screen they were marked; each makes a plan."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Protocol, cast

from lockterm.domain.constants import WORDS, Flag
from lockterm.domain.text import clean
from lockterm.errors import LocktermError
from lockterm.keymap.hints import with_keys
from lockterm.operations.refusals import NoSuchRun
from lockterm.screens.base import LocktermScreen

if TYPE_CHECKING:
    from pathlib import Path

    from lockterm.domain.bulk import Bulk, Target
    from lockterm.domain.marks import Marks, Row
    from lockterm.domain.plan import Step
    from lockterm.screens.marked.questions import Questions

MARKING = frozenset({"mark", "mark_range", "mark_all", "unmark_all", "act_on_marked"})
"""Actions that mark, and the one that is for marked remotes alone."""

ON_MARKED = frozenset({"renew", "delete"})
"""Actions that are for the marked remotes where some are marked."""


FIRST_WITH_MARKS = ("mark", "renew", "delete", "act_on_marked", "unmark_all")
"""What stands first in the line of keys where some are marked."""


class _HasExports(Protocol):
    exports: Path


class MarkedCommands:
    """Renew, delete, change, export what is marked.

    Nothing is sent from here: a plan is shown, with every marked remote by name.

    Args:
        screen: The screen whose keys they are.
        marks: Which remotes are marked.
        zone_of: Tells the zone of a lock.
        place: Tells where they are, for a title: the lock's name; clean.
        shown: Tells the rows that are on the screen.
        changed: Called when some are no longer marked.
        unread: Tells, as steps that cannot be, what might be marked and could not be looked at.
    """

    def __init__(
        self,
        screen: LocktermScreen[None],
        marks: Marks,
        zone_of: Callable[[int], tzinfo],
        place: Callable[[], str],
        *,
        shown: Callable[[], Sequence[Row]],
        changed: Callable[[], None],
        unread: Callable[[], Sequence[Step]] = lambda: (),
    ) -> None:
        self._screen = screen
        self._marks = marks
        self._zone_of = zone_of
        self._place = place
        self._shown = shown
        self._changed = changed
        self._unread = unread
        self._typed: dict[str, dict[str, str]] = {}
        """Form -> what was typed into it last."""
        self._plans: list[str] = []
        """The ids of plans that were shown: what they record is no longer marked."""

    def why_not(self, action: str) -> str:
        """Why an action can do nothing now, as a sentence; empty: it can."""
        if self._marks or action not in MARKING:
            return ""
        if action == "mark_range":
            return with_keys("Mark a first one with {marks.mark}: a range begins at it.")
        if action == "act_on_marked" or (action == "unmark_all" and not self._marks.may_bring_back):
            return with_keys("Nothing is marked: {marks.mark} marks.")
        return ""

    def _targets(self) -> list[Target]:
        from lockterm.domain.bulk import Target

        return [
            Target(lock_id, remote, self._zone_of(lock_id)) for lock_id, remote in self._marks.rows
        ]

    # --- changes -------------------------------------------------------------------------------

    def delete(self) -> None:
        """Plan to delete all that are marked."""
        from lockterm.domain.bulk import delete_each

        planned = delete_each(self._targets())
        planned.left.extend(self._unread())
        self._show_plan("delete", planned)

    def renew(self) -> None:
        """Ask for the new end, and plan it."""
        from lockterm.screens.marked.questions import NewEnd

        self._ask(NewEnd())

    def act(self) -> None:
        """Choose what to do with them."""
        from lockterm.screens.dialogs.choice import ChoiceModal
        from lockterm.screens.marked.questions import NewExtra, NewValidity

        choices: list[tuple[Callable[[], None], str]] = [
            (lambda: self._ask(NewValidity()), "change type or weekdays"),
            (self._set_coerced, "set coerced"),
            (lambda: self._ask(NewExtra()), "set a key of the extra data"),
            (self._remove_extra, "remove a key of the extra data"),
            (self._export, "export to a CSV and a JSON file"),
        ]

        if self._screen.lock_entry is not None:  # else they may be on several
            choices.insert(-1, (self.copy_to_locks, "copy to other locks"))

        def chosen(begin: Callable[[], None] | None) -> None:
            if begin is not None:
                begin()

        question = f"{_remotes(len(self._marks), 'marked ')}: what is to be done?"
        self._screen.app.push_screen(ChoiceModal(question, choices), chosen)

    def copy_to_locks(self) -> None:
        """Choose where they go to as well, from the screen of one lock."""
        from lockterm.screens.copy import CopyScreen

        assert self._screen.lock_entry is not None
        ids = {remote.id for _, remote in self._marks.rows if remote.id is not None}
        copies = CopyScreen(self._screen.operations, self._screen.lock_entry, ids)
        self._screen.app.push_screen(copies)

    def _set_coerced(self) -> None:
        from lockterm.domain.bulk import change_each, coerced
        from lockterm.screens.dialogs.choice import ChoiceModal

        def chosen(value: int | None) -> None:
            if value is not None:
                now_ms = self._screen.operations.now_ms()
                self._show_plan("set coerced", change_each(self._targets(), coerced(value), now_ms))

        question = f"{_remotes(len(self._marks), 'marked ')}: coerced?"
        self._screen.app.push_screen(ChoiceModal(question, [*WORDS[Flag].items()]), chosen)

    def _remove_extra(self) -> None:
        from lockterm.domain.bulk import change_each, extra_removed
        from lockterm.screens.dialogs.choice import ChoiceModal

        names = Counter(name for _, remote in self._marks.rows for name in remote.extra_data or ())
        if not names:
            self._screen.refuse_to_open("Remove a key", "None of the marked ones has extra data.")
            return

        def chosen(name: str | None) -> None:
            if name is not None:
                now_ms = self._screen.operations.now_ms()
                planned = change_each(self._targets(), extra_removed(name), now_ms)
                self._show_plan("remove a key of the extra data", planned)

        choices = [
            (name, f"{clean(name, 40)}  on {count:,}") for name, count in names.most_common()
        ]
        question = f"{_remotes(len(self._marks), 'marked ')}: remove which key?"
        self._screen.app.push_screen(ChoiceModal(question, choices), chosen)

    def _ask(self, questions: Questions) -> None:
        from lockterm.screens.marked.form import MarkedForm

        targets = self._targets()
        hidden = [remote for _, remote in self._marks.hidden(self._shown())]
        form = MarkedForm(
            self._screen.operations,
            questions,
            targets,
            hidden,
            self._place(),
            self._typed.setdefault(questions.verb, {}),
            targets[0].zone,
        )

        def answered(planned: Bulk | None) -> None:
            if planned is not None:
                self._show_plan(questions.verb.lower(), planned)

        self._screen.app.push_screen(form, answered)

    def _show_plan(self, verb: str, planned: Bulk) -> None:
        from lockterm.operations.bulk import draw_bulk
        from lockterm.screens.plan.screen import PlanScreen

        count = len(self._marks)
        title = f"{verb}: {_remotes(count)}, {self._place()}"
        drawn = draw_bulk(self._screen.operations, title, planned)
        self._plans.append(drawn.plan.id)
        self._screen.app.push_screen(PlanScreen(drawn))

    # --- files ---------------------------------------------------------------------------------

    def _export(self) -> None:
        self._screen.run_worker(self._write_files(), group="export", exclusive=True)

    async def _write_files(self) -> None:
        """Write them down as they were seen last."""
        from lockterm.operations.export import export_files
        from lockterm.operations.plan_files import ReadLock, as_csv, as_json

        operations, rows = self._screen.operations, self._marks.rows
        directory = cast(_HasExports, self._screen.app).exports
        now_ms = operations.now_ms()
        with self._screen.showing_errors():
            read = []
            for lock_id in dict.fromkeys(lock_id for lock_id, _ in rows):
                lock = await operations.locks.find(lock_id)
                of_lock = [remote for other, remote in rows if other == lock_id]
                read.append(ReadLock(lock, self._zone_of(lock_id), of_lock))
            as_table, as_object = (
                as_csv(read),
                as_json(read, operations.profile.base_url, now_ms),
            )
            files = await asyncio.to_thread(
                export_files, "remotes", as_table, as_object, directory, now_ms
            )
            self._screen.notify(
                f"{_remotes(len(rows))}, as last seen here, in {files[0]} and {files[1].name}",
                title="Exported",
                timeout=15,
                markup=False,
            )

    # --- what became of them -------------------------------------------------------------------

    def note_outcomes(self) -> None:
        """Unmark what plans have done; the rest stays marked."""
        if self._plans and self._marks:
            self._screen.run_worker(self._note_outcomes(), group="outcomes", exclusive=True)

    async def _note_outcomes(self) -> None:
        from lockterm.domain.plan import DUE, StepState

        done = (StepState.RECORDED, StepState.UNCHANGED)
        for plan_id in [*self._plans]:
            try:
                plan = await self._screen.operations.runs.find(plan_id)
            except NoSuchRun:  # it was not agreed to, or not yet
                if plan_id != self._plans[-1]:
                    self._plans.remove(plan_id)
                continue
            except LocktermError:  # whoever looks at the plan is told
                return
            self._marks.drop_keys(
                (step.lock_id, step.remote_id)
                for step in plan.steps
                if step.state in done and step.remote_id is not None
            )
            if not any(step.state in DUE for step in plan.steps):
                self._plans.remove(plan_id)
        self._changed()


def _remotes(count: int, which: str = "") -> str:
    return f"1 {which}remote" if count == 1 else f"{count:,} {which}remotes"
