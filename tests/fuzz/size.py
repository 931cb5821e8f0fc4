"""How much is tried.

A change has to stand what fits into a minute. ``LOCKTERM_FUZZ=full`` tries the whole: 2,000 wrong
answers through the running app, 100 of them in a real terminal. ``LOCKTERM_FUZZ_SEED=2`` tries
others. What was tried is printed (``pytest -s``).
"""

from __future__ import annotations

import os

FULL = os.environ.get("LOCKTERM_FUZZ") == "full"
SEED = int(os.environ.get("LOCKTERM_FUZZ_SEED", "1"))

ANSWERS = 100_000
"""Through the client's readers; this is the whole."""
IN_APP = 2_000 if FULL else 400
"""Through the running app, of 2,000."""
IN_TERMINAL = 100 if FULL else 30
"""Through the app in a real terminal, of 100."""
MOST_KEYS = 40
"""For each answer in the last two: then the keys lead nowhere."""
