"""The dialogs that confirm deleting a remote, or all remotes of a lock."""

from __future__ import annotations

from lockterm.domain.locks import Lock
from lockterm.domain.remotes import RECOGNIZED, Remote
from lockterm.domain.safe_text import clean, seen_or
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.difference import find_differences
from lockterm.domain.text.remote import UNNAMED, describe_backup, format_remote, format_remote_name
from lockterm.domain.text.service import describe_clock, format_meaning
from lockterm.domain.text.validity import describe_validity
from lockterm.errors import LocktermError, RefusedError
from lockterm.operations import Operations
from lockterm.screens.dialogs.destroy import DestroyModal, TargetState
from lockterm.widgets.cells import cut


class Deletion:
    """The confirmation dialog for deleting one remote, with its data.

    Args:
        operations: The operations on the service and the local store.
        lock_entry: The lock the remote belongs to.
        remote: The remote as the list showed it. The remote with this ID is deleted even if the
            list has changed since.
    """

    def __init__(self, operations: Operations, lock_entry: Lock, remote: Remote) -> None:
        self.remote = remote
        """The remote as last read, whose values are stored as a backup."""
        self._operations = operations
        self._lock_entry = lock_entry

    def dialog(self) -> DestroyModal:
        question, numbers = _asked(self.remote, self._lock_entry)
        return DestroyModal(
            question,
            "\n".join([*numbers, "Reading the remote again ..."]),
            verb=_verb(self.remote),
            keep="Keep",
            check=self.check,
        )

    async def check(self) -> TargetState:
        """Read the remote again, because others may have changed or deleted the remote."""
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
        return TargetState(
            "\n".join(lines),
            question=question,
            verb=_verb(latest),
        )

    def _unread(self, error: LocktermError) -> str:
        lines = [
            *_asked(self.remote, self._lock_entry)[1],
            f"! lockterm could not read the remote again: {format_meaning(error)}",
            "These values may be old. lockterm reads the remote again before the deletion.",
        ]
        return "\n".join(lines)


class Clearing:
    """The confirmation dialog for deleting all remotes of a lock, with its data.

    Args:
        operations: The operations on the service and the local store.
        lock_entry: The lock, whose name or ID the user must type.
    """

    def __init__(self, operations: Operations, lock_entry: Lock) -> None:
        self.count: int | None = None
        """The number of remotes in the question of the dialog; None until they are counted."""
        self._operations = operations
        self._lock_entry = lock_entry

    def dialog(self) -> DestroyModal:
        lock = self._lock_entry
        return DestroyModal(
            f"Delete all remotes of {clean(lock.title, 60)}?",
            "Counting the remotes ...",
            verb="Delete all",
            keep="Keep the remotes",
            typed=(lock.name, str(lock.lock_id)),
            warning="Expired remotes will be deleted too. No deleted remote will open the lock.",
            check=self.check,
        )

    async def check(self) -> TargetState:
        """Count the remotes of the lock now. If that fails, the lock cannot be cleared."""
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
    """Return the question, and lines with numbers to show below it.

    Terminals disagree on the width and direction of letters beyond ASCII. The number that
    distinguishes two remotes therefore never shares a line with such letters.
    """
    who, lock = format_remote(remote), clean(lock_entry.title, 60)
    if f"{who}{lock}".isascii():
        return f"Delete {who} from {lock}?", []
    name = format_remote_name(remote, UNNAMED)
    return f"Delete {name} from {lock}?", numbers_of(remote, lock_entry)


def numbers_of(remote: Remote, lock_entry: Lock) -> list[str]:
    """Return the number and the ID of a remote, each on a line."""
    number = f"Number: {clean(seen_or(remote.remote_number, 'none'), 30)}"
    return [number, f"ID: {remote.id}, lock {lock_entry.lock_id}"]


def _verb(remote: Remote) -> str:
    """Return a label such as ``Delete Anna Weber``, short enough for two buttons in 60 columns."""
    return f"Delete {cut(format_remote_name(remote, 'it'), 28)}"
