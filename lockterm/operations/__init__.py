"""The one door from the screens to the service and the store.

Every write is a row of the journal, durable before its first byte leaves; its outcome is settled
by the answer, by reading back, or by a person, and nothing is ever sent again by itself.

Reading order: ``kept`` (journal and drafts), ``sending`` (one write), ``writes`` (the six of the
contract), ``settling`` (outcomes that are not known). Reads are in ``lockterm.reads``.
"""

from __future__ import annotations

from lockterm.operations.sending import HeldBack, OtherService, SettledMeanwhile
from lockterm.operations.settling import Operations
from lockterm.reads import Seen

__all__ = ["HeldBack", "Operations", "OtherService", "Seen", "SettledMeanwhile"]
