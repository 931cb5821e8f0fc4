"""New names on one lock: the order of renames, and notes about similar names.

A name must be free before another remote can get it, so the order of renames matters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from lockterm.domain.names import near_key, near_note, normalize_name
from lockterm.domain.plan import Action, Step
from lockterm.domain.remotes import FIELDS, Remote

NAME = FIELDS["remoteName"].name


def order_renames(steps: Sequence[Step], taken: Collection[str]) -> list[Step]:
    """Return updates in an order in which each new name is free when it is sent.

    If the renames form a circle, one remote first gets a temporary name. The step has a note that
    says so.

    Args:
        steps: The updates of one lock. Their new names are all different.
        taken: The names that the lock has now and will have, in normal form C.
    """
    holders = {_name_now(step): place for place, step in enumerate(steps) if NAME in step.wanted}
    ordered: list[Step] = []
    placed: set[int] = set()
    for first in range(len(steps)):
        path: list[int] = []
        place: int | None = first
        while place is not None and place not in placed and place not in path:
            path.append(place)
            place = _blocker(steps[place], place, holders)
        steps_left = [steps[one] for one in path]
        if place is not None and place in path:
            detour, steps_left[0] = _detour(steps_left[0], taken)
            ordered.append(detour)
        ordered += reversed(steps_left)
        placed.update(path)
    return ordered


def _name_now(step: Step) -> str:
    return normalize_name(str(step.before.get(NAME) or ""))


def _blocker(step: Step, place: int, holders: dict[str, int]) -> int | None:
    """Return the index of the step that must free the new name of a step; None if no step must."""
    wanted = step.wanted.get(NAME)
    blocker = None if wanted is None else holders.get(normalize_name(wanted))
    return None if blocker == place else blocker


def _detour(step: Step, taken: Collection[str]) -> tuple[Step, Step]:
    """Return a rename to a temporary name, and the original step adapted to follow it."""
    old = step.before.get(NAME) or ""
    temporary, count = f"{old} (temporary)", 1
    while normalize_name(temporary) in taken:
        count += 1
        temporary = f"{old} (temporary {count})"
    note = "The new names form a circle, so this remote first gets a temporary name."
    detour = replace(step, wanted={NAME: temporary}, note=note)
    shown = temporary.encode("utf-8", "backslashreplace").decode()  # the disk is UTF-8
    return detour, replace(step, before={**step.before, NAME: temporary}, remote_name=shown)


def with_near_notes(steps: Sequence[Step], remotes: Iterable[Remote]) -> list[Step]:
    """Return the steps, with a note on each step whose new name is similar to another name.

    Args:
        steps: The steps of one lock.
        remotes: All remotes of the lock.
    """
    if not any(NAME in step.wanted for step in steps):
        return [*steps]
    planned = {step.remote_id: step for step in steps if step.remote_id is not None}
    names: dict[str, list[tuple[int | None, str]]] = {}
    for remote in remotes:
        step = planned.get(remote.id or 0)
        if step is None or step.action is not Action.DELETE:
            name = (step.wanted.get(NAME) if step else None) or remote.remote_name or ""
            names.setdefault(near_key(name), []).append((remote.id, name))
    return [_with_near_note(step, names) for step in steps]


def _with_near_note(step: Step, names: dict[str, list[tuple[int | None, str]]]) -> Step:
    some = names.get(near_key(step.wanted.get(NAME) or ""), [])
    others = [name for remote_id, name in some if remote_id is None or remote_id != step.remote_id]
    if not step.wanted.get(NAME) or not others:
        return step
    return replace(step, note=f"{step.note} {near_note(others)}".strip())
