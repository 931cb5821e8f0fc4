"""Shows a plan, asks whether to run it, runs it, and prints the result, as text or as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockterm.cli.exit_codes import (
    DONE,
    FAILED,
    UNKNOWN,
    UNREACHABLE,
    UsageError,
    format_error,
    notify,
)
from lockterm.cli.options import WriteOptions, cancel, confirm, confirm_by_typing, require_answer
from lockterm.cli.output import ProgressLine, has_failed, put, put_stderr
from lockterm.cli.session import Session, format_lock
from lockterm.domain.plan import (
    ACTION_GLYPHS,
    DUE,
    PROBLEMS,
    Action,
    Plan,
    Run,
    Step,
    StepState,
    at_rest,
)
from lockterm.domain.safe_text import clean
from lockterm.domain.shortening import summarize_shortenings
from lockterm.domain.table_file import MOST_PROBLEMS, TableFileError
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.plan import (
    count_to_type,
    describe_plan,
    describe_skipped,
    describe_step,
    describe_step_notes,
    describe_step_shortening,
    describe_work,
    find_shortenings,
    format_step,
    has_work,
    step_sends_dates,
)
from lockterm.domain.text.remote import describe_backup
from lockterm.domain.text.run import (
    count_states,
    describe_commands,
    describe_effects,
    describe_rest,
    describe_result,
    format_problem,
    format_progress,
    format_reading,
    list_deleted,
)
from lockterm.domain.text.service import describe_clock_doubt
from lockterm.errors import StoreError
from lockterm.operations.planner import PlanDraft

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from lockterm.domain.locks import Lock


def offer_plan(
    session: Session,
    draft: PlanDraft,
    how: WriteOptions,
    *,
    max_deletes: int | None = None,
    no_shorten: bool = False,
    lists_deleted: bool = False,
) -> int:
    """Show a plan, ask once for confirmation, run the plan and print its result.

    Args:
        session: The session that sends the changes; in a dry run, it sends nothing.
        draft: The plan.
        how: The options of the command.
        max_deletes: The maximum number of deletions; None for no limit.
        no_shorten: Whether to refuse a plan that shortens access.
        lists_deleted: Whether to print the deleted remotes of each lock at the end, unless the
            output is JSON.

    Returns:
        The exit code.

    Raises:
        UsageError: If the plan has too many deletions, or needs ``--yes``; nothing was sent.
    """
    plan = draft.plan
    if not how.as_json:
        put_plan(session, draft)
    elif not how.yes:  # the user must see the plan before the prompt, and stdout is for JSON
        put_plan(session, draft, put_stderr)
    deletes = plan.actions()[Action.DELETE]
    if max_deletes is not None and deletes > max_deletes:
        raise UsageError(
            f"{format_count(deletes, 'remote')} would be deleted, but --max-deletes allows"
            f" {max_deletes:,}. Nothing was sent."
        )
    due = [step for step in plan.steps if step.is_left] if no_shorten else []
    if shortened := describe_shortened(session, due):
        notify(f"{shortened} --no-shorten does not allow that. Nothing was sent.")
        return FAILED
    if how.dry_run:
        if how.as_json:
            put_planned(session, plan)
        else:
            put("Nothing was sent.")
        return exit_code_of_steps(draft.left)
    if not has_work(plan):
        return put_result(plan, as_json=how.as_json)
    if not confirm_plan(session, plan, yes=how.yes):
        return cancel()
    stored = store_plan(session, plan)
    del draft, plan  # free the memory of the steps, which the run reads from the store
    return run_plan(session, stored, as_json=how.as_json, lists_deleted=lists_deleted)


def confirm_plan(session: Session, plan: Plan, *, yes: bool) -> bool:
    """Print each remote that a plan deletes, and ask once whether to run the plan.

    Args:
        session: The session that sends the changes.
        plan: The plan; only its unsent steps are considered.
        yes: Whether to skip the prompt.

    Returns:
        Whether to run the plan.

    Raises:
        UsageError: If the plan needs ``--yes`` because there is no terminal, or if the plan could
            not be printed.
    """
    require_answer(yes, "Running a plan")
    if yes:
        return True
    if has_failed():
        raise UsageError("The plan cannot be printed. Nothing was sent.")
    due = [step for step in plan.steps if step.state in DUE]
    deleted = [step for step in due if step.action is Action.DELETE]
    for step in deleted:
        notify(f"to be deleted: {format_step(step)}, lock {step.lock_id}")
    left_out = [step for step in plan.steps if step.is_left_out]
    summary = describe_plan(replace(plan, steps=(*due, *left_out)))
    if count := count_to_type(due, session.operations.now_ms()):
        return confirm_by_typing(
            f"{summary}. To run the plan, type {count}", (str(count),), yes=False
        )
    return confirm(f"{summary}. Run the plan?", yes=False)


def store_plan(session: Session, plan: Plan) -> Plan:
    """Store a confirmed plan with its steps, and return the plan without steps.

    The run reads the steps from the store, so the caller can free their memory.

    Raises:
        StoreError: If the plan cannot be stored, so it must not run.
    """
    session.run(session.operations.runs.keep(plan))
    return replace(plan, steps=())


def run_plan(session: Session, plan: Plan, *, as_json: bool, lists_deleted: bool = False) -> int:
    """Run a stored plan, print its result and return the exit code.

    Args:
        session: The session that sends the changes.
        plan: The plan as :func:`store_plan` returned it.
        as_json: Whether to print lines of JSON.
        lists_deleted: Whether to print the deleted remotes of each lock at the end, unless the
            output is JSON.
    """
    run = Run(plan, session.operations.clock)
    progress = Progress(as_json=as_json)
    run.on_change = progress.note
    signals: list[int] = []

    def end(number: int) -> None:
        signals.append(number)
        run.stop()
        progress.clear()
        notify("the run stops after the steps that are under way ...")

    try:
        session.run(session.operations.runs.execute(run), stop=end)
    finally:
        progress.clear()
    if run.stop_reason:
        notify(clean(run.stop_reason))
    plan = run.plan
    code = put_result(plan, as_json=as_json, printed=progress.noted, run=plan.id)
    titles = {}
    with suppress(StoreError):  # if the lock book cannot be read, the sentence uses lock IDs
        titles = {one.lock_id: one.title for one in session.run(session.operations.locks.all())}
    if lists_deleted and not as_json:
        for line in list_deleted(plan.steps, titles):
            put(line)
    if effects := describe_effects(plan.steps, titles):
        notify(effects)
    if rest := describe_rest(plan):
        notify(rest)
    return 128 + signals[0] if signals else code


def exit_code_of_steps(steps: Sequence[Step]) -> int:
    """Return the exit code that results from the states of steps."""
    counts = Counter(at_rest(step).state for step in steps)
    if counts[StepState.UNKNOWN]:
        return UNKNOWN
    if counts[StepState.REFUSED] or counts[StepState.SKIPPED]:
        return FAILED
    if counts[StepState.NOT_SENT] or any(step.is_left for step in steps):
        return FAILED if counts[StepState.RECORDED] else UNREACHABLE
    return DONE


def put_result(
    plan: Plan,
    *,
    as_json: bool,
    printed: Container[int] = (),
    run: str | None = None,
) -> int:
    """Print the result of a plan and return the exit code.

    Args:
        plan: The plan with the states of its steps.
        as_json: Whether to print lines of JSON.
        printed: The numbers of the steps whose result was already printed.
        run: The ID of the run; None if the plan was not run.
    """
    steps = [
        replace(step, state=StepState.UNCHANGED)
        if step.action is Action.KEEP and step.state in DUE
        else at_rest(step)
        for step in plan.steps
    ]
    for step in steps:
        if step.number not in printed:
            if as_json:
                put_step(step)
            elif step.state in PROBLEMS and step.is_planned:
                put_problem(step)  # steps that could not be planned were shown with the plan
    if as_json:
        put_end(run, steps, left_out=plan.skipped)
    else:
        put(describe_result(plan, steps))
        if run is not None and any(step.state in PROBLEMS for step in steps):
            notify(describe_commands(run, steps))
    return exit_code_of_steps(steps)


def put_problem(step: Step) -> None:
    """Print the reason why a step was refused, skipped or not sent, or is unconfirmed."""
    put(f"! {format_problem(step)}")


class Progress:
    """The output of a command while a plan runs.

    Args:
        as_json: Whether to print each step as a line of JSON.
    """

    def __init__(self, *, as_json: bool) -> None:
        self.noted: set[int] = set()
        """The numbers of the steps whose result the command has already handled."""
        self._as_json = as_json
        self._line = ProgressLine()
        self._seen = self._reading = 0

    def note(self, run: Run) -> None:
        """Print the steps that have ended since the last call, and update the progress line."""
        news, self._seen = run.news[self._seen :], len(run.news)
        ended = [
            run.steps[number]
            for number in news
            if number not in self.noted and run.steps[number].state not in {*DUE, StepState.UNKNOWN}
        ]
        for step in ended:
            self.noted.add(step.number)
            self._print(step)
        if run.reading != self._reading:
            self._reading = run.reading
            self.clear()
            if run.reading:
                self._line.show(format_reading(run))
        elif ended and self._line.is_due:
            self._line.show(format_progress(run)[:79])

    def clear(self) -> None:
        """Erase the progress line."""
        self._line.clear()

    def _print(self, step: Step) -> None:
        if self._as_json:
            self.clear()
            put_step(step)
        elif step.state in PROBLEMS:
            self.clear()
            put_problem(step)


@contextmanager
def report_problems(path: Path) -> Iterator[None]:
    """If the ``with`` block finds problems in a file, print them and raise a usage error.

    Raises:
        UsageError: If the file has problems; nothing was sent.
    """
    try:
        yield
    except TableFileError as error:
        if len(error.problems) == 1:
            raise UsageError(f"{clean(path, 200)}: {error.problems[0]} Nothing was sent.") from None
        for problem in error.problems[:MOST_PROBLEMS]:
            notify(f"{clean(path, 200)}: {problem}")
        raise UsageError(f"{error.counted}. Nothing was sent.") from None


def report_unread(draft: PlanDraft) -> None:
    """Print on stderr which locks could not be read completely, and why."""
    for one in draft.unread:
        if one.error is not None:
            notify(f"{format_lock(one.lock)}: {format_error(one.error)}")


def put_plan(session: Session, draft: PlanDraft, say: Callable[[str], None] = put) -> None:
    """Print the changes of a plan lock by lock, and the number of unchanged remotes.

    Args:
        session: The session of the plan.
        draft: The plan.
        say: The function that prints a line.
    """
    planned = (step for step in draft.plan.steps if step.is_planned)
    by_lock = attrgetter("lock_id")
    for lock_id, some in groupby(sorted(planned, key=by_lock), by_lock):
        lock = session.run(session.operations.locks.find(lock_id))
        steps = [*some]
        say(format_lock(lock))
        for step in steps:
            if step.action is not Action.KEEP or step.message:
                for line in _step_lines(session, lock, step):
                    say(f"  {line}")
        if unchanged := sum(step.action is Action.KEEP and not step.message for step in steps):
            say(f"  {ACTION_GLYPHS[Action.KEEP]} {unchanged:,} unchanged")
    for step in draft.left:
        say(f"! {format_step(step)}, lock {step.lock_id}: {clean(step.message, 300)}")
    for sentence in _list_notes(session, draft.plan):
        say(f"note: {clean(sentence, 400)}")
    if has_work(draft.plan) or describe_skipped(draft.plan) or not draft.left:
        say(describe_work(draft.plan, session.operations.runs.cost(draft.plan)))


def _list_notes(session: Session, plan: Plan) -> Iterator[str]:
    """Yield the sentences about the whole plan that the screen of a plan also shows."""
    yield from plan.losses
    connection = session.operations.connection
    due = [step for step in plan.steps if step.is_left]
    if shortened := describe_shortened(session, due):
        yield shortened
    if connection.doubts_clock and any(map(step_sends_dates, due)):
        yield describe_clock_doubt(connection.clock_offset_s or 0)
    if deletes := [step for step in due if step.action is Action.DELETE]:
        shared_fields = set.intersection(*(set(step.before) for step in deletes))
        yield describe_backup(dict.fromkeys(shared_fields), many=len(deletes) > 1)


def describe_shortened(session: Session, steps: Sequence[Step]) -> str:
    """Return a sentence about the steps that shorten access; empty if no step does."""
    zones = _find_zones(session, steps)
    return summarize_shortenings(find_shortenings(steps, zones, session.operations.now_ms()))


def _find_zones(session: Session, steps: Iterable[Step]) -> dict[int, tzinfo]:
    """Return the time zones of the locks of steps, by lock ID."""
    operations = session.operations
    return {
        lock_id: operations.zone(session.run(operations.locks.find(lock_id)))
        for lock_id in {step.lock_id for step in steps}
    }


def _step_lines(session: Session, lock: Lock, step: Step) -> Iterator[str]:
    where = f"  (line {step.line})" if step.line else ""
    zone, now_ms = session.operations.zone(lock), session.operations.now_ms()
    below = describe_step(step, zone, now_ms) if step.action is not Action.DELETE else []
    words = f": {below.pop(0)}" if below and step.action is not Action.UPDATE else ""
    yield f"{ACTION_GLYPHS[step.action]} {format_step(step)}{words}{where}"
    yield from (f"    {one}" for one in below)
    yield from (f"    note: {words}" for words in describe_step_notes(step, zone, now_ms))


# --- lines of JSON -------------------------------------------------------------------------------


def put_planned(session: Session, plan: Plan) -> None:
    """Print each step of a plan, and the totals, as lines of JSON. The plan will not run."""
    zones, now_ms = _find_zones(session, plan.steps), session.operations.now_ms()
    for step in plan.steps:
        shortened = describe_step_shortening(step, zones[step.lock_id], now_ms)
        put_step(step, is_planned=True, shortened=shortened)
    put_end(None, plan.steps, is_planned=True, left_out=plan.skipped)


def put_step(step: Step, *, is_planned: bool = False, shortened: str = "") -> None:
    """Print a step as a line of JSON.

    Args:
        step: The step. A step that was being sent must come from
            :func:`lockterm.domain.plan.at_rest` or :func:`lockterm.domain.plan.under_way`, which
            add a message to the step.
        is_planned: Whether the state of a step that was not sent yet is printed as "planned": in a
            dry run, or while a session runs the plan. Otherwise, its state is printed as not sent.
        shortened: A sentence about how the step shortens access; empty if it does not.
    """
    state, said = str(step.state), [step.message]
    if step.state in DUE:
        state = "planned" if is_planned else StepState.NOT_SENT
        said += [shortened, step.note]
    put_line(
        {
            "step": step.number,
            "line": step.line,
            "lockId": step.lock_id,
            "remoteId": step.remote_id,
            "remoteName": step.remote_name,
            "action": step.action.value,
            "state": state,
            "message": " ".join(filter(None, said)),
        }
    )


def put_end(
    run: str | None,
    steps: Iterable[Step],
    *,
    is_planned: bool = False,
    left_out: Mapping[str, int] | None = None,
) -> None:
    """Print the totals of a plan or run as a line of JSON, after the lines of its steps.

    Args:
        run: The ID of the run; None if the plan was not run.
        steps: All steps of the plan.
        is_planned: See :func:`put_step`.
        left_out: The number of remotes without a step, by reason such as "expired".
    """
    counts = Counter(step.state for step in steps)
    end = {"run": run, "counts": count_states(counts, is_running=is_planned)}
    if left_out:
        end["leftOut"] = {**left_out}
    put_line(end)


def put_line(value: Mapping[str, Any]) -> None:
    """Print an object as a line of ASCII JSON."""
    put(json.dumps(value))
