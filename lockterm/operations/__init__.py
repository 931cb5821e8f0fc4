"""The single access from the screens to the service and the store.

Every write is a row of the journal that is on the disk before the first byte is sent. The answer,
a later reading or a person decides the result. lockterm never repeats a write automatically.

Reading order:

- ``facade``: the parts.
- ``writes``: the six writes of the contract.
- ``sending``: the sending of one write.
- ``journal_store``: the journal of all writes.
- ``watching``: the automatic reading back of writes without an answer.
- ``proof``: the rules by which readings prove a result.
- ``resolution``: a person's decisions about unconfirmed writes.
- ``recorded``: the comparison of the journal with the lists of the service.
- ``planner``: plans of many changes, from the sources in ``plan_files``, ``copying``,
  ``cleaning``, ``undoing`` and ``voice_plans``.
- ``runs``: the runs of plans. ``steps`` runs each step, and ``rate_limiter`` limits the rate.
- ``remotes``, ``voices`` and ``locks``: reads.
"""

from __future__ import annotations

from lockterm.operations.cached_reads import Fetched
from lockterm.operations.facade import Operations

__all__ = ["Fetched", "Operations"]
