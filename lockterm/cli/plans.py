"""Plans as commands print them, for people and for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockterm.cli.ending import Misused, sentence_of, tell
from lockterm.cli.output import put
from lockterm.cli.session import Session
from lockterm.cli.which_lock import lock_words
from lockterm.domain import rules
from lockterm.domain.differences import differences, in_words
from lockterm.domain.plan import ACTION_GLYPHS, DUE, Action, Plan, Step, StepState
from lockterm.domain.remotes import FIELDS, Remote
from lockterm.domain.table_file import MOST_PROBLEMS, BadTable
from lockterm.domain.text import clean
from lockterm.domain.validity import period_words
from lockterm.domain.wording import titled
from lockterm.operations.plan_files import Drawn, ReadLock, draw_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockterm.domain.locks import Lock

_TODO = {Action.ADD: "to add", Action.UPDATE: "to change", Action.DELETE: "to delete"}
_TOLD = (
    *(StepState.RECORDED, StepState.UNCHANGED, StepState.REFUSED),
    *(StepState.SKIPPED, StepState.UNKNOWN, StepState.NOT_SENT),
)
"""What becomes of a step that is not under way any more."""
_WORDS = {StepState.UNCHANGED: "so already", StepState.NOT_SENT: "not sent"}


@contextmanager
def telling_problems(path: Path) -> Iterator[None]:
    """Tell line by line what is wrong with a file.

    Raises:
        Misused: Something is; nothing was sent.
    """
    try:
        yield
    except BadTable as error:
        count = len(error.problems)
        if count == 1:
            raise Misused(f"{clean(path, 200)}: {error.problems[0]} Nothing was sent.") from None
        for problem in error.problems[:MOST_PROBLEMS]:
            tell(f"{clean(path, 200)}: {problem}")
        more = f", of which {MOST_PROBLEMS} are listed" if count > MOST_PROBLEMS else ""
        raise Misused(f"{count:,} things are wrong{more}: nothing was sent.") from None


def drawn_from(
    session: Session,
    path: Path,
    *,
    prune: bool,
    title: str = "",
    seen: Sequence[ReadLock] | None = None,
) -> Drawn:
    """The plan of a file; the locks that could not be read are told.

    Args:
        session: What reads the locks.
        path: The file.
        prune: See :func:`draw_plan`.
        title: What the plan is called; empty: it is applied.
        seen: See :func:`draw_plan`.

    Raises:
        Misused: Something is wrong with the file; nothing was sent.
    """
    title = title or f"apply {path.name}"
    with telling_problems(path):
        drawn = session.run(draw_plan(session.operations, path, title, prune=prune, seen=seen))
    for one in drawn.unread:
        if one.error is not None:
            tell(f"{lock_words(one.lock)}: {sentence_of(one.error)}")
    return drawn


def put_plan(session: Session, drawn: Drawn, say: Callable[[str], None] = put) -> None:
    """Print what a plan would do, lock by lock; what stays as it is, is counted.

    Args:
        session: Whose plan it is.
        drawn: The plan.
        say: Prints a line.
    """
    for lock_id, some in groupby(sorted(drawn.plan.steps, key=_lock_of), _lock_of):
        lock = session.run(session.operations.locks.find(lock_id))
        steps = [*some]
        say(lock_words(lock))
        for step in steps:
            if step.action is not Action.KEEP or step.message:
                for line in _step_lines(session, lock, step, drawn.warnings):
                    say(f"  {line}")
        if kept := sum(step.action is Action.KEEP and not step.message for step in steps):
            say(
                f"  {ACTION_GLYPHS[Action.KEEP]} {kept:,} as {'it is' if kept == 1 else 'they are'}"
            )
    for step in drawn.left:
        say(f"! {step_title(step)} (lock {step.lock_id}): {clean(step.message, 300)}")
    if has_work(drawn.plan):
        say(f"{plan_words(drawn.plan)}: {session.operations.runs.cost(drawn.plan)}")
    elif not drawn.left:
        say(plan_words(drawn.plan))


def plan_words(plan: Plan) -> str:
    """``2 to add, 1 to delete``."""
    counts = plan.actions()
    said = [f"{counts[action]:,} {words}" for action, words in _TODO.items() if counts[action]]
    return ", ".join(said) or "Nothing is to be changed."


def has_work(plan: Plan) -> bool:
    """Whether anything has to be sent for it."""
    return any(step.action is not Action.KEEP and step.state in DUE for step in plan.steps)


def step_title(step: Step) -> str:
    """The name and the number of a step's remote."""
    number = step.wanted.get("remoteNumber", step.before.get("remoteNumber"))
    shown = number if isinstance(number, str) else None
    if not step.remote_name:
        return titled(f"remote {step.remote_id or shown or ''}".strip(), None)
    return titled(step.remote_name, shown)


def state_words(step: Step) -> str:
    """``not sent``: the state of a step, for people."""
    return step.state.value.replace("_", " ")


def _lock_of(step: Step) -> int:
    return step.lock_id


def _step_lines(
    session: Session, lock: Lock, step: Step, warnings: Mapping[int, Iterable[str]]
) -> Iterator[str]:
    where = f"  (line {step.line})" if step.line else ""
    zone, now_ms = session.operations.zone(lock), session.operations.now_ms()
    words = ""
    if step.action is Action.ADD:
        words = f": {clean(period_words(Remote.read(step.wanted), now_ms, zone))}"
    elif step.action is Action.KEEP:
        words = f": {clean(step.message, 300)}"
    yield f"{ACTION_GLYPHS[step.action]} {step_title(step)}{words}{where}"
    if step.action is Action.ADD and (extra := step.wanted.get("extraData")):
        yield f"    Extra data: {in_words(FIELDS['extraData'], extra, zone)}"
    if step.action is Action.UPDATE:
        before = Remote.read(step.before)
        after = rules.effective(before, Remote.read({**before.raw, **step.wanted}))
        yield from (f"    {one}" for one in differences(before, after, zone))
    yield from (f"    note: {words}" for words in warnings.get(step.number, ()))


# --- for programs --------------------------------------------------------------------------------


def put_step(step: Step, *, is_dry: bool) -> None:
    """Print a step as a line of JSON."""
    state = _told_state(step)
    if is_dry and step.state is StepState.TO_DO:
        state = "planned"
    put_line(
        {
            "step": step.number,
            "line": step.line,
            "lockId": step.lock_id,
            "remoteId": step.remote_id,
            "remoteName": step.remote_name,
            "action": step.action.value,
            "state": state,
            "message": step.message,
        }
    )


def put_end(run: str | None, steps: Iterable[Step], *, is_dry: bool) -> None:
    """Print what became of a run as a line of JSON."""
    put_line({"run": run, "counts": counts_of(steps, is_dry=is_dry)})


def put_line(value: Mapping[str, Any]) -> None:
    """Print an object on one line, escaped down to ASCII."""
    put(json.dumps(value))


def counts_of(steps: Iterable[Step], *, is_dry: bool = False) -> dict[str, int]:
    """How many steps there are of each state that programs are told."""
    steps = [*steps]
    planned = sum(step.state is StepState.TO_DO for step in steps) if is_dry else 0
    told = Counter(step.state for step in steps if not is_dry or step.state is not StepState.TO_DO)
    return {**({"planned": planned} if is_dry else {}), **state_counts(told)}


def state_counts(counts: Mapping[StepState, int]) -> dict[str, int]:
    """How many steps have each state that programs are told; what is due was not sent."""
    due = sum(counts.get(state, 0) for state in DUE)
    return {
        state.value: counts.get(state, 0) + (due if state is StepState.NOT_SENT else 0)
        for state in _TOLD
    }


def counts_words(counts: Mapping[StepState, int]) -> str:
    """``212 recorded, 2 refused``."""
    found = state_counts(counts)
    said = [
        f"{found[state.value]:,} {_WORDS.get(state, state.value)}"
        for state in _TOLD
        if found[state.value]
    ]
    return ", ".join(said)


def _told_state(step: Step) -> str:
    return step.state.value if step.state in _TOLD else StepState.NOT_SENT.value
