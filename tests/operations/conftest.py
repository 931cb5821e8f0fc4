"""The fixtures of the fault tests: the real service with a proxy before it."""

from __future__ import annotations

from tests.faults.conftest import site

__all__ = ["site"]
