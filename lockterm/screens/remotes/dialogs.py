"""The dialogs of the remotes: delete a remote or all, replace a fob, choose the columns."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, Label, OptionList
from textual.widgets.option_list import Option

from lockterm.domain.locks import Lock
from lockterm.domain.remotes import FIELDS, RECOGNIZED, Remote
from lockterm.domain.safe_text import clean, seen_or
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.remote import (
    UNNAMED,
    describe_backup,
    find_differences,
    format_remote,
    format_remote_name,
)
from lockterm.domain.text.replacement import name_people
from lockterm.domain.text.service import describe_clock, format_meaning
from lockterm.domain.text.validity import describe_validity
from lockterm.errors import LocktermError, RefusedError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations
from lockterm.operations.replacing import plan_replacements
from lockterm.screens.dialogs.choice import ChoiceList
from lockterm.screens.dialogs.destroy import DestroyModal, TargetState
from lockterm.screens.field_modal import PlanModal
from lockterm.screens.modal import LocktermModal
from lockterm.screens.remotes.columns import ALWAYS, COLUMNS, USUAL, Arrangement, SortOrder
from lockterm.screens.remotes.table import RemotesTable
from lockterm.widgets.actions import bindings
from lockterm.widgets.cells import cut
from lockterm.widgets.form_field import CompactButton
from lockterm.widgets.text_input import SingleLineInput


class DeleteModal(DestroyModal):
    """The confirmation dialog for deleting one remote.

    Args:
        operations: The operations on the service and the local store.
        lock_entry: The lock the remote belongs to.
        remote: The remote as the list showed it. The remote with this ID is deleted even if the
            list has changed since.
    """

    reads_target = True

    def __init__(self, operations: Operations, lock_entry: Lock, remote: Remote) -> None:
        self.remote = remote
        """The remote as last read, whose values are stored as a backup."""
        self._operations = operations
        self._lock_entry = lock_entry
        question, numbers = _asked(remote, lock_entry)
        details = "\n".join([*numbers, "Reading the remote again ..."])
        super().__init__(question, details, verb=_verb(remote), keep="Keep")

    async def read_target(self) -> TargetState:
        """Return the present state of the remote, because others may have changed or deleted it."""
        shown = self.remote
        zone, connection = self._operations.zone(self._lock_entry), self._operations.connection
        try:
            assert shown.id is not None, "the action is disabled without an id"
            self.remote = latest = await self._operations.remotes.detail(shown.id)
        except RefusedError as error:
            if not error.is_gone:
                return TargetState(self._unread(error))
            return TargetState(
                f"The service reports: {format_meaning(error)}\nSomeone else has"
                " probably deleted the remote. lockterm deleted nothing.",
                question=f"{format_remote(shown)} no longer exists.",
                possible=False,
            )
        except LocktermError as error:
            return TargetState(self._unread(error))
        if (other := latest.other_lock(self._lock_entry.lock_id)) is not None:
            # A deletion could not be verified, because the remote is not on this lock's list.
            return TargetState(
                f"! The remote is now on lock {other}. lockterm deleted nothing.",
                question=f"{format_remote(latest)} is not on {clean(self._lock_entry.title, 60)}.",
                possible=False,
            )
        question, lines = _asked(latest, self._lock_entry)
        if changed := find_differences(shown, latest, zone, RECOGNIZED):
            lines += ["! The remote has changed since the list was read:", *map(str, changed), ""]
        valid = describe_validity(latest, connection.now_ms(), zone)
        lines += [f"Valid: {valid.words}", f"State: {valid.word}"]
        if connection.doubts_clock:
            lines.append(describe_clock(connection.clock_offset_s or 0))
        lines += ["", describe_backup(latest.raw)]
        return TargetState("\n".join(lines), question=question, verb=_verb(latest))

    def _unread(self, error: LocktermError) -> str:
        lines = [
            *_asked(self.remote, self._lock_entry)[1],
            f"! lockterm could not read the remote again: {format_meaning(error)}",
            "These values may be old. lockterm reads the remote again before the deletion.",
        ]
        return "\n".join(lines)


class ClearModal(DestroyModal):
    """The confirmation dialog for deleting all remotes of a lock.

    Args:
        operations: The operations on the service and the local store.
        lock_entry: The lock, whose name or ID the user must type.
    """

    reads_target = True

    def __init__(self, operations: Operations, lock_entry: Lock) -> None:
        self.count: int | None = None
        """The number of remotes in the question of the dialog; None until they are counted."""
        self._operations = operations
        self._lock_entry = lock_entry
        super().__init__(
            f"Delete all remotes of {clean(lock_entry.title, 60)}?",
            "Counting the remotes ...",
            verb="Delete all",
            keep="Keep the remotes",
            typed=(lock_entry.name, str(lock_entry.lock_id)),
            warning="Expired remotes will be deleted too. No deleted remote will open the lock.",
        )

    async def read_target(self) -> TargetState:
        """Return texts with the present number of remotes, or why they could not be counted."""
        name = clean(self._lock_entry.title, 60)
        try:
            seen = await self._operations.remotes.page(self._lock_entry.lock_id, 1, 1, fresh=True)
        except LocktermError as error:
            reason = (
                f"! lockterm could not count the remotes: {format_meaning(error)}"
                "\nlockterm deleted nothing."
            )
            return TargetState(reason, possible=False)
        self.count = count = seen.value.least
        if not count:
            return TargetState(
                "There is nothing to delete.", f"{name} has no remotes.", possible=False
            )
        first = next(iter(seen.value.remotes), None)
        remotes = format_count(count, "remote")
        return TargetState(
            describe_backup(first.raw if first else {}, many=True),
            question=f"Delete all {remotes} of {name}?",
            verb=f"Delete {remotes}",
        )


def _asked(remote: Remote, lock_entry: Lock) -> tuple[str, list[str]]:
    """Return the question, and the lines to show below the question.

    If the names are ASCII, the question contains the remote's number, and there are no lines.
    Otherwise, the lines contain the number and the ID. Terminals disagree on the width and
    direction of letters beyond ASCII, so a number never shares a line with such letters.
    """
    who, lock = format_remote(remote), clean(lock_entry.title, 60)
    if f"{who}{lock}".isascii():
        return f"Delete {who} from {lock}?", []
    name = format_remote_name(remote, UNNAMED)
    return f"Delete {name} from {lock}?", numbers_of(remote, lock_entry)


def numbers_of(remote: Remote, lock_entry: Lock) -> list[str]:
    """Return a line with the number of a remote, and a line with its ID and the lock ID."""
    number = f"Number: {clean(seen_or(remote.remote_number, 'none'), 30)}"
    return [number, f"ID: {remote.id}, lock {lock_entry.lock_id}"]


def _verb(remote: Remote) -> str:
    """Return a label such as ``Delete Anna Weber``, short enough for two buttons in 60 columns."""
    return f"Delete {cut(format_remote_name(remote, 'it'), 28)}"


_NAMED = 3
"""The maximum number of old fob numbers that the dialog lists."""


class ReplaceModal(PlanModal):
    """A dialog for the number and the MAC address of a new fob.

    The result is the plan that replaces the fob on the lock of each target, or None if canceled.

    Args:
        operations: The operations on the service and the local store.
        targets: The remotes whose fob is replaced, each with its lock.
    """

    heading = "Replace"

    hint = "lockterm shows a plan. Nothing is sent before you confirm it."

    def __init__(self, operations: Operations, targets: Sequence[tuple[Lock, Remote]]) -> None:
        super().__init__()
        self._operations = operations
        self._targets = targets
        self._number = self._mac = ""

    @property
    def _locks(self) -> str:
        """The title of the lock, or the number of locks if there are several, as safe text."""
        locks = {lock.lock_id: lock for lock, _ in self._targets}
        if len(locks) > 1:
            return f"{len(locks):,} locks"
        return clean(self._targets[0][0].title, 60)

    def _old_fobs(self) -> str:
        """Return a text with the number of the old fob, or the numbers of the old fobs."""
        lock, remote = self._targets[0]
        if len(self._targets) == 1:
            return "\n".join(numbers_of(remote, lock))
        numbers = dict.fromkeys(remote.remote_number or "none" for _, remote in self._targets)
        named = ", ".join(clean(one, 30) for one in [*numbers][:_NAMED])
        more = f" and {len(numbers) - _NAMED:,} more" if len(numbers) > _NAMED else ""
        return f"Old number{'s' * (len(numbers) > 1)}: {named}{more}"

    def compose(self) -> ComposeResult:
        who = name_people([remote for _, remote in self._targets])
        with Vertical(classes="dialog"):
            question = f"Replace the fob of {who} on {self._locks}?"
            yield Label(question, classes="question", markup=False)
            yield Label(self._old_fobs(), id="old", markup=False)
            yield Label("Number of the new fob:", classes="ask")
            yield _field("number")
            yield Label(f"{FIELDS['mac'].label} of the new fob (optional):")
            yield _field("mac", "leave empty if unknown")
            yield from self.compose_end()

    def read_fields(self) -> str:
        self._number = self.query_one("#number", Input).value
        self._mac = self.query_one("#mac", Input).value
        return ""

    async def make_plan(self) -> None:
        """Read the locks, make the plan, and close the dialog with the plan as its result."""
        what = "the lock" if len(self._targets) == 1 else self._locks
        self.show_reading(f"Reading {what}. Press Esc to stop.")
        rows = [(lock.lock_id, remote) for lock, remote in self._targets]
        self.dismiss(await plan_replacements(self._operations, rows, self._number, self._mac))


def _field(name: str, placeholder: str = "") -> SingleLineInput:
    """Return an empty text field."""
    return SingleLineInput(id=name, placeholder=placeholder)


_COLUMN_KEYS = (
    "{columns.show} show, {columns.down}/{columns.up} move, {columns.sort} sort,"
    " {columns.usual} default, {columns.use} use, Esc leave"
)


class ColumnsModal(LocktermModal[Arrangement | None]):
    """A dialog in which the user chooses the columns, their order and the sort order.

    The result is the chosen arrangement, or None if the dialog was canceled. Every column has a
    line in the dialog, whether or not the table shows it.

    Args:
        table: The table whose columns the user chooses.
    """

    BINDINGS = bindings("columns")

    heading = "Columns"

    def __init__(self, table: RemotesTable) -> None:
        super().__init__()
        self._table = table
        self._take(table.arrangement)

    @property
    def chosen(self) -> Arrangement:
        """The arrangement that the dialog shows at the moment."""
        shown = tuple(key for key in self._keys if key in self._shown)
        return Arrangement.of(shown, self._order)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label("Columns of the remotes", markup=False, classes="question")
            yield ChoiceList(*map(Option, self._lines()), compact=True, markup=False)
            yield Label(self._describe_fit(), id="fit", markup=False)
            yield Label(self._describe_order(), id="sort", markup=False)
            yield Label(with_keys(_COLUMN_KEYS), markup=False, classes="hint")
            with Horizontal(classes="buttons"):
                yield CompactButton("Cancel", id="keep")
                yield CompactButton("Use these columns", "primary", id="act")

    def on_mount(self) -> None:
        self.query_one(ChoiceList).focus()
        self.query_one(ChoiceList).highlighted = 0

    # --- texts ---------------------------------------------------------------------------------

    def _lines(self) -> list[Content]:
        without_room = self._table.left_out(self.chosen)
        lines = []
        for key in self._keys:
            box = "[ ]" if key not in self._shown else "[-]" if key in without_room else "[x]"
            column, order = COLUMNS[key], self._order
            marker = order.marker if order is not None and order.key == key else " "
            lines.append(Content(f"{box} {column.title:<8} {marker} {column.about}"))
        return lines

    def _describe_fit(self) -> str:
        without_room = self._table.left_out(self.chosen)
        if not without_room:
            return "All columns fit."
        count = "1 column does" if len(without_room) == 1 else f"{len(without_room)} columns do"
        return f"[-] {count} not fit: {', '.join(COLUMNS[key].title for key in without_room)}"

    def _describe_order(self) -> str:
        if self._order is None:
            return "Rows in the order of the service."
        text = self._order.description
        return f"{text[0].upper()}{text[1:]}, on each page separately."

    # --- what is chosen ------------------------------------------------------------------------

    def _take(self, arrangement: Arrangement) -> None:
        shown = arrangement.columns or USUAL
        self._keys = [*shown, *(key for key in COLUMNS if key not in shown)]
        self._shown = set(shown)
        self._order = arrangement.order

    def _at(self) -> int | None:
        """Return the index of the highlighted line; None if a button has the focus."""
        choices = self.query_one(ChoiceList)
        return choices.highlighted if choices.has_focus else None

    def _repaint(self, place: int) -> None:
        choices = self.query_one(ChoiceList)
        for index, line in enumerate(self._lines()):
            choices.replace_option_prompt_at_index(index, line)
        choices.highlighted = place
        self.query_one("#fit", Label).update(self._describe_fit())
        self.query_one("#sort", Label).update(self._describe_order())

    # --- actions -------------------------------------------------------------------------------

    def action_show(self) -> None:
        """Show or hide the highlighted column. The name column cannot be hidden."""
        if (place := self._at()) is None:
            return
        key = self._keys[place]
        if key == ALWAYS:
            self.query_one("#fit", Label).update("The name column is always shown.")
            return
        self._shown ^= {key}
        self._repaint(place)

    def action_move(self, by: int) -> None:
        place = self._at()
        if place is not None and 0 <= place + by < len(self._keys):
            keys = self._keys
            keys[place], keys[place + by] = keys[place + by], keys[place]
            self._repaint(place + by)

    def action_sort(self) -> None:
        """Sort by the highlighted column: first ascending, then descending, then unsorted."""
        if (place := self._at()) is None:
            return
        self._order = SortOrder.after(self._order, self._keys[place])
        self._repaint(place)

    def action_usual(self) -> None:
        """Choose the default columns and the order of the service."""
        self._take(Arrangement())
        self._repaint(0)

    def action_use(self) -> None:
        self.dismiss(self.chosen)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.action_show()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(self.chosen if event.button.id == "act" else None)
