"""The one door from the screens to the service and the store.

Every write is a row of the journal, durable before its first byte leaves; its outcome is settled
by the answer, by reading back, or by a person, and nothing is ever sent again by itself.

Reading order: ``facade`` (the parts), ``writes`` (the six of the contract), ``sending`` (one
write), ``journal_store`` (what is written down of it), ``watching`` (reads back what had no
answer), ``proof`` (what proves it), ``resolution`` (what a person decides), ``recorded`` (what the
journal knows against what is shown). ``planner`` makes plans of many changes from the sources in
``plan_files``, ``copying``, ``undoing`` and ``voice_plans``; ``runs`` carries them out, ``steps``
does each of them, and ``rate_limiter`` says how fast. Reads are in ``remotes``, ``voices`` and
``locks``.
"""

from __future__ import annotations

from lockterm.operations.cached_reads import Fetched
from lockterm.operations.facade import Operations

__all__ = ["Fetched", "Operations"]
