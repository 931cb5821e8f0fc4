"""The fields of a profile, and what is said below each while it is typed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.widgets import Input

from lockterm.config import values
from lockterm.config.typed_profile import LABELS, NO_COLOUR, READ_ONLY, WRITABLE
from lockterm.domain import dates
from lockterm.widgets.choice import Choice, OptionLine
from lockterm.widgets.compact_button import CompactButton
from lockterm.widgets.form_field import FormField
from lockterm.widgets.text_input import TextInput
from lockterm.widgets.zones import ZoneSuggester, zone_hint

if TYPE_CHECKING:
    from textual.widget import Widget

    from lockterm.config.profiles import Profiles

_PLACEHOLDERS = {
    "name": "such as north-campus",
    "base_url": "such as https://locks.example.com",
    "header": "none, or such as Authorization",
    "variable": "such as LOCKTERM_TOKEN",
    "account": "none, or such as north-tenant",
    "ca_file": "none, or such as ~/gateway-ca.pem",
}
_READ_ONLY = ((WRITABLE, "no"), (READ_ONLY, "yes"))


class ProfileFields(VerticalScroll, can_focus=False):
    """One column of fields, and three buttons that say what they do.

    Args:
        profiles: Knows which variables are set.
        before: What stands in the fields at first.
        now_ms: Tells the time in milliseconds.
        is_new: Whether the name can be typed; lock book and history are kept by it.
        others: How many other headers the file has, which the form lets be.
    """

    class Changed(Message):
        """Something was typed or chosen."""

    def __init__(
        self,
        profiles: Profiles,
        before: Mapping[str, str],
        now_ms: Callable[[], int],
        *,
        is_new: bool,
        others: int,
    ) -> None:
        super().__init__(id="fields")
        self._profiles = profiles
        self.before = before
        self._now_ms = now_ms
        self._is_new = is_new
        self._others = others

    def compose(self) -> ComposeResult:
        for name, label in LABELS.items():
            yield FormField(name, label, self._control(name))
        with Horizontal(classes="buttons"):
            yield CompactButton("Test", id="test")
            yield CompactButton("Save", id="save", variant="primary")
            yield CompactButton("Leave", id="leave")

    def _control(self, name: str) -> Widget:
        if name in ("read_only", "colour"):
            colours = tuple((word, word) for word in (NO_COLOUR, *values.COLOURS))
            options = _READ_ONLY if name == "read_only" else colours
            known = self.before[name] in dict(options)
            return Choice(options, self.before[name] if known else "")
        field = TextInput(self.before[name], placeholder=_PLACEHOLDERS.get(name, ""))
        if name == "timezone":
            field.suggester = ZoneSuggester()
        field.disabled = name == "name" and not self._is_new
        return field

    def on_mount(self) -> None:
        """Say what is known before anything is typed."""
        if not self._is_new:
            self.field("name").note = "Lock book and history are kept by it: it stays."
        if self._others:
            more = "1 header stays" if self._others == 1 else f"{self._others} headers stay"
            self.field("header").note = f"{more} besides, as the file says."
        self.field("account").note = "Empty: the credentials tell it. Profiles may share one."
        self.field("ca_file").note = "For a service whose certificate is of an authority of yours."
        self._about_url()
        self._about_zone()
        self._about_variable()
        self.field("name" if self._is_new else "base_url").focus_control()

    def field(self, name: str) -> FormField:
        """The row of a field."""
        return self.query_one(f"#field-{name}", FormField)

    def typed(self) -> dict[str, str]:
        """Field -> what is typed."""
        return {name: self.field(name).value.strip() for name in LABELS}

    def touched(self) -> dict[str, str]:
        """The fields in which something else stands than at first."""
        return {name: text for name, text in self.typed().items() if text != self.before[name]}

    def fill(self, typed: Mapping[str, str]) -> None:
        """Put typed values back."""
        for name in LABELS:
            if name in typed and (name != "name" or self._is_new):
                self.field(name).value = typed[name]

    def show_errors(self, errors: Mapping[str, str]) -> None:
        """Show what is wrong under its field, and go to the first of them."""
        for name in LABELS:
            self.field(name).error = errors.get(name, "")
        if errors:
            self.field(next(iter(errors))).focus_control()

    # --- what is said below ------------------------------------------------------------------

    @on(Input.Changed)
    @on(OptionLine.Changed)
    def _typing(self, event: Input.Changed | OptionLine.Changed) -> None:
        row = event.control.query_ancestor(FormField)
        row.error = ""
        match row.field:
            case "base_url":
                self._about_url()
            case "timezone":
                self._about_zone()
            case "header" | "variable":
                self._about_variable()
        self.post_message(self.Changed())

    def _about_url(self) -> None:
        row = self.field("base_url")
        warning = ""
        typed = row.value.strip()
        try:
            warning = values.base_url(typed)[1] or ""
        except ValueError:
            pass
        else:
            if not self._is_new and not warning and typed != self.before["base_url"].rstrip("/"):
                warning = "Lock book and history stay: only where it is the same service."
                if self._others or self.before["header"]:
                    warning += " Test and save send the headers there."
        row.warning = warning

    def _about_variable(self) -> None:
        row = self.field("variable")
        name = row.value.strip()
        is_set = bool(name) and self._profiles.is_set(name)
        is_bearer = self.field("header").value.strip().lower() == "authorization"
        if is_set:
            row.note = "It is set now."
        elif is_bearer:
            state = "It is not set now. " if name else ""
            row.note = f'{state}Set the whole value: export NAME="Bearer ..."'
        elif name:
            row.note = "It is not set now: set it before lockterm is started."
        else:
            row.note = "The value itself is never typed or kept here."

    @work(exclusive=True, group="zone")
    async def _about_zone(self) -> None:
        row = self.field("timezone")
        typed = row.value.strip()
        if not typed:
            own = await asyncio.to_thread(values.machine_zone)
            row.note = f"Empty: this machine's, {own}." if own else "Empty: UTC."
        elif await asyncio.to_thread(values.is_zone, typed):
            row.note = (
                f"There it is {dates.day_time(self._now_ms(), ZoneInfo(typed), exact=False)}."
            )
        else:
            row.note = await zone_hint(typed)
