"""The ``lockterm runs`` commands, which list and resume runs of plans."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import click

from lockterm.cli.exit_codes import DONE, UsageError
from lockterm.cli.manual import LINES, LOCAL, RUN_CODES, list_examples
from lockterm.cli.options import asks_service, can_prompt, cancel, confirm, yes_option
from lockterm.cli.output import put, put_stderr, put_table
from lockterm.cli.run_plan import (
    confirm_plan,
    put_end,
    put_line,
    put_plan,
    put_result,
    put_step,
    run_plan,
    store_plan,
)
from lockterm.cli.session import Session
from lockterm.config import Options
from lockterm.domain import dates
from lockterm.domain.plan import ACTION_GLYPHS, DUE, at_rest, under_way
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.plan import format_step, has_work
from lockterm.domain.text.run import (
    count_states,
    describe_counts,
    describe_run,
    format_run_state,
    format_step_state,
)
from lockterm.errors import NoSuchRunError
from lockterm.operations.planner import PlanDraft
from lockterm.operations.refusals import OtherCredentialsError, OtherPlanError, RunUnderWayError

run_argument = click.argument("run", metavar="RUN")
json_lines_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, one object a line."
)
same_account_option = click.option(
    "--same-account",
    is_flag=True,
    help="Confirm that changed credentials belong to the same account.",
)

_RUNS_HELP = f"""\
RUN is the ID of a run, or the beginning of the ID. The commands never repeat an unconfirmed change.
To repeat a skipped step, make a new plan.

\b
Examples:
  lockterm runs list
  lockterm runs resume 3f2a --yes --json

{LINES}
list --json prints run, state (planned, running, interrupted, done) and counts of each run.

{RUN_CODES}"""


@click.group(no_args_is_help=False, epilog=_RUNS_HELP)
def runs() -> None:
    """List and resume runs of apply, edit, copy and clean."""


@runs.command(
    "list",
    epilog=list_examples(LOCAL, "lockterm runs list", "lockterm runs list --json | jq -r .run"),
)
@json_lines_option
@asks_service
def list_runs(options: Options, as_json: bool) -> int:
    """List the runs of this profile, newest first."""
    with Session(options) as session:
        found = session.run(session.operations.journal.runs())
        zone = session.profile.zone
    if as_json:
        for one in found:
            put_line(
                {
                    "run": one.id,
                    "state": one.state.value,
                    "counts": count_states(one.counts(), is_running=one.is_running),
                    "title": one.title,
                    "made": one.made_ms,
                }
            )
        return DONE
    rows = [
        (
            one.id[:8],
            dates.stamp(one.made_ms, zone),
            format_run_state(one),
            one.title,
            describe_counts(one.counts(), one.left_out, is_running=one.is_running),
        )
        for one in found
    ]
    put_table(("Run", "Made", "State", "From", "Steps"), rows)
    put(format_count(len(rows), "run"))
    return DONE


@runs.command(epilog=list_examples(LOCAL, "lockterm runs show 3f2a"))
@run_argument
@json_lines_option
@asks_service
def show(options: Options, run: str, as_json: bool) -> int:
    """Show the result of each step of a run."""
    with Session(options) as session, _convert_refusals():
        plan = session.run(session.operations.runs.find(run))
    steps = [under_way(step) if plan.is_running else at_rest(step) for step in plan.steps]
    if as_json:
        for step in steps:
            put_step(step, is_planned=plan.is_running)
        put_end(plan.id, steps, is_planned=plan.is_running)
        return DONE
    rows = [
        (
            step.number,
            ACTION_GLYPHS[step.action],
            step.lock_id,
            format_step(step),
            format_step_state(step, is_running=plan.is_running),
            step.message,
        )
        for step in steps
    ]
    put_table(("Step", "", "Lock", "Remote", "State", "Why"), rows)
    put(describe_run(plan))
    return DONE


@runs.command(
    epilog=list_examples(
        RUN_CODES, "lockterm runs resume 3f2a", "lockterm runs resume 3f2a --yes --json"
    )
)
@run_argument
@json_lines_option
@same_account_option
@yes_option
@asks_service
def resume(options: Options, run: str, yes: bool, same_account: bool, as_json: bool) -> int:
    """Resume an interrupted run."""
    return _run_again(options, run, yes=yes, same_account=same_account, as_json=as_json)


@runs.command(epilog=list_examples(RUN_CODES, "lockterm runs retry 3f2a"))
@run_argument
@json_lines_option
@same_account_option
@yes_option
@asks_service
def retry(options: Options, run: str, yes: bool, same_account: bool, as_json: bool) -> int:
    """Retry the steps of a run that were refused or not sent."""
    return _run_again(
        options, run, yes=yes, same_account=same_account, as_json=as_json, retries=True
    )


def _run_again(
    options: Options,
    run: str,
    *,
    yes: bool,
    same_account: bool,
    as_json: bool,
    retries: bool = False,
) -> int:
    with Session(options, writes=True) as session, _convert_refusals():
        plan = session.run(session.operations.runs.find(run))
        profile = session.profile
        if (plan.profile, plan.service) != (profile.name, profile.base_url):
            raise OtherPlanError(plan, profile.name, profile.base_url)
        if plan.is_running:
            raise RunUnderWayError(plan)
        if retries:
            plan = session.operations.runs.retry(plan)
        if not has_work(plan):
            run_id = plan.id if plan.steps else None
            return put_result(plan, as_json=as_json, run=run_id)
        if not as_json or not yes:  # the user must see the plan before the prompt
            say = put_stderr if as_json else put
            say(f"{clean(plan.title, 100)}:")
            due = tuple(step for step in plan.steps if step.state in DUE)
            put_plan(session, PlanDraft(replace(plan, steps=due)), say)
        if not confirm_plan(session, plan, yes=yes):
            return cancel()
        if session.operations.runs.needs_account(plan):
            if not same_account and not _is_same_account(OtherCredentialsError(plan)):
                return cancel()
            plan = session.run(session.operations.runs.note_same_account(plan))
        stored = store_plan(session, plan)
        del plan  # free the memory of the steps, which the run reads from the store
        return run_plan(session, stored, as_json=as_json)


def _is_same_account(error: OtherCredentialsError) -> bool:
    """Ask whether changed credentials belong to the same account, and return the answer.

    ``--yes`` does not skip this question.

    Raises:
        OtherCredentialsError: If there is no terminal for a prompt.
    """
    if not can_prompt():
        raise error
    return confirm(error.question, yes=False)


@contextmanager
def _convert_refusals() -> Iterator[None]:
    """Convert an error of the ``with`` block about the wrong run to a usage error.

    Raises:
        UsageError: If the run does not exist, or belongs to another profile or account.
    """
    try:
        yield
    except (NoSuchRunError, OtherPlanError, OtherCredentialsError) as error:
        raise UsageError(error.message, hint=error.hint) from None
