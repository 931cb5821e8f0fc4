"""Loads the pages of a lock's list into what is shown; the old one stays until it is there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from textual import events

from lockterm.errors import StoreError
from lockterm.operations import Seen
from lockterm.operations.load_state import LoadState, load
from lockterm.operations.remotes import AHEAD_S, JUST_READ_S
from lockterm.screens.base import LocktermScreen
from lockterm.screens.remotes.page_reader import PageReader
from lockterm.screens.remotes.page_view import PageView
from lockterm.screens.remotes.paging import FLIPPING, HELD_S
from lockterm.screens.remotes.table import RemotesTable
from lockterm.terminal.key_queue import opening
from lockterm.terminal.patches import own_bindings

if TYPE_CHECKING:
    from lockterm.domain.remotes import RemotePage


class Show(Protocol):
    """Shows something else.

    Args:
        view: What is shown from now on.
        page_no: The page that is there, and so is wanted; None: the one that was wanted is.
        painted: Whether there is anything to paint.
    """

    def __call__(
        self, view: PageView, *, page_no: int | None = None, painted: bool = True
    ) -> None: ...


class PageLoader:
    """Loads the wanted page, and what follows from it.

    Args:
        screen: The screen that shows it.
        pages: Reads the pages.
        wanted: Tells the number of the page that is wanted.
        view: Tells what is shown.
        show: Takes what is shown from now on.
        forget: Called when every page is asked for anew.
        loaded: Called when a page has come, as soon as it is painted.
        noted: Called when the lock book knows how many remotes there are.
    """

    def __init__(
        self,
        screen: LocktermScreen[Any],
        pages: PageReader,
        wanted: Callable[[], int],
        view: Callable[[], PageView],
        show: Show,
        *,
        forget: Callable[[], None],
        loaded: Callable[[], None],
        noted: Callable[[], None],
    ) -> None:
        self._screen = screen
        self._pages = pages
        self._wanted = wanted
        self._view = view
        self._show = show
        self._forget = forget
        self._loaded = loaded
        self._told_noted = noted
        self.go_to: int | None = None
        """The remote to stand on once the page is there."""
        self._noted: int | None = None
        """How many remotes the lock book was told of; None: the lock is not noted as opened yet."""

    def stand_on(self, remote_id: int | None) -> None:
        """Go to a remote with the next page that is loaded, on whichever page it is."""
        self.go_to = remote_id

    async def begin(self) -> None:
        """Show the first page where it is there already; and ask, unless it has just come.

        Where the rows of an earlier session stand on the terminal, they stay until it is there.
        """
        first = self._pages.first()
        if first is None:
            is_replayed = self._screen.host.is_replayed
            if is_replayed and (kept := await self._pages.kept(1)) is not None:
                state = LoadState(kept, kept=True, slow=True)
                self._show(replace(self._view(), state=state, wanted=1, replayed=kept))
            self.load()
            return
        seen, shown = first
        self._show(replace(self._view(), state=LoadState(seen), wanted=1))
        self._screen.call_after_refresh(shown)
        # And all that follows from a page.
        self._screen.call_after_refresh(self.load, at_most_s=JUST_READ_S)

    def load(
        self,
        *,
        fresh: bool = False,
        held: bool = False,
        moving: bool = False,
        at_most_s: float = AHEAD_S,
    ) -> None:
        """Load the wanted page.

        Args:
            fresh: Ask the service even where the page was fetched ahead.
            held: Whether the key that flips is held down. Then the service is asked for the page
                on which it is let go, and for none of those before.
            moving: Whether keys that move the cursor take effect before the page is there: it
                stays on its remote.
            at_most_s: How old, in seconds, a page may be that serves without asking.
        """
        self._screen.run_alone(partial(self._load, fresh, held, moving, at_most_s), "page")

    async def _load(self, fresh: bool, held: bool, moving: bool, at_most_s: float) -> None:
        screen, pages, view = self._screen, self._pages, self._view()
        wanted, shown = self._wanted(), view.page
        if fresh:
            pages.forget()
            self._forget()
        at_hand = pages.is_at_hand(wanted)
        if held and not at_hand:
            self._show(replace(view, wanted=wanted, state=replace(view.state, slow=True)))

        async def read() -> Seen[RemotePage]:
            if held and not at_hand:
                await asyncio.sleep(HELD_S)  # the next press ends it here
            go_to = None if self._view().found else self.go_to
            return await pages.read(wanted, go_to, at_most_s=at_most_s)

        def show(state: LoadState[RemotePage]) -> None:
            if state.busy and not state.slow:  # nothing of it is to be seen yet
                self._show(replace(self._view(), state=state), painted=False)
                return
            page_no = None
            if state.seen is not None and not state.busy and not state.stale:
                page_no = state.seen.value.page_no
            self._show(replace(self._view(), state=state, wanted=wanted), page_no=page_no)

        passes = self._flips_or_moves if moving and shown else self._flips
        with opening(screen, f"page {wanted}", passes=passes) as opened:
            if not fresh and shown and shown.page_no == wanted and self.go_to is None:
                opened.end()  # nobody has asked for anything else than what is there
            seen = await load(
                lambda: self._view().state,
                show,
                read,
                partial(pages.kept, wanted),
                kept_shown=opened.end,
                is_other=lambda page: page.page_no != wanted,
            )
            opened.has_failed = seen is None
        if seen is None:
            if (error := self._view().state.error) is not None:
                screen.keep_refusal(error)
            return
        self.go_to = None
        screen.call_after_refresh(self._loaded)
        self._compare_with_journal(seen.value)
        if not (held and at_hand):
            screen.call_after_refresh(pages.look_ahead, seen.value)
        if seen.value.total != self._noted:
            await self._note_opened(seen.value.total)
        if held and at_hand:
            await asyncio.sleep(HELD_S)
            pages.look_ahead(seen.value)

    async def _note_opened(self, total: int) -> None:
        self._noted = total
        lock = self._screen.lock_entry
        assert lock is not None
        with self._screen.showing_errors():
            await self._screen.operations.locks.note_opened(lock, total)
        self._told_noted()

    def show_sized(self, seen: Seen[RemotePage]) -> None:
        """Show a page of another size in place of the one that is shown."""
        page = seen.value
        view = replace(self._view(), state=LoadState(seen), wanted=page.page_no)
        self._show(view, page_no=page.page_no)
        self._compare_with_journal(page)
        self._screen.call_after_refresh(self._pages.look_ahead, page)

    def _compare_with_journal(self, page: RemotePage) -> None:
        """Show what was added or deleted just now and the list does not show yet."""

        async def compare() -> None:
            with suppress(StoreError):  # the page is shown all the same
                unlisted, view = await self._pages.unlisted(page), self._view()
                if unlisted != view.unlisted and view.page is page:
                    self._show(replace(view, unlisted=unlisted))

        self._screen.run_alone(compare, "journal")

    def _flips(self, event: events.Key) -> bool:
        """Whether a key asks for another page, and so need not wait for the one before it."""
        if not isinstance(self._screen.focused, RemotesTable):
            return False
        return any(binding.action in FLIPPING for binding in own_bindings(self._screen, event.key))

    def _flips_or_moves(self, event: events.Key) -> bool:
        table = self._screen.focused
        moves = isinstance(table, RemotesTable) and bool(own_bindings(table, event.key))
        return moves or self._flips(event)
