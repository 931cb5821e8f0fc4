"""The default callback of an object without a listener."""

from __future__ import annotations


def ignore(*_: object) -> None:
    """Do nothing."""
