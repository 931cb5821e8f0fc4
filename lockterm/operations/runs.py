"""Runs of plans, which store the state of each step before and after the step is sent.

The ID of a step's operation is stored before the write is sent, and the journal has the operation
before its first byte is sent. After lockterm was killed, it runs a step again only if the journal
proves that nothing was sent. So no recorded or unconfirmed change is sent twice.

Locks are processed in parallel, each with one step at a time; see ``rate_limiter``.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from uuid import uuid4

from lockterm.domain.plan import (
    DUE,
    NOT_REACHED,
    Action,
    Plan,
    Run,
    RunState,
    Step,
    StepState,
    select_retryable,
)
from lockterm.domain.text.amount import format_count, format_duration
from lockterm.domain.text.run import describe_blocked
from lockterm.domain.text.service import describe_read_only
from lockterm.errors import (
    LocktermError,
    NoSuchRunError,
    RateLimitedError,
    RefusedError,
    RuleViolationError,
    ServiceError,
    StoreError,
)
from lockterm.operations.rate_limiter import MOST_AT_ONCE
from lockterm.operations.refusals import (
    OtherCredentialsError,
    OtherPlanError,
    PendingChangeError,
    RunUnderWayError,
)
from lockterm.operations.steps import CALLS, state_after, with_notes
from lockterm.store.runs import RunStore

if TYPE_CHECKING:
    from lockterm.config import Profile
    from lockterm.operations.connection import Connection
    from lockterm.operations.journal_store import JournalStore
    from lockterm.operations.rate_limiter import RateLimiter
    from lockterm.operations.steps import Steps

_log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

USUAL_CALL_S = 0.2
"""Estimated duration of a call, in seconds, if no call was measured yet."""

READ_BACK_S = 30.0
"""Maximum time, in seconds, for which an unconfirmed step is verified before the next step of its
lock begins. This time is enough to prove the delete of an old remote. At the end of a run, lockterm
verifies all steps that are still unconfirmed."""

MOST_PAUSES = 10
"""Maximum number of requested pauses that postpone one step. After more pauses, the step counts as
not sent."""


@dataclass
class Runs:
    """The plans of a profile, and their runs in this session.

    Methods that use the store raise ``StoreError`` if it fails.

    Args:
        profile: The profile, for whose service plans are made.
        connection: The connection to the service.
        journal: The journal, whose database also stores the plans.
        steps: The object that runs single steps.
        pace: The rate limiter. All runs of the session share it, to keep its estimates.
    """

    profile: Profile
    connection: Connection
    journal: JournalStore
    steps: Steps
    pace: RateLimiter

    def __post_init__(self) -> None:
        self._store = RunStore(self.journal.database, self.journal.session)
        self._thread = self.journal.database.thread
        self._here: set[str] = set()
        """The IDs of the plans that are running in this process."""

    # --- plans -------------------------------------------------------------------------------

    def make(
        self,
        title: str,
        steps: Iterable[Step],
        left: Iterable[Step] = (),
        losses: Iterable[str] = (),
    ) -> Plan:
        """Return a new plan for the present service of the profile, without storing the plan.

        Args:
            title: The title of the plan, for people.
            steps: The steps to run, which get numbers from 1.
            left: The steps that could not be planned, with reasons. They get the next numbers.
            losses: Sentences about values that cannot be restored after the run.
        """
        both = (*steps, *(replace(step, is_planned=False) for step in left))
        numbered = (replace(step, number=number) for number, step in enumerate(both, 1))
        profile, now_ms = self.profile, self.connection.clock.now_ms()
        head = (uuid4().hex, profile.name, profile.base_url, title, now_ms)
        return Plan(*head, tuple(numbered), tuple(losses))

    async def keep(self, plan: Plan) -> None:
        """Store a plan. A plan that is already stored stays unchanged."""
        if plan.credentials is None:
            plan = replace(plan, credentials=self.journal.account.credentials)
        await self._use(self._store.keep, plan)

    def needs_account(self, plan: Plan) -> bool:
        """Return whether the user must confirm that a plan is for the present account.

        This is necessary if the plan was stored with other credentials than the profile has now.
        """
        return plan.credentials not in (None, self.journal.account.credentials)

    async def note_same_account(self, plan: Plan) -> Plan:
        """Store that the present credentials belong to the account that a plan was made for.

        Return the plan with the digest of these credentials.
        """
        now, was = self.journal.account.credentials, plan.credentials or ""
        await self._use(self.journal.account.note_same, was)
        await self._use(self._store.note_credentials, plan.id, now)
        return replace(plan, credentials=now)

    async def find(self, start: str) -> Plan:
        """Return a stored plan by its ID or the beginning of its ID, with results from the journal.

        Raises:
            NoSuchRunError: No ID of a plan, or more than one, begins with ``start``.
        """
        ids = await self._use(self._store.ids, start) if start else []
        if len(ids) > 1:
            raise NoSuchRunError(
                f"Several run IDs begin with {start}.", hint="Type more of the ID."
            )
        if not ids:
            raise NoSuchRunError(f"No run ID begins with {start}.", hint="See: lockterm runs list")
        # Check this before the plan is read: after its end, a run has stored all results.
        is_running = await self.is_running(ids[0])
        plan = await self._use(self._store.read, ids[0])
        steps = [await self._up_to_date(step) for step in plan.steps]
        steps = await with_notes(self.journal, plan.id, steps)
        return replace(plan, steps=tuple(steps), is_running=is_running)

    async def find_last_id(self) -> str:
        """Return the ID of the last interrupted run, or else of the last run.

        Raises:
            NoSuchRunError: No plan has been run yet.
        """
        begun = [one for one in await self.journal.runs() if one.state is not RunState.PLANNED]
        interrupted = [one for one in begun if one.is_interrupted]
        if not begun:
            raise NoSuchRunError("No plan has been run on this machine yet.")
        return (interrupted or begun)[0].id

    async def changed(self, plan: Plan) -> list[Step]:
        """Return the steps of a plan that another session has changed since the plan was read.

        Raises:
            StoreDamagedError: The stored states of the steps cannot be read.
        """
        known = {step.number: step for step in plan.steps}
        stored = await self._use(self._store.changed, plan)
        now = {**known, **{step.number: step for step in stored}}
        steps = [await self._up_to_date(step) for step in now.values()]
        return [step for step in steps if step != known[step.number]]

    async def is_running(self, plan_id: str) -> bool:
        """Return whether an active session is running a plan."""
        return bool(await self._use(self._store.holder, plan_id))

    def retry(self, plan: Plan) -> Plan:
        """Return a new plan with those steps of a plan that can be retried.

        These are the refused and unsent steps. The new plan is not stored, and may be empty.
        """
        due: dict[str, Any] = {"state": StepState.TO_DO, "message": "", "operation_id": None}
        steps = [replace(step, **due) for step in select_retryable(plan.steps)]
        return replace(self.make(plan.title, steps, (), plan.losses), credentials=plan.credentials)

    def cost(self, plan: Plan) -> str:
        """Return the estimated cost of a plan: ``214 requests to the service, about 40 s``."""
        due = [step for step in plan.steps if step.state in DUE]
        calls = sum(CALLS[step.action] for step in due)
        on_one = Counter[int]()
        for step in due:
            on_one[step.lock_id] += CALLS[step.action]
        call_s = self.connection.call_s or USUAL_CALL_S
        side_by_side = max(min(len(on_one), int(MOST_AT_ONCE)), 1)
        seconds = call_s * max(calls / side_by_side, *on_one.values(), 0)
        seconds = max(seconds, calls / self.pace.per_s) + self.pace.wait_s(0)
        return f"{format_count(calls, 'request')} to the service, about {format_duration(seconds)}"

    # --- running -----------------------------------------------------------------------------

    async def execute(self, run: Run) -> None:
        """Run the steps of a plan that are due. An interrupted run resumes where it ended.

        At the end, unconfirmed steps are verified until their results are proven or the time limit
        is reached. If the run is stopped, or the caller is canceled, steps in progress are
        completed, and nothing is verified. If the store fails, a step in progress stays ``SENT``,
        and the journal has its result.

        Args:
            run: The run. Its plan is stored if the store does not have it yet. Otherwise, the
                progress of the plan is read from the store.

        Raises:
            RuleViolationError: The profile is read-only.
            OtherPlanError: The plan was made for another profile or service.
            OtherCredentialsError: The plan was stored with other credentials than the profile has
                now; see :meth:`note_same_account`.
            RunUnderWayError: An active session is running the plan.
        """
        try:
            await self._execute(run)
        except LocktermError as error:
            run.error = error
            raise
        finally:
            run.end()

    async def _execute(self, run: Run) -> None:
        profile, plan = self.profile, run.plan
        if profile.read_only:
            raise RuleViolationError(
                {"read_only": describe_read_only(profile.name, "Nothing was sent")}
            )
        if (plan.profile, plan.service) != (profile.name, profile.base_url):
            raise OtherPlanError(plan, profile.name, profile.base_url)
        await self.keep(plan)
        async with self._taken(plan):
            plan = await self._use(self._store.read, plan.id)
            if self.needs_account(plan):
                raise OtherCredentialsError(plan)
            run.load(plan)
            await self._begin(run)
            await self._dispatch(run)
            if not run.starts_no_more:
                await self._verify_steps(run)

    @contextlib.asynccontextmanager
    async def _taken(self, plan: Plan) -> AsyncIterator[None]:
        holder = self.journal.session.id if plan.id in self._here else ""
        if not holder:
            self._here.add(plan.id)
            try:
                holder = await self._use(self._store.take, plan.id)
            finally:
                if holder:
                    self._here.discard(plan.id)
        if holder:
            raise RunUnderWayError(plan, holder)
        self.connection.runs_under_way += 1
        try:
            yield
        finally:
            self.connection.runs_under_way -= 1
            self._here.discard(plan.id)
            with contextlib.suppress(StoreError):  # the claim ends with this session anyway
                await self._use(self._store.release, plan.id)

    async def _begin(self, run: Run) -> None:
        """Store the results of steps that need no call, and group the due steps by lock."""
        ended = []
        self.steps.note_known(run.plan.steps)
        for step in run.plan.steps:
            now = await self._up_to_date(step)
            if step.action is Action.KEEP and step.state in DUE:
                now = replace(step, state=StepState.UNCHANGED)
            if now != step:
                ended.append(now)
            elif step.state in DUE:
                run.waiting.setdefault(step.lock_id, deque()).append(step.number)
        await self._note(run, ended)
        run.ready.extend(run.waiting)

    async def _up_to_date(self, step: Step) -> Step:
        is_unknown = step.state is StepState.UNKNOWN
        return await self.steps.up_to_date(step) if is_unknown else step

    async def _dispatch(self, run: Run) -> None:
        under_way: dict[asyncio.Task[None], int] = {}
        stopping = asyncio.ensure_future(run.stop_request.wait())
        try:
            while True:
                wait_s = 0.0
                while run.ready and not run.starts_no_more:
                    wait_s = self.pace.wait_s(len(under_way))
                    if wait_s > 0:
                        break
                    lock_id = run.ready.popleft()
                    number = run.waiting[lock_id].popleft()
                    self.pace.begin(CALLS[run.steps[number].action])
                    task = self.connection.background(self._try(run, number))
                    under_way[task] = lock_id
                if not under_way and (not run.ready or run.starts_no_more):
                    return
                waiting = {*under_way} if run.is_stopped else {*under_way, stopping}
                timeout_s = wait_s if 0 < wait_s < float("inf") else None
                await asyncio.wait(waiting, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
                for task in [task for task in under_way if task.done()]:
                    lock_id = under_way.pop(task)
                    task.result()
                    if run.waiting[lock_id]:
                        run.ready.append(lock_id)
        finally:
            stopping.cancel()
            while under_way := {task: 0 for task in under_way if not task.done()}:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait(under_way)

    async def _verify_steps(self, run: Run) -> None:
        """Verify all unconfirmed steps in parallel, and store each result when it is proven."""

        async def prove(number: int) -> None:
            with contextlib.suppress(StoreError):  # the step stays unknown until a later reading
                await self._prove(run, number)

        unknown = [step.number for step in run.steps.values() if step.state is StepState.UNKNOWN]
        await asyncio.gather(*map(prove, unknown))

    async def _prove(self, run: Run, number: int, within_s: float | None = None) -> None:
        """Verify an unconfirmed step and store its proven result, unless the run is stopped."""
        step = run.steps[number]
        resolved = await self._unless_stopped(run, self.steps.verify_step, step, within_s)
        if resolved is not None and resolved != step:
            await self._note(run, [resolved])

    async def _unless_stopped(
        self, run: Run, work: Callable[P, Awaitable[T]], *args: P.args, **options: P.kwargs
    ) -> T | None:
        """Return the result of a verification; None if the run was stopped first."""
        reading = asyncio.ensure_future(work(*args, **options))
        stopping = asyncio.ensure_future(run.stop_request.wait())
        run.note_reading(+1)
        try:
            await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            run.note_reading(-1)
            stopping.cancel()
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reading
        return None if reading.cancelled() else reading.result()

    async def _try(self, run: Run, number: int) -> None:
        """Run a step. If its result cannot be stored, stop the run."""
        try:
            await self._one(run, number)
        except StoreError as error:
            run.stop_reason = run.stop_reason or error.sentences

    async def _one(self, run: Run, number: int) -> None:
        """Run a step and store its result."""
        step = run.steps[number]
        if step.state is StepState.SENT:
            resolved = await self.steps.resolve(step)
            if resolved is not None:
                await self._end(run, resolved)
                return
        earlier = run.steps.get(number - 1)
        if earlier is not None and step.requires(earlier) and not earlier.is_done:
            reason = describe_blocked(earlier)
            await self._end(run, replace(step, state=StepState.NOT_SENT, message=reason))
            return
        step = replace(step, state=StepState.SENT, operation_id=uuid4().hex)
        await self._note(run, [step])
        try:
            ended = await self._unless_held(run, step)
        except RateLimitedError as error:
            await self._put_off(run, step, error)
            return
        except LocktermError as error:
            is_unreached = isinstance(error, ServiceError) and error.out_of_reach
            message = f"{NOT_REACHED}. {error.meaning}" if is_unreached else error.meaning
            ended = replace(step, state=state_after(error), message=message)
            self._weigh(run, step, error)
        else:
            if ended.state is StepState.UNKNOWN:
                self.pace.fail()
            else:
                self.pace.went_well()
        await self._end(run, ended)

    async def _unless_held(self, run: Run, step: Step) -> Step:
        """Run a step, and return it with its result.

        If an unconfirmed change blocks the step, first verify that change. Each blocking change is
        verified only once per run.
        """
        try:
            return await self.steps.execute(step)
        except PendingChangeError as error:
            holder = error.operation
            if holder.id in run.holders:
                raise
            run.holders.add(holder.id)
            is_own = holder.session == self.journal.session.id
            # A change of an earlier session blocks until it is proven or not seen.
            within_s = READ_BACK_S if is_own else None
            await self._unless_stopped(run, self.steps.verify, holder, within_s)
        return await self.steps.execute(step)

    async def _end(self, run: Run, ended: Step) -> None:
        """Store the result of a step, and apply the result to the waiting steps of the same lock.

        If the service was not reached, the waiting steps are not sent. If the result is unknown,
        the step is verified before a waiting step begins.
        """
        held, left = [], run.waiting[ended.lock_id]
        if reason := run.unreached.get(ended.lock_id):
            message = f"{NOT_REACHED} in the previous step. {reason}"
            held = [
                replace(run.steps[other], state=StepState.NOT_SENT, message=message)
                for other in left
            ]
            left.clear()
        await self._note(run, [ended, *held])
        if ended.state is StepState.UNKNOWN and left:  # the step may block the remaining ones
            is_required = run.steps[left[0]].requires(ended)
            await self._prove(run, ended.number, None if is_required else READ_BACK_S)

    async def _put_off(self, run: Run, step: Step, error: RateLimitedError) -> None:
        """Postpone a step that the service refused, until the requested pause has ended.

        After more than :data:`MOST_PAUSES` pauses, the step counts as not sent.
        """
        self.pace.limit(error.retry_after_s or 0.0)
        run.pauses[step.number] += 1
        if run.pauses[step.number] > MOST_PAUSES:
            await self._note(run, [replace(step, state=StepState.NOT_SENT, message=error.meaning)])
            return
        run.waiting[step.lock_id].appendleft(step.number)
        await self._note(run, [replace(step, state=StepState.TO_DO, operation_id=None)])

    def _weigh(self, run: Run, step: Step, error: LocktermError) -> None:
        """React to an error: stop the run, skip the other steps of the lock, or slow down."""
        if isinstance(error, StoreError) or (isinstance(error, RefusedError) and error.is_denial):
            run.stop_reason = run.stop_reason or error.sentences
        if isinstance(error, ServiceError) and error.out_of_reach:
            run.unreached[step.lock_id] = error.meaning
        if isinstance(error, ServiceError) and not isinstance(error, RefusedError):
            self.pace.fail()

    async def _note(self, run: Run, steps: Sequence[Step]) -> None:
        if not steps:
            return
        await self._use(self._store.note, run.plan.id, steps)
        for step in steps:
            run.note(step)

    async def _use(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        return await self._thread.to_its_end(partial(self.journal.use, work, *args, **options))
