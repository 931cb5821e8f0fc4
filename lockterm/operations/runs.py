"""Plans carried out: a step's state is on the disk before and after its bytes.

The id of a step's operation is noted before the write is handed to its sender, and the journal has
an operation before its first byte leaves. So the two tell how far a run got that was killed: where
there is no such operation, the step is done again; else it is what the journal says. Nothing that
was recorded is sent again, and nothing unknown repeated.

One step at a time on a lock, the locks side by side; see :mod:`lockterm.operations.rate_limiter`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from uuid import uuid4

from lockterm.domain.callbacks import ignore
from lockterm.domain.plan import DUE, NOT_REACHED, Action, Plan, Step, StepState
from lockterm.domain.text.amount import format_count, format_duration
from lockterm.domain.text.service import describe_read_only
from lockterm.errors import (
    LocktermError,
    RateLimited,
    Refused,
    RuleViolation,
    ServiceError,
    StoreError,
)
from lockterm.operations.connection import go_by, unstated_s
from lockterm.operations.ongoing_run import OngoingRun
from lockterm.operations.rate_limiter import MOST_AT_ONCE
from lockterm.operations.refusals import (
    NoSuchRun,
    OtherCredentials,
    OtherPlan,
    PendingChangeError,
    RunUnderWay,
)
from lockterm.operations.steps import CALLS, with_notes
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
"""How long a call takes where none was made yet, in seconds: for an estimate."""

READ_BACK_S = 30.0
"""So many seconds an outcome without an answer is read back before the lock's next step begins: a
delete of an old remote is proven by then. All that is unknown is read back at the end of a run."""

MOST_PAUSES = 10
"""So often a step is put off because the service asks for a pause; then it was not sent."""


class Runs:
    """What a session does with plans.

    Every method that reads or writes the disk raises ``StoreError`` where the store fails.

    Args:
        profile: Whose plans they are, and the service that they are for.
        connection: To the service.
        journal: The store beside which plans are kept, and the session.
        steps: Carries out single ones.
        pace: Of all runs of the session: what it knows of the service stays true.
    """

    def __init__(
        self,
        profile: Profile,
        connection: Connection,
        journal: JournalStore,
        steps: Steps,
        pace: RateLimiter,
    ) -> None:
        self._profile = profile
        self._connection = connection
        self._journal = journal
        self._steps = steps
        self._store = RunStore(journal.database)
        self._thread = journal.database.thread
        self._pace = pace
        self._here: set[str] = set()
        """The ids of the plans that are being carried out in this process."""

    # --- plans -------------------------------------------------------------------------------

    def make(
        self,
        title: str,
        steps: Iterable[Step],
        left: Iterable[Step] = (),
        losses: Iterable[str] = (),
    ) -> Plan:
        """A plan of this profile, for the service that it names now; not kept yet.

        Args:
            title: Where it comes from, for people.
            steps: They are numbered anew, from 1.
            left: What could not be planned, each with why; numbered after them.
            losses: What it cannot bring back, in sentences.
        """
        both = (*steps, *(replace(step, is_planned=False) for step in left))
        numbered = (replace(step, number=number) for number, step in enumerate(both, 1))
        profile, now_ms = self._profile, self._connection.clock.now_ms()
        head = (uuid4().hex, profile.name, profile.base_url, title, now_ms)
        return Plan(*head, tuple(numbered), tuple(losses))

    async def keep(self, plan: Plan) -> None:
        """Keep a plan on the disk; one that is kept already stays as it is."""
        if plan.credentials is None:
            plan = replace(plan, credentials=self._journal.account.credentials)
        await self._use(self._store.keep, plan)

    def needs_account(self, plan: Plan) -> bool:
        """Return whether a person has to say that other credentials are of a plan's account."""
        return plan.credentials not in (None, self._journal.account.credentials)

    async def note_same_account(self, plan: Plan) -> Plan:
        """Note that the credentials are new ones of the account that a plan is for."""
        now, was = self._journal.account.credentials, plan.credentials or ""
        await self._use(self._journal.account.note_same, was)
        await self._use(self._store.note_credentials, plan.id, now)
        return replace(plan, credentials=now)

    async def find(self, start: str) -> Plan:
        """A plan by its id, or by what no other id begins with; as the journal knows it by now.

        Raises:
            NoSuchRun: There is none, or more than one.
        """
        ids = await self._use(self._store.ids, start) if start else []
        if len(ids) > 1:
            raise NoSuchRun(f"More than one run begins with {start}.", hint="Give more of its id.")
        if not ids:
            raise NoSuchRun(f"There is no run {start}.", hint="See: lockterm runs list")
        is_running = await self.is_running(ids[0])  # before it is read: the end has all outcomes
        plan = await self._use(self._store.read, ids[0])
        steps = [await self._up_to_date(step) for step in plan.steps]
        steps = await with_notes(self._journal, plan.id, steps)
        return replace(plan, steps=tuple(steps), is_running=is_running)

    async def changed(self, plan: Plan) -> list[Step]:
        """The steps of a plan that another session has brought further than it tells.

        Raises:
            StoreDamaged: How far they got cannot be read any more.
        """
        known = {step.number: step for step in plan.steps}
        found = await self._use(self._store.changed, plan)
        now = {**known, **{step.number: step for step in found}}
        steps = [await self._up_to_date(step) for step in now.values()]
        return [step for step in steps if step != known[step.number]]

    async def is_running(self, plan_id: str) -> bool:
        """Whether a session carries a plan out just now."""
        is_alive = self._journal.session.is_alive
        return await self._use(self._store.is_running, plan_id, is_alive)

    def retry(self, plan: Plan) -> Plan:
        """A plan of the steps that were refused or not sent; not kept yet. It may have no step."""
        due: dict[str, Any] = {"state": StepState.TO_DO, "message": "", "operation_id": None}
        steps = [replace(step, **due) for step in plan.steps if step.may_retry]
        return replace(self.make(plan.title, steps, (), plan.losses), credentials=plan.credentials)

    def cost(self, plan: Plan) -> str:
        """What carrying out the steps that are due takes: ``214 calls, about 40 s``."""
        due = [step for step in plan.steps if step.state in DUE]
        calls = sum(CALLS[step.action] for step in due)
        on_one = Counter[int]()
        for step in due:
            on_one[step.lock_id] += CALLS[step.action]
        call_s = self._connection.call_s or USUAL_CALL_S
        side_by_side = max(min(len(on_one), int(MOST_AT_ONCE)), 1)
        seconds = call_s * max(calls / side_by_side, *on_one.values(), 0)
        if limit := self._profile.calls_per_minute:
            seconds = max(seconds, 60 * calls / limit)
        return f"{format_count(calls, 'call')}, about {format_duration(seconds)}"

    # --- carrying out ------------------------------------------------------------------------

    async def carry_out(
        self,
        plan: Plan,
        *,
        on_step: Callable[[Step], None],
        stop: asyncio.Event,
        on_read_back: Callable[[int], None] = ignore,
    ) -> Plan:
        """Carry out what is due of a plan; one that was interrupted goes on where it was.

        What is unknown in the end is read back, as long as a proof may take.

        Args:
            plan: Kept first, where it is not yet; how far it got is taken from the disk.
            on_step: Called with each step as it is sent, put off and ended, in the order of that.
            stop: Once it is set no more steps begin; those under way end, and nothing is read
                back. So it is where whoever waits is canceled.
            on_read_back: Called with how many steps are read back, whenever that has changed.

        Returns:
            The plan with what became of each step. Where the store failed, a step that was under
            way then is still ``SENT``: the journal will tell.

        Raises:
            RuleViolation: The profile is read-only.
            OtherPlan: It is another profile's or another service's.
            OtherCredentials: They have changed since; see :meth:`note_same_account`.
            RunUnderWay: A session that lives carries it out.
        """
        profile = self._profile
        if profile.read_only:
            raise RuleViolation({"read_only": describe_read_only(profile.name, "nothing was sent")})
        if (plan.profile, plan.service) != (profile.name, profile.base_url):
            raise OtherPlan(plan, profile.name, profile.base_url)
        await self.keep(plan)
        async with self._taken(plan):
            plan = await self._use(self._store.read, plan.id)
            if self.needs_account(plan):
                raise OtherCredentials(plan)
            steps = {step.number: step for step in plan.steps}
            run = OngoingRun(plan, on_step, on_read_back, stop, steps)
            await self._begin(run)
            await self._dispatch(run)
            if not (stop.is_set() or run.stopped):
                await self._read_back(run)
        return replace(plan, steps=tuple(run.steps.values()), stopped=run.stopped)

    @contextlib.asynccontextmanager
    async def _taken(self, plan: Plan) -> AsyncIterator[None]:
        session = self._journal.session
        holder = session.id if plan.id in self._here else ""
        if not holder:
            self._here.add(plan.id)
            try:
                holder = await self._use(self._store.take, plan.id, session.id, session.is_alive)
            finally:
                if holder:
                    self._here.discard(plan.id)
        if holder:
            raise RunUnderWay(plan, holder)
        try:
            yield
        finally:
            self._here.discard(plan.id)
            with contextlib.suppress(StoreError):  # it ends with this session at the latest
                await self._use(self._store.release, plan.id)

    async def _begin(self, run: OngoingRun) -> None:
        """Note what needs no call, and sort what is due by its lock."""
        ended = []
        self._steps.note_known(run.plan.steps)
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
        return await self._steps.up_to_date(step) if is_unknown else step

    async def _dispatch(self, run: OngoingRun) -> None:
        under_way: dict[asyncio.Task[None], int] = {}
        stop = run.stop
        stopping = asyncio.ensure_future(stop.wait())
        try:
            while True:
                wait_s = 0.0
                while run.ready and not stop.is_set() and not run.stopped:
                    wait_s = self._pace.wait_s(len(under_way))
                    if wait_s > 0:
                        break
                    lock_id = run.ready.popleft()
                    number = run.waiting[lock_id].popleft()
                    self._pace.begin(CALLS[run.steps[number].action])
                    task = self._connection.background(self._try(run, number))
                    under_way[task] = lock_id
                if not under_way and (not run.ready or stop.is_set() or run.stopped):
                    return
                waiting = {*under_way} if stop.is_set() else {*under_way, stopping}
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

    async def _read_back(self, run: OngoingRun) -> None:
        """Read all that is unknown back, side by side; each is told once it is proven."""

        async def prove(number: int) -> None:
            with contextlib.suppress(StoreError):  # it stays unknown here; the journal knows it
                await self._prove(run, number)

        unknown = [step.number for step in run.steps.values() if step.state is StepState.UNKNOWN]
        await asyncio.gather(*map(prove, unknown))

    async def _prove(self, run: OngoingRun, number: int, within_s: float | None = None) -> None:
        """Read an unknown step back, and note what is proven; a run that is stopped does not."""
        step = run.steps[number]
        settled = await self._unless_stopped(run, self._steps.read_back, step, within_s)
        if settled is not None and settled != step:
            await self._note(run, [settled])

    async def _unless_stopped(
        self, run: OngoingRun, work: Callable[P, Awaitable[T]], *args: P.args, **options: P.kwargs
    ) -> T | None:
        """Return what is read back; None if the run was stopped before."""

        async def read() -> T:
            go_by(self._pace.turn)
            return await work(*args, **options)

        reading = asyncio.ensure_future(read())
        stopping = asyncio.ensure_future(run.stop.wait())
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

    async def _try(self, run: OngoingRun, number: int) -> None:
        """Carry out a step; where what became of it cannot be noted, no more steps begin."""
        unstated_s.set(0.0)
        try:
            await self._one(run, number)
        except StoreError as error:
            run.stopped = run.stopped or error.sentences

    async def _one(self, run: OngoingRun, number: int) -> None:
        """Carry out a step, and note what became of it."""
        step = run.steps[number]
        if step.state is StepState.SENT:
            settled = await self._steps.settle(step)
            if settled is not None:
                await self._end(run, settled)
                return
        step = replace(step, state=StepState.SENT, operation_id=uuid4().hex)
        await self._note(run, [step])
        try:
            ended = await self._unless_held(run, step)
        except RateLimited as error:
            await self._put_off(run, step, error)
            return
        except LocktermError as error:
            is_far = isinstance(error, ServiceError) and error.out_of_reach
            words = f"{NOT_REACHED}. {error.meaning}" if is_far else error.meaning
            ended = replace(step, state=_state_after(error), message=words)
            self._weigh(run, step, error)
        else:
            if ended.state is StepState.UNKNOWN:
                self._pace.fail()
            else:
                self._pace.went_well()
        await self._end(run, ended)

    async def _unless_held(self, run: OngoingRun, step: Step) -> Step:
        """Carry out a step; an unconfirmed change that blocks it is read back once in a run."""
        try:
            return await self._steps.carry_out(step)
        except PendingChangeError as error:
            holder = error.operation
            if holder.id in run.holders:
                raise
            run.holders.add(holder.id)
            is_own = holder.session == self._journal.session.id
            within_s = READ_BACK_S if is_own else None  # an earlier one lets others pass, not seen
            await self._unless_stopped(run, self._steps.verify, holder, within_s)
        return await self._steps.carry_out(step)

    async def _end(self, run: OngoingRun, ended: Step) -> None:
        """Note what became of a step, and what that means for the others of its lock."""
        held, left = [], run.waiting[ended.lock_id]
        if why := run.unreached.get(ended.lock_id):
            words = f"{NOT_REACHED} by the step before. {why}"
            held = [
                replace(run.steps[other], state=StepState.NOT_SENT, message=words) for other in left
            ]
            left.clear()
        await self._note(run, [ended, *held])
        if ended.state is StepState.UNKNOWN and left:  # it may hold them back
            await self._prove(run, ended.number, READ_BACK_S)

    async def _put_off(self, run: OngoingRun, step: Step, error: RateLimited) -> None:
        """Do a step again after the pause that the service asks for; nothing of it was applied."""
        self._pace.limit(error.retry_after_s or 0.0)
        run.pauses[step.number] += 1
        if run.pauses[step.number] > MOST_PAUSES:
            await self._note(run, [replace(step, state=StepState.NOT_SENT, message=error.meaning)])
            return
        run.waiting[step.lock_id].appendleft(step.number)
        await self._note(run, [replace(step, state=StepState.TO_DO, operation_id=None)])

    def _weigh(self, run: OngoingRun, step: Step, error: LocktermError) -> None:
        """What an error means for the other steps."""
        if isinstance(error, StoreError) or (isinstance(error, Refused) and error.is_denial):
            run.stopped = run.stopped or error.sentences
        if isinstance(error, ServiceError) and error.out_of_reach:
            run.unreached[step.lock_id] = error.meaning
        if isinstance(error, ServiceError) and not isinstance(error, Refused):
            self._pace.fail()

    async def _note(self, run: OngoingRun, steps: Sequence[Step]) -> None:
        if not steps:
            return
        await self._use(self._store.note, run.plan.id, steps)
        for step in steps:
            run.steps[step.number] = step
            run.on_step(step)

    async def _use(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        return await self._thread.to_its_end(partial(self._journal.use, work, *args, **options))


def _state_after(error: LocktermError) -> StepState:
    """What a step is after an error by which nothing of it was applied."""
    return StepState.REFUSED if isinstance(error, Refused | RuleViolation) else StepState.NOT_SENT
