"""The line below the table: which page of how many, how old it is, and what became of a load."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Region
from textual.timer import Timer
from textual.widget import Widget

from lockterm.domain.text.amount import format_age


class Pager(Widget):
    """One line of static words, and the age of what is shown.

    The age is painted anew with each load, with each key that moves the cursor, and at whole
    minutes; never by the second, so that an idle screen sends nothing.

    Args:
        now_ms: The clock that ages are counted by, in milliseconds.
    """

    def __init__(self, now_ms: Callable[[], int], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._now_ms = now_ms
        self._at_ms: int | None = None
        self._before = self._age = ""
        self._after: str | None = ""
        self._forms: Sequence[tuple[str, str | None]] = [("", "")]
        """What may stand before the age and behind it, the longest first; None: there is no age."""
        self._minute: Timer | None = None

    def show(
        self,
        before: str,
        at_ms: int | None = None,
        after: str = "",
        shorter: Sequence[str] = (),
        fuller: Sequence[tuple[str, str]] = (),
        ageless: Sequence[str] = (),
    ) -> None:
        """Replace the words.

        Args:
            before: Clean words, up to and with what leads in the age: ``7 of 9 · updated ``.
            at_ms: When what is shown was read, by that clock; None: there is no age.
            after: Clean words behind the age.
            shorter: What to say in place of ``before`` where that does not fit, the longest first.
            fuller: What to say in place of ``before`` and ``after`` where that fits, likewise.
            ageless: What to say without an age where there is no room for one, likewise.
        """
        shown = self._line
        self._at_ms = at_ms
        self._forms = [
            *fuller,
            *((form, after) for form in (before, *shorter)),
            *((form, None) for form in ageless),
        ]
        self._age = self._words()
        self._fit()
        if self._line != shown:
            self.refresh()
        # In the pager's own task: a canceled timer keeps the context it was made in until it is
        # due, and with it the screen whose closing led to this.
        self.call_later(self._wake_at_minute)

    def tick(self) -> None:
        """Paint the age anew if it has changed, and only its cells where that is enough."""
        age = self._words()
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

    def _words(self) -> str:
        return "" if self._at_ms is None else format_age(self._now_ms() - self._at_ms)

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


def with_age(before: str, read_ms: int | None, after: str = "") -> tuple[str, int | None, str]:
    """What ``Pager.show`` takes, also where the age of what was read is not known."""
    return before, read_ms, after if read_ms is not None else f"{AGE_NOT_KNOWN}{after}"


AGE_NOT_KNOWN = "at an unknown time"
"""Said of what was read before the clock of this machine was set back."""
