"""The default callback of objects to which no listener is attached."""

from __future__ import annotations


def ignore(*_: object) -> None:
    """Do nothing with any arguments."""
