"""Fixtures for tests of keys: those of the screens."""

from tests.screens.conftest import _plain_terminal, clock, lockterm_app

__all__ = ["_plain_terminal", "clock", "lockterm_app"]
