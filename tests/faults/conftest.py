"""Fixtures of the fault tests."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lockterm.service.running import RunningService
from tests.faults.site import Site, quick


@pytest.fixture
def site(running_service: Callable[..., RunningService], tmp_path: Path) -> Iterator[Site]:
    with quick():
        yield Site(running_service(sample_data=False), tmp_path)
    # asyncio leaves a socket to the garbage collector when a connection is cancelled as it comes
    # about: let that not be reported in the midst of another test.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
