"""How much a plan is, how far its run is, and how it has ended, in words that are safe to show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from lockterm.domain.plan import Step, StepState
from lockterm.domain.plan_words import counts_words, gone_words, problem_words
from lockterm.domain.text import clean
from lockterm.domain.wording import roughly
from lockterm.keymap.hints import key
from lockterm.operations.run_here import RunHere


def progress_words(run: RunHere) -> str:
    """``12 of 214 done, 2 failed, 202 left (3 under way), 4.8 a second, about 42 s``."""
    words = [f"{run.done:,} of {run.due:,} done", problem_words(run.problems)]
    if run.only_reads:
        ends = f"{key('plan.stop')} ends that, and they stay unknown for now"
        return f"{', '.join(words)}. Reading back {run.reading:,} unknown, at most 90 s; {ends}."
    left = run.due - run.done
    words.append(f"{left:,} left" + f" ({run.under_way:,} under way)" * bool(run.under_way))
    if run.reading:  # which steps of its lock wait for
        words.append(f"reading back {run.reading:,} unknown")
    if per_s := run.per_s:
        words += [f"{per_s:.1f} a second", f"about {roughly(left / per_s)}"]
    return ", ".join(words)


def end_words(run: RunHere, titles: Mapping[int, str]) -> str:
    """What became of the steps of a run that is over, and why there are some left.

    Args:
        run: The run.
        titles: Id -> what the lock is called, as it came.
    """
    words = [outcome_words(run.steps.values(), titles)]
    if run.plan.stopped:
        words.append(clean(run.plan.stopped, 300))
    elif run.was_stopped and left_of(run.steps.values()):
        words.insert(0, "It was stopped.")
    return " ".join(words)


def outcome_words(steps: Iterable[Step], titles: Mapping[int, str]) -> str:
    """What became of steps, and which keys lead on; of steps that were tried, or not all."""
    steps = [*steps]
    counts = Counter(step.state for step in steps)
    del counts[StepState.TO_DO]  # they are told as left
    left_out = sum(step.is_left_out for step in steps)
    words = [gone_words(steps, titles), f"{counts_words(counts, left_out)}." if counts else ""]
    if left := left_of(steps):
        sent = counts[StepState.SENT]
        parts = [f"{sent:,} {_was(sent)} under way when it ended"] if sent else []
        parts += [f"{left - sent:,} {_is(left - sent)} left"] if left > sent else []
        does = "reads back and goes on" if sent else "goes on"
        words.append(f"{', '.join(parts)}: {key('plan.carry_out')} {does}.")
    elif tried := sum(step.may_retry for step in steps):
        words.append(f"{key('plan.retry')} tries {tried:,} of them again.")
    return " ".join(filter(None, words))


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def left_of(steps: Iterable[Step]) -> int:
    """How many steps are to be sent."""
    return sum(step.is_left for step in steps)
