"""The buttons of forms and dialogs."""

from __future__ import annotations

from typing import Any

from textual.widgets import Button


class CompactButton(Button):
    """A button of one line that reacts to every Enter.

    Textual's button ignores an Enter within 0.2 seconds of the previous Enter. Keys that a slow
    link delivers together would then do less than the same keys one at a time.

    Args:
        options: The keyword arguments for Textual's button.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, compact=True, **options)

    def action_press(self) -> None:
        self.press()
