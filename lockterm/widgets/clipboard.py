"""Copying over the terminal: OSC 52, the one clipboard that works through SSH."""

from __future__ import annotations

from typing import Any

from textual.app import App

from lockterm.text import clean, clean_lines

SHOWN = 60
"""The most characters of a copied value that the notice repeats."""


def copy(app: App[Any], value: str, what: str, *, lines: bool = False) -> None:
    """Send a value to the terminal's clipboard, and say so.

    Whether the terminal took it cannot be known: there is no answer. What a paste could execute or
    a terminal could not take (control characters, halves of surrogate pairs) is replaced.

    Args:
        app: The running app.
        value: As the service sent it.
        what: What it is, for the notice: ``number``.
        lines: Whether line ends belong to the value, as in indented JSON.
    """
    safe = clean_lines(value) if lines else clean(value)
    app.copy_to_clipboard(safe)
    changed = "" if safe == value else " Characters that cannot be seen were replaced."
    shown = clean(safe.replace("\n", " "), SHOWN)
    app.notify(f"{shown} - sent to the terminal.{changed}", title=f"Copied the {what}")
