"""Fixtures for tests of keys: those of the screens."""

from tests.screens.conftest import clock, lockterm_app, plain_terminal

__all__ = ["clock", "lockterm_app", "plain_terminal"]
