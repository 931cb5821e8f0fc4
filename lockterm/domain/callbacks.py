"""A callback for objects that nobody listens to."""

from __future__ import annotations


def ignore(*_: object) -> None:
    """Do nothing with whatever is reported."""
