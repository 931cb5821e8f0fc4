"""What stands above the keys of a form."""

from __future__ import annotations

from textual.widgets import Static


class StatusLine(Static):
    """Says what is missing, waited for or refused; one line or several.

    Args:
        words: What it says at first.
        classes: For the stylesheet.
    """

    def __init__(self, words: str = "", *, classes: str | None = None) -> None:
        super().__init__(words, id="status", classes=classes, markup=False)

    def say(self, words: str, *, is_wrong: bool = False) -> None:
        """Say something else; the same again, as behind most letters, changes nothing.

        Args:
            words: What; clean.
            is_wrong: Whether something was refused.
        """
        shown = f"! {words}" if is_wrong else words
        if shown != self.content:
            self.update(shown)
        self.set_class(is_wrong, "refused")
