"""The account whose remotes a profile sees at a service."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """The account that a profile uses."""

    name: str
    earlier: tuple[str, ...] = ()
    """The names of accounts that the same profile used with other credentials. Each may be this
    account before a rotation of its credentials, or a different account."""
