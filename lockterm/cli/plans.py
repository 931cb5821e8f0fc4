"""Functions that print plans and their steps, as text or as lines of JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockterm.cli.exit_codes import UsageError, format_error, notify
from lockterm.cli.output import put
from lockterm.cli.session import Session, format_lock
from lockterm.domain.plan import (
    ACTION_GLYPHS,
    DUE,
    Action,
    Plan,
    Step,
    StepState,
    at_rest,
    under_way,
)
from lockterm.domain.safe_text import clean
from lockterm.domain.table_file import MOST_PROBLEMS, TableFileError
from lockterm.domain.text.plan import (
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
from lockterm.domain.text.run import count_states
from lockterm.domain.text.service import describe_clock_doubt
from lockterm.domain.text.shortening import summarize_shortenings
from lockterm.operations.plan_files import plan_file, read_map_file
from lockterm.operations.planner import PlanDraft, ReadLock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from lockterm.domain.locks import Lock


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


def plan_from_file(
    session: Session,
    path: Path,
    *,
    prune: bool,
    title: str = "",
    seen: Sequence[ReadLock] | None = None,
    map_path: Path | None = None,
) -> PlanDraft:
    """Return the plan that applies a file, and report on stderr which locks could not be read.

    Args:
        session: The session that reads the locks.
        path: The file.
        prune: Whether to delete remotes that are not in the file; see :func:`plan_file`.
        title: The title of the plan; by default "apply" and the file's name.
        seen: The locks as they were when the file was written; see :func:`plan_file`.
        map_path: The file that assigns the columns of another system's table to fields.

    Raises:
        UsageError: If the file or its mapping has problems; nothing was sent.
    """
    title, table_map = title or f"apply {path.name}", None
    if map_path is not None:
        with report_problems(map_path):
            table_map = read_map_file(map_path)
    with report_problems(path):
        planning = plan_file(
            session.operations, path, title, prune=prune, seen=seen, table_map=table_map
        )
        draft = session.run(planning)
    report_unread(draft)
    return draft


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
    for lock_id, some in groupby(sorted(planned, key=_lock_of), _lock_of):
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
    operations, zones = session.operations, {}
    for lock_id in {step.lock_id for step in steps}:
        zones[lock_id] = operations.zone(session.run(operations.locks.find(lock_id)))
    return summarize_shortenings(find_shortenings(steps, zones, operations.now_ms()))


def _lock_of(step: Step) -> int:
    return step.lock_id


def _step_lines(session: Session, lock: Lock, step: Step) -> Iterator[str]:
    where = f"  (line {step.line})" if step.line else ""
    zone, now_ms = session.operations.zone(lock), session.operations.now_ms()
    below = describe_step(step, zone, now_ms) if step.action is not Action.DELETE else []
    words = f": {below.pop(0)}" if below and step.action is not Action.UPDATE else ""
    yield f"{ACTION_GLYPHS[step.action]} {format_step(step)}{words}{where}"
    yield from (f"    {one}" for one in below)
    yield from (f"    note: {words}" for words in describe_step_notes(step, zone, now_ms))


# --- lines of JSON -------------------------------------------------------------------------------


def put_planned(session: Session, steps: Iterable[Step]) -> None:
    """Print each step of a plan as a line of JSON, if the plan will not run."""
    zones: dict[int, tzinfo] = {}
    for step in steps:
        if step.lock_id not in zones:
            lock = session.run(session.operations.locks.find(step.lock_id))
            zones[step.lock_id] = session.operations.zone(lock)
        shortened = describe_step_shortening(step, zones[step.lock_id], session.operations.now_ms())
        put_step(step, is_dry=True, shortened=shortened)


def put_step(
    step: Step, *, is_dry: bool = False, is_running: bool = False, shortened: str = ""
) -> None:
    """Print a step as a line of JSON.

    Args:
        step: The step.
        is_dry: Whether the command sends nothing (dry run).
        is_running: Whether a session is running the plan of the step.
        shortened: A sentence about how the step shortens access; empty if it does not.
    """
    step = under_way(step) if is_running else at_rest(step)
    state, said = str(step.state), [step.message]
    if step.state in DUE:
        state = "planned" if is_dry or is_running else StepState.NOT_SENT
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
    is_dry: bool = False,
    is_running: bool = False,
    left_out: Mapping[str, int] | None = None,
) -> None:
    """Print the totals of a plan or run as a line of JSON, after the lines of its steps.

    Args:
        run: The ID of the run; None if the plan was not run.
        steps: All steps of the plan.
        is_dry: See :func:`put_step`.
        is_running: See :func:`put_step`.
        left_out: The number of remotes without a step, by reason such as "expired".
    """
    end: dict[str, Any] = {"run": run}
    end["counts"] = count_steps(steps, is_dry=is_dry, is_running=is_running)
    if left_out:
        end["leftOut"] = {**left_out}
    put_line(end)


def put_line(value: Mapping[str, Any]) -> None:
    """Print an object as a line of ASCII JSON."""
    put(json.dumps(value))


def count_steps(
    steps: Iterable[Step], *, is_dry: bool = False, is_running: bool = False
) -> dict[str, int]:
    """Return the number of steps by state, with the names of the states in the JSON output.

    Args:
        steps: The steps.
        is_dry: See :func:`put_step`.
        is_running: See :func:`put_step`.
    """
    counts = Counter(step.state for step in steps)
    return count_states(counts, is_running=is_dry or is_running)
