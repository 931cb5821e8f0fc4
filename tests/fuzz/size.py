"""How much is tried. The defaults are what a change has to stand before it goes in.

``LOCKTERM_FUZZ=10`` tries ten times as much, ``LOCKTERM_FUZZ_SEED=2`` something else.
"""

from __future__ import annotations

import os

TIMES = float(os.environ.get("LOCKTERM_FUZZ", "1"))
SEED = int(os.environ.get("LOCKTERM_FUZZ_SEED", "1"))

ANSWERS = int(100_000 * TIMES)
"""Through the client's readers."""
IN_APP = int(2_000 * TIMES)
"""Through the running app."""
IN_TERMINAL = int(100 * TIMES)
"""Through the app in a real terminal."""
