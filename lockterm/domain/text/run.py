"""Texts about the progress and the results of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from lockterm.domain.glyphs import quoted
from lockterm.domain.plan import (
    DUE,
    NOT_REACHED,
    RETRIED,
    Action,
    Plan,
    Run,
    RunLine,
    Step,
    StepState,
    at_rest,
    count_left,
    select_retryable,
)
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count, format_duration
from lockterm.domain.text.plan import format_step
from lockterm.domain.text.replacement import describe_replacements, format_lock, list_locks
from lockterm.keymap.hints import key

FINAL_STATES = (
    *(StepState.RECORDED, StepState.UNCHANGED, StepState.REFUSED),
    *(StepState.SKIPPED, StepState.UNKNOWN, StepState.NOT_SENT),
)
"""The states of steps that have a result, in the order in which texts and JSON list them."""

LEFT_OUT = "not planned"
"""The word for a step that could not be planned. JSON output calls such a step refused."""

STEP_WORDS = {
    **{state: state.value.replace("_", " ") for state in StepState},
    StepState.UNKNOWN: "unconfirmed",
}
"""Maps the states of steps to the words that lockterm shows."""

_DUE_WORDS = {StepState.SENT: "under way", StepState.TO_DO: "left"}
"""Maps the states of steps without a result to the words that follow their number during a run."""


# --- steps and counts ----------------------------------------------------------------------------


def format_step_state(step: Step, *, is_running: bool = False) -> str:
    """Return the state of a step as text, such as ``not sent``.

    While a session is running the plan, a step that has been sent is ``under way``.
    """
    if step.is_left_out:
        return LEFT_OUT
    if is_running and step.state is StepState.SENT:
        return _DUE_WORDS[step.state]
    return STEP_WORDS[step.state]


_NOT_GONE = {
    StepState.UNKNOWN: "unconfirmed",
    StepState.REFUSED: "refused",
    StepState.SKIPPED: "skipped",
    StepState.NOT_SENT: "not sent",
    StepState.TO_DO: "not done yet",
}
"""Maps the states of deletes to reasons why a remote is still on a lock. The most important reason
is first."""


def list_deleted(steps: Iterable[Step], titles: Mapping[int, str]) -> list[str]:
    """Return a line for each lock, with the names of the remotes that a run deleted from it.

    A line looks like ``Deleted from Yard: Anna (A-1), Ben (A-2).``

    Args:
        steps: All steps of a run that has ended.
        titles: Maps lock IDs to titles, which may contain control characters. A lock without a
            title is shown by its ID.
    """
    deleted: dict[int, list[str]] = {}
    for step in steps:
        if step.action is Action.DELETE and step.state is StepState.RECORDED:
            deleted.setdefault(step.lock_id, []).append(format_step(step))
    return [
        f"Deleted from {format_lock(titles, lock_id)}: {', '.join(names)}."
        for lock_id, names in deleted.items()
    ]


def describe_effects(steps: Iterable[Step], titles: Mapping[int, str]) -> str:
    """Return sentences about the fobs that a run replaced, and about deletes on several locks.

    Args:
        steps: All steps of a run that has ended.
        titles: Maps lock IDs to titles, which may contain control characters. A lock without a
            title is shown by its ID.
    """
    steps = [*steps]
    said = describe_replacements(steps, titles), describe_deletions(steps, titles)
    return " ".join(filter(None, said))


def describe_deletions(steps: Iterable[Step], titles: Mapping[int, str]) -> str:
    """Return the result of deletes, such as ``Deleted remotes on 31 of 32 locks.``.

    A lock on which only some remotes were deleted is named with its numbers, such as ``Partly done:
    Yard (2 deleted, 8 not sent)``.

    Args:
        steps: All steps of a run that has ended.
        titles: Maps lock IDs to titles, which may contain control characters. A lock without a
            title is shown by its ID.

    Returns:
        The sentences; empty if fewer than two locks have deletes, or if there is no lock on which
        all deletes were recorded.
    """
    steps = [*steps]
    # The old fob of a replacement is not reported here, because its owner has the new one.
    replaced = {step.replaced_id for step in steps} - {None}
    deletes: dict[int, Counter[StepState]] = {}
    reasons: dict[int, str] = {}
    answered = set()
    for step in map(at_rest, steps):
        if step.action is Action.DELETE and step.remote_id not in replaced:
            deletes.setdefault(step.lock_id, Counter())[step.state] += 1
            if step.state is StepState.NOT_SENT:
                reasons.setdefault(step.lock_id, clean(step.message, 60))
        if step.state is StepState.NOT_SENT:
            is_unreached = step.message.startswith(NOT_REACHED)
        else:
            is_unreached = step.state is StepState.TO_DO
        if not is_unreached:
            answered.add(step.lock_id)
    titles_by_reason: dict[str, list[str]] = {}
    for lock_id, states in deletes.items():
        left = [state for state in _NOT_GONE if state in states]
        title = format_lock(titles, lock_id)
        if left and states[StepState.RECORDED]:
            counts = [f"{states[state]:,} {_NOT_GONE[state]}" for state in left]
            numbers = ", ".join([f"{states[StepState.RECORDED]:,} deleted", *counts])
            titles_by_reason.setdefault("partly done", []).append(f"{title} ({numbers})")
        elif left:
            is_unreached = left[0] is StepState.NOT_SENT and lock_id not in answered
            if left[0] is StepState.NOT_SENT and not is_unreached and reasons[lock_id]:
                title += f" ({reasons[lock_id].rstrip('.')})"
            reason = "not reached" if is_unreached else _NOT_GONE[left[0]]
            titles_by_reason.setdefault(reason, []).append(title)
    gone = len(deletes) - sum(map(len, titles_by_reason.values()))
    if len(deletes) < 2 or not gone:
        return ""
    sentences = [f"Deleted remotes on {gone:,} of {len(deletes):,} locks"]
    for reason, named in titles_by_reason.items():
        sentences.append(f"{reason[0].upper()}{reason[1:]}: {list_locks(named)}")
    return f"{'. '.join(sentences)}."


def count_states(counts: Mapping[StepState, int], *, is_running: bool = False) -> dict[str, int]:
    """Return a mapping of the names of states in JSON output to numbers of steps.

    Args:
        counts: Maps states to numbers of steps.
        is_running: Whether a session is running the steps. If so, steps without a result count as
            ``planned``. Otherwise, they count as ``not_sent`` or, if they may have been sent, as
            ``unknown``.
    """
    found = {state.value: counts.get(state, 0) for state in FINAL_STATES}
    to_do, sent = counts.get(StepState.TO_DO, 0), counts.get(StepState.SENT, 0)
    if is_running:
        return {"planned": to_do + sent, **found}
    found[StepState.NOT_SENT] += to_do
    found[StepState.UNKNOWN] += sent
    return found


def describe_problems(problems: Mapping[StepState, int]) -> str:
    """Return the numbers of problems, such as ``2 failed, 1 skipped, 1 unconfirmed``.

    Args:
        problems: Maps states of steps that need attention to numbers of steps.
    """
    counts = {"failed": sum(problems.get(state, 0) for state in RETRIED)}
    for state in (StepState.SKIPPED, StepState.UNKNOWN):
        counts[STEP_WORDS[state]] = problems.get(state, 0)
    return ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)


def describe_counts(
    counts: Mapping[StepState, int], left_out: int, *, is_running: bool = False
) -> str:
    """Return the numbers of steps by state, such as ``212 recorded, 2 refused``.

    During a run, the text also has the steps without a result: ``212 recorded, 5 left``.

    Args:
        counts: Maps states to numbers of steps, including steps that could not be planned.
        left_out: The number of steps that could not be planned, which are among the refused steps.
        is_running: Whether a session is running the steps.
    """
    counts = Counter(counts) - Counter({StepState.REFUSED: left_out})
    found = count_states(counts, is_running=is_running)
    said = [
        f"{found[state.value]:,} {STEP_WORDS[state]}"
        for state in FINAL_STATES
        if found[state.value]
    ]
    for state, words in _DUE_WORDS.items() if is_running else ():
        if count := counts.get(state, 0):
            said.append(f"{count:,} {words}")
    if left_out:
        said.append(f"{left_out:,} {LEFT_OUT}")
    return ", ".join(said)


def format_run_state(run: RunLine) -> str:
    """Return the state of a run as text; ``incomplete`` if it has ended with problems."""
    return "incomplete" if run.is_incomplete else run.state.value


def format_problem(step: Step) -> str:
    """Return a step and its problem: ``Anna (A-1), lock 1001, refused: The name is taken.``."""
    why = f": {clean(step.message, 400)}" if step.message else ""
    return f"{format_step(step)}, lock {step.lock_id}, {format_step_state(step)}{why}"


# --- on a screen ---------------------------------------------------------------------------------


def describe_progress(run: Run) -> str:
    """Return the progress of a run, as a screen shows it.

    Example: ``12 of 214 done, 2 failed, 202 left (3 under way), 12 steps/min, about 9 s left``.
    """
    words = [f"{run.done:,} of {run.due:,} done", describe_problems(run.problems)]
    if run.only_reads:
        verified = format_count(run.reading, "result")
        ends = f"Press {key('plan.stop')} to stop. Unverified results stay unconfirmed"
        return f"{', '.join(filter(None, words))}. Verifying {verified} for at most 90 s. {ends}."
    words.append(f"{run.left:,} left" + f" ({run.under_way:,} under way)" * bool(run.under_way))
    if run.reading:  # other steps of the lock wait for the verification
        words.append(f"{run.reading:,} being verified")
    return ", ".join(filter(None, [*words, describe_pace(run)]))


def describe_pace(run: Run) -> str:
    """Return the rate and the remaining time of a run: ``12 steps/min, about 9 s left``.

    The text is empty if the rate is unknown or no step is left.
    """
    if not run.left or not (per_s := run.per_s):
        return ""
    return f"{format_rate(per_s)}, about {format_duration(run.left / per_s)} left"


def describe_other_run(run: Run) -> str:
    """Return the message for a plan that cannot start because another run is under way.

    Args:
        run: The other run.
    """
    return (
        f"Another run is under way ({run.done:,} of {run.due:,} steps done). Wait until"
        " that run ends, or stop it."
    )


def format_rate(per_s: float) -> str:
    """Return a rate such as ``290 steps/min``, rounded so that the text does not change often.

    Args:
        per_s: The number of completed steps per second.
    """
    rate = float(f"{per_s * 60:.2g}")
    return f"{rate:,.0f} steps/min" if rate >= 10 else f"{rate:g} steps/min"


_NOT_DONE = {
    StepState.REFUSED: "was refused",
    StepState.SKIPPED: "was skipped",
    StepState.UNKNOWN: "is unconfirmed",
}


def describe_blocked(earlier: Step) -> str:
    """Return the message for a step that was not sent because an earlier step is not done."""
    state = _NOT_DONE.get(earlier.state, "was not sent")
    return f"Not sent, because step {earlier.number} {state}."


def describe_end(run: Run, titles: Mapping[int, str]) -> str:
    """Return a text with the results of a finished run, and the reason if the run ended early.

    Args:
        run: The run.
        titles: Maps lock IDs to titles, which may contain control characters.
    """
    words = [describe_outcome(run.steps.values(), titles)]
    if run.stop_reason:
        words.append(clean(run.stop_reason, 300))
    elif run.is_stopped and count_left(run.steps.values()):
        words.insert(0, "Stopped.")
    return " ".join(words)


def describe_outcome(steps: Iterable[Step], titles: Mapping[int, str]) -> str:
    """Return a text with the results of a run's steps, and the key that resumes or retries the run.

    Args:
        steps: All steps of the run, with their final states.
        titles: Maps lock IDs to titles, which may contain control characters.
    """
    steps = [*steps]
    counts = Counter(step.state for step in steps)
    del counts[StepState.TO_DO]  # they are shown as left
    left_out = sum(step.is_left_out for step in steps)
    words = [f"{_with_noun(describe_counts(counts, left_out))}." if counts else ""]
    if left := count_left(steps):
        parts = []
        if sent := counts[StepState.SENT]:
            was = "was" if sent == 1 else "were"
            parts.append(f"{format_count(sent, 'step')} {was} under way when the run ended")
        if left > sent:
            parts.append(f"{format_count(left - sent, 'step')} left")
        does = "verify and resume" if sent else "resume"
        words.append(f"{', '.join(parts)}. Press {key('plan.carry_out')} to {does}.")
    elif tried := len(select_retryable(steps)):
        words.append(f"Press {key('plan.retry')} to retry {format_count(tried, 'step')}.")
    # A small screen cuts the end of the text, and its rows show each lock.
    words.append(describe_effects(steps, titles))
    return " ".join(filter(None, words))


def describe_end_elsewhere(run: Run, titles: Mapping[int, str]) -> str:
    """Return the results of a finished run, and the key that shows the run.

    lockterm shows this text if the screen of the run is not open.
    """
    title = clean(run.plan.title, 40)
    return f"{describe_end(run, titles)} Press {key('app.run')} to show the run {quoted(title)}."


def ask_to_leave(run: Run) -> tuple[str, str]:
    """Return the question to ask before the user leaves a run, and the label of its button.

    Both texts are empty if no question is needed, because the run is finished and no step is left.
    """
    if run.is_finished:
        left = count_left(run.steps.values())
        question = (
            f"A run has stopped, and {left:,} of {format_count(run.due, 'step')}"
            f" {'is' if left == 1 else 'are'} not done. Leave? To resume the run later, press"
            f" {key('app.run')}, then {key('plan.carry_out')}."
        )
        return (question, "Leave") if left else ("", "")
    if run.only_reads:
        unknown = f"{format_count(run.reading, 'result')} {'is' if run.reading == 1 else 'are'}"
        question = (
            f"A run is verifying its results. {unknown} not confirmed yet. Stop and leave?"
            " lockterm will continue to verify the results at its next start."
        )
    else:
        question = (
            f"A run is under way ({run.done:,} of {run.due:,} steps done). Stop the run and leave?"
            " The steps under way will end first. You can resume the run later."
        )
    return question, "Stop and leave"


# --- on a command line ---------------------------------------------------------------------------


def format_progress(run: Run) -> str:
    """Return the progress of a run, as a command prints it.

    An example is ``12 of 214 done, 2 failed, 4.8 steps/s, 42 s left``.
    """
    rate = run.done / max(run.took_s, 0.001)
    left = round((run.due - run.done) / rate) if rate else 0
    words = f"{run.done:,} of {run.due:,} done", describe_problems(run.problems)
    return ", ".join(filter(None, [*words, f"{rate:.1f} steps/s", f"{left:,} s left"]))


def format_reading(run: Run) -> str:
    """Return a text such as ``verifying 3 unconfirmed results``.

    If the run only verifies results, the text also has the maximum duration of the verification and
    the key that stops it.
    """
    ends = " for at most 90 s (Ctrl+C stops)" if run.only_reads else ""
    return f"verifying {format_count(run.reading, 'unconfirmed result')}{ends}"


def describe_result(plan: Plan, steps: Iterable[Step]) -> str:
    """Return the numbers of steps of a finished run, such as ``212 steps recorded, 2 refused.``.

    Args:
        plan: The plan.
        steps: The steps of the plan with their final states.
    """
    counts = Counter(step.state for step in steps)
    return f"{_with_noun(describe_counts(counts, plan.left_out)) or 'Nothing to do'}."


def describe_run(plan: Plan) -> str:
    """Return the title of a run, and the number of its steps in each state."""
    words = describe_counts(plan.counts(), plan.left_out, is_running=plan.is_running)
    where = ", under way in another session" if plan.is_running else ""
    return f"{clean(plan.title, 100)}{where}: {words or 'no steps'}"


def describe_commands(run_id: str, steps: Iterable[Step]) -> str:
    """Return sentences with the commands that show and retry a run with problems.

    If results are unconfirmed, the sentences also have the command that verifies them.
    """
    sentences = (
        f'For details, run "lockterm runs show {run_id[:8]}". To retry the failed steps, run'
        f' "lockterm runs retry {run_id[:8]}".'
    )
    if any(step.state is StepState.UNKNOWN for step in steps):
        sentences += ' For unconfirmed results, run "lockterm unconfirmed check".'
    return sentences


def describe_rest(plan: Plan) -> str:
    """Return the number of steps left, and the command that resumes the run.

    An example is ``5 steps left. To resume, run: lockterm ...``. The text is empty if no step is
    left.
    """
    due = sum(step.state in DUE for step in plan.steps)
    if not due:
        return ""
    return f"{format_count(due, 'step')} left. To resume, run: lockterm runs resume {plan.id[:8]}"


def _with_noun(counts: str) -> str:
    """Return a text with a noun after its first number, such as ``2 steps recorded, 1 refused``."""
    number, _, rest = counts.partition(" ")
    return f"{number} {'step' if number == '1' else 'steps'} {rest}" if counts else ""
