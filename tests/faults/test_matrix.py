"""Every call through every fault: journal and ledger agree, and reads change nothing."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from random import Random

import pytest

from tests.faults.cases import combined_case, read_case, write_case
from tests.faults.catalogue import Fault, catalogue
from tests.faults.proxy import READS, WRITES
from tests.faults.site import Site
from tests.long import sample, telling

# asyncio leaves a socket to the garbage collector when a connection is canceled as it comes about.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

AT_ONCE = 8
"""Cases that run at the same time."""
ENDLESS_AT_ONCE = 40
"""Cases that run beside them: they wait for a deadline most of the time."""

COMBINED, LONG_COMBINED = 20, 1000
"""Cases of several faults at once, for each write."""

Case = Callable[[Fault], Awaitable[list[str]]]


async def run(cases: list[tuple[Fault, Case]], request: pytest.FixtureRequest) -> None:
    """Run many cases together, and tell which of them failed."""
    gates = {False: asyncio.Semaphore(AT_ONCE), True: asyncio.Semaphore(ENDLESS_AT_ONCE)}

    async def one(fault: Fault, case: Case) -> list[str]:
        async with gates[fault.endless]:
            try:
                return [f"{fault.name}: {problem}" for problem in await case(fault)]
            except Exception as error:
                return [f"{fault.name}: {error!r}"]

    found = await asyncio.gather(*(one(fault, case) for fault, case in cases))
    gc.collect()
    request.node.user_properties.append(("fault cases", len(cases)))
    problems = [problem for problems in found for problem in problems]
    assert not problems, "\n".join([f"{len(problems)} problems", *problems])


TELLING = ("add",)


@pytest.mark.sampled
@pytest.mark.parametrize("call", telling(TELLING, WRITES))
async def test_write(site: Site, call: str, request: pytest.FixtureRequest):
    async def case(fault: Fault) -> list[str]:
        return await write_case(site, call, fault)

    await run([(fault, case) for fault in sample(catalogue(), 9)], request)


@pytest.mark.sampled
@pytest.mark.parametrize("call", telling(("detail",), READS))
async def test_read(site: Site, call: str, request: pytest.FixtureRequest):
    # Whether the service had the request is all one to a read.
    faults = [fault for fault in catalogue() if not fault.name.endswith(", applied")]
    faults = sample(faults, 9)

    async def lasting(fault: Fault) -> list[str]:
        return await read_case(site, call, fault, lasting=True)

    async def passing(fault: Fault) -> list[str]:
        return await read_case(site, call, fault, lasting=False)

    await run([(fault, case) for fault in faults for case in (lasting, passing)], request)


@pytest.mark.parametrize("call", telling(TELLING, WRITES))
async def test_faults_at_several_calls(
    site: Site, call: str, long_faults: bool, request: pytest.FixtureRequest
):
    """Random ones: at the write, at the reads before it, and at its reading back."""
    chance = Random(None if long_faults else call)
    seeds = [chance.randrange(2**32) for _ in range(LONG_COMBINED if long_faults else COMBINED)]
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(seed: int) -> list[str]:
        async with gate:
            return [f"seed {seed}: {w}" for w in await combined_case(site, call, Random(seed))]

    found = await asyncio.gather(*(one(seed) for seed in seeds))
    request.node.user_properties.append(("combined fault cases", len(seeds)))
    problems = [problem for problems in found for problem in problems]
    assert not problems, "\n".join([f"{len(problems)} problems", *problems])
