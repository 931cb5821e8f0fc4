"""lockterm with a bug in it: run by ``test_crash``, in a terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from lockterm import app
from lockterm.cli.ui import run_ui
from lockterm.config import Options


class Crashing(app.LocktermApp):
    """Fails on a key, with a secret among its locals."""

    def key_f9(self) -> None:
        """The bug."""
        secret = os.environ["SECRET"]
        self.query_one(f"#{len(secret)}-no-such-widget")


app.LocktermApp = Crashing  # type: ignore[misc]

if __name__ == "__main__":
    assert Path(os.environ["HOME"]).is_dir()
    sys.exit(run_ui(Options(base_url="http://127.0.0.1:1")))
