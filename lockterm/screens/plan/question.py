"""The one question before a plan is carried out: it names everything that is to be deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from lockterm.domain.backup import backup_words
from lockterm.domain.plan import MOST_UNTYPED, Action, Step
from lockterm.domain.plan_words import MOST_LISTED, change_words, step_name, step_title
from lockterm.domain.text import clean
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.dialogs.destroy import DestroyModal
from lockterm.screens.plan.table import OnLock
from lockterm.widgets.cells import cut

_VERBS = {
    Action.DELETE: "delete",
    Action.UPDATE: "change",
    Action.ADD: "add",
    Action.VOICE: "set voice",
}
_PLACES = {Action.DELETE: "from", Action.UPDATE: "on", Action.ADD: "to"}
"""What stands between a remote and its lock."""

_LISTED = {Action.DELETE: "deleted", Action.UPDATE: "changed", Action.ADD: "added"}


def ask_for(
    steps: Sequence[Step], locks: Mapping[int, OnLock], cost: str, notes: Sequence[str]
) -> ConfirmModal | DestroyModal:
    """Ask whether steps are meant.

    Args:
        steps: Those that are to be sent.
        locks: Id -> the lock.
        cost: What it takes.
        notes: What has to be agreed to beside it; clean.

    Returns:
        A question that names the remotes, and is answered with ``True`` only by who has read it;
        where something is deleted, by a key of its own, and with many deletes by typing how many
        these are.
    """
    counts = Counter(step.action for step in steps)
    verb = ", ".join(f"{name} {counts[kind]:,}" for kind, name in _VERBS.items() if counts[kind])
    verb = verb[:1].upper() + verb[1:]
    on = {step.lock_id for step in steps}
    one = clean(locks[min(on)].title, 40)
    where = one if len(on) == 1 else f"{len(on):,} locks"
    question = f"{verb}, on {where}?"
    if counts.keys() == {Action.VOICE}:
        question = f"Set the voice of {where}?"
        verb = "Set voice" if len(steps) == 1 else verb
    numbers: list[str] = []
    if len(steps) == 1 and steps[0].action in _PLACES:
        question, verb, numbers = _ask_for_one(steps[0], where)
    deleted = [step for step in steps if step.action is Action.DELETE]
    lines = [*numbers, f"{cost}.", *notes]
    if deleted:
        told_of_all = set.intersection(*(set(step.before) for step in deleted))
        lines.append(backup_words(dict.fromkeys(told_of_all), many=len(deleted) > 1))
    if len(steps) > 1:
        lines += _names(steps, locks if len(on) > 1 else {})
    for step in steps:
        if step.action is Action.VOICE:
            on_lock = locks[step.lock_id]
            words = "; ".join(change_words(step, on_lock.zone, 0))
            lines.append(f"- {clean(on_lock.title, 40)}: {words}")
    details = "\n".join(lines)
    if not deleted:
        return ConfirmModal(question, details, verb=verb)
    typed = (str(len(deleted)),) if len(deleted) > MOST_UNTYPED else ()
    return DestroyModal(question, details, verb=verb, keep="Cancel", typed=typed)


def _ask_for_one(step: Step, where: str) -> tuple[str, str, list[str]]:
    """The question, its verb, and the numbers that stand on a line of their own below it.

    As for a single remote that is in no plan, no number stands in a row with letters of which
    terminals do not agree how wide they are and which way they run.
    """
    verb = _VERBS[step.action].capitalize()
    name, number = (clean(words or "", 60) for words in step_name(step))
    who, numbers = step_title(step), []
    if number and not f"{who}{where}".isascii():
        who, numbers = name, [f"Number: {number}"]
    question = f"{verb} {who} {_PLACES[step.action]} {where}?"
    return question, f"{verb} {cut(name, 28)}", numbers


def _names(steps: Sequence[Step], locks: Mapping[int, OnLock]) -> Iterator[str]:
    """The remotes of several steps, a line for each; each with its lock, where there are several.

    Args:
        steps: Those that are to be sent.
        locks: Id -> the lock; empty: it is named above.
    """
    for action, done in _LISTED.items():
        some = [step for step in steps if step.action is action]
        shown = some if action is Action.DELETE else some[:MOST_LISTED]
        if some:
            more = " (page down shows more)" if len(shown) > MOST_UNTYPED else ""
            yield from ("", f"To be {done}{more}:")
        for step in shown:
            lock = f", {clean(locks[step.lock_id].title, 40)}" if locks else ""
            yield f"- {step_title(step)}{lock}"
        if left := len(some) - len(shown):
            yield f"and {left:,} more: the plan behind this question names them."
