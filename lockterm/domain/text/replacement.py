"""Texts about replacing the key fob of a person with another fob."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from lockterm.domain.glyphs import quoted
from lockterm.domain.names import normalize_name, to_storable
from lockterm.domain.plan import Action, Step, StepState, at_rest
from lockterm.domain.reading import Field
from lockterm.domain.remotes import FIELDS, UNLISTED, Remote
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.remote import UNNAMED, format_remote_name

_MAC = FIELDS["mac"]

_NAMED = 3
"""Maximum number of names or locks that a sentence lists."""

ADD_FIRST = (
    "lockterm adds the new fob first. It deletes the old fob only after the service has recorded"
    " the new one."
)
"""The description of the order of the steps, if the lock can have two remotes with one name."""


def format_replacement_title(remote: Remote, number: str) -> str:
    """Return the title of a plan for one lock: ``replace fob A-1 of Anna with B-2``."""
    name = to_storable(format_remote_name(remote, UNNAMED))
    return f"replace fob {clean(remote.remote_number, 30)} of {name} with {clean(number, 30)}"


def describe_order(remote: Remote, *, adds_first: bool) -> str:
    """Return sentences about the order of the two steps.

    The sentences also describe the risk if the second step fails.

    Args:
        remote: The remote whose fob is replaced.
        adds_first: Whether lockterm adds the new fob before it deletes the old one.
    """
    if adds_first:
        return ADD_FIRST
    name = format_remote_name(remote, UNNAMED)
    return (
        "The lock cannot have two remotes with the same name. lockterm therefore deletes the old"
        f" fob before it adds the new one. If adding fails, {name} has no working fob until you"
        " retry or undo the run."
    )


def format_title_on_locks(remotes: Sequence[Remote], number: str) -> str:
    """Return the title of a plan for several locks: ``replace 3 fobs of Anna with B-2``."""
    return f"replace {len(remotes):,} fobs of {name_people(remotes)} with {clean(number, 30)}"


def name_people(remotes: Sequence[Remote]) -> str:
    """Return the common name of all remotes, or ``2 differently named remotes`` if names differ.

    The name may contain control characters.
    """
    first, count = remotes[0], len(_distinct_names(remotes))
    if count > 1:
        return f"{count:,} differently named remotes"
    return to_storable(format_remote_name(first, UNNAMED))


def describe_different_names(remotes: Sequence[Remote]) -> str:
    """Return a sentence about the different names of the remotes; empty if the names are equal."""
    names = _distinct_names(remotes)
    if len(names) == 1:
        return ""
    named = [quoted(clean(one, 40)) if one else "no name" for one in names[:_NAMED]]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return (
        f"The names of the remotes differ: {', '.join(named)}{more}. Check that the remotes belong"
        " to one person."
    )


def _distinct_names(remotes: Iterable[Remote]) -> list[str]:
    return [*dict.fromkeys(normalize_name(remote.remote_name) for remote in remotes)]


def describe_order_on_locks(deletes_first: int, count: int) -> str:
    """Return sentences about the order of the steps if a fob is replaced on several locks.

    Args:
        deletes_first: The number of locks on which lockterm must delete the old fob first.
        count: The total number of locks.
    """
    if not deletes_first:
        return ADD_FIRST
    locks = f"{deletes_first:,} of {format_count(count, 'lock')}"
    return (
        f"{locks} cannot have two remotes with the same name. There, lockterm deletes the old fob"
        " before it adds the new one. If adding fails, no fob works on that lock until you retry or"
        " undo the run."
    )


def describe_not_copied(unknown: Iterable[Field], *, has_mac: bool) -> list[str]:
    """Return sentences about the values of the old fob that the new fob does not get.

    Args:
        unknown: The fields whose values lockterm does not know, because lists do not contain them.
        has_mac: Whether the new fob gets a MAC address.
    """
    device = [
        field.called for field in UNLISTED if field.of_device and not (has_mac and field is _MAC)
    ]
    sentences = [f"Not copied, because each fob has its own values: {', '.join(device)}."]
    if names := [field.called for field in unknown if not field.of_device]:
        sentences.append(
            f"Not copied, because the service does not return these values: {', '.join(names)}."
        )
    return sentences


_DONE = {Action.ADD: "New fob added, old fob", Action.DELETE: "Old fob deleted, new fob"}
"""Maps the action of the completed step to the beginning of the text, if the other step failed."""

_NOT_DONE = {Action.ADD: "not added", Action.DELETE: "not deleted"}


def describe_replacements(steps: Iterable[Step], titles: Mapping[int, str]) -> str:
    """Return the result of replacements, such as ``Replaced 4 fobs on 4 locks.``.

    Args:
        steps: All steps of a run that has ended, in order.
        titles: Maps lock IDs to titles, which may contain control characters. A lock without a
            title is shown by its ID.

    Returns:
        The sentences; empty if no fob was replaced, not even in part.
    """
    pairs = [pair for pair in pairwise(map(at_rest, steps)) if pair[1].requires(pair[0])]
    replaced: list[int] = []
    half: dict[str, list[str]] = {}
    for pair in pairs:
        done = [step for step in pair if step.is_done]
        if len(done) == len(pair):
            replaced.append(pair[0].lock_id)
        elif done:
            (other,) = (step for step in pair if not step.is_done)
            is_unknown = other.state is StepState.UNKNOWN
            state = "unconfirmed" if is_unknown else _NOT_DONE[other.action]
            result = f"{_DONE[done[0].action]} {state}"
            half.setdefault(result, []).append(format_lock(titles, other.lock_id))
    sentences = [f"{result}: {list_locks(named)}." for result, named in half.items()]
    if replaced:
        locks = {*replaced}
        of_all = "" if len(replaced) == len(pairs) else f" of {len(pairs):,}"
        fobs = "fob" if len(pairs) == 1 else "fobs"
        where = format_count(len(locks), "lock")
        where = format_lock(titles, *locks) if len(locks) == 1 else where
        sentences.insert(0, f"Replaced {len(replaced):,}{of_all} {fobs} on {where}.")
    return " ".join(sentences)


def format_lock(titles: Mapping[int, str], lock_id: int) -> str:
    """Return the title of a lock, safe to show; ``lock`` with its ID if it has no title."""
    return clean(titles.get(lock_id, f"lock {lock_id}"), 40)


def list_locks(titles: Sequence[str]) -> str:
    """Return the first three titles and the number of the rest: ``Yard, Gate, Shed and 2 more``.

    Args:
        titles: The titles of locks, which are safe to show.
    """
    more = f" and {len(titles) - _NAMED:,} more" if len(titles) > _NAMED else ""
    return f"{', '.join(titles[:_NAMED])}{more}"
