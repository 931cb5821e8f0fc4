"""The form that adds a remote (contract 4.1) or changes a remote (contract 4.4)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from textual import events, on, work
from textual.app import ComposeResult
from textual.timer import Timer
from textual.widgets import Input

from lockterm.domain.locks import Lock
from lockterm.domain.remotes import FIELDS, Remote
from lockterm.domain.safe_text import clean
from lockterm.domain.text.service import describe_read_only
from lockterm.domain.typed_remote import NamesInUse, format_typed, next_like, typed_like
from lockterm.keymap.hints import with_keys
from lockterm.operations.names_in_use import read_names_in_use
from lockterm.screens.base import ELSEWHERE, LocktermScreen, recorded
from lockterm.screens.form import FormButton
from lockterm.screens.form_drafts import (
    REMOTE,
    WAITS_FOR_STORE,
    DraftForm,
    title_of_remote,
)
from lockterm.screens.remote_form.fields import RemoteFields
from lockterm.screens.remote_form.saving import RemoteSaving, ask_to_leave
from lockterm.terminal.key_queue import opens, when_idle
from lockterm.terminal.patches import own_bindings
from lockterm.widgets.actions import bindings
from lockterm.widgets.form_field import FormField, StatusLine

if TYPE_CHECKING:
    from textual.widget import Widget

    from lockterm.domain.operation import Operation
    from lockterm.operations import Operations
    from lockterm.screens.dialogs.confirm import ConfirmModal


@dataclass(frozen=True, slots=True)
class RemoteSaved:
    """The result of the form, after the service has recorded the remote."""

    remote_id: int | None
    """The ID of the remote; None if the service did not report the ID of a new remote."""


class RemoteForm(DraftForm[RemoteSaved | None]):
    """The form that adds or changes a remote.

    The form closes only when the service has recorded the remote, or when the user leaves it.

    Args:
        operations: The operations on the service and the local store.
        lock_entry: The lock the remote belongs to.
        remote: The remote to change; None to add a remote.
        focus_field: The contract name of the field to focus first, such as ``endDate`` for a
            renewal.
        typed: A draft to continue. If it is given, the form does not offer a saved draft.
        offered: Suggested texts by contract field, to fill in instead of the remote's values.
        taken: The names and numbers in use, which lockterm does not suggest for the next remote.
    """

    BINDINGS = bindings("remote_form")

    AUTO_FOCUS = None

    lock_entry: Lock

    def __init__(
        self,
        operations: Operations,
        lock_entry: Lock,
        remote: Remote | None = None,
        focus_field: str | None = None,
        typed: Mapping[str, str] | None = None,
        offered: Mapping[str, str] | None = None,
        taken: NamesInUse | None = None,
    ) -> None:
        key = (REMOTE, lock_entry.lock_id, remote.id if remote else None)
        name = remote.remote_name if remote else None
        super().__init__(operations, key, title_of_remote(lock_entry, key[2], name), typed)
        self.lock_entry = lock_entry
        zone = operations.zone(lock_entry)
        presets = operations.profile.presets
        self.fields = RemoteFields(remote, zone, operations.now_ms, offered or {}, presets)
        self._saving = RemoteSaving(
            self, self.fields, lock_entry, changed=self._show_saving, saved=self._saved
        )
        self._countdown: Timer | None = None
        """The timer of the countdown to the next attempt, while the service is unreachable."""
        self._is_trying = False
        self._start_in = focus_field
        self._focused_before: Widget | None = None
        self._result: RemoteSaved | None = None
        self._goes_on = False
        """Whether the form stays open for another remote after this remote is recorded."""
        self._last: RemoteSaved | None = None
        """The result for the last recorded remote, if several are added one after the other."""
        self._so_far = ""
        """A text about the remotes recorded so far, without control characters."""
        self._count = 0
        """The number of remotes recorded so far."""
        self.fields.taken = taken or NamesInUse()
        self._is_like = bool(offered) and remote is None
        """Whether the form adds a remote with the values of an existing remote."""
        if self._is_like:  # the number was counted up, so doubts about it are shown at once
            self._so_far = self.fields.taken.words

    def breadcrumbs(self) -> tuple[str, ...]:
        before = self.fields.before
        what = f"Edit {before.remote_name or before.id}" if before else "Add a remote"
        return ("Locks", self.lock_entry.title, "Remotes", what)

    @property
    def first_keys(self) -> Sequence[str]:
        """The actions that the footer shows first.

        While the user copies a remote or adds several remotes, these are the two save actions.
        """
        return ("save", "save_next") if self._is_like or self._count else ("save", "leave")

    def compose_fields(self) -> ComposeResult:
        yield self.fields

    def on_mount(self) -> None:
        """Focus the requested field."""
        fields = self.fields
        first = "remoteType" if self._start_in else "remoteName"
        row = fields.row(self._start_in if self._start_in in fields.shown() else first)
        row.focus_control()
        if self._start_in:
            _select(row, fields.row("remoteNumber") if fields.before is None else row)
        self.show_status()
        when_idle(self, self._get_ready)

    def _get_ready(self) -> None:
        """Import the modules that saving needs, in a thread so that keys are not delayed."""
        self.run_worker(partial(import_module, "lockterm.domain.requests"), thread=True)

    # --- the name ------------------------------------------------------------------------------

    @on(RemoteFields.Left)
    def _left(self, event: RemoteFields.Left) -> None:
        if event.field == "remoteName":
            self.check_name()
        if event.field == "remoteNumber" and self.fields.reading.values.remote_number:
            self.check_number()

    @work(exclusive=True, group="name")
    async def check_name(self) -> None:
        """Ask the service whether the typed name is free."""
        await self._saving.check_name()
        self.show_status()

    @work(exclusive=True, group="number")
    async def check_number(self) -> None:
        """Read the numbers in use on the lock, and warn if the typed number is one of them."""
        await self._saving.know_numbers()

    # --- saving --------------------------------------------------------------------------------

    def disabled_reason(self, action: str) -> str:
        """Return why an action is disabled now; empty if it is enabled."""
        saving = self._saving
        if action == "leave":
            waits = "The change is being sent. The form waits for the answer."
            return waits if saving.is_sending else ""
        if action == "check":
            return "" if saving.unknown and not saving.doing else "There is no change to verify."
        if action == "toggle_more":
            return "" if self.fields.before is None else "The form already shows all fields."
        return self._why_not_save() if action in _SAVES else ""

    def is_offered(self, action: str) -> bool:
        """Return whether the footer shows a key.

        Some keys work only in one state of the form.
        """
        if action in ("toggle_more", "save_next"):
            return self.fields.before is None
        return action != "check" or self._saving.unknown

    def verb_now(self, action: str) -> str:
        """Return the label of an action whose effect has changed; empty for its usual label."""
        if action in _SAVES and self._is_offline:
            return "try now"
        return "fewer fields" if action == "toggle_more" and self.fields.more else ""

    @property
    def _is_offline(self) -> bool:
        return self.operations.connection.online is False

    def _why_not_save(self) -> str:
        profile, reading = self.operations.profile, self.fields.reading
        if profile.read_only:
            return describe_read_only(profile.name, "Nothing can be saved")
        if self._saving.doing:
            return WAITS_FOR_STORE if self.waits_for_store else self._saving.doing
        if self._saving.unknown:
            return with_keys("First press {form.check} to check whether the last save took effect.")
        if reading.errors:
            wrong = reading.errors.keys() - reading.missing
            what = "Fix" if not reading.missing else "Fill in or fix"
            names = ", ".join(FIELDS[field].label for field in reading.errors)
            return f"{what if wrong else 'Required'}: {names}."
        if not self._saving.would_change(reading.values):
            return "You have not changed anything yet."
        return ""

    @on(RemoteFields.Changed)
    def _typing(self) -> None:
        self.note_change()
        self.show_status()

    def show_status(self) -> None:
        """Show the current work, a refusal, or the fields with missing input in the status line."""
        if not self.is_attached or not self.query(StatusLine):  # left, or lockterm is quitting
            return
        text = f"{self._so_far} {self._why_not_save() or self._describe_ready()}".strip()
        refusal = "" if self._saving.doing else self._saving.refusal
        if refusal and self._is_offline and not self._why_not_save():
            refusal = f"{refusal} {self._describe_ready()}"
        self.query_one(StatusLine).say(refusal or text, is_wrong=bool(refusal))
        self._say_next()
        self.refresh_bindings()

    def _describe_ready(self) -> str:
        """Return a sentence with the save key, or a sentence about the wait for the service."""
        if not self._is_offline:
            return with_keys("Ready. Press {form.save} to review and save.")
        if self._is_trying:
            return "Trying to reach the service ..."
        waits = "The form is complete, but the service cannot be reached."
        left_s = math.ceil(self.operations.connection.next_try_s)
        if self._countdown is None:
            when = "lockterm will try again automatically"
        else:
            when = f"Next attempt in {left_s} s" if left_s else "Trying again"
        return with_keys(f"{waits} {when}. Press {{form.save}} to try now.")

    def show_notices(self, connection_text: str, unconfirmed: tuple[Operation, ...]) -> None:
        """Show the notices, and the next step for an unconfirmed change of this form."""
        super().show_notices(connection_text, unconfirmed)
        # In low-bandwidth mode, do not paint every second.
        if self._is_offline and self._countdown is None and self.operations.remotes.reads_ahead:
            self._countdown = self.set_interval(1.0, self._count_down)
        elif not self._is_offline and self._countdown is not None:
            self._countdown.stop()
            self._countdown = None
        if not self._is_offline:
            self._saving.forget_unreachable()
        self.show_status()

    def _count_down(self) -> None:
        if self.is_active:  # otherwise the screen above would be painted completely
            self.show_status()

    def _say_next(self) -> None:
        if self.unconfirmed and self.notices is not None:
            own = self._saving.next_step(self.unconfirmed[0])
            self.notices.instead = own or ELSEWHERE

    def _show_saving(self) -> None:
        """Show the state of saving in the form, and disable the fields while a request is sent."""
        if not self.is_attached:  # the request continues without the form
            return
        self.note_saving(bool(self._saving.doing))
        is_sending = self._saving.is_sending
        if is_sending and not self.fields.disabled:
            self._focused_before = self.focused
        self.fields.disabled = is_sending
        if not is_sending and self._focused_before is not None:
            self._focused_before.focus()
            self._focused_before = None
        self.show_status()

    def on_key(self, event: events.Key) -> None:
        """If the save key is pressed while fields have errors, move to the first such field."""
        is_save = any(binding.action in _SAVES for binding in own_bindings(self, event.key))
        if is_save and self._show_problems():
            event.prevent_default()  # the status line says why: no notification covers the fields

    async def press(self, button: FormButton) -> None:
        if button.action not in _SAVES or not self._show_problems():
            await super().press(button)

    def _show_problems(self) -> bool:
        """Move to the first field with an error, and return whether there is such a field."""
        if not self.fields.reading.errors or self._saving.doing:
            return False
        self.fields.show_problems()
        return True

    def action_save(self) -> None:
        self._save(goes_on=False)

    def action_save_next(self) -> None:
        self._save(goes_on=True)

    def _save(self, *, goes_on: bool) -> None:
        self.fields.read_now()
        if self._why_not_save():
            return
        self._goes_on = goes_on
        if self._is_offline:
            self._try_now()
        else:
            self._saving.start()

    @work(exclusive=True, group="try")
    @opens("the answer of the service")
    async def _try_now(self) -> None:
        """Try to reach the service. If that succeeds, save the remote."""
        self._is_trying = True
        self.show_status()
        try:
            is_reached = await self.operations.connection.try_now()
        finally:
            self._is_trying = False
        self.show_status()
        if is_reached and not self._why_not_save():
            self._saving.start()

    def action_check(self) -> None:
        self._saving.check()

    def action_toggle_more(self) -> None:
        self.fields.more = not self.fields.more
        self.refresh_bindings()

    # --- the draft, and the way out ------------------------------------------------------------

    def typed(self) -> dict[str, str]:
        return self.fields.typed()

    def touched(self) -> dict[str, str]:
        """Return the texts to save as a draft, by field; empty if saving would send nothing."""
        reading = self.fields.reading
        would_save = reading.errors or self._saving.would_change(reading.values)
        return self.fields.touched() if would_save else {}

    def fill(self, typed: Mapping[str, str]) -> None:
        self.fields.go_on(typed)

    @staticmethod
    def describe(field: str, text: str) -> str:
        return format_typed(field, text)

    def show_store_wait(self) -> None:
        self.show_status()

    def bring_into_sight(self, control: Widget) -> None:
        """Do nothing, because the fields already scroll to the row of a focused control."""

    def ask_to_leave(self) -> ConfirmModal | None:
        if not self.touched():
            return None
        name = (self.fields.before or self.fields.reading.values).remote_name
        is_sent = self._saving.unknown or any(map(self._saving.next_step, self.unconfirmed))
        return ask_to_leave(name or "the new remote", is_sent=is_sent)

    @property
    def result_on_leaving(self) -> RemoteSaved | None:
        """The result for the last recorded remote; None if no remote was recorded."""
        return self._last

    def _saved(self, remote_id: int | None, what: str) -> None:
        """Close the form with its result, or continue with the next remote of a series.

        Args:
            remote_id: The ID of the recorded remote; None if the service did not report the ID.
            what: The change as the title of a notification, without control characters.
        """
        saved = RemoteSaved(remote_id)
        if not self._is_over_its_lock:
            what += f" at {clean(self.lock_entry.title, 60)}"
        if self._goes_on and self.is_attached:  # the status line shows the result
            self.host.keep_message(recorded(self.host), what, "information")
            self._begin_next(saved)
        else:
            self.tell_recorded(what)
            self._leave_saved(saved)

    @property
    def _is_over_its_lock(self) -> bool:
        """Whether the screen below is about a single lock, and shows the name of that lock."""
        stack = self.app.screen_stack
        below = stack[stack.index(self) - 1] if self in stack else None
        return isinstance(below, LocktermScreen) and below.lock_entry is not None

    def _begin_next(self, saved: RemoteSaved) -> None:
        """Fill in the recorded values for the next remote, with the next free name and number.

        These values do not count as changes by the user. Input that was typed after sending stays.
        """
        sent, name = self._saving.typed, self.fields.row("remoteName")
        since = {field: text for field, text in self.fields.typed().items() if text != sent[field]}
        taken = self.fields.taken
        taken.add(sent["remoteName"].strip(), sent["remoteNumber"].strip())
        self._last, self._count = saved, self._count + 1
        result = f"Recorded {clean(sent['remoteName'], 40)}. Added so far: {self._count:,}."
        self._so_far = f"{result} {taken.words}".strip()
        self._saving.forget()
        self.begin_new_draft()
        self.fields.offer(next_like(sent, taken))
        self.fields.fill(since)
        self._focused_before = name.control
        _select(name, self.fields.row("remoteNumber"))

    def _leave_saved(self, saved: RemoteSaved) -> None:
        """Close the form with its result, after the screens on top of it have closed."""
        self.forget_draft()
        self._result = saved
        if self.is_active:
            self.dismiss(self._result)

    def on_screen_resume(self) -> None:
        """Close the form if the remote was recorded while another screen was on top."""
        if self._result is not None:
            self.dismiss(self._result)


_SAVES = ("save", "save_next")


def _select(*rows: FormField) -> None:
    """Select the text in the fields of these rows, so that typing replaces the text."""
    for row in rows:
        for text in row.query(Input):
            text.select_all()


async def values_like(
    remote: Remote,
    operations: Operations,
    lock: Lock,
    known: Iterable[Remote],
    total: int | None,
) -> tuple[Mapping[str, str], NamesInUse]:
    """Return the form's initial values for a copy of ``remote``, and the values in use.

    The initial values are those of ``remote``, but with the next free name and number. The values
    in use are the names and numbers of the lock's remotes.

    Args:
        remote: The existing remote.
        operations: The operations on the service and the local store.
        lock: The lock of both remotes.
        known: The remotes of the lock that are already loaded.
        total: The number of remotes of the lock; None if it is unknown.
    """
    typed = typed_like(remote, operations.zone(lock))
    taken = await read_names_in_use(operations, lock.lock_id, known, total)
    return next_like(typed, taken), taken
