"""Fixtures of the client's tests: a server of faults, and profiles for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import pytest

from lockterm.api.retry_policy import RetryPolicy
from tests.api.fault_server import FaultServer


@dataclass(frozen=True)
class Settings:
    """A profile as far as the client knows it."""

    base_url: str
    body: Literal["json", "form"] = "json"
    headers: Mapping[str, str] = field(default_factory=dict)
    ca_file: str = ""
    ca_only: bool = False
    timeout_s: float = 10.0


AT_ONCE = RetryPolicy(pause_s=0)
"""Three attempts without pauses between them."""


@pytest.fixture
async def faults() -> AsyncIterator[FaultServer]:
    async with FaultServer().running() as server:
        yield server
