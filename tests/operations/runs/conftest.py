"""Fixtures of the tests of plans: the real service with a proxy before it, and one who dies."""

from __future__ import annotations

from tests.faults.conftest import site
from tests.operations.test_kill import mortal

__all__ = ["mortal", "site"]
