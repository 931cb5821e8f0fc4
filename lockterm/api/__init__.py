"""The service client: a typed method for each of the contract's 12 calls, usable without the UI.

Reading order: ``client`` (the calls), ``writes`` (what a change is), ``transport`` (one exchange),
``envelope`` and ``decoder`` (what the answer means), ``patience`` (what is tried again).
"""

from __future__ import annotations

from lockterm.api.client import LockService
from lockterm.api.settings import ServiceSettings
from lockterm.api.writes import Write

__all__ = ["LockService", "ServiceSettings", "Write"]
