"""The form for an entry of the lock book, and the dialogs to open or remove a lock."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Label

from lockterm.config import values
from lockterm.config.values import lock_id
from lockterm.domain.locks import Lock
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.service import format_titled_meaning
from lockterm.errors import RateLimitedError, RefusedError, ServiceError
from lockterm.operations import Operations
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.field_modal import FieldModal
from lockterm.screens.form_drafts import (
    LOCK,
    WAITS_FOR_STORE,
    DraftForm,
    title_of_lock,
)
from lockterm.terminal.key_queue import opens
from lockterm.widgets.actions import bindings
from lockterm.widgets.completion import ZoneSuggester, zone_note
from lockterm.widgets.form_field import CompactButton, FormField
from lockterm.widgets.text_input import SingleLineInput, TextInput

FIELD_LABELS = {
    "id": "Lock ID",
    "name": "Name",
    "vendor": "Vendor",
    "model": "Model",
    "zone": "Time zone",
}
"""Maps the names of fields to their labels, from top to bottom."""


class LockForm(DraftForm[Lock | None]):
    """The form that adds a lock to the lock book, or changes an entry of the lock book.

    The form asks the service whether the lock exists, but changes nothing at the service.

    Args:
        operations: The operations on the service and the local store.
        entry: The entry to change; None to add a lock.
        book: The locks of the lock book, for suggestions, and to refuse an ID that is already
            there.
        typed: A draft to continue; None to offer a saved draft.
    """

    BINDINGS = bindings("lock_form")

    AUTO_FOCUS = "Input"

    def __init__(
        self,
        operations: Operations,
        entry: Lock | None = None,
        book: Sequence[Lock] = (),
        typed: Mapping[str, str] | None = None,
    ) -> None:
        key = (LOCK, entry.lock_id if entry else 0, None)
        super().__init__(operations, key, title_of_lock(entry), typed)
        self._entry = entry
        self._book = {lock.lock_id: lock for lock in book}
        self._answers: dict[int, LockAnswer] = {}
        self._filled = ""
        self._saving = False

    def breadcrumbs(self) -> tuple[str, ...]:
        """Return the breadcrumbs for the header, with the lock of the form."""
        return ("Locks", f"Edit {self._entry.title}" if self._entry else "Add a lock")

    def compose_fields(self) -> ComposeResult:
        entry, book = self._entry or Lock(0), self._book.values()
        lock_id = str(entry.lock_id) if self._entry else ""
        now = (lock_id, entry.name, entry.vendor, entry.model, entry.zone)
        self.before = dict(zip(FIELD_LABELS, map(clean, now), strict=True))
        with VerticalScroll(id="fields", can_focus=False):
            for name, label in FIELD_LABELS.items():
                typed = TextInput(self.before[name])
                if name == "vendor":
                    typed.suggester = _one_of(lock.vendor for lock in book)
                elif name == "model":
                    typed.suggester = _one_of(lock.model for lock in book)
                elif name == "zone":
                    typed.suggester = ZoneSuggester()
                typed.disabled = name == "id" and self._entry is not None
                yield FormField(name, label, typed)

    def on_mount(self) -> None:
        """Show the hints below the fields."""
        if self._entry is None:
            self.field("id").note = "ID of the lock at the service, such as 1001."
        self.field("name").note = _alias_note(self._entry.alias if self._entry else "")
        self.field(
            "model"
        ).note = "Vendor and model determine the voices. Use the service's spelling."
        self._show_zone()
        if self._entry:
            self.field("name").focus_control()

    @staticmethod
    def describe(field: str, text: str) -> str:
        return f"{FIELD_LABELS.get(field) or clean(field, 30)}: {clean(text, 60)}"

    # --- the id --------------------------------------------------------------------------------

    @on(Input.Blurred, "#field-id Input")
    def _id_left(self) -> None:
        if self._entry is None and self.value_of("id"):
            lock_id = self._read_id()
            if lock_id is not None:
                self.run_worker(self._ask(lock_id))

    def _read_id(self) -> int | None:
        """Return the typed lock ID.

        If the ID cannot be used, show why at the field and return None.
        """
        field = self.field("id")
        try:
            lock_id = values.lock_id(field.value)
        except ValueError:
            field.error = "The lock ID must be a whole number, such as 1001."
            return None
        if lock_id in self._book:
            title = clean(self._book[lock_id].title, 60)
            field.error = f"The lock book already contains lock {lock_id}, as {title}."
            return None
        return lock_id

    async def _ask(self, lock_id: int) -> LockAnswer:
        """Ask the service whether a lock exists, then show and return the answer."""
        answer = self._answers.get(lock_id)
        if answer is None or not answer.asked:
            self.field("id").note = f"Asking the service about lock {lock_id} ..."
            size = self.operations.profile.page_rows(self.app.size)
            answer = self._answers[lock_id] = await look_up(self.operations, lock_id, size)
        if self.is_attached and self.field("id").value == str(lock_id):
            self._show_answer(answer)
        return answer

    def _show_answer(self, answer: LockAnswer) -> None:
        field, name = self.field("id"), self.field("name")
        field.note = "" if answer.unknown else answer.words
        field.error = answer.words if answer.unknown else ""
        if answer.name and self.value_of("name") in ("", self._filled):
            name.value = self._filled = answer.name
            control = name.query_one(TextInput)
            control.select_on_focus = True  # a typed name replaces the suggestion
            if control.has_focus:
                control.select_all()
        name.note = _alias_note(answer.alias)

    # --- the zone ------------------------------------------------------------------------------

    @on(Input.Changed, "#field-zone Input")
    def _show_zone(self) -> None:
        self.suggest_zones(self.value_of("zone"))

    @work(exclusive=True, group="zone")
    async def suggest_zones(self, typed: str) -> None:
        """Show the local time of the typed time zone, or suggest similar zones."""
        field = self.field("zone")
        if typed:
            field.note = await zone_note(typed, self.operations.now_ms())
        else:
            name = self.operations.profile.timezone
            field.note = f"If empty, the profile's time zone applies: {name}."

    # --- saving --------------------------------------------------------------------------------

    def disabled_reason(self, action: str) -> str:
        """Return why saving is disabled; empty if it is enabled.

        Saving is disabled during a save, and while another program locks the store.
        """
        if self.waits_for_store:
            return WAITS_FOR_STORE if action == "save" else ""
        return "The lock is being saved." if action == "save" and self._saving else ""

    def show_store_wait(self) -> None:
        if self.waits_for_store:
            self.notify(WAITS_FOR_STORE, title="Saving")

    @on(Input.Changed)
    def _typing(self, event: Input.Changed) -> None:
        field = event.input.query_ancestor(FormField)
        field.error = ""
        if field.field == "name" and event.value != self._filled:
            event.input.select_on_focus = False
        self.note_change()

    @work
    @opens("the result of saving")
    async def action_save(self) -> None:
        """Save the entry. Before a new entry is saved, ask the service whether its lock exists."""
        if self._saving:
            return
        self._saving = True
        self.note_saving(True)
        self.refresh_bindings()
        try:
            lock = await self._checked()
            if lock is None:
                return
            with self.showing_errors():
                await self.operations.locks.save(lock)
                self.forget_draft()
                self.dismiss(lock)
                about = "Saved in the lock book. Nothing changed at the service."
                self.notify(about, title=clean(lock.title, 60))
        finally:
            self._saving = False
            if self.is_attached:
                self.note_saving(False)
            self.refresh_bindings()

    async def _checked(self) -> Lock | None:
        """Return the typed entry. If a field is invalid, show why at the field and return None."""
        zone, wrong = self.value_of("zone"), ""
        try:
            if zone:
                zone = await asyncio.to_thread(values.timezone, zone)
        except ValueError as error:
            wrong = values.as_sentence(f"The time zone {error}")
            self.field("zone").error = wrong
        entry, lock_id = self._entry, self._read_id() if self._entry is None else None
        answer = await self._ask(lock_id) if lock_id is not None else None
        if entry is None and (answer is None or answer.unknown):
            self.field("id").focus_control()
            return None
        if wrong:
            self.field("zone").focus_control()
            return None
        if entry is None:
            assert lock_id is not None and answer is not None
            if not answer.asked:
                self.notify(answer.words, title="Saved without a check", severity="warning")
            entry = Lock(lock_id, alias=answer.alias, remotes=answer.remotes)
        return replace(
            entry,
            name=self.value_of("name"),
            vendor=self.value_of("vendor"),
            model=self.value_of("model"),
            zone=zone,
        )

    def ask_to_leave(self) -> ConfirmModal | None:
        if not self.touched():
            return None
        question = "Leave without saving what you typed?"
        return ConfirmModal(question, verb="Leave", keep="Keep editing", loses_text=True)


def _one_of(words: Iterable[str]) -> SuggestFromList:
    return SuggestFromList(sorted({word for word in words if word}), case_sensitive=False)


def _alias_note(alias: str) -> str:
    return f"The service also uses the alias {clean(alias, 100)}." if alias else ""


@dataclass(frozen=True, slots=True)
class LockAnswer:
    """The service's answer to the question whether a lock exists."""

    words: str
    """A sentence about the lock, for the form."""
    unknown: bool = False
    """Whether the service answered that the lock does not exist."""
    asked: bool = True
    """Whether the service's answer is clear: the lock exists, or it does not exist."""
    remotes: int | None = None
    """The number of remotes of the lock; None if unknown."""
    name: str = ""
    """The lock's name without control characters; empty if the service sent none."""
    alias: str = ""
    """The lock's alias without control characters; empty if there is none."""


async def look_up(operations: Operations, lock_id: int, size: int) -> LockAnswer:
    """Look up a lock: read the first page of its remotes, and the details of one of them.

    The details of a remote contain the name and alias of its lock.

    Args:
        operations: The operations on the service and the local store.
        lock_id: The ID of the lock.
        size: The number of remotes to request. The screen of the lock's remotes requests the same
            number.
    """
    try:
        page = (await operations.remotes.page(lock_id, 1, size)).value
    except ServiceError as error:
        reason = _reason(error)
        if _denies_lock(error):
            return LockAnswer(f"{reason} Correct the ID.", unknown=True)
        return LockAnswer(f"{reason} You can save the lock anyway.", asked=False)
    sentence = f"The service knows this lock, with {format_count(page.total, 'remote')}."
    first = next((remote.id for remote in page.remotes if remote.id is not None), None)
    info = None
    if first is not None:
        with suppress(ServiceError):
            info = (await operations.remotes.detail(first)).lock_info
    if info is None or not info.lock_name:
        return LockAnswer(
            f"{sentence} The service reports no name. Type a name.", remotes=page.total
        )
    name, alias = clean(info.lock_name, 200).strip(), clean(info.lock_alias or "", 200)
    return LockAnswer(sentence, remotes=page.total, name=name, alias=alias)


def _reason(error: ServiceError) -> str:
    """Return the meaning of an error. For a refusal, add the service's message and code."""
    said = format_titled_meaning(error)
    return said if said.endswith(".") else f"{said}."


def _denies_lock(error: ServiceError) -> bool:
    """Return whether an error means that the lock does not exist.

    Other refusals have other causes, such as a rate limit or missing access rights.
    """
    if isinstance(error, RateLimitedError) or not isinstance(error, RefusedError):
        return False
    return error.code is not None and error.status not in (401, 403)


class OpenLockModal(FieldModal[tuple[int, bool] | None]):
    """A dialog that asks for a lock ID.

    The result is the ID and whether to add the lock to the lock book, or None if canceled.
    """

    heading = "Open by ID"
    verb = "Open"

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label("Open the remotes of which lock?", classes="question")
            yield Label("Lock ID. The lock need not be in the lock book:")
            yield SingleLineInput(max_length=19, placeholder="1001")
            yield from self.compose_end(CompactButton("Add to the lock book", id="other"))

    @on(Button.Pressed, "#other")
    def _add(self) -> None:
        self._open(adds=True)

    def answer(self) -> None:
        self._open()

    def _open(self, *, adds: bool = False) -> None:
        try:
            self.dismiss((lock_id(self.query_one(Input).value), adds))
        except ValueError:
            self.refuse("Type a whole number, such as 1001.")


def removal(lock: Lock) -> ConfirmModal:
    """Return the dialog that confirms removing a lock from the lock book.

    The dialog also explains the effects.
    """
    entry_values = {
        "vendor": lock.vendor,
        "model": lock.model,
        "time zone": lock.zone,
        "last set voice": lock.voice,
    }
    details = "Nothing will change at the service. The lock keeps its remotes and its voice."
    lost = [word for word, value in entry_values.items() if value]
    warning = f"The lock book entry will be lost: name, {', '.join(lost)}." if lost else ""
    question = f"Remove {clean(lock.title, 60)} (lock {lock.lock_id}) from the lock book?"
    return ConfirmModal(
        question,
        details,
        verb="Remove from the lock book",
        keep="Keep the lock",
        warning=warning,
    )
