"""The fixture of the tests of plans: one who dies."""

from __future__ import annotations

from tests.operations.test_kill import mortal

__all__ = ["mortal"]
