"""The small form in which is typed what marked remotes are to be."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import Input, Static

from lockterm.domain.bulk import Target, Wanted, change_each
from lockterm.domain.plan import Action, PlannedSteps
from lockterm.domain.remotes import Remote
from lockterm.domain.text.plan import (
    describe_step,
    describe_step_notes,
    find_shortenings,
    format_step,
)
from lockterm.domain.text.remote import format_remote
from lockterm.domain.text.shortening import summarize_shortenings
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations
from lockterm.screens.form import FormScreen
from lockterm.screens.marked.questions import Incomplete, Questions
from lockterm.screens.remote_form.inputs import TypedValue
from lockterm.widgets.bindings import bindings
from lockterm.widgets.choice import OptionLine
from lockterm.widgets.status_line import StatusLine

MOST_TRIED = 100
"""With more marked remotes, what becomes of them is told by the plan: each key would wait."""

_NAMED = 240
"""So many characters of names are shown; the plan has them all."""


class MarkedForm(FormScreen[Wanted | None]):
    """Ask for a change of marked remotes; answers with what each is to be.

    Args:
        operations: The one door to service and store.
        questions: What is asked for.
        targets: The marked remotes.
        hidden: Those of them that are not on the screen below.
        place: The lock they are on, or how many; clean.
        typed: What was typed before; it is kept there when the form is left.
        zone: In which a date is typed first.
    """

    BINDINGS = bindings("marked_form")

    def __init__(
        self,
        operations: Operations,
        questions: Questions,
        targets: Sequence[Target],
        hidden: Sequence[Remote],
        place: str,
        typed: dict[str, str],
        zone: tzinfo,
    ) -> None:
        super().__init__(operations)
        self._questions = questions
        self._targets = targets
        self._hidden = hidden
        self._place = place
        self._typed = typed
        self._zone = zone
        self._missing = ""

    def crumbs(self) -> tuple[str, ...]:
        return (
            "Locks",
            self._place,
            f"{len(self._targets):,} marked: {self._questions.verb.lower()}",
        )

    @property
    def would_lose(self) -> str:
        """What was typed is kept no longer than the screen below."""
        changed = self.touched()
        return "Leave without a plan? What you typed will be lost." if changed else ""

    def compose_body(self) -> ComposeResult:
        with VerticalScroll(id="form", can_focus=False):
            yield from self._questions.fields(self._typed, self._zone)
            yield Static(self._names(), id="names", markup=False)
        yield StatusLine()

    def _names(self) -> str:
        """Who is marked: those that are not on the screen before all others."""
        hidden = {id(remote) for remote in self._hidden}
        shown = [one.remote for one in self._targets if id(one.remote) not in hidden]
        lines = []
        for words, remotes in (("Not on the screen", self._hidden), ("Marked", shown)):
            if remotes:
                lines.append(f"{words}: {_listed(remotes)}")
        return "\n".join(lines)

    def on_mount(self) -> None:
        """Begin in the first field."""
        self.before = self.typed()
        self.rows[0].focus_control()
        self.show_status()

    # --- what is typed -------------------------------------------------------------------------

    def typed(self) -> dict[str, str]:
        return {row.field: row.value for row in self.rows}

    @on(Input.Changed)
    @on(OptionLine.Changed)
    @on(TypedValue.Changed)
    def _typing(self, event: Message) -> None:
        event.stop()
        self._typed.update(self.typed())
        self.show_status()

    def _planned(self, targets: Sequence[Target]) -> PlannedSteps:
        wanted = self._questions.wanted(self.typed())
        return change_each(targets, wanted, self.operations.now_ms())

    def why_not(self, action: str) -> str:
        """What is still missing before there is a plan."""
        return self._missing if action == "save" else ""

    def show_status(self) -> None:
        """Which fields there are; what the change comes to, in the line above the keys."""
        typed = self.typed()
        shown, notes = self._questions.shown(typed), self._questions.notes(typed)
        for row in self.rows:
            row.display = row.field in shown
            row.note = notes.get(row.field, "")
        shortened = ""
        try:
            planned = self._planned(self._targets[:MOST_TRIED])
        except Incomplete as error:
            self._missing = words = error.sentence
        else:
            is_all = len(self._targets) <= MOST_TRIED
            self._missing = _none_words(planned) if is_all else ""
            words = self._missing or self._ready_words(planned, is_all=is_all)
            if is_all:
                shortened = self._shortened_words(planned)
        self.rows[0].warning = shortened
        self.say(words)
        self.refresh_bindings()

    def _shortened_words(self, planned: PlannedSteps) -> str:
        """How the change shortens access, summed up; empty if it does not."""
        zones = {one.lock_id: one.zone for one in self._targets}
        return summarize_shortenings(
            find_shortenings(planned.steps, zones, self.operations.now_ms())
        )

    def _ready_words(self, planned: PlannedSteps, *, is_all: bool) -> str:
        """What becomes of them, as far as it was tried."""
        ready = with_keys("{form.save} shows the plan; nothing is sent before you agree to it.")
        if not is_all:
            return ready
        steps = [step for step in planned.steps if step.action is not Action.KEEP]
        said = f"{len(steps):,} of {len(self._targets):,} would change"
        if same := len(planned.steps) - len(steps):
            said += f", {same:,} would stay as {'it is' if same == 1 else 'they are'}"
        lines = [f"{said}."]
        now_ms, zones = self.operations.now_ms(), {one.lock_id: one.zone for one in self._targets}
        if steps:
            words = describe_step(steps[0], zones[steps[0].lock_id], now_ms)
            lines = [f"{said}. {format_step(steps[0])}: {'; '.join(words)}"]
        noted = ((step, describe_step_notes(step, zones[step.lock_id], now_ms)) for step in steps)
        if asked := [(step, notes) for step, notes in noted if notes]:
            first = f"{format_step(asked[0][0])}: {asked[0][1][0]}"
            lines.append(f"{len(asked):,} to look at: {first}")
        if planned.left:
            lines.append(_left_words(planned))
        return "\n".join([*lines, ready])

    # --- actions -------------------------------------------------------------------------------

    def action_save(self) -> None:
        self.show_status()
        if not self.why_not("save"):
            self.dismiss(self._questions.wanted(self.typed()))


def _none_words(planned: PlannedSteps) -> str:
    """Why none would change; empty: some would."""
    if any(step.action is not Action.KEEP for step in planned.steps):
        return ""
    if planned.steps:
        left = f" {_left_words(planned)}" if planned.left else ""
        return f"None of them would change.{left}"
    reasons = {step.message for step in planned.left}
    return f"None of them: {reasons.pop()}" if len(reasons) == 1 else _left_words(planned)


def _left_words(planned: PlannedSteps) -> str:
    """``2 cannot: Ivan Horvat (A-2071): Permanent remotes have no end date.``."""
    first = planned.left[0]
    return f"{len(planned.left):,} cannot: {format_step(first)}: {first.message}"


def _listed(remotes: Sequence[Remote]) -> str:
    words = ""
    for count, remote in enumerate(remotes):
        name = format_remote(remote)
        if len(words) + len(name) > _NAMED:
            return f"{words}, and {len(remotes) - count:,} more"
        words += f", {name}" if words else name
    return words
