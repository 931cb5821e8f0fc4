"""The line above the footer of a form."""

from __future__ import annotations

from textual.widgets import Static


class StatusLine(Static):
    """A status of one or more lines: missing, pending or refused input.

    Args:
        words: The initial text.
        classes: The CSS classes.
    """

    def __init__(self, words: str = "", *, classes: str | None = None) -> None:
        super().__init__(words, id="status", classes=classes, markup=False)
        self.display = bool(words)

    def say(self, words: str, *, is_wrong: bool = False) -> None:
        """Replace the text; skip an unchanged text, as after most letters.

        Args:
            words: A clean text.
            is_wrong: Whether something was refused.
        """
        shown = f"! {words}" if is_wrong else words
        if shown != self.content:
            self.update(shown)
            self.display = bool(shown)
        self.set_class(is_wrong, "refused")
