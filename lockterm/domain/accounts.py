"""Whose remotes a profile sees at a service."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """The account that a profile uses."""

    name: str
    earlier: tuple[str, ...] = ()
    """Accounts of the same profile with other credentials. Each may be this one after a rotation,
    or another one."""
