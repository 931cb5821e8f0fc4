"""The application layer, through which commands and screens reach the service and the local store.

Every write is a row in the journal before its first byte is sent. The result of a write comes from
the service's answer, from a later verification, or from the user's decision. lockterm never repeats
a write automatically.

A reading order for new developers:

- ``facade``: the class that gives access to all parts.
- ``writes``: the six writes of the contract.
- ``sending``: how one write is sent.
- ``journal_store``: the journal of all writes.
- ``watching``: the automatic verification of writes without an answer.
- ``proof``: the rules by which lists and details prove the result of a write.
- ``resolution``: the user's decisions about unconfirmed writes.
- ``recorded``: the comparison of the journal with the lists of the service.
- ``planner``: plans of many changes. The changes come from ``plan_files``, ``copying``,
  ``replacing`` and ``undoing``, or from ``planner`` itself.
- ``runs``: the runs of plans. ``steps`` runs each step, and ``rate_limiter`` limits the rate.
- ``remotes``, ``kept_lists`` and ``voices``: the data that screens and commands show.
"""

from __future__ import annotations

from lockterm.operations.cached_reads import Fetched
from lockterm.operations.facade import Operations

__all__ = ["Fetched", "Operations"]
