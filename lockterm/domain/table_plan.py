"""The planner for table rows, which returns the steps for the remotes of a lock, or problems.

A row identifies a remote by its ID. If the row has no ID, it identifies the remote by number. If it
has no number either, it identifies the remote by name. If several remotes match, or if a
spreadsheet may have changed the value, the row has a problem, because lockterm does not guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Any

from lockterm.config.values import INT64
from lockterm.domain import rules
from lockterm.domain.bulk import NAME, order_renames, with_near_notes
from lockterm.domain.date_input import is_relative
from lockterm.domain.json_text import canonical
from lockterm.domain.names import near_key, normalize_name, to_storable
from lockterm.domain.plan import Action, Step
from lockterm.domain.reading import Field, Kind
from lockterm.domain.remotes import FIELDS, UPDATED, Remote, RemoteType, word
from lockterm.domain.safe_text import clean
from lockterm.domain.table_columns import (
    ACTION,
    LOCK,
    NO_TYPE,
    NO_TYPE_MAPPED,
    REMOTE,
    SETTABLE,
    cell_of,
    refuse_shortened,
    same_but_for_zeros,
    shown_twice,
    typed_cell,
    visible,
)
from lockterm.domain.table_file import Problem, Row
from lockterm.domain.text.remote import format_remote, format_value
from lockterm.domain.typed_remote import TypedRemote, read_typed, shown_fields, typed_of
from lockterm.errors import RuleViolationError

NUMBER, TYPE = "remoteNumber", "remoteType"

_ORDER = (Action.DELETE, Action.UPDATE, Action.ADD, Action.KEEP)
"""The order of the actions on one lock. Deletes come first, so that adds can use the names of
deleted remotes."""


class _RowError(Exception):
    """An error for a row that cannot become a step.

    Args:
        problems: Maps columns to the reasons for their problems.
    """

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(problems)
        self.problems = problems


def check_rows(rows: Sequence[Row]) -> list[Problem]:
    """Return the problems of rows that are found before lockterm reads the remotes of the locks.

    These problems are invalid IDs, unknown actions, and rows that identify no remote.
    """
    problems: list[Problem] = []
    for row in rows:
        for column in (LOCK, REMOTE):
            if reason := _wrong_id(row.text(column), column):
                problems.append(row.problem(column, reason))
        action = row.text(ACTION).casefold()
        if action and action not in _ORDER:
            reason = "The action must be add, update, delete or keep."
            problems.append(row.problem(ACTION, reason))
        if not any(row.text(column) for column in (REMOTE, NUMBER, NAME)):
            reason = "The row does not identify a remote. Add a number or a name."
            problems.append(row.problem(NUMBER, reason, ""))
    return problems


def _wrong_id(text: str, column: str) -> str:
    try:
        refuse_shortened(text)
    except ValueError as error:
        return str(error)
    if not text:
        return "A lock ID is required." if column == LOCK else ""
    if not (text.isascii() and text.isdigit() and int(text[:20]) in INT64):
        return "The ID must be a whole number, such as 1001."
    return ""


class LockPlan:
    """The planner for one lock, which compares rows with the lock's remotes.

    Args:
        lock_id: The ID of the lock.
        remotes: All remotes of the lock.
        zone: The time zone of the lock.
        now_ms: Now, in milliseconds.
    """

    def __init__(self, lock_id: int, remotes: Sequence[Remote], zone: tzinfo, now_ms: int) -> None:
        self.lock_id = lock_id
        self.problems: list[Problem] = []
        self._zone = zone
        self._now_ms = now_ms
        self._by_id = {remote.id: remote for remote in remotes if remote.id is not None}
        self._by_text: dict[str, dict[str, list[Remote]]] = {NUMBER: {}, NAME: {}}
        for column, found in self._by_text.items():
            for remote in self._by_id.values():
                for spelled in _spellings(SETTABLE[column].of(remote)) - {""}:
                    found.setdefault(spelled, []).append(remote)
        self._near: dict[str, dict[str, list[Remote]]] = {}
        self._deleted: set[int | None] = set()
        """The IDs of the remotes that the rows delete."""
        self._claimed: set[int | None] = set()
        """The IDs of the remotes that :meth:`_claim` has found for the rows."""
        self._prune = False
        self._received = {name for remote in remotes for name in remote.raw}
        """The names of all fields that the service sent for the remotes."""
        self._lines: dict[object, int] = {}
        """Maps the target of a row (a remote ID, or a new name or number) to the line of the
        row."""
        self._steps: list[tuple[Row, Step]] = []

    def take(self, rows: Sequence[Row], *, prune: bool) -> list[Step]:
        """Return the steps for the rows, and add the problems of the rows to :attr:`problems`.

        If a row has a problem, the result is empty.

        Args:
            rows: The rows for this lock.
            prune: Whether to delete the remotes of the lock that no row mentions.
        """
        self._prune = prune
        self._claimed = {self._claim(row) for row in rows} - {None}
        # Deletes come first, because they free names and numbers for the other rows.
        for row in sorted(rows, key=lambda row: row.text(ACTION).casefold() != Action.DELETE):
            try:
                self._steps.append((row, self._planned(row)))
            except _RowError as error:
                self.problems += [row.problem(*one) for one in error.problems.items()]
        places = {id(row): place for place, row in enumerate(rows)}
        self._steps.sort(key=lambda one: places[id(one[0])])
        listed = {step.remote_id for _, step in self._steps}
        steps = [step for _, step in self._steps]
        if prune and not self.problems:
            steps += [
                self._step(Action.DELETE, remote)
                for remote_id, remote in self._by_id.items()
                if remote_id not in listed
            ]
        self._check_names(steps)
        if self.problems:
            return []
        steps = with_near_notes(steps, self._by_id.values())
        updates = [step for step in steps if step.action is Action.UPDATE]
        others = [step for step in steps if step.action is not Action.UPDATE]
        names = {normalize_name(one.remote_name) for one in self._by_id.values()}
        names |= {normalize_name(step.wanted[NAME]) for step in steps if NAME in step.wanted}
        ordered = [*others, *order_renames(updates, names)]
        return sorted(ordered, key=lambda step: _ORDER.index(step.action))

    def _claim(self, row: Row) -> int | None:
        """Return the ID of the remote that a row identifies by ID or number.

        If a row for a delete has no ID, and no remote has its number, its name identifies the
        remote. An ID is returned even if no remote has it. The result is None if no remote or
        several remotes have the number or the name.
        """
        if text := row.text(REMOTE):
            return int(text)
        some = self._by_text[NUMBER].get(normalize_name(row.text(NUMBER)), [])
        if not some and row.text(ACTION).casefold() == Action.DELETE:
            some = self._by_text[NAME].get(normalize_name(row.text(NAME)), [])
        return some[0].id if len(some) == 1 else None

    def _planned(self, row: Row) -> Step:
        typed = row.text(ACTION).casefold()
        action = Action(typed) if typed else None
        if unknown := [name for name in row.raw or () if not self._is_known(name)]:
            raise _RowError(dict.fromkeys(unknown, "Unknown field."))
        before = self._meant(row, action)
        self._note(row, before)
        if before is None:
            if action is Action.DELETE:
                return self._step(Action.KEEP, None, row, message="The remote is not on the lock.")
            if action in (Action.UPDATE, Action.KEEP):
                raise _RowError({ACTION: f"Lock {self.lock_id} has no such remote."})
            return self._added(row)
        if action is Action.DELETE:
            self._require_name(row, before)
            self._deleted.add(before.id)
        if action in (Action.DELETE, Action.KEEP):
            return self._step(action, before, row)
        step = self._updated(row, before)
        if action is Action.ADD and step.action is not Action.KEEP:
            column = NUMBER if row.text(NUMBER) == before.remote_number else NAME
            raise _RowError({column: f"The lock already has this remote, as remote {before.id}."})
        return step

    def _is_known(self, name: str) -> bool:
        """Return whether a name in a JSON record is a column, or a field that the service sends."""
        return name in FIELDS or name in (ACTION, REMOTE) or name in self._received

    # --- which remote ----------------------------------------------------------------------

    def _meant(self, row: Row, action: Action | None) -> Remote | None:
        """Return the existing remote that a row identifies; None if there is none.

        Raises:
            _RowError: The ID does not fit the action, it is not certain which remote the row means,
                or a spreadsheet may have changed the value.
        """
        if text := row.text(REMOTE):
            if action is Action.ADD:
                raise _RowError(
                    {REMOTE: "The service assigns the IDs of new remotes. Leave the cell empty."}
                )
            if (found := self._by_id.get(int(text))) is not None or action is Action.DELETE:
                return found
            raise _RowError({REMOTE: f"Lock {self.lock_id} has no remote with this ID."})
        for column in (NUMBER, NAME):
            text = normalize_name(row.text(column))
            some = self._by_text[column].get(text, []) if text else []
            if len(some) == 1 and self._is_replaced(row, action, column, some[0]):
                return None
            if len(some) == 1:
                return some[0]
            if some:
                ids = ", ".join(f"{remote.id} {format_remote(remote)}" for remote in some[:5])
                raise _RowError(
                    {column: f"Several remotes match: {ids}. Choose one with remoteId."}
                )
            try:
                refuse_shortened(text)
            except ValueError as error:
                raise _RowError({column: str(error)}) from None
            for other in self._by_text[column] if text.isdecimal() else ():
                if same_but_for_zeros(text, other):
                    raise _RowError({column: _lost_zeros(other)})
            is_new = column == NAME and row.text(NUMBER) and action in (Action.ADD, None)
            if text and not is_new and (near := self._near_to(column, text)):
                raise _RowError({column: _almost(near, column)})
        return None

    def _is_replaced(self, row: Row, action: Action | None, column: str, found: Remote) -> bool:
        """Return whether a row adds a remote in place of the existing remote that matches the row.

        Args:
            row: The row.
            action: The action of the row; None if the row does not state one.
            column: The column by which ``found`` matches the row: number or name.
            found: The existing remote, which has the number or the name in the row.

        Raises:
            _RowError: The existing remote has another number, and no row changes or deletes it.
        """
        number, other = row.text(NUMBER), found.remote_number or ""
        if column == NUMBER or not number or not other or action in (Action.DELETE, Action.KEEP):
            return action is Action.ADD and found.id in self._deleted
        if found.id in self._claimed or self._prune:
            return True
        shown = clean(other, 40)
        reason = (
            f"Remote {found.id} has this name and the number {shown}, so the fob of this row will"
            f" not open the lock. To replace {shown}, add a row with the action delete for it."
        )
        raise _RowError({NAME: reason})

    def _near_to(self, column: str, text: str) -> list[Remote]:
        """Return the remotes whose name or number may be confused with a text.

        Remotes that the rows delete are left out. See :func:`lockterm.domain.names.near_key`.
        """
        if column not in self._near:
            found: dict[str, list[Remote]] = {}
            self._near[column] = found
            for spelled, some in self._by_text[column].items():
                found.setdefault(near_key(spelled), []).extend(some)
        some = self._near[column].get(near_key(text), []) if near_key(text) else []
        return [remote for remote in some if remote.id not in self._deleted]

    def _note(self, row: Row, before: Remote | None) -> None:
        """Store the line of a row, and check that no other row concerns the same remote.

        Args:
            row: The row.
            before: The existing remote; None if the row adds one. In this case, the number and the
                name of the row must not be in another such row.

        Raises:
            _RowError: Another row concerns the same remote.
        """
        targets: dict[object, str] = {}
        if before is not None:
            targets[before.id] = REMOTE if row.text(REMOTE) else NAME
        else:
            for column in (NUMBER, NAME):
                if text := normalize_name(row.text(column)):
                    targets[column, text] = column
        for target, column in targets.items():
            if (line := self._lines.setdefault(target, row.line)) != row.line:
                raise _RowError({column: f"Duplicate of line {line}."})

    def _require_name(self, row: Row, before: Remote) -> None:
        """Check that a remote to delete still has the number and the name in its row.

        Raises:
            _RowError: The number or the name differs.
        """
        for column in (NUMBER, NAME):
            text = normalize_name(row.text(column))
            if text and text not in _spellings(SETTABLE[column].of(before)):
                raise _RowError(
                    {column: f"Remote {before.id} is now named {format_remote(before)}."}
                )

    # --- wanted values ---------------------------------------------------------------------

    def _added(self, row: Row) -> Step:
        typed = typed_of(None, self._zone)
        given = self._typed(row, None)
        # An empty cell has no meaning for these fields, so the initial value of the form stays.
        typed |= {
            name: text
            for name, text in given.items()
            if text or name not in ("addType", "isCoerced")
        }
        reading = self._read(row, typed, given, None)
        try:
            wanted = rules.new_remote(self.lock_id, reading.values).body()
        except RuleViolationError as error:
            raise _RowError(error.reasons) from None
        del wanted[LOCK]
        name = reading.values.remote_name or ""
        return Step(0, Action.ADD, self.lock_id, None, name, wanted, line=row.line)

    def _updated(self, row: Row, before: Remote) -> Step:
        given = self._typed(row, before)
        fixed: dict[str, str] = {}
        for name, field in SETTABLE.items():
            if field not in UPDATED and self._differs(field, given.pop(name, ""), before):
                value = format_value(field, field.of(before), self._zone)
                fixed[name] = f"This field cannot be changed. Its value is {value}."
        if fixed:
            raise _RowError(fixed)
        reading = self._read(row, given, given, before)
        try:
            wanted = rules.differing(before, reading.values)
        except RuleViolationError as error:
            raise _RowError(error.reasons) from None
        if not wanted:
            return self._step(Action.KEEP, before, row)
        if lost := rules.unread(before, reading.values):
            raise _RowError(lost)
        counted = ""
        if "endDate" in wanted and is_relative(given.get("endDate", "")):
            counted = f"End: {reading.notes['endDate'].rpartition('; ')[2]}."
        return self._step(Action.UPDATE, before, row, wanted, message=counted)

    def _typed(self, row: Row, before: Remote | None) -> dict[str, str]:
        """Return the wanted values of a row as typed texts, without unchanged values.

        Args:
            row: The row.
            before: The remote that the row changes; None if the row adds one.

        Raises:
            _RowError: A cell has no valid value.
        """
        typed: dict[str, str] = {}
        wrong: dict[str, str] = {}
        for name, field in SETTABLE.items():
            if name not in row.cells or (before is not None and self._is_kept(row, field, before)):
                continue
            if name in row.odd:
                wrong[name] = f"This field requires {field.kind.value}."
                continue
            try:
                typed[name] = typed_cell(field, row.cells[name], self._zone, self._now_ms)
            except ValueError as error:
                wrong[name] = str(error)
        if wrong:
            raise _RowError(wrong)
        if before is not None and same_but_for_zeros(
            typed.get(NAME, ""), (before.remote_name or "").strip()
        ):
            raise _RowError({NAME: _lost_zeros(before.remote_name or "")})
        return typed

    def _is_kept(self, row: Row, field: Field, before: Remote) -> bool:
        """Return whether a row does not change a field of a remote.

        The field stays if the row has the text that an export of the present remote would have. The
        field also stays if the text is a default value of a mapping and the remote already has a
        value. Otherwise, a default such as ``now`` would change the remote on each import. A
        default type is always used, because the dates of the row depend on the type.
        """
        if row.raw is not None and field.name in row.raw:
            was = before.raw.get(field.name)
            if canonical(row.raw[field.name]) == canonical(was):
                return True
        present = cell_of(field, before, self._zone)
        is_filled = field.name in row.filled and field.name != TYPE
        return row.cells[field.name] == present or (is_filled and bool(present))

    def _differs(self, field: Field, text: str, before: Remote) -> bool:
        """Return whether a text differs from the value of a field that no update can change.

        The result is false if the text is empty, or if the service did not send the field.

        Raises:
            _RowError: The text differs from the number only in leading zeros.
        """
        if not text or (field.name not in before.raw and field.of(before) is None):
            return False  # fields that the service does not return cannot be compared
        if field.name == NUMBER and same_but_for_zeros(text, before.remote_number or ""):
            raise _RowError({NUMBER: _lost_zeros(before.remote_number or "")})
        wanted = read_typed({field.name: text}, self._zone, self._now_ms).values
        return not rules.is_same(field, field.of(wanted), field.of(before))

    def _read(
        self, row: Row, typed: Mapping[str, str], given: Mapping[str, str], before: Remote | None
    ) -> TypedRemote:
        reading = read_typed(typed, self._zone, self._now_ms, before)
        wrong = dict(reading.errors)
        twice = {name: shown_twice(two, self._zone) for name, two in reading.choices.items()}
        wrong |= {name: sentence for name, sentence in twice.items() if name in wrong}
        kind = reading.values.remote_type
        if before is None and TYPE in wrong and not row.text(TYPE):
            wrong[TYPE] = NO_TYPE_MAPPED if row.origins else NO_TYPE
        if TYPE not in wrong:
            shown = shown_fields(kind, adding=before is None)
            for name, text in given.items():
                is_set = FIELDS[name].kind is Kind.DATE or FIELDS[name].of(reading.values)
                if text and name not in shown and is_set and name not in row.filled:
                    target = f"a {word(RemoteType, kind)} remote"
                    wrong[name] = f"This field does not apply to {target}. Leave the cell empty."
        if wrong:
            raise _RowError(wrong)
        return reading

    def _step(
        self,
        action: Action,
        before: Remote | None,
        row: Row | None = None,
        wanted: Mapping[str, Any] | None = None,
        message: str = "",
    ) -> Step:
        remote_id = int(row.text(REMOTE) or 0) or None if row else None
        name = row.text(NAME) if row else ""
        if before is not None:
            remote_id, name = before.id, before.remote_name or ""
        return Step(
            number=0,
            action=action,
            lock_id=self.lock_id,
            remote_id=remote_id,
            remote_name=to_storable(name),
            wanted=wanted or {},
            before=before.raw if before else {},
            line=row.line if row else None,
            message=message,
        )

    def _check_names(self, found: Sequence[Step]) -> None:
        """Add a problem for each name that two remotes would have, because the service refuses it.

        Args:
            found: All steps for the lock.
        """
        steps = {step.remote_id: step for step in found if step.remote_id}
        taken: dict[str, str] = {}
        for remote in self._by_id.values():
            planned = steps.get(remote.id or 0)
            is_kept = planned is None or planned.action is not Action.DELETE
            if is_kept and (planned is None or NAME not in planned.wanted):
                taken[normalize_name(remote.remote_name)] = f"remote {remote.id}"
        for row, step in self._steps:
            if (wanted := step.wanted.get(NAME)) is None:
                continue
            name = normalize_name(wanted)
            if name in taken:
                reason = f"The name is taken by {taken[name]}."
                self.problems.append(row.problem(NAME, reason, wanted))
            taken[name] = f"line {row.line}"


def _spellings(text: str | None) -> set[str]:
    """Return the ways to write a name or number in a table: unchanged or with escapes."""
    return {normalize_name(one).strip() for one in (text or "", visible(text or ""))}


def _almost(near: Sequence[Remote], column: str) -> str:
    named = ", ".join(f"{one.id} {format_remote(one)}" for one in near[:5])
    called = SETTABLE[column].called
    return (
        f"No remote has exactly this {called}, but a similar one exists: {named}. Write"
        f" its {called} exactly, or write its remoteId."
    )


def _lost_zeros(other: str) -> str:
    return (
        f"The lock has {other}. A spreadsheet may have dropped the zeros. Format the"
        " column as text and type the number again."
    )
