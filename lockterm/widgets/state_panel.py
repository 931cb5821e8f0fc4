"""The words that stand where a table or a tree has nothing to show."""

from __future__ import annotations

from textual.widgets import Static

from lockterm.domain.safe_text import clean
from lockterm.domain.text.error import format_meaning
from lockterm.errors import LocktermError, Refused


def describe_error(error: LocktermError) -> str:
    """An error as it stands where there is nothing to show: what, what it means, what to do."""
    sentences = (format_meaning(error), clean(error.hint, 300))
    return f"{clean(error.title)}\n\n{' '.join(filter(None, sentences))}"


def in_a_line(error: LocktermError) -> tuple[str, ...]:
    """Why a line shows something old; for less room, shorter words follow."""
    title = clean(error.title, 60)
    if not isinstance(error, Refused):
        return (title,)
    code = f"Refused (code {error.code})" if error.code is not None else title
    return f"{title}: {format_meaning(error)}", code, title


class StatePanel(Static):
    """Loading, empty, nothing matches, error: what it is, what it means, the next key."""

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(text, markup=False, id=id)

    def say(self, text: str, next_key: str = "") -> None:
        """Show a sentence, and the keys that lead on below it."""
        self.update("\n\n".join(filter(None, (text, next_key))))
        self.display = True

    def say_error(self, error: LocktermError, next_key: str) -> None:
        self.say(describe_error(error), next_key)
