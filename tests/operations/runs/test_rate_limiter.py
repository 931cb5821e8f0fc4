"""How fast a run goes against services that take no more than so many calls."""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lockterm.api.retry_policy import UNSTATED_S
from lockterm.domain.dates import Clock
from lockterm.domain.plan import StepState
from lockterm.operations.rate_limiter import MOST_AT_ONCE, RateLimiter
from lockterm.service.figures import Figures
from lockterm.service.running import RunningService
from tests.conftest import NOW_MS
from tests.faults.site import Site, quick
from tests.long import telling
from tests.operations.runs.planning import add, execute, names, states

CALLS = 2
"""Of a step: one that reads, and one that writes."""


def each_second(most: float) -> Callable[[float], bool]:
    """A service that counts the calls of each second of its clock."""
    taken: dict[int, int] = {}

    def takes(now_s: float) -> bool:
        taken[int(now_s)] = taken.get(int(now_s), 0) + 1
        return taken[int(now_s)] <= most

    return takes


def last_second(most: float) -> Callable[[float], bool]:
    """A service that counts the calls of the second before, wherever that begins."""
    taken: deque[float] = deque()

    def takes(now_s: float) -> bool:
        while taken and taken[0] <= now_s - 1:
            taken.popleft()
        if len(taken) >= most:
            return False
        taken.append(now_s)
        return True

    return takes


def bucket(most: float) -> Callable[[float], bool]:
    """A service with a bucket of tokens that fills evenly, and holds those of a second."""
    tokens, at_s = most, 0.0

    def takes(now_s: float) -> bool:
        nonlocal tokens, at_s
        tokens, at_s = min(tokens + (now_s - at_s) * most, most), now_s
        if tokens < 1:
            return False
        tokens -= 1
        return True

    return takes


@dataclass
class World:
    """A run of endless steps over many locks, carried out as ``Runs`` does it."""

    takes: Callable[[float], bool]
    latency_s: float = 0.15
    asks_s: float = 0.0
    """The pause that a 429 asks for; 0: it does not say how long."""
    calls_per_minute: int = 0
    now_s: float = 0.0
    taken: int = 0
    done: int = 0
    """Steps that were not one too many; the others are done again later."""
    refused: int = 0
    most_at_once: int = 0
    sent: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pace = RateLimiter(Clock(steady=lambda: self.now_s), self.calls_per_minute)

    def call(self) -> Generator[float, None, bool]:
        self.sent.append(self.now_s)
        is_taken = self.takes(self.now_s)
        self.taken += is_taken
        self.refused += not is_taken
        yield self.latency_s
        if is_taken:
            self.pace.answer()
        else:
            self.pace.limit(self.asks_s)
        return is_taken

    def step(self) -> Generator[float, None, None]:
        while not (yield from self.call()):  # a read is tried again by the client
            yield self.asks_s or UNSTATED_S
        if (yield from self.call()):
            self.pace.went_well()
            self.done += 1

    def run(self, seconds: float) -> None:
        end_s, order = self.now_s + seconds, itertools.count()
        under_way: list[tuple[float, int, Generator[float, None, None]]] = []
        while self.now_s < end_s:
            while not (wait_s := self.pace.wait_s(len(under_way))):
                self.pace.begin(CALLS)
                heapq.heappush(under_way, (self.now_s, next(order), self.step()))
                self.most_at_once = max(self.most_at_once, len(under_way))
            next_s = under_way[0][0] if under_way else math.inf
            if self.now_s + wait_s < next_s:
                self.now_s += wait_s
                continue
            self.now_s, _, step = heapq.heappop(under_way)
            if (pause_s := next(step, None)) is not None:
                heapq.heappush(under_way, (self.now_s + pause_s, next(order), step))


Service = Callable[[float], Callable[[float], bool]]
SERVICES = [each_second, last_second, bucket]


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("most", [20, 60])
@pytest.mark.parametrize("latency_s", telling([0.005, 0.15], [0.005, 0.05, 0.15]))
def test_limiter_reaches_nine_tenths_of_an_unknown_limit(
    service: Service, most: int, latency_s: float
):
    """In a run of a minute, the search for the limit included."""
    world = World(service(most), latency_s)
    world.run(60)
    assert world.done * CALLS >= 0.9 * most * 60
    assert world.refused <= 0.02 * (world.taken + world.refused)


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("most", [20, 60])
@pytest.mark.parametrize("asks_s", telling([5.0], [1.0, 5.0]))
def test_pauses_that_are_asked_for_take_little_of_a_long_run(
    service: Service, most: int, asks_s: float
):
    world = World(service(most), asks_s=asks_s)
    world.run(600)
    assert world.done * CALLS >= 0.85 * most * 600
    assert world.refused <= 0.005 * (world.taken + world.refused)


def test_a_limit_that_sinks_or_rises_is_followed():
    world = World(each_second(60))
    world.run(100)
    world.takes, world.taken, world.refused = each_second(6), 0, 0
    world.run(300)
    assert world.taken >= 0.8 * 6 * 300
    assert world.refused <= 0.05 * (world.taken + world.refused)
    world.takes = each_second(60)
    world.run(600)
    assert world.pace.per_s > 30


def test_without_a_limit_the_steps_at_once_grow_to_the_most():
    world = World(lambda now_s: True)
    world.run(20)
    assert world.most_at_once == MOST_AT_ONCE
    assert world.pace.per_s == math.inf


def test_a_limit_that_was_set_is_held_in_every_minute():
    world = World(lambda now_s: True, calls_per_minute=90)
    world.run(300)
    begins = deque[float]()
    for at_s in world.sent:
        begins.append(at_s)
        while begins[0] <= at_s - 60:
            begins.popleft()
        assert len(begins) <= 90 + CALLS
    assert len(world.sent) >= 0.95 * 90 * 5


def test_no_step_begins_in_the_pause_that_is_asked_for():
    world = World(lambda now_s: now_s != 0, asks_s=30.0)
    world.run(40)
    assert [at_s for at_s in world.sent if world.latency_s < at_s < 30] == []
    assert len(world.sent) > 20


def test_what_fails_halves_the_steps_at_once_and_fails_together_once():
    now_s = [0.0]
    pace = RateLimiter(Clock(steady=lambda: now_s[0]))
    for _ in range(200):
        pace.went_well()
    assert pace.at_once == MOST_AT_ONCE
    for _ in range(5):
        pace.fail()
    assert pace.at_once == MOST_AT_ONCE / 2
    for _ in range(9):
        now_s[0] += 2
        pace.fail()
    assert pace.at_once == 1
    assert pace.wait_s(0) == 0 and pace.wait_s(1) == math.inf
    pace.went_well()
    assert pace.wait_s(1) == 0


# --- the real service with ``--rate-limit`` ------------------------------------------------------

STEPS, PER_S = 40, 25.0


class Refusals(Figures):
    """Counts, and has time begin with the first call that is one too many.

    Else a busy machine would make so few calls a second that there is none.
    """

    since_s: float | None = None

    def count(self, endpoint: str, code: int, seconds: float) -> None:
        super().count(endpoint, code, seconds)
        if code == 429 and self.since_s is None:
            self.since_s = time.monotonic()

    def now_ms(self) -> int:
        passed_s = 0.0 if self.since_s is None else time.monotonic() - self.since_s
        return NOW_MS + int(passed_s * 1000)


@pytest.mark.long
async def test_a_rate_of_the_service_is_kept_to_until_all_is_done(
    running_service: Callable[..., RunningService], tmp_path: Path
) -> None:
    told = Refusals()
    options: dict[str, Any] = {"rate": PER_S, "clock": told.now_ms, "figures": told}
    with quick():
        site = Site(running_service(sample_data=False, **options), tmp_path)
        lock_id = site.new_lock(0)
        async with site.proxy() as proxy, site.operations(proxy) as operations:
            done = await execute(operations, [add(lock_id, number) for number in range(STEPS)])
    assert told.since_s is not None
    assert states(done) == [StepState.RECORDED] * STEPS
    assert names(site, lock_id) == {f"New {number}" for number in range(STEPS)}
    assert len(site.state(lock_id)) == STEPS + 1
