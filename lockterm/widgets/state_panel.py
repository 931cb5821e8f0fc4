"""The text that a screen shows in place of an empty table or tree."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from lockterm.domain.safe_text import clean
from lockterm.domain.text.service import format_meaning
from lockterm.errors import LocktermError, RefusedError


def describe_error(error: LocktermError) -> str:
    """Return the text that a screen shows for an error in place of data, with the next step."""
    sentences = (format_meaning(error), clean(error.hint, 300))
    return f"{clean(error.title)}\n\n{' '.join(filter(None, sentences))}"


def in_a_line(error: LocktermError) -> tuple[str, ...]:
    """Return one-line texts about the error that prevents a screen from showing newer data.

    The longest text comes first, so that the caller can use the first text that fits.
    """
    title = clean(error.title, 60)
    if not isinstance(error, RefusedError):
        return (title,)
    code = f"Refused (code {error.code})" if error.code is not None else title
    return f"{title}: {format_meaning(error)}", code, title


_GAP = " " * 6
"""The text between two pairs of a key and an action."""


def _bold_keys(offers: str) -> Content:
    """Return keys with their actions as a line in which the keys are bold."""
    parts = list[str | tuple[str, str]]()
    for offer in offers.split(_GAP):
        key, gap, action = offer.partition("  ")
        parts += [_GAP if parts else "", (key, "bold $text-primary") if gap else key, gap + action]
    return Content.assemble(*parts)


class StatePanel(Static):
    """A panel that shows a state, such as loading or an error, and the keys to press next."""

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(text, markup=False, id=id)

    def say(self, text: str, next_key: str = "") -> None:
        """Show a text and, below it, the keys that the user can press next.

        If the text has several paragraphs, the first paragraph is the headline.

        Args:
            text: The text, without control characters.
            next_key: Keys with their actions, such as ``r  try again      Esc  back``.
        """
        headline, gap, rest = text.partition("\n\n")
        offers = _bold_keys(next_key) if next_key else ""
        self.update(
            Content.assemble(
                (headline, "bold" if gap else ""),
                gap,
                rest,
                "\n\n" if text and offers else "",
                offers,
            )
        )
        self.display = True

    def say_error(self, error: LocktermError, next_key: str) -> None:
        self.say(describe_error(error), next_key)
