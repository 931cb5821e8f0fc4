"""The default callback of objects that have no listener."""

from __future__ import annotations


def ignore(*_: object) -> None:
    """Accept any arguments and do nothing."""
