"""Flipping the pages of a list: by which keys, why not; a key held down."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lockterm.keymap.hints import with_keys
from lockterm.screens.remotes.page_view import PageView

if TYPE_CHECKING:
    from textual.app import App

FLIPPING = frozenset({"next_page", "previous_page", "first_page", "last_page"})
"""Actions that flip pages at once."""

PAGING = FLIPPING | {"go_to_page"}
"""Actions that lead to another page."""

HELD_S = 0.15
"""Seconds: the repeats of a held key come faster, fingers hardly ever do."""


def why_no_page(view: PageView, action: str, at: int) -> str:
    """Why a key that leads to another page can do nothing; empty: it can.

    Args:
        view: What is shown.
        action: What the key does.
        at: The number of the page from which it leads away.
    """
    if view.found is not None:
        return "These were found on all pages. escape shows the pages again."
    if view.page is None:
        return with_keys("Nothing was loaded yet. {remotes.refresh} tries again.")
    if action in ("next_page", "last_page") and at >= view.last_page:
        return f"Page {at} is the last one."
    if action in ("previous_page", "first_page") and at <= 1:
        return "This is the first page."
    if action == "go_to_page" and view.last_page <= 1:
        return "There is only one page."
    return ""


def ask_page(app: App[Any], last: int, go: Callable[[int], None]) -> None:
    """Ask which page is to be shown.

    Args:
        app: Where it is asked.
        last: The number of the last page.
        go: Shows the page that was typed.
    """
    from lockterm.screens.dialogs.number import NumberModal

    def typed(page_no: int | None) -> None:
        if page_no is not None:
            go(page_no)

    question = f"Go to which page, 1 to {last:,}?"
    app.push_screen(NumberModal(question, verb="Go", numbers=range(1, last + 1)), typed)


class HeldKey:
    """Notes the presses of a key.

    Args:
        clock: Seconds on a clock that never goes back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last_s = float("-inf")

    def is_repeated(self) -> bool:
        """Note a press; say whether it came so soon after the last that the key is held down."""
        now_s, last_s = self._clock(), self._last_s
        self._last_s = now_s
        return now_s - last_s < HELD_S
