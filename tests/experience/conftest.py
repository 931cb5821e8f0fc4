"""Fixtures: a running app for what its pilot can see, a terminal for what only a terminal can."""

from __future__ import annotations

from tests.screens.conftest import clock, lockterm_app, plain_terminal, update_pictures
from tests.terminal.conftest import lockterm

__all__ = ["clock", "lockterm", "lockterm_app", "plain_terminal", "update_pictures"]
