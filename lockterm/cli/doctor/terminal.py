"""The doctor's look at the terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from lockterm.cli.doctor.finding import Finding, trouble
from lockterm.terminal import NoTerminal, require_terminal

SMALLEST = (60, 20)
"""Columns and rows below which screens do not fit."""


def terminal_findings(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether lockterm can draw here, and what is worth knowing about it."""
    try:
        require_terminal(environ)
    except NoTerminal as error:
        yield trouble("terminal", error)
        return
    columns, rows = os.get_terminal_size(2)
    size = f"{columns}x{rows}"
    if columns < SMALLEST[0] or rows < SMALLEST[1]:
        yield Finding(
            "wrong", "terminal", f"{size} is too small: make it at least 60x20, better 80x24."
        )
    else:
        yield Finding("ok", "terminal", f"{environ['TERM']}, {size}, UTF-8.")
    if "TMUX" in environ:
        yield Finding(
            "note", "terminal", "tmux takes Ctrl+B; to copy, run: tmux set -g set-clipboard on"
        )
    elif environ["TERM"].startswith("screen"):
        yield Finding("note", "terminal", "GNU screen takes Ctrl+A; lockterm has no key on it.")
    if environ.get("NO_COLOR"):
        yield Finding("note", "terminal", "NO_COLOR is set: states are told by words alone.")
