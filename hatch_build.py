"""What the build adds to the wheel: the manual pages, made of the commands' own help."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManualPages(BuildHookInterface):
    """Puts ``lockterm man``'s pages where an installation has those for man."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.dont_write_bytecode = True
        sys.path.insert(0, self.root)
        from lockterm.cli.commands import lockterm
        from lockterm.cli.man import pages

        self._written = tempfile.TemporaryDirectory()
        for name, text in pages(lockterm).items():
            page = Path(self._written.name, name)
            page.write_text(text, "utf-8")
            build_data["shared_data"][str(page)] = f"share/man/man1/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._written.cleanup()
