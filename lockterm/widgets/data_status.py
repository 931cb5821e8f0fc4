"""The texts about a screen's data: a panel in place of rows, and a line below the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Region
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_age
from lockterm.domain.text.service import format_meaning
from lockterm.errors import LocktermError, RefusedError
from lockterm.keymap.hints import with_keys


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


KeyOffers = Mapping[str, str]
"""Maps keys to their actions, such as ``{"{history.refresh}": "try again", "Esc": "back"}``.

A key's ID is in braces, as in :func:`with_keys`.
"""


class StatePanel(Static):
    """A panel that shows a state, such as loading or an error, and the keys to press next."""

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(text, markup=False, id=id)

    def say(self, text: str, offers: KeyOffers) -> None:
        """Show a text and, below it, the keys that the user can press next.

        If the text has several paragraphs, the first paragraph is the headline.

        Args:
            text: The text, without control characters.
            offers: The keys with their actions.
        """
        headline, gap, rest = text.partition("\n\n")
        keys = Content(" " * 6).join(
            Content.assemble((with_keys(key), "bold $text-primary"), f"  {action}")
            for key, action in offers.items()
        )
        below = "\n\n" if text and offers else ""
        self.update(Content.assemble((headline, "bold" if gap else ""), gap, rest, below, keys))
        self.display = True


AGE_NOT_KNOWN = "at an unknown time"
"""The text in place of the age of data that was read before this machine's clock was set back."""

PagerForm = tuple[str, str | None]
"""The texts before and after the age of the data, without control characters. If the second text is
None, the age is not shown."""


class Pager(Widget):
    """A line of text with the age of the data.

    The age is repainted at each load, at each cursor move, and each minute. It is not repainted
    each second, so an idle screen sends nothing.

    Args:
        now_ms: The clock for ages, in milliseconds.
    """

    def __init__(self, now_ms: Callable[[], int], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._now_ms = now_ms
        self._at_ms: int | None = None
        self._forms: Sequence[PagerForm] = [("", None)]
        self._before, self._after = self._forms[0]
        self._age = ""
        self._minute: Timer | None = None

    def show(self, forms: Sequence[PagerForm], at_ms: int | None = None) -> None:
        """Replace the text by the first form that fits, or by the last form if none fits.

        Args:
            forms: The forms of the text, the longest first.
            at_ms: The time at which the data was read, in milliseconds; None if unknown.
        """
        shown = self._line
        self._at_ms, self._forms = at_ms, forms
        self._age = self._format_age()
        self._fit()
        if self._line != shown:
            self.refresh()
        # Call it in the pager's own task. A canceled timer keeps the context in which it was made
        # until it is due, and with it a closed screen.
        self.call_later(self._wake_at_minute)

    def tick(self) -> None:
        """Repaint the age if it has changed.

        If the new age is as wide as the old age, repaint only the cells of the age.
        """
        age = self._format_age()
        if age == self._age:
            return
        same_width = cell_len(age) == cell_len(self._age)
        self._age = age
        if same_width and self._after is not None:
            start = cell_len(self._before) + self.styles.padding.left
            self.refresh(Region(start, 0, cell_len(age), 1))
        else:
            self.refresh()

    def render(self) -> Content:
        self._fit()
        return Content(self._line)

    @property
    def _line(self) -> str:
        return self._in_a_line(self._before, self._after)

    def _in_a_line(self, before: str, after: str | None) -> str:
        return before if after is None else before + self._age + after

    def _fit(self) -> None:
        width, forms = self.content_size.width, self._forms
        fitting = (form for form in forms if cell_len(self._in_a_line(*form)) <= width)
        self._before, self._after = next(fitting, forms[-1])

    def _format_age(self) -> str:
        return AGE_NOT_KNOWN if self._at_ms is None else format_age(self._now_ms() - self._at_ms)

    def _wake_at_minute(self) -> None:
        if self._minute is not None:
            self._minute.stop()
            self._minute = None
        if self._at_ms is not None:
            left_ms = 60_000 - (self._now_ms() - self._at_ms) % 60_000
            self._minute = self.set_timer(left_ms / 1000, self._whole_minute)

    def _whole_minute(self) -> None:
        self.tick()
        self._wake_at_minute()
