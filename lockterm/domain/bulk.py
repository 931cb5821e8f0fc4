"""Plans that make the same change to many remotes or locks.

Each function returns the steps to run, and the steps that are left out, each with a reason. Each
step expects that its remote still has the values that lockterm read last. No function here calls
the service. Plans of tables and copies also use the functions for new names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Any

from lockterm.domain import rules
from lockterm.domain.date_input import Moment, read_moment
from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.names import near_key, near_note, normalize_name, to_storable
from lockterm.domain.plan import Action, PlannedSteps, Step, StepState
from lockterm.domain.remotes import Remote, RemoteType, is_known_type, needs_dates, needs_weekdays
from lockterm.domain.safe_text import clean
from lockterm.domain.text.remote import NO_END
from lockterm.domain.validity import RemoteState, end_of, ends_by, state_of
from lockterm.domain.voices import Language, has_voice
from lockterm.errors import LocktermError, RefusedError, RuleViolationError


class ImpossibleChangeError(Exception):
    """An error for a change that is impossible for a remote.

    The message is a sentence that is safe to show.
    """


@dataclass(frozen=True, slots=True)
class Target:
    """A remote to change, with the lock that it belongs to."""

    lock_id: int
    remote: Remote
    """The remote with the values that lockterm read last."""
    zone: tzinfo
    """The time zone of the lock, in which lockterm interprets typed times."""


Wanted = Callable[[Target, int], Remote]
"""A function that takes a remote and the time in milliseconds, and returns the wanted remote.

Raises:
    ImpossibleChangeError: The change is impossible for this remote.
"""


def change_each(targets: Iterable[Target], wanted: Wanted, now_ms: int) -> PlannedSteps:
    """Plan an update of each remote.

    If a remote is already up to date, its step has ``Action.KEEP``.

    A remote for which the change is impossible is left out with the reason.

    Args:
        targets: The remotes, without duplicates.
        wanted: A function that returns the wanted remote.
        now_ms: Now, in milliseconds.
    """
    planned = PlannedSteps([], [])
    for target in targets:
        try:
            planned.steps.append(_updated(target, wanted(target, now_ms)))
        except ImpossibleChangeError as error:
            step = _step(target, Action.UPDATE)
            planned.left.append(replace(step, state=StepState.REFUSED, message=str(error)))
    return planned


def delete_each(targets: Iterable[Target]) -> PlannedSteps:
    """Plan the deletion of each remote."""
    return PlannedSteps([_step(target, Action.DELETE) for target in targets], [])


def delete_expired(targets: Iterable[Target], until_ms: int, now_ms: int) -> PlannedSteps:
    """Plan the deletion of the remotes that ended at a given time or earlier.

    A remote whose end has passed is not deleted if the service reports a status that contradicts
    its dates. The key ``unclear`` of ``PlannedSteps.skipped`` has the number of such remotes.

    Args:
        targets: The remotes, without duplicates.
        until_ms: The latest end of a remote to delete, in milliseconds.
        now_ms: Now, in milliseconds.
    """
    ended = [target for target in targets if ends_by(target.remote, min(until_ms, now_ms))]
    expired = [target for target in ended if state_of(target.remote, now_ms) is RemoteState.ENDED]
    planned = delete_each(expired)
    return replace(planned, skipped={"unclear": len(ended) - len(expired)})


def voice_each(
    locks: Iterable[Lock],
    voice: VoiceChoice,
    told: Mapping[tuple[str, str], Sequence[Language] | LocktermError],
) -> PlannedSteps:
    """Plan to set the voice of each lock whose model has the voice.

    Other locks are left out, each with the reason.

    Args:
        locks: The locks, without duplicates.
        voice: The voice to set.
        told: Maps each pair of vendor and model to the languages of that model, or to the error
            that prevented reading them.
    """
    planned = PlannedSteps([], [])
    for lock in locks:
        before = {"lang": lock.voice.lang, "timbre": lock.voice.timbre} if lock.voice else {}
        wanted = {"lang": voice.lang, "timbre": voice.timbre}
        step = Step(0, Action.VOICE, lock.lock_id, None, "", wanted, before)
        state, known = StepState.REFUSED, told.get((lock.vendor, lock.model))
        if known is None:
            reason = (
                "The lock book has no vendor and model for this lock, so its voices are unknown."
            )
        elif isinstance(known, LocktermError):
            state = StepState.REFUSED if isinstance(known, RefusedError) else StepState.NOT_SENT
            reason = f"The voices of this lock could not be read: {known.meaning}"
        elif has_voice(known, voice.lang, voice.timbre):
            planned.steps.append(step)
            continue
        else:
            reason = clean(
                f"{lock.vendor} {lock.model} has no voice {voice.lang} {voice.timbre}.", 200
            )
        planned.left.append(replace(step, state=state, message=reason))
    return planned


def _updated(target: Target, wanted: Remote) -> Step:
    before = target.remote
    try:
        fields = rules.differing(before, wanted)
    except RuleViolationError as error:
        raise ImpossibleChangeError(" ".join(error.reasons.values())) from None
    if not fields:
        return _step(target, Action.KEEP)
    if lost := rules.unread(before, wanted):
        raise ImpossibleChangeError(" ".join(lost.values()))
    return _step(target, Action.UPDATE, fields)


def _step(target: Target, action: Action, wanted: Mapping[str, Any] | None = None) -> Step:
    remote = target.remote
    name = to_storable(remote.remote_name or "")
    return Step(0, action, target.lock_id, remote.id, name, wanted or {}, remote.raw)


# --- functions that return the wanted remote ---------------------------------------------------


def new_end(text: str, *, from_own: bool) -> Wanted:
    """Return a :data:`Wanted` function that sets a new end date.

    Args:
        text: The typed date; see :mod:`lockterm.domain.date_input`.
        from_own: Whether ``+30d`` counts from the current end of each remote, or from its start if
            the start is in the future. If false, ``+30d`` counts from now.
    """

    def wanted(target: Target, now_ms: int) -> Remote:
        remote = target.remote
        if remote.remote_type == RemoteType.PERMANENT:
            raise ImpossibleChangeError(NO_END)
        if not needs_dates(remote.remote_type):
            raise ImpossibleChangeError("lockterm does not know the type of this remote.")
        moment = read_moment(
            text,
            target.zone,
            now_ms,
            end=True,
            start_ms=remote.start_ms if from_own else None,
            end_ms=end_of(remote) if from_own else None,
        )
        return replace(remote, end_ms=_ms(moment))

    return wanted


def new_validity(
    kind: int | None, start: str = "", end: str = "", days: Iterable[int] | None = None
) -> Wanted:
    """Return a :data:`Wanted` function that sets the type, the dates or the weekdays.

    Args:
        kind: The new type; None to keep the type of each remote.
        start: The typed new start; empty to keep the start of each remote.
        end: The typed new end; empty to keep the end of each remote. ``+30d`` counts from the
            current end, or from the start if the start is in the future.
        days: The new weekdays; None to keep the weekdays of each remote.
    """
    chosen = None if days is None else tuple(sorted(set(days)))

    def wanted(target: Target, now_ms: int) -> Remote:
        remote, zone = target.remote, target.zone
        after = remote.remote_type if kind is None else kind
        if not is_known_type(after):
            raise ImpossibleChangeError("lockterm does not know the type of this remote.")
        if kind is None and chosen is not None and not needs_weekdays(after):
            raise ImpossibleChangeError(
                "Only a recurring remote has weekdays. This remote is not recurring."
            )
        remote = replace(remote, remote_type=after)
        if needs_dates(after):
            if start.strip():
                remote = replace(remote, start_ms=_ms(read_moment(start, zone, now_ms)))
            if end.strip():
                start_ms, end_ms = remote.start_ms, end_of(target.remote)
                moment = read_moment(end, zone, now_ms, end=True, start_ms=start_ms, end_ms=end_ms)
                remote = replace(remote, end_ms=_ms(moment))
        if needs_weekdays(after) and chosen is not None:
            remote = replace(remote, week_day=chosen)
        return remote

    return wanted


def coerced(value: int) -> Wanted:
    """Return a :data:`Wanted` function that sets the coerced flag (contract ``isCoerced``)."""
    return lambda target, now_ms: replace(target.remote, is_coerced=value)


def extra_set(name: str, value: Any) -> Wanted:
    """Return a :data:`Wanted` function that sets one key of the extra data.

    The function does not change other keys.
    """

    def wanted(target: Target, now_ms: int) -> Remote:
        return replace(target.remote, extra_data={**_extra(target.remote), name: value})

    return wanted


def extra_removed(name: str) -> Wanted:
    """Return a :data:`Wanted` function that removes one key of the extra data.

    The function does not change other keys.
    """

    def wanted(target: Target, now_ms: int) -> Remote:
        extra = _extra(target.remote)
        if name not in extra:
            return target.remote
        left = {key: value for key, value in extra.items() if key != name}
        return replace(target.remote, extra_data=left)

    return wanted


def _extra(remote: Remote) -> Mapping[str, Any]:
    if "extraData" in remote.odd:
        raise ImpossibleChangeError(
            "The extra data of this remote is not a JSON object. Edit this remote alone."
        )
    return remote.extra_data or {}


def _ms(moment: Moment) -> int:
    if moment.choices:
        raise ImpossibleChangeError(
            "That time occurs twice in the lock's time zone. Type it with its UTC offset."
        )
    if moment.ms is None:
        raise ImpossibleChangeError(moment.error)
    return moment.ms


# --- new names -----------------------------------------------------------------------------------


NAME = "remoteName"


def order_renames(steps: Sequence[Step], taken: Collection[str]) -> list[Step]:
    """Return updates in an order in which each new name is free when its step is sent.

    If the new names form a circle, such as A to B and B to A, an added step first gives one of the
    remotes a temporary name. The note of this step explains the temporary name.

    Args:
        steps: The updates of one lock. Their new names are all different.
        taken: The names in use before and after the updates, in normal form C.
    """
    holders = {
        normalize_name(str(step.before.get(NAME) or "")): place
        for place, step in enumerate(steps)
        if NAME in step.wanted
    }
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


def _blocker(step: Step, place: int, holders: dict[str, int]) -> int | None:
    """Return the index of the step that must run first to free the new name of a step.

    The result is None if the name is free, or if the step sets no name.

    Args:
        step: The step.
        place: The index of the step.
        holders: A mapping from the present name of each renamed remote to the index of its step.
    """
    wanted = step.wanted.get(NAME)
    blocker = None if wanted is None else holders.get(normalize_name(wanted))
    return None if blocker == place else blocker


def _detour(step: Step, taken: Collection[str]) -> tuple[Step, Step]:
    """Return two steps that rename a remote: to a temporary name, and then to its new name.

    Args:
        step: The step that renames the remote.
        taken: The names in use, in normal form C.
    """
    old = step.before.get(NAME) or ""
    temporary, count = f"{old} (temporary)", 1
    while normalize_name(temporary) in taken:
        count += 1
        temporary = f"{old} (temporary {count})"
    note = "The new names form a circle, so this remote first gets a temporary name."
    detour = replace(step, wanted={NAME: temporary}, note=note)
    shown = to_storable(temporary)
    return detour, replace(step, before={**step.before, NAME: temporary}, remote_name=shown)


def with_near_notes(steps: Sequence[Step], remotes: Iterable[Remote]) -> list[Step]:
    """Return the steps of one lock, with notes about new names that are similar to other names.

    Args:
        steps: The steps.
        remotes: All remotes of the lock, as lockterm read them last.
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
