"""Flipping the pages of the remotes screen."""

from __future__ import annotations

from lockterm.keymap.spoken import said
from lockterm.screens.remotes_keys import PAGING
from lockterm.screens.remotes_loading import RemotesLoading

PAGE_SIZES = (10, 20, 50, 100, 200)
"""What is offered beside the profile's own."""


class RemotesPaging(RemotesLoading):
    """The keys that flip; each sets the page number that is wanted, which loads it."""

    def why_not(self, action: str) -> str:
        """There is no such page, or no pages at all."""
        page = self.view.page
        if action not in PAGING:
            return super().why_not(action)
        if self.view.found is not None:
            return "These were found on all pages. escape shows the pages again."
        if page is None:
            return said("Nothing was loaded yet. {remotes.refresh} tries again.")
        if action in ("next_page", "last_page") and self._at >= self._last_page:
            return f"Page {self._at} is the last one."
        if action in ("previous_page", "first_page") and self._at <= 1:
            return "This is the first page."
        if action == "go_to_page" and self._last_page <= 1:
            return "There is only one page."
        return ""

    @property
    def _at(self) -> int:
        """The page from which the keys flip."""
        view = self.view
        return view.page.page_no if view.trouble is not None and view.page else self.page_no

    def action_next_page(self) -> None:
        """Flip forward."""
        self.page_no = self._at + 1

    def action_previous_page(self) -> None:
        """Flip back."""
        self.page_no = self._at - 1

    def action_first_page(self) -> None:
        """Go to the beginning of the list."""
        self.page_no = 1

    def action_last_page(self) -> None:
        """Go to the end of the list."""
        self.page_no = self._last_page

    def action_go_to_page(self) -> None:
        """Ask for a page and go there."""
        from lockterm.screens.number_modal import NumberModal

        numbers = range(1, self._last_page + 1)
        question = f"Go to which page, 1 to {self._last_page:,}?"
        self.app.push_screen(NumberModal(question, verb="Go", numbers=numbers), self._go)

    def _go(self, page_no: int | None) -> None:
        if page_no is not None:
            self.page_no = page_no

    @property
    def _last_page(self) -> int:
        return max(self.view.page.pages, 1) if self.view.page else 1

    def action_page_size(self) -> None:
        """Ask how many remotes a page has; the service may give another number."""
        from lockterm.screens.choice_modal import ChoiceModal

        sizes = sorted({*PAGE_SIZES, self._page_size})
        choices = [(size, f"{size} remotes a page") for size in sizes]
        dialog = ChoiceModal("How many on a page?", choices, sizes.index(self._page_size))
        self.app.push_screen(dialog, self._resize_page)

    def _resize_page(self, size: int | None) -> None:
        if size is None or size == self._page_size:
            return
        first = (self.page_no - 1) * self._page_size
        current = self.current
        self._page_size = size
        self._go_to = current.id if current else None
        self.page_no = first // size + 1
