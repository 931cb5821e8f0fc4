"""Fixtures: a running app for what its pilot can see, a terminal for what only a terminal can."""

from __future__ import annotations

from tests.screens.conftest import _plain_terminal, _update_pictures, clock, lockterm_app
from tests.terminal.conftest import lockterm

__all__ = ["_plain_terminal", "_update_pictures", "clock", "lockterm", "lockterm_app"]
