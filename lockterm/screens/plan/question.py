"""The dialogs about a plan: what to do about names in use, and whether to run the plan."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lockterm.domain.plan import Action, Plan, Step
from lockterm.domain.remotes import Remote
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.domain.shortening import describe_shortening, summarize_shortenings
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.plan import (
    MOST_LISTED,
    count_to_type,
    describe_changes,
    describe_notes,
    describe_skipped,
    describe_step,
    find_shortenings,
    format_step,
    step_name,
    step_sends_dates,
)
from lockterm.domain.text.remote import describe_backup
from lockterm.domain.text.replacement import name_people
from lockterm.domain.text.service import describe_clock_doubt
from lockterm.operations.refusals import OtherCredentialsError
from lockterm.screens.dialogs.choice import ChoiceModal
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.dialogs.destroy import DestroyModal
from lockterm.screens.plan.table import OnLock
from lockterm.widgets.cells import cut

if TYPE_CHECKING:
    from lockterm.operations.facade import Operations
    from lockterm.operations.planner import PlanDraft


def ask_about_names(taken: int) -> ChoiceModal[bool]:
    """Return the dialog that asks whether to skip or rename remotes whose names are in use.

    The result is True to rename these remotes, False to skip them, and None if canceled.

    Args:
        taken: The number of these remotes.
    """
    who = "The name of 1 remote is" if taken == 1 else f"The names of {taken:,} remotes are"
    choices = ((False, "Skip"), (True, "Rename, as in Anna (2)"))
    return ChoiceModal(f"{who} already taken on the lock. Skip or rename?", choices)


_VERBS = {Action.DELETE: "Delete", Action.UPDATE: "Change", Action.ADD: "Add"}
_PLACES = {Action.DELETE: "from", Action.UPDATE: "on", Action.ADD: "to"}
"""Maps an action to the preposition between a remote and its lock."""

_LISTED = {Action.DELETE: "deleted", Action.UPDATE: "changed", Action.ADD: "added"}


async def question_about(
    drawn: PlanDraft, locks: Mapping[int, OnLock], operations: Operations
) -> ConfirmModal | DestroyModal:
    """Return the confirmation dialog for the remaining steps of a plan, with all warnings.

    Args:
        drawn: The plan.
        locks: The locks by ID.
        operations: The operations on the service and the local store.
    """
    due = [step for step in drawn.plan.steps if step.is_left]
    zones = {lock_id: lock.zone for lock_id, lock in locks.items()}
    now_ms, connection = operations.now_ms(), operations.connection
    changes = await asyncio.to_thread(describe_changes, due, zones)
    titles = {step.lock_id: locks[step.lock_id].title for step in due}
    named = titles if len(titles) > 1 else {}  # the question names a single lock
    notes = await asyncio.to_thread(describe_notes, due, zones, now_ms, named)
    shortened = await asyncio.to_thread(find_shortenings, due, zones, now_ms)
    warning = summarize_shortenings(shortened)
    lost = [clean(sentence, 400) for sentence in (drawn.about, *drawn.plan.losses)]
    notes = [*filter(None, lost), *notes]
    if connection.doubts_clock and any(map(step_sends_dates, due)):
        notes.insert(0, f"Note: {describe_clock_doubt(connection.clock_offset_s or 0)}")
    if len(due) == 1 and due[0].action in (Action.ADD, Action.UPDATE):
        zone = zones[due[0].lock_id]
        notes[:0] = describe_step(due[0], zone, now_ms)
        warning = describe_shortening(shortened[0], now_ms, zone) if shortened else ""
    elif changes:
        notes.insert(0, f"New values: {changes}")
    notes += [f"{words}." for words in describe_skipped(drawn.plan)]
    if left := drawn.unplanned:
        them = "that step" if left == 1 else "those steps"
        steps = format_count(left, "step")
        notes.append(f"{steps} could not be planned. The run will not include {them}.")
    cost = operations.runs.cost(drawn.plan)
    count = count_to_type(due, now_ms)
    return ask_for(due, locks, cost, notes, count, len(shortened), warning)


def ask_for_account(plan: Plan) -> ConfirmModal:
    """Return the dialog that asks whether the present credentials belong to the run's account."""
    details = "With another account, the run would change the locks of that account."
    return ConfirmModal(OtherCredentialsError(plan).question, details, verb="Same account")


def ask_for(
    steps: Sequence[Step],
    locks: Mapping[int, OnLock],
    cost: str,
    notes: Sequence[str],
    count: int,
    shortened: int,
    warning: str,
) -> ConfirmModal | DestroyModal:
    """Return the confirmation dialog for steps.

    The dialog names the remotes. Deletions have a separate confirmation key. If many remotes are
    deleted, added or reactivated, the user confirms by typing how many they are.

    Args:
        steps: The steps to send.
        locks: The locks by ID.
        cost: A text with the number of calls and the time they take.
        notes: More lines to show in the dialog, without control characters.
        count: The number that the user must type; 0 if no number is needed.
        shortened: The number of steps that shorten access.
        warning: A sentence about how these steps shorten access; empty if no step does.
    """
    counts = Counter(step.action for step in steps)
    changed = counts[Action.UPDATE] - shortened
    counts_by_verb = {
        "delete": counts[Action.DELETE],
        "shorten": shortened,
        "change": changed,
        "add": counts[Action.ADD],
        "set voice": counts[Action.VOICE],
    }
    verb = ", ".join(f"{name} {count:,}" for name, count in counts_by_verb.items() if count)
    verb = verb[:1].upper() + verb[1:]
    if "," not in verb:
        verb += " remote" if len(steps) == 1 else " remotes"
    on = {step.lock_id for step in steps}
    one = clean(locks[min(on)].title, LONGEST_CELL)
    where = one if len(on) == 1 else f"{len(on):,} locks"
    question = f"{verb} on {where}?"
    if counts.keys() == {Action.VOICE}:
        question = f"Set the voice of {where}?"
        verb = "Set voice" if len(steps) == 1 else f"Set {len(steps):,} voices"
    numbers: list[str] = []
    is_replacement = _are_replacements(steps)
    if is_replacement:
        name = name_people([Remote.read(step.before) for step in steps])
        question = f"Replace the fob of {name} on {where}?"
        verb = "Replace fob" if len(steps) == 2 else f"Replace {len(steps) // 2:,} fobs"
        numbers = _old_and_new(steps)
    if len(steps) == 1 and steps[0].action in _PLACES:
        name = "Shorten" if shortened else _VERBS[steps[0].action]
        question, verb, numbers = _ask_for_one(steps[0], where, name)
    deleted = [step for step in steps if step.action is Action.DELETE]
    lines = [*numbers, f"{cost}.", *notes]
    if len(steps) > 1 and not (is_replacement and len(on) == 1):
        names = _names(steps, locks if len(on) > 1 else {}, is_replacement=is_replacement)
        lines += [*names, *[""] * bool(deleted)]
    if deleted:
        # The same for every deletion, so the names come first.
        common_fields = set.intersection(*(set(step.before) for step in deleted))
        lines.append(describe_backup(dict.fromkeys(common_fields), many=len(deleted) > 1))
    for step in steps:
        if step.action is Action.VOICE:
            on_lock = locks[step.lock_id]
            values = "; ".join(describe_step(step, on_lock.zone, 0))
            lines.append(f"- {clean(on_lock.title, LONGEST_CELL)}: {values}")
    details = "\n".join(lines)
    typed = (str(count),) if count else ()
    if not deleted:
        return ConfirmModal(question, details, verb=verb, typed=typed, warning=warning)
    return DestroyModal(question, details, verb=verb, keep="Cancel", typed=typed, warning=warning)


def _ask_for_one(step: Step, where: str, verb: str) -> tuple[str, str, list[str]]:
    """Return the question about one step, the button's label, and the lines below the question.

    If the names are ASCII, the question contains the remote's number, and there are no lines.
    Otherwise, a line contains the number if there is one, because a number never shares a line with
    letters whose width or direction differs between terminals. The dialogs for a single remote
    follow this rule, too.
    """
    name, number = (clean(words or "", 60) for words in step_name(step))
    who, numbers = format_step(step), []
    if number and not f"{who}{where}".isascii():
        who, numbers = name, [f"Number: {number}"]
    question = f"{verb} {who} {_PLACES[step.action]} {where}?"
    return question, f"{verb} {cut(name, 28)}", numbers


def _are_replacements(steps: Sequence[Step]) -> bool:
    """Return whether the steps are pairs of a deletion and an addition that replace a fob."""
    pairs = zip(steps[::2], steps[1::2], strict=False)
    return len(steps) % 2 == 0 and all(second.requires(first) for first, second in pairs)


def _old_and_new(steps: Sequence[Step]) -> list[str]:
    """Return a line with the numbers of the old fobs, and a line with that of the new fob."""
    numbers: dict[Action, dict[str, None]] = {Action.DELETE: {}, Action.ADD: {}}
    for step in steps:
        numbers[step.action][clean(step_name(step)[1] or "none", 60)] = None
    old, new = (", ".join(numbers[action]) for action in (Action.DELETE, Action.ADD))
    return [f"Old fob{'s' * (len(numbers[Action.DELETE]) > 1)}: {old}", f"New fob: {new}"]


def _names(
    steps: Sequence[Step], locks: Mapping[int, OnLock], *, is_replacement: bool
) -> Iterator[str]:
    """Yield a line for the remote of each step, below a heading for each action.

    Args:
        steps: The steps to send.
        locks: The locks by ID, to name the lock of each remote; empty if the question already names
            the lock.
        is_replacement: Whether each deleted remote is added again with another number.
    """
    listed = {Action.DELETE: "replaced"} if is_replacement else _LISTED
    for action, done in listed.items():
        some = [step for step in steps if step.action is action]
        shown = some if action is Action.DELETE else some[:MOST_LISTED]
        if some:
            yield from ("", f"Remotes to be {done}:")
        for step in shown:
            lock = f", {clean(locks[step.lock_id].title, LONGEST_CELL)}" if locks else ""
            yield f"- {format_step(step)}{lock}"
        if left := len(some) - len(shown):
            yield f"and {left:,} more, listed in the plan behind this dialog."
