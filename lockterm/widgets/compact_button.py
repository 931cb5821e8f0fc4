"""The buttons of forms and dialogs."""

from __future__ import annotations

from typing import Any

from textual.widgets import Button


class CompactButton(Button):
    """One line high, and pressed by every enter.

    Textual's drops an enter within 0.2 s of the one before. Keys that a stalled link delivers
    together would then do less than the same keys one at a time.

    Args:
        options: As for Textual's.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, compact=True, **options)

    def action_press(self) -> None:
        self.press()
