"""The one question before a plan is carried out: it names everything that is to be deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from lockterm.domain.backup import backup_words
from lockterm.domain.plan import MOST_UNTYPED, Action, Step
from lockterm.domain.plan_words import change_words, step_title
from lockterm.domain.text import clean
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.dialogs.destroy import DestroyModal
from lockterm.screens.plan.table import OnLock

_VERBS = {
    Action.DELETE: "delete",
    Action.UPDATE: "change",
    Action.ADD: "add",
    Action.VOICE: "set voice",
}


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
        A question that is answered with ``True`` only by who has read it; where something is
        deleted, by a key of its own, and with many deletes by typing how many these are.
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
    deleted = [step for step in steps if step.action is Action.DELETE]
    lines = [f"{cost}.", *notes]
    if deleted:
        told_of_all = set.intersection(*(set(step.before) for step in deleted))
        lines.append(backup_words(dict.fromkeys(told_of_all), many=len(deleted) > 1))
        more = " (page down shows more)" if len(deleted) > MOST_UNTYPED else ""
        lines += ["", f"To be deleted{more}:"]
        lines += [
            f"- {step_title(step)}" + f", {clean(locks[step.lock_id].title, 40)}" * (len(on) > 1)
            for step in deleted
        ]
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
