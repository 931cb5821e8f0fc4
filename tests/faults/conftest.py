"""Fixtures of the fault tests."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lockterm.service.running import RunningService
from tests.faults.site import Site, quick
from tests.service.cluster import cluster

__all__ = ["cluster"]

ON_POSTGRES = os.environ.get("LOCKTERM_FAULTS") == "postgresql"
"""Whether the service behind all faults keeps its remotes in PostgreSQL."""


@pytest.fixture
def running_service(
    running_service: Callable[..., RunningService], request: pytest.FixtureRequest
) -> Callable[..., RunningService]:
    """Start a service on the database that is asked for."""
    if not ON_POSTGRES:
        return running_service
    on = request.getfixturevalue("cluster")

    def start(**options: Any) -> RunningService:
        return running_service(database=on.new_database(), migrate=True, **options)

    return start


@pytest.fixture
def site(running_service: Callable[..., RunningService], tmp_path: Path) -> Iterator[Site]:
    with quick():
        yield Site(running_service(sample_data=False), tmp_path)
    # asyncio leaves a socket to the garbage collector when a connection is canceled as it comes
    # about: let that not be reported in the midst of another test.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
