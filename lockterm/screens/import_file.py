"""The screen that imports a file, and the saved mappings of tables from other systems.

The screen checks the whole file, then shows a plan.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static

from lockterm.config.preferences import Preferences
from lockterm.domain.foreign_table import TableHeader
from lockterm.domain.locks import Lock
from lockterm.domain.plan import Action
from lockterm.domain.remotes import UPDATED
from lockterm.domain.safe_text import clean, without_secrets
from lockterm.domain.table_columns import NO_TYPE_MAPPED
from lockterm.domain.table_file import MOST_PROBLEMS, Problem, TableFileError
from lockterm.domain.table_map import TableMap, format_map, parse_map, suggest_map
from lockterm.errors import LocktermError, StoreError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations
from lockterm.operations.plan_files import plan_file, read_header_of
from lockterm.operations.planner import PlanDraft
from lockterm.paths import find_typed
from lockterm.screens.field_modal import is_before_plan
from lockterm.screens.form import LEAVE, FormButton, FormScreen
from lockterm.screens.plan.screen import PlanScreen
from lockterm.screens.table_map import TYPE_ROW, MapScreen
from lockterm.terminal.key_queue import opening, opens
from lockterm.widgets.actions import bindings
from lockterm.widgets.choice import Choice, OptionLine
from lockterm.widgets.completion import PathInput
from lockterm.widgets.form_field import FormField, StatusLine
from lockterm.widgets.line_table import LineTable
from lockterm.widgets.row_table import Column, RowTable
from lockterm.widgets.text_input import TextInput

KEPT_PATH = "file_path"
"""The name of the preference that stores the last typed path."""

_STAYS, _GOES = "stays", "goes"
_OTHERS = ((_STAYS, "keep"), (_GOES, "delete"))
_CHANGED = ", ".join(field.name for field in UPDATED if field.name != "remoteName")
_ABOUT = (
    "Choose a CSV table, an export of lockterm, or the table of another system. lockterm checks the"
    " whole file and shows a plan. Nothing is sent before you confirm the plan.\n\n"
    "Required columns: {lock}, and one of remoteId, remoteNumber and remoteName. The column"
    ' "action" contains add, update, delete or keep. If a row has no action, lockterm updates an'
    " existing remote or adds a new one.\n\n"
    f"Other columns: {_CHANGED}, and the fields that you can set only for a new remote."
)


class FileScreen(FormScreen[None]):
    """The screen that imports a file as a plan. Only the plan can change remotes at the service.

    Args:
        operations: The operations on the service and the local store.
        of_lock: The lock for rows that name no lock; None if each row must name a lock.
    """

    BINDINGS = bindings("file")
    BUTTONS = (
        FormButton("form.save", "check", "Check"),
        FormButton("form.more", "columns", "Columns"),
        LEAVE,
    )

    AUTO_FOCUS = "PathInput"

    STOPPED = "Stopped. Nothing was sent."

    def __init__(self, operations: Operations, of_lock: Lock | None = None) -> None:
        super().__init__(operations)
        self._of_lock = of_lock
        self._path = ""
        self._mapped: TableMap | None = None
        """The meanings that the user gave to the columns of a file; None if there are none."""
        self._problems: Sequence[Problem] = ()

    def breadcrumbs(self) -> tuple[str, ...]:
        """Return the breadcrumbs for the header, with the lock for rows that name no lock."""
        return ("Locks", self._of_lock.title, "Import") if self._of_lock else ("Import",)

    @property
    def _about(self) -> str:
        if self._of_lock is None:
            return _ABOUT.format(lock="lockId")
        named = f"{clean(self._of_lock.title, 40)} (lock {self._of_lock.lock_id})"
        whose = f"A row without lockId belongs to {named}.\n\n"
        return whose + _ABOUT.format(lock="lockId (for rows about other locks)")

    def compose_body(self) -> ComposeResult:
        """Compose the fields, the buttons, and a table for the problems of the file."""
        saved_path = self.host.choices.get(KEPT_PATH)
        self._path = saved_path if isinstance(saved_path, str) else ""
        with Vertical(id="sheet") as sheet:
            sheet.border_title = self.breadcrumbs()[-1]
            with Vertical(id="fields"):
                yield FormField("path", "File", PathInput(self._path))
                yield FormField("others", "Not in file", Choice(_OTHERS, _STAYS))
                most = TextInput(placeholder="no limit")
                yield FormField("most", "Delete at most", most)
                yield from self.compose_buttons()
            yield StatusLine(self._about)
        table = RowTable(
            Column("Line", least=4, right=True),
            Column("Column", most=12),
            Column("Value", most=20, least=6, rank=1),
            Column("Problem", most=300, least=20),
            id="problems",
        )
        table.display = False
        yield table
        problem = Static(id="problem", markup=False)
        problem.display = False
        yield problem

    # --- typing --------------------------------------------------------------------------------

    @on(PathInput.Told)
    def _tell_matches(self, event: PathInput.Told) -> None:
        self.field("path").note = event.words

    @on(PathInput.Entered)
    def _entered(self) -> None:
        self.action_check()

    @on(Input.Changed)
    @on(OptionLine.Changed)
    def _typing(self, event: Input.Changed | OptionLine.Changed) -> None:
        field = event.control.query_ancestor(FormField)
        field.error = ""
        if field.field == "path" and field.value != self._path:
            self._path = field.value
            self.soon.begin()
        if field.field == "others":
            warning = "All other remotes on the locks in the file will be deleted."
            field.warning = warning if field.value == _GOES else ""

    def keep_draft(self) -> None:
        with suppress(OSError, StoreError):  # the form works without the saved path
            self.host.choices.keep(KEPT_PATH, self._path or None)

    # --- checking ------------------------------------------------------------------------------

    def disabled_reason(self, action: str) -> str:
        """Return why an action is disabled while a check is running; empty if it is enabled."""
        return self.doing if action in ("check", "columns") else ""

    def action_check(self) -> None:
        """Check the file, and show its plan or its problems."""
        if not self.doing:
            self.under_way = self.check()

    @work
    async def check(self) -> None:
        """Read the file and its locks, and show the plan or the problems. Send no changes."""
        with opening(self, "the plan", passes=self._need_not_wait, must_appear=True):
            await self._check()

    def _need_not_wait(self, event: events.Key) -> bool:
        return is_before_plan(event) or self.refuses(event)

    def on_key(self, event: events.Key) -> None:
        """Explain that Enter has no effect while the file is checked.

        During the check no field has the focus, so that the screen receives the key.
        """
        if event.key == "enter" and self.doing:
            event.stop()
            self.notify(self.doing, title="Check")

    async def _check(self) -> None:
        typed, most = self.value_of("path"), self._most()
        if most is None:
            return
        if not typed:
            self._refuse("path", "Type the path of a file.")
            return
        focused = self.focused
        self._show_problems(())
        self.doing = f"Checking {clean(typed, 60)} ..."
        try:
            result = await self._drawn(typed)
        except LocktermError as error:
            result = error
        finally:
            if self.is_attached:
                self.doing = ""
                if focused is not None:
                    focused.focus()
        self.say(self._about)
        if isinstance(result, TableFileError):
            self._show_bad(result)
        elif isinstance(result, LocktermError):
            self.refuse_to_open(result.title, result.sentences)
        elif isinstance(result, TableHeader):
            self._ask_for_columns(result, suggest_map(result.to_map))
        elif 0 <= most < (deletes := result.plan.actions()[Action.DELETE]):
            self._refuse(
                "most",
                f'The import would delete {deletes:,} remotes, more than "Delete at most" allows.',
            )
        elif not result.plan.steps:
            what = "rows that give access" if result.plan.skipped else "rows"
            self._refuse("path", f"The file contains no {what}, so there is nothing to change.")
        else:
            self.app.push_screen(PlanScreen(result), lambda _: self._leave_after(result))

    def _leave_after(self, drawn: PlanDraft) -> None:
        """Close this screen if every step of the plan is done."""
        run = self.operations.run_here
        if run is None or run.plan.id != drawn.plan.id or not run.is_finished or drawn.left:
            return
        if run.error is None and all(step.is_done for step in run.steps.values()):
            self.dismiss(None)

    async def _drawn(self, typed: str) -> PlanDraft | LocktermError | TableHeader:
        """Return the plan that applies a file; if its columns need meanings, return its header."""
        path = _find(typed)
        header = await asyncio.to_thread(read_header_of, path)
        table_map = self._saved(header)
        if header is not None and table_map is None and header.is_foreign:
            return header
        prune = self.field("others").value == _GOES
        lock_id = self._of_lock.lock_id if self._of_lock else None
        draft = await plan_file(
            self.operations,
            path,
            f"apply {path.name}",
            prune=prune,
            lock_id=lock_id,
            table_map=table_map,
        )
        if table_map is not None and table_map != self._mapped:
            words = "lockterm uses the meanings that you saved for a table with the same columns."
            words += with_keys(" To change them, press {form.more} on the Import screen.")
            self.notify(words, title="Import")
        return draft

    def _show_bad(self, error: TableFileError) -> None:
        first, *others = error.problems
        if others or first.line or first.column:
            self.say(f"{error.counted}. Nothing was sent.", is_wrong=True)
            self._show_problems(error.problems)
        else:
            self._refuse("path", first.reason)

    def _most(self) -> int | None:
        """Return the typed maximum number of deletions; -1 for no limit, None if invalid."""
        typed = self.value_of("most")
        if not typed:
            return -1
        if typed.isascii() and typed.isdigit() and len(typed) < 10:
            return int(typed)
        self._refuse(
            "most", "Type a whole number such as 10, or leave the field empty for no limit."
        )
        return None

    # --- the table of another system -----------------------------------------------------------

    @property
    def _service(self) -> str:
        return without_secrets(self.operations.profile.base_url)

    def _saved(self, header: TableHeader | None) -> TableMap | None:
        """Return the chosen or saved meanings of a file's columns; None if there are none."""
        if header is None:
            return None
        if self._mapped is not None and self._mapped.fits(header.to_map):
            return self._mapped
        return find_saved_map(self.host.choices, self._service, header.to_map)

    @work
    @opens("the columns", must_appear=True)
    async def action_columns(self) -> None:
        """Show the columns of the file, with their saved or suggested meanings."""
        if not (typed := self.value_of("path")):
            self._refuse("path", "Type the path of a file.")
            return
        try:
            header = await asyncio.to_thread(read_header_of, _find(typed))
        except TableFileError as error:
            self._show_bad(error)
            return
        if header is None:
            self._refuse("path", "The file is not a CSV table, so it has no columns to assign.")
            return
        self._ask_for_columns(header, self._saved(header) or suggest_map(header.to_map))

    def _ask_for_columns(self, header: TableHeader, table_map: TableMap) -> None:
        path = _find(self.value_of("path"))
        screen = MapScreen(self.operations, header, table_map, path, self._of_lock)
        self.app.push_screen(screen, partial(self._take_map, header))

    def _take_map(self, header: TableHeader, table_map: TableMap | None) -> None:
        """Save the meanings of the columns, and check the file with these meanings."""
        if table_map is None:
            return
        self._mapped, reason = table_map, "There are too many columns."
        try:
            is_saved = save_map(self.host.choices, self._service, header.to_map, table_map)
        except (OSError, StoreError) as error:
            is_saved, reason = False, clean(error, 200)
        if not is_saved:
            words = f"The meanings of the columns cannot be saved. {reason}"
            self.notify(words, title="Import", severity="warning")
        self.action_check()

    # --- what is said --------------------------------------------------------------------------

    def _refuse(self, name: str, reason: str) -> None:
        """Show an error at a field, and focus the field."""
        self.field(name).error = clean(reason, 400)
        self.field(name).focus_control()

    def _show_problems(self, problems: Sequence[Problem]) -> None:
        self._problems = problems[:MOST_PROBLEMS]
        table = self.query_one(RowTable)
        table.show(
            {
                str(place): (
                    str(problem.line or ""),
                    clean(problem.column, 40),
                    clean(problem.value, 60),
                    clean(problem.reason, 400),
                )
                for place, problem in enumerate(self._problems)
            }
        )
        table.show_titles([f"Problems {len(problems):,}"])
        table.move_cursor(0)
        table.display = bool(problems)
        self.query_one("#problem").display = bool(problems)
        if problems:
            table.focus()
        self._tell_problem()

    @on(LineTable.Moved)
    def _tell_problem(self) -> None:
        """Show the full text of the selected problem."""
        key = self.query_one(RowTable).highlighted
        shown = "" if key is None else str(self._problems[int(key)])
        again = with_keys("Press {form.save} to check the file again.")
        if key is not None and self._problems[int(key)].reason == NO_TYPE_MAPPED:
            again = with_keys(f"Press {{form.more}} and choose the type in the row {TYPE_ROW}.")
        line = self.query_one("#problem", Static)
        line.update(f"{shown}\n{again}" if shown else "")
        line.display = bool(shown)


def _find(typed: str) -> Path:
    """Return the path that the user typed.

    Raises:
        TableFileError: If the path names an unknown home directory.
    """
    try:
        return find_typed(typed)
    except RuntimeError:
        raise TableFileError([Problem(0, "", "", "No such home directory.")]) from None


KEPT_MAPS = "table_maps"
"""The name of the preference that stores the mappings, the last saved first."""

MOST_BYTES = 30_000
"""The maximum size of all mappings, in bytes. The whole preferences file may have 65,536 bytes."""


def find_saved_map(
    preferences: Preferences, service: str, columns: Sequence[str]
) -> TableMap | None:
    """Return the mapping saved for a service and exactly these columns; None if there is none."""
    for one_service, text in _list_saved(preferences):
        if one_service == service and (table_map := _parse_saved(text)) and table_map.fits(columns):
            return table_map
    return None


def save_map(
    preferences: Preferences, service: str, columns: Sequence[str], table_map: TableMap
) -> bool:
    """Save the mapping for a table with these columns, in place of an earlier mapping for them.

    If the mappings together are too large, the oldest mappings are removed.

    Returns:
        Whether the mapping was saved; False if it is too large.

    Raises:
        StoreError: If the directory of the preferences cannot be created.
        OSError: If the preferences cannot be written.
    """
    maps = [(service, format_map(table_map))]
    for one_service, text in _list_saved(preferences):
        earlier = _parse_saved(text)
        if earlier and not (one_service == service and earlier.fits(columns)):
            maps.append((one_service, text))
    while sum(len(json.dumps(one)) for one in maps) > MOST_BYTES:
        maps.pop()
    if maps:
        value = [{"service": one_service, "map": text} for one_service, text in maps]
        preferences.keep(KEPT_MAPS, value)
    return bool(maps)


def _list_saved(preferences: Preferences) -> Iterator[tuple[str, str]]:
    stored = preferences.get(KEPT_MAPS)
    for one in stored if isinstance(stored, list) else ():
        if isinstance(one, dict):
            service, text = one.get("service"), one.get("map")
            if isinstance(service, str) and isinstance(text, str):
                yield service, text


def _parse_saved(text: str) -> TableMap | None:
    try:
        return parse_map(text.encode("utf-8", "replace"))
    except TableFileError:  # people may edit the file
        return None
