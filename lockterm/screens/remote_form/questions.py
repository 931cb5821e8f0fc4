"""What the remote form asks before it sends anything, in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo

from rich.cells import cell_len

from lockterm.domain.constants import RemoteType, word
from lockterm.domain.differences import Difference, differences, in_words
from lockterm.domain.glyphs import ellipsis
from lockterm.domain.locks import Lock
from lockterm.domain.reading import Kind
from lockterm.domain.remotes import ADDED, FIELDS, Remote
from lockterm.domain.rules import OPENS_AGAIN, effective, opens_again, touches_validity
from lockterm.domain.shortening import describe_change
from lockterm.domain.text import clean, seen_or
from lockterm.domain.typed_remote import TypedRemote
from lockterm.domain.validity import period_words
from lockterm.domain.wording import name_or
from lockterm.screens.dialogs.confirm import ConfirmModal

_BUTTON = 24
"""Columns for a name on a button, so that two fit side by side into 60 columns."""


def ask_to_add(lock_entry: Lock, reading: TypedRemote, now_ms: int, zone: tzinfo) -> ConfirmModal:
    """Ask whether to add a remote, with everything that will be sent."""
    wanted = effective(None, reading.values)
    name = clean(wanted.remote_name, 60)
    return ConfirmModal(
        f"Add {name} to {_title(lock_entry)}?",
        "\n".join([*lines_of_add(wanted, now_ms, zone), *_notes(reading.warnings)]),
        verb=f"Add {_short(name)}",
        keep="Keep editing",
    )


def lines_of_add(wanted: Remote, now_ms: int, zone: tzinfo) -> list[str]:
    """What adding a remote sets, a line for each value; its name stands above them."""
    added = FIELDS["addType"]
    lines = [
        f"Number: {clean(wanted.remote_number, 60)}",
        _validity(wanted, now_ms, zone),
        f"{added.label} {in_words(added, added.of(wanted), zone)}",
    ]
    for field in ADDED:  # the rest, where it is not what most remotes have
        value = field.of(wanted)
        is_told = field.required or field.kind in (Kind.DATE, Kind.WEEKDAYS)
        if not is_told and value is not None and str(value) != field.first:
            lines.append(f"{field.label}: {in_words(field, value, zone)}")
    return lines


def ask_to_change(
    before: Remote, lock_entry: Lock, reading: TypedRemote, now_ms: int, zone: tzinfo
) -> ConfirmModal:
    """Ask whether to change or shorten a remote: each field before and after, and its period."""
    name = name_or(before, f"remote {before.id}")
    after = effective(before, reading.values)
    lines = lines_of_change(before, after, now_ms, zone)
    shortened = describe_change(before, after, now_ms, zone)
    verb = "Shorten" if shortened else "Change"
    return ConfirmModal(
        f"{verb} {name}, number {clean(seen_or(before.remote_number, 'none'), 60)}, "
        f"on {_title(lock_entry)}?",
        "\n".join([*lines, *_notes(reading.warnings)]),
        verb=f"{verb} {_short(name)}",
        keep="Keep editing",
        warning=shortened,
    )


def lines_of_change(before: Remote, after: Remote, now_ms: int, zone: tzinfo) -> list[str]:
    """What a change sets: each field before and after, and when it opens then."""
    lines = [OPENS_AGAIN] if opens_again(before, after, now_ms) else []
    lines += [str(item) for item in differences(before, after, zone)]
    if touches_validity(before, after):
        lines.append(f"After it: {_validity(after, now_ms, zone)}")
    return lines


def ask_to_merge(before: Remote, others: list[Difference]) -> ConfirmModal:
    """Ask whether to go on from a remote that someone else has changed meanwhile."""
    name = name_or(before, f"remote {before.id}")
    return ConfirmModal(
        f"{name} was changed by someone else since this form was opened.",
        "\n".join(map(str, others))
        + "\n\nTake over: the fields you did not touch get the new values; what you typed stays. "
        "Nothing is sent before you have seen the result.",
        verb="Take over",
        keep="Keep editing",
        unasked=True,
    )


def ask_whether_it_is(name: str, remote_id: int) -> ConfirmModal:
    """Ask whether the only remote like one that was added without an answer is that one."""
    return ConfirmModal(
        f"Is remote {remote_id} the {clean(name, 60)} that was added here?",
        "Name, number, type and dates are the same, and the name was free before.",
        verb="It is the one",
        keep="Not sure",
        unasked=True,
    )


def ask_to_leave(what: str, *, is_sent: bool) -> ConfirmModal:
    """Ask whether to leave a form in which something was typed.

    Args:
        what: The name of the remote; may be hostile.
        is_sent: Whether it was sent and is not settled, so that it may be recorded.
    """
    question, lost = f"Leave without saving {clean(what, 60)}?", "What you typed is lost."
    if is_sent:
        question = f"Leave the form of {clean(what, 60)}?"
        lost = "The change that was sent stays under UNSETTLED. What was typed after it is lost."
    return ConfirmModal(question, lost, verb="Leave", keep="Keep editing", loses_text=True)


def _short(name: str) -> str:
    """A name that fits on a button: the question above has it whole."""
    if cell_len(name) <= _BUTTON:
        return name
    while cell_len(name) > _BUTTON - 1:
        name = name[:-1]
    return f"{name}{ellipsis()}"


def _title(lock_entry: Lock) -> str:
    title = clean(lock_entry.title, 60)
    return f"{title} (lock {lock_entry.lock_id})" if lock_entry.name else title


def _validity(wanted: Remote, now_ms: int, zone: tzinfo) -> str:
    kind = word(RemoteType, wanted.remote_type).capitalize()
    return f"{kind}: {period_words(wanted, now_ms, zone)}"


def _notes(warnings: Mapping[str, str]) -> list[str]:
    return [f"Note, {FIELDS[field].label}: {text}" for field, text in warnings.items()]
