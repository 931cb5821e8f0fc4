"""The fixtures of the tests of operations: the real service with a proxy before it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.faults.conftest import site
from tests.faults.site import Site
from tests.operations.bench import Bench

__all__ = ["site"]


@pytest.fixture
async def bench(site: Site) -> AsyncIterator[Bench]:
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        yield Bench(site, proxy, operations, lock_id)
