"""The confirmation dialogs of the remote form."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo

from rich.cells import cell_len

from lockterm.domain.glyphs import ellipsis
from lockterm.domain.locks import Lock
from lockterm.domain.remotes import FIELDS, Remote
from lockterm.domain.rules import effective
from lockterm.domain.safe_text import clean, seen_or
from lockterm.domain.text.difference import Difference, find_differences
from lockterm.domain.text.remote import describe_add, describe_update, format_remote_name
from lockterm.domain.text.shortening import describe_shortened_access
from lockterm.domain.typed_remote import TypedRemote
from lockterm.screens.dialogs.confirm import ConfirmModal

_BUTTON = 24
"""The maximum width of a name on a button, in cells, so that two buttons fit into 60 columns."""


def ask_to_add(lock_entry: Lock, reading: TypedRemote, now_ms: int, zone: tzinfo) -> ConfirmModal:
    """Return the dialog that confirms adding a remote, and lists everything to be sent."""
    wanted = effective(None, reading.values)
    name = clean(wanted.remote_name, 60)
    return ConfirmModal(
        f"Add {name} to {_title(lock_entry)}?",
        "\n".join([*describe_add(wanted, now_ms, zone), *_notes(reading.warnings)]),
        verb=f"Add {_short(name)}",
        keep="Keep editing",
    )


def ask_to_change(
    before: Remote, lock_entry: Lock, reading: TypedRemote, now_ms: int, zone: tzinfo
) -> ConfirmModal:
    """Return the dialog that confirms changing a remote, and lists old and new values."""
    name = format_remote_name(before, f"remote {before.id}")
    after = effective(before, reading.values)
    lines = describe_update(before, after, now_ms, zone)
    shortened = describe_shortened_access(before, after, now_ms, zone)
    verb = "Shorten" if shortened else "Renew" if _is_renewal(before, after, zone) else "Change"
    return ConfirmModal(
        f"{verb} {name}, number {clean(seen_or(before.remote_number, 'none'), 60)}, "
        f"on {_title(lock_entry)}?",
        "\n".join([*lines, *_notes(reading.warnings)]),
        verb=f"{verb} {_short(name)}",
        keep="Keep editing",
        warning=shortened,
    )


def ask_to_merge(before: Remote, others: list[Difference]) -> ConfirmModal:
    """Return the dialog that offers to take over changes that others made to the remote."""
    name = format_remote_name(before, f"remote {before.id}")
    return ConfirmModal(
        f"Someone else has changed {name} since you opened this form. Take over the changes?",
        "\n".join(map(str, others))
        + "\n\nIf you take over the changes, only the fields that you did not edit get new values."
        " Nothing is sent until you confirm the result.",
        verb="Take over",
        keep="Keep editing",
        unasked=True,
    )


def ask_whether_it_is(name: str, remote_id: int) -> ConfirmModal:
    """Return the dialog that asks whether a remote is the remote that this form added.

    lockterm shows the dialog if the result of adding is unknown, and exactly one remote on the lock
    matches.
    """
    return ConfirmModal(
        f"Is remote {remote_id} the remote {clean(name, 60)} that you added?",
        "Name, number, type and dates match, and no remote had this name before.",
        verb="It is this remote",
        keep="Not sure",
        unasked=True,
    )


def ask_to_leave(what: str, *, is_sent: bool) -> ConfirmModal:
    """Return the dialog that confirms leaving a form with unsaved input.

    Args:
        what: The name of the remote, which may contain control characters.
        is_sent: Whether the change was sent and its result is unconfirmed.
    """
    question, lost = f"Leave without saving {clean(what, 60)}?", "What you typed will be lost."
    if is_sent:
        question = f"Leave the form for {clean(what, 60)}?"
        lost = "The change that you sent remains unconfirmed. What you typed later will be lost."
    return ConfirmModal(question, warning=lost, verb="Leave", keep="Keep editing", loses_text=True)


def _is_renewal(before: Remote, after: Remote, zone: tzinfo) -> bool:
    """Return whether a change only sets a later end date."""
    labels = [one.label for one in find_differences(before, after, zone)]
    is_later = (after.end_ms or 0) > (before.end_ms or 0)
    return is_later and labels == [FIELDS["endDate"].label]


def _short(name: str) -> str:
    """Return a name, shortened to fit a button.

    The question above the button shows the full name.
    """
    if cell_len(name) <= _BUTTON:
        return name
    while cell_len(name) > _BUTTON - 1:
        name = name[:-1]
    return f"{name}{ellipsis()}"


def _title(lock_entry: Lock) -> str:
    title = clean(lock_entry.title, 60)
    return f"{title} (lock {lock_entry.lock_id})" if lock_entry.name else title


def _notes(warnings: Mapping[str, str]) -> list[str]:
    return [f"Note on {FIELDS[field].label}: {text}" for field, text in warnings.items()]
