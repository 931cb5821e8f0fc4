"""The form that changes the marked remotes, and the kinds of change that the form supports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Any, Protocol

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import Input, Static

from lockterm.domain import bulk, json_text
from lockterm.domain.bulk import Target, Wanted, change_each
from lockterm.domain.date_input import find_error
from lockterm.domain.dates import parse_weekdays
from lockterm.domain.plan import Action, PlannedSteps
from lockterm.domain.remotes import WORDS, Remote, RemoteType, needs_dates, needs_weekdays
from lockterm.domain.safe_text import clean
from lockterm.domain.shortening import summarize_shortenings
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.plan import (
    describe_step,
    describe_step_notes,
    find_shortenings,
    format_step,
)
from lockterm.domain.text.remote import format_remote
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations
from lockterm.screens.form import LEAVE, FormButton, FormScreen
from lockterm.screens.remote_form.inputs import DatetimeInput, TypedValue, WeekdayPicker
from lockterm.widgets.actions import bindings
from lockterm.widgets.choice import Choice, OptionLine
from lockterm.widgets.form_field import FormField
from lockterm.widgets.text_input import TextInput

Typed = Mapping[str, str]
"""Maps field names to typed text."""


class IncompleteInputError(Exception):
    """An error because the input is not a valid change yet. Its message is safe to show."""


class Questions(Protocol):
    """The fields of a form for one kind of change, and the meaning of their input."""

    verb: str
    """The verb for the change, such as ``Renew``."""

    def fields(self, typed: Typed, zone: tzinfo, presets: Sequence[str]) -> Sequence[FormField]:
        """Return the fields, filled with values that were typed earlier.

        Args:
            typed: The earlier values.
            zone: The time zone in which dates are typed.
            presets: The texts of end dates to offer.
        """

    def shown(self, typed: Typed) -> Sequence[str]:
        """Return the names of the fields to show for the current input."""

    def notes(self, typed: Typed) -> Typed:
        """Return hints by field, without control characters."""

    def wanted(self, typed: Typed) -> Wanted:
        """Return a function that receives a remote, and returns the remote with its new values.

        Raises:
            IncompleteInputError: If the input does not describe a change yet.
        """


class NewEnd:
    """The fields for a new end date, or for a period to add to each remote's end or to now."""

    verb = "Renew"

    def fields(self, typed: Typed, zone: tzinfo, presets: Sequence[str]) -> Sequence[FormField]:
        end = DatetimeInput(zone, typed.get("end", ""), id="end", presets=presets)
        since = Choice([("own", "current end date"), ("now", "now")], typed.get("since") or "own")
        return (
            FormField("end", "New end date", end),
            FormField("since", "Counted from", since),
        )

    def shown(self, typed: Typed) -> Sequence[str]:
        return ("end", "since") if typed["end"].strip().startswith("+") else ("end",)

    def notes(self, typed: Typed) -> Typed:
        hint = "+30d adds 30 days to each end date. A date sets the same end for all. "
        return {
            "end": hint
            + with_keys(
                "Permanent remotes have no end date. To change types, leave this form and press"
                " {marks.act}."
            )
        }

    def wanted(self, typed: Typed) -> Wanted:
        if not typed["end"].strip():
            raise IncompleteInputError("Required: New end date.")
        return bulk.new_end(typed["end"], from_own=typed["since"] != "now")


class NewValidity:
    """The fields for a new type and its dates, or for new weekdays."""

    verb = "Change type or weekdays"

    def fields(self, typed: Typed, zone: tzinfo, presets: Sequence[str]) -> Sequence[FormField]:
        kinds = [("0", "unchanged")]
        kinds += [(str(value), shown) for value, shown in WORDS[RemoteType].items()]
        end = DatetimeInput(zone, typed.get("end", ""), id="end", presets=presets)
        return (
            FormField("type", "Type", Choice(kinds, typed.get("type") or "0")),
            FormField("start", "Start", DatetimeInput(zone, typed.get("start", ""), id="start")),
            FormField("end", "End", end),
            FormField("days", "Weekdays", WeekdayPicker(typed.get("days", ""), id="days")),
        )

    def shown(self, typed: Typed) -> Sequence[str]:
        kind = int(typed["type"] or 0)
        dates = ("start", "end") if needs_dates(kind) else ()
        return ("type", *dates, *(("days",) if not kind or needs_weekdays(kind) else ()))

    def notes(self, typed: Typed) -> Typed:
        own = "If empty, each remote keeps its value."
        return {name: "" if typed[name].strip() else own for name in ("start", "end", "days")}

    def wanted(self, typed: Typed) -> Wanted:
        kind, days = int(typed["type"] or 0) or None, typed["days"].strip()
        if kind is None and not days:
            raise IncompleteInputError("Choose a type, or enter weekdays.")
        shown = self.shown(typed)
        start, end = (typed[name] if name in shown else "" for name in ("start", "end"))
        texts = (("Start", start), ("End", end))
        found = {label: find_error(text) for label, text in texts if text.strip()}
        wrong = {label: error for label, error in found.items() if error}
        chosen = None
        try:
            chosen = parse_weekdays(days) if days and "days" in shown else None
        except ValueError as error:
            wrong["Weekdays"] = str(error)
        if wrong:
            raise IncompleteInputError(f"Fix: {', '.join(wrong)}. {next(iter(wrong.values()))}")
        return bulk.new_validity(kind, start, end, chosen)


class NewExtra:
    """The fields for a key in the extra data and its new value."""

    verb = "Set a key of the extra data"

    def fields(self, typed: Typed, zone: tzinfo, presets: Sequence[str]) -> Sequence[FormField]:
        return (
            FormField(
                "key", "Key", TextInput(typed.get("key", ""), placeholder="for example: room")
            ),
            FormField(
                "value", "Value", TextInput(typed.get("value", ""), placeholder="for example: B2")
            ),
        )

    def shown(self, typed: Typed) -> Sequence[str]:
        return ("key", "value")

    def notes(self, typed: Typed) -> Typed:
        text = typed["value"].strip()
        if not text:
            return {"value": "lockterm sends 5, true or [1, 2] as JSON, and other values as text."}
        value = _value(text)
        kind = "a text" if isinstance(value, str) else "JSON"
        return {"value": f"Sent as {kind}: {clean(json.dumps(value, ensure_ascii=False), 60)}"}

    def wanted(self, typed: Typed) -> Wanted:
        name, text = typed["key"].strip(), typed["value"].strip()
        missing = [label for label, given in (("Key", name), ("Value", text)) if not given]
        if missing:
            raise IncompleteInputError(f"Required: {', '.join(missing)}.")
        return bulk.extra_set(name, _value(text))


def _value(text: str) -> Any:
    """Return the value to send: decoded JSON, or the text itself if it is not JSON."""
    try:
        found = json_text.read_object(f'{{"value": {text}}}')
    except ValueError:
        return text
    return found["value"] if len(found) == 1 else text


MOST_TRIED = 100
"""The maximum number of marked remotes for which the form previews the change. With more remotes,
each key would wait too long."""

_NAMED = 240
"""The maximum length of the list of names, in characters. Only the plan shows all names."""


class MarkedForm(FormScreen[Wanted | None]):
    """The form for a change of marked remotes.

    The result is a function that receives a remote, and returns the remote with its new values. The
    result is None if canceled.

    Args:
        operations: The operations on the service and the local store.
        questions: The fields for the kind of change.
        targets: The marked remotes.
        hidden: The marked remotes that the screen below does not show.
        place: The title of the lock, or the number of locks if there are several, as safe text.
        typed: Earlier input by field. The form updates this mapping at each change.
    """

    BINDINGS = bindings("marked_form")
    BUTTONS = (FormButton("form.save", "save", "Plan"), LEAVE)

    first_keys = ("save", "leave")

    def __init__(
        self,
        operations: Operations,
        questions: Questions,
        targets: Sequence[Target],
        hidden: Sequence[Remote],
        place: str,
        typed: dict[str, str],
    ) -> None:
        super().__init__(operations)
        self._questions = questions
        self._targets = targets
        self._hidden = hidden
        self._place = place
        self._typed = typed
        self._zones = {one.lock_id: one.zone for one in targets}
        self._missing = ""

    def breadcrumbs(self) -> tuple[str, ...]:
        return (
            "Locks",
            self._place,
            f"{len(self._targets):,} marked: {self._questions.verb.lower()}",
        )

    @property
    def would_lose(self) -> str:
        """The question to ask before quitting; empty if no input would be lost.

        Input would be lost because this form saves no draft.
        """
        changed = self.touched()
        return "Leave without a plan? What you typed will be lost." if changed else ""

    def compose_fields(self) -> ComposeResult:
        with VerticalScroll(id="form", can_focus=False):
            presets = self.operations.profile.presets
            yield from self._questions.fields(self._typed, self._targets[0].zone, presets)
            yield Static(self._names(), id="names", markup=False)

    def _names(self) -> str:
        """Return the names of the marked remotes. Those not on the screen below come first."""
        hidden = {id(remote) for remote in self._hidden}
        shown = [one.remote for one in self._targets if id(one.remote) not in hidden]
        lines = []
        for label, remotes in (("Marked but not on the screen", self._hidden), ("Marked", shown)):
            if remotes:
                lines.append(f"{label}: {_listed(remotes)}")
        return "\n".join(lines)

    def on_mount(self) -> None:
        """Focus the first field."""
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

    def disabled_reason(self, action: str) -> str:
        """Return why no plan can be made from the input; empty if there is no known reason."""
        return self._missing if action == "save" else ""

    def show_status(self) -> None:
        """Show the fields for the current input, and what is missing or what would change."""
        typed = self.typed()
        shown, notes = self._questions.shown(typed), self._questions.notes(typed)
        for row in self.rows:
            row.display = row.field in shown
            row.note = notes.get(row.field, "")
        shortened = ""
        try:
            planned = self._planned(self._targets[:MOST_TRIED])
        except IncompleteInputError as error:
            self._missing = text = str(error)
        else:
            is_all = len(self._targets) <= MOST_TRIED
            self._missing = _describe_no_change(planned) if is_all else ""
            text = self._missing or self._describe_effect(planned, is_all=is_all)
            if is_all:
                now_ms = self.operations.now_ms()
                shortened = summarize_shortenings(
                    find_shortenings(planned.steps, self._zones, now_ms)
                )
        self.rows[0].warning = shortened
        self.say(text)
        self.refresh_bindings()

    def _describe_effect(self, planned: PlannedSteps, *, is_all: bool) -> str:
        """Return a sentence about the effect of the change and the key that shows the plan.

        Args:
            planned: The steps for the remotes in the preview.
            is_all: Whether the preview covers all remotes. If not, the sentence only names the key.
        """
        ready = with_keys(
            "Press {form.save} to show the plan. Nothing is sent before you confirm it."
        )
        if not is_all:
            return ready
        steps = [step for step in planned.steps if step.action is not Action.KEEP]
        sentence = f"{len(steps):,} of {format_count(len(self._targets), 'remote')} would change"
        if same := len(planned.steps) - len(steps):
            sentence += f", {same:,} would stay unchanged"
        lines = [f"{sentence}."]
        now_ms, zones = self.operations.now_ms(), self._zones
        if steps:
            values = describe_step(steps[0], zones[steps[0].lock_id], now_ms)
            lines = [f"{sentence}. {format_step(steps[0])}: {'; '.join(values)}"]
        noted = ((step, describe_step_notes(step, zones[step.lock_id], now_ms)) for step in steps)
        if asked := [(step, notes) for step, notes in noted if notes]:
            first = f"{format_step(asked[0][0])}: {asked[0][1][0]}"
            lines.append(f"{format_count(len(asked), 'remote')} to check, such as {first}")
        if planned.left:
            lines.append(_describe_left(planned))
        return "\n".join([*lines, ready])

    # --- actions -------------------------------------------------------------------------------

    def action_save(self) -> None:
        self.show_status()
        if not self.disabled_reason("save"):
            self.dismiss(self._questions.wanted(self.typed()))


def _describe_no_change(planned: PlannedSteps) -> str:
    """Return why no remote would change; empty if at least one remote would change."""
    if any(step.action is not Action.KEEP for step in planned.steps):
        return ""
    if planned.steps:
        left = f" {_describe_left(planned)}" if planned.left else ""
        return f"None of the remotes would change.{left}"
    reasons = {step.message for step in planned.left}
    return (
        f"None of the remotes can be changed: {reasons.pop()}"
        if len(reasons) == 1
        else _describe_left(planned)
    )


def _describe_left(planned: PlannedSteps) -> str:
    """Return how many remotes cannot be changed, and the reason for the first of these remotes."""
    first = planned.left[0]
    return f"{len(planned.left):,} cannot be changed, such as {format_step(first)}: {first.message}"


def _listed(remotes: Sequence[Remote]) -> str:
    names = ""
    for count, remote in enumerate(remotes):
        name = format_remote(remote)
        if len(names) + len(name) > _NAMED:
            return f"{names}, and {len(remotes) - count:,} more"
        names += f", {name}" if names else name
    return names
