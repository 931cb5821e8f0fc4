"""The form for a remote: to add one (4.1) or to change one (4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.reactive import reactive
from textual.widgets import Input, Static

from lockterm.keymap.spoken import said
from lockterm.screens.form_drafts import DraftedForm
from lockterm.screens.name_check import ask_about_name
from lockterm.screens.remote_fields import RemoteFields
from lockterm.screens.remote_questions import ask_to_leave
from lockterm.screens.remote_saving import RemoteSaving
from lockterm.typed_remote import LABELS

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel
    from textual.widget import Widget

    from lockterm.models.locks import Lock
    from lockterm.models.remotes import Remote
    from lockterm.operations import Operations


class _Keeping(Protocol):
    def keep_message(self, message: str, title: str, severity: SeverityLevel) -> None: ...


_SHORT_NAMES = {"name": "remoteName", "type": "remoteType", "start": "startDate", "end": "endDate"}


@dataclass(frozen=True, slots=True)
class RemoteSaved:
    """The service recorded the remote."""

    remote_id: int | None
    """Its id; None where the service did not tell the id of a new one."""


class RemoteForm(DraftedForm[RemoteSaved | None]):
    """Add a remote, or change one. Closes only when the service has recorded it, or on leaving.

    Args:
        operations: The one door to service and store.
        lock_entry: The lock the remote belongs to.
        remote: The remote to change; None adds one.
        focus_field: The field to start in: ``end`` renews.
        typed: A draft to go on with, so that none is offered.
    """

    BINDINGS = [
        Binding(
            "ctrl+s",
            "save",
            "save",
            id="form.save",
            tooltip="Show what will be sent, and ask",
        ),
        Binding("escape,q", "leave", "leave", id="form.leave", tooltip="Leave without saving"),
        Binding("ctrl+o", "toggle_more", "more fields", id="form.more"),
        Binding(
            "ctrl+r",
            "check",
            "check",
            id="form.check",
            tooltip="Read back whether the last save took effect",
        ),
    ]

    AUTO_FOCUS = None

    doing: reactive[str] = reactive("", init=False)
    """What the form is waiting for, ``Sending ...``; empty: for the person."""
    refusal: reactive[str] = reactive("", init=False)
    """Why the last save did not take effect; stands on the form until the next one."""
    unknown: reactive[bool] = reactive(False, init=False)
    """Whether the last save may have taken effect: no other one before that is checked."""

    def __init__(
        self,
        operations: Operations,
        lock_entry: Lock,
        remote: Remote | None = None,
        focus_field: str | None = None,
        typed: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(operations, typed)
        self.lock_entry = lock_entry
        self.zone = operations.zone(lock_entry)
        self.fields = RemoteFields(remote, self.zone, operations.now_ms)
        self._start_in = _SHORT_NAMES.get(focus_field or "", focus_field or "")
        self._saving = RemoteSaving(self)
        self._focused_before: Widget | None = None
        self._result: RemoteSaved | None = None

    def crumbs(self) -> tuple[str, ...]:
        """Which remote of which lock this is."""
        before = self.fields.before
        what = f"Edit {before.remote_name or before.id}" if before else "Add a remote"
        return ("Locks", self.lock_entry.title, "Remotes", what)

    def compose_body(self) -> ComposeResult:
        """The fields, and a line about saving."""
        yield self.fields
        yield Static("", id="status", markup=False)

    def on_mount(self) -> None:
        """Begin where it was asked."""
        fields = self.fields
        first = "remoteType" if self._start_in else "remoteName"
        row = fields.row(self._start_in if self._start_in in fields.shown() else first)
        row.focus_control()
        if self._start_in:
            for text in row.query(Input):
                text.select_all()
        self.show_status()
        self.begin_draft()

    def draft_key(self) -> tuple[str, int, int | None]:
        """This lock, and this remote or a new one."""
        before = self.fields.before
        return "remote", self.lock_entry.lock_id, before.id if before else None

    def touched(self) -> dict[str, str]:
        """Contract field -> what is typed, where it is not what stood there at first."""
        return self.fields.touched()

    def typed(self) -> dict[str, str]:
        """Contract field -> what is typed."""
        return self.fields.typed()

    def fill(self, typed: Mapping[str, str]) -> None:
        """Put typed values back, as a draft kept them."""
        self.fields.fill(typed)

    # --- the name ------------------------------------------------------------------------------

    @on(RemoteFields.Left)
    def _left(self, event: RemoteFields.Left) -> None:
        if event.field == "remoteName":
            self.check_name()

    @work(exclusive=True, group="name")
    async def check_name(self) -> None:
        """Ask whether the typed name is free."""
        await ask_about_name(self.fields, self.operations, self.lock_entry.lock_id)
        self.show_status()

    # --- saving --------------------------------------------------------------------------------

    def why_not(self, action: str) -> str:
        """Why nothing can be saved, checked or left now."""
        if action == "leave":
            is_sending = self._saving.is_sending
            return "It is being sent: the form waits for the answer." if is_sending else ""
        if action == "check":
            return "" if self.unknown and not self.doing else "There is nothing to read back."
        if action == "toggle_more":
            return "" if self.fields.before is None else "Every field is shown already."
        return self._why_not_save() if action == "save" else ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that belong to a state of the form are not offered outside of it."""
        if action == "check" and not self.unknown:
            return False
        if action == "toggle_more" and self.fields.before is not None:
            return False
        return super().check_action(action, parameters)

    def _why_not_save(self) -> str:
        profile, reading = self.operations.profile, self.fields.reading
        if profile.read_only:
            return f"The profile {profile.name} is read-only: nothing can be saved."
        if self.doing:
            return self.doing
        if self.unknown:
            return said("Check first whether the last save took effect: {form.check}.")
        if reading.missing:
            return f"Still needed: {_names(reading.missing)}."
        if reading.errors:
            return f"To correct: {_names(tuple(reading.errors))}."
        if not self._saving.would_change(reading.values):
            return "Nothing is changed yet."
        return ""

    @on(RemoteFields.Changed)
    def _typing(self) -> None:
        self.drafts.note_change()
        self.show_status()

    def show_status(self) -> None:
        """The line above the keys: what is waited for, what was refused, what is missing."""
        if not self.is_attached:  # it was left while the service was asked
            return
        complete = said("Complete. {form.save} shows what will be sent, and asks.")
        text = self._why_not_save() or complete
        is_refused = bool(self.refusal) and not self.doing
        status = self.query_one("#status", Static)
        status.update(f"! {self.refusal}" if is_refused else text)
        status.set_class(is_refused, "refused")
        self.refresh_bindings()

    def refuse(self, why: str) -> None:
        """Say what became of a save that was not recorded, here and in the message log."""
        self.refusal = why
        cast(_Keeping, self.app).keep_message(why, self.crumbs()[-1], "error")

    def watch_refusal(self) -> None:
        """Say it."""
        self.show_status()

    def watch_unknown(self) -> None:
        """Hold the next save back."""
        self.show_status()

    def watch_doing(self) -> None:
        """Nothing is typed into a form that is being sent."""
        is_sending = self._saving.is_sending
        if is_sending and not self.fields.disabled:
            self._focused_before = self.focused
        self.fields.disabled = is_sending
        if not is_sending and self._focused_before is not None:
            self._focused_before.focus()
            self._focused_before = None
        self.show_status()

    def on_key(self, event: events.Key) -> None:
        """The key to save, on a form that is not ready, goes to the first thing to do."""
        bindings = self._bindings.key_to_bindings.get(event.key, ())
        is_save = any(binding.action == "save" for binding in bindings)
        if is_save and self.fields.reading.errors and not self.doing:
            event.prevent_default()  # the line above the keys says why: no notice over the fields
            self.fields.show_problems()

    def action_save(self) -> None:
        """Ask, then send."""
        self.fields.read_now()
        if not self._why_not_save():
            self._saving.start()

    def action_check(self) -> None:
        """Read back whether the last save took effect."""
        self._saving.check()

    def action_toggle_more(self) -> None:
        """Show or hide the less used fields."""
        self.fields.more = not self.fields.more

    @work
    async def action_leave(self) -> None:
        """Leave; ask if something was typed."""
        fields = self.fields
        if fields.is_touched:
            name = (fields.before or fields.reading.values).remote_name
            if not await self.app.push_screen_wait(ask_to_leave(name or "the new remote")):
                return
            await self.drafts.drop()
        self.dismiss(None)

    async def leave_saved(self, remote_id: int | None) -> None:
        """Leave with success; at once, or when what stands above this screen is gone."""
        await self.drafts.drop()
        self._result = RemoteSaved(remote_id)
        if self.is_current:
            self.dismiss(self._result)

    def on_screen_resume(self) -> None:
        """Leave if the answer came while something else was shown."""
        if self._result is not None:
            self.dismiss(self._result)


def _names(fields: tuple[str, ...]) -> str:
    return ", ".join(LABELS[field] for field in fields)
