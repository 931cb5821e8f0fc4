"""The dialog before a remote is deleted: which one, from which lock, and what is lost with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockterm.comparison import LABELS, RECOGNISED, differences
from lockterm.errors import LocktermError, Refused
from lockterm.models.locks import Lock
from lockterm.models.remote_values import values_of
from lockterm.operations import Operations
from lockterm.screens.checked_confirm import Checked, CheckedConfirm
from lockterm.text import clean
from lockterm.validity import validity
from lockterm.widgets.remote_line import cut

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote

_UNLISTED = {
    "mac": "MAC",
    "firmwareInfo": "firmware info",
    "remoteUserNo": "user number",
    "businessId": "business id",
    "remoteRight": "admin right",
    "electricQuantity": "battery",
}
"""What a service may keep to itself (2.3)."""

_NOT_IN_LISTS = {
    LABELS[field]
    for field in (
        "mac",
        "firmware_info",
        "remote_user_no",
        "business_id",
        "remote_right",
        "electric_quantity",
    )
}


class DeleteModal(CheckedConfirm):
    """Ask before deleting the remote that was under the cursor.

    Args:
        operations: The one door to service and store.
        lock_entry: The lock it belongs to.
        remote: The remote as the list showed it; its id is what is deleted, whatever the list
            shows by then.
    """

    def __init__(self, operations: Operations, lock_entry: Lock, remote: Remote) -> None:
        who = remote_title(remote)
        super().__init__(
            f"Delete {who} from {clean(lock_entry.title, 60)}?",
            "Reading it once more ...",
            verb=_verb(remote),
            keep="Keep",
        )
        self.remote = remote
        """The remote as it was last read: what is kept as its backup."""
        self._operations = operations
        self._lock_entry = lock_entry

    async def check(self) -> Checked:
        """Read the detail: it may be gone, or another than the list showed."""
        shown = self.remote
        zone, now_ms = self._operations.zone(self._lock_entry), self._operations.now_ms()
        try:
            assert shown.id is not None, "the action is disabled without an id"
            self.remote = latest = await self._operations.remote(shown.id)
        except Refused as error:
            if error.status not in (200, 404, 410):
                return Checked(_unread(error))
            return Checked(
                f"The service says: {clean(error.message, 200)}\n"
                "Somebody has probably deleted it already. Nothing was sent.",
                question=f"{remote_title(shown)} is gone.",
                possible=False,
            )
        except LocktermError as error:
            return Checked(_unread(error))
        if (other := latest.other_lock(self._lock_entry.lock_id)) is not None:
            # It could not be read back either: it is not on this lock's list.
            return Checked(
                f"! The service says that it belongs to lock {other}. Nothing was sent.",
                question=f"{remote_title(latest)} is not on {clean(self._lock_entry.title, 60)}.",
                possible=False,
            )
        lines = []
        changed = differences(values_of(shown), values_of(latest), zone, RECOGNISED)
        listed = [str(change) for change in changed if change.label not in _NOT_IN_LISTS]
        if listed:
            lines += ["! Changed since the list was read:", *listed, ""]
        valid = validity(latest, now_ms, zone)
        lines += [f"Valid: {valid.words}", f"State: {valid.state}", "", _losses(latest)]
        return Checked(
            "\n".join(lines),
            question=f"Delete {remote_title(latest)} from {clean(self._lock_entry.title, 60)}?",
            verb=_verb(latest),
        )


def remote_title(remote: Remote) -> str:
    """``Anna Weber (A-2041)``: how a remote is named in questions and notices; clean."""
    name = clean(remote.remote_name or f"remote {remote.id}", 60)
    return f"{name} ({clean(remote.remote_number, 30)})" if remote.remote_number else name


def _verb(remote: Remote) -> str:
    """``Delete Anna Weber``, short enough for a button beside another at 60 columns."""
    return f"Delete {cut(clean(remote.remote_name or 'it', 60), 28)}"


def _losses(remote: Remote) -> str:
    hidden = [words for name, words in _UNLISTED.items() if name not in remote.raw]
    if not hidden:
        return "A backup is kept here; a restored remote has a new id."
    return (
        f"A backup is kept here, without what the service does not tell: {', '.join(hidden)}."
        " A restored remote has a new id."
    )


def _unread(error: LocktermError) -> str:
    return (
        f"! It could not be read once more: {clean(error.message, 200)}\n"
        "What you see may be old; it is deleted by its id."
    )
