"""The search through a lock's whole list: for what was typed, for remotes of one state."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from datetime import tzinfo
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from lockterm.domain.remote_states import StateFilter
from lockterm.errors import LocktermError
from lockterm.screens.base import LocktermScreen
from lockterm.screens.remotes.page_view import MOST_FOUND, Found, PageView
from lockterm.screens.remotes.states import ask_only
from lockterm.terminal.key_queue import opening
from lockterm.widgets.find_line import FindLine
from lockterm.widgets.state_panel import in_a_line

if TYPE_CHECKING:
    from lockterm.operations import Operations

SHOWN_MS = 250
LONG_SHOWN_MS, LONG_MS = 1000, 2000
"""How often a search tells how far it is, and how often from so many milliseconds on: each time
costs 80 bytes, and a list may have 1,000 pages."""

_GROUP = "search"


class ListSearch:
    """Looks for what is asked for: on the page at once, on all the others when it is told to.

    Args:
        screen: The screen that shows what is found.
        lock_id: The lock.
        zone: Tells in which zone its times are compared with what was typed.
        view: Tells what is shown.
        show: Shows something else.
    """

    def __init__(
        self,
        screen: LocktermScreen[Any],
        lock_id: int,
        zone: Callable[[], tzinfo],
        view: Callable[[], PageView],
        show: Callable[[PageView], None],
    ) -> None:
        self._screen = screen
        self._lock_id = lock_id
        self._zone = zone
        self._view = view
        self._show = show

    @cached_property
    def line(self) -> FindLine:
        """In which one types what is looked for; made before it is wanted, or then."""
        line = FindLine(id="find")
        self._screen.query_one("#foot").mount(line, before=0)
        return line

    def find(self, needle: str) -> None:
        """Show what of the page has every word that was typed; with none typed, all of it."""
        self._cancel()
        self._show(replace(self._view(), needle=needle, found=None))
        if self._view().only is not None and not needle:
            self.search_rest()  # one state was asked for of the whole list

    def ask_only(self, counts: Counter[StateFilter]) -> None:
        """Ask of which state remotes are shown alone.

        Args:
            counts: How many were read of each.
        """
        question, only = "Show which remotes of the lock?", self._view().only
        ask_only(self._screen.app, question, counts, only, self.show_only)

    def show_only(self, only: StateFilter | None) -> None:
        """Show remotes of one state alone, from the whole list; or all again."""
        self._cancel()
        self._show(replace(self._view(), only=only, found=None))
        self.search_rest()

    def search_rest(self) -> None:
        """Look through the whole list, where the page is not all of it."""
        view = self._view()
        if view.is_narrowed and view.page is not None and view.page.total > len(view.page.remotes):
            self.search()

    def search(self, *, again: bool = False) -> None:
        """Look through the whole list.

        Args:
            again: What was found before stays in sight, and under the cursor, until it is done.
        """
        self._screen.run_alone(partial(self._search, again), _GROUP)

    def stop(self) -> None:
        """Show what was found so far."""
        self._cancel()
        if (found := self._view().found) is not None:
            ended = replace(found, running=False, ended="stopped")
            self._show(replace(self._view(), found=ended))

    def _cancel(self) -> None:
        self._screen.workers.cancel_group(self._screen, _GROUP)

    async def _search(self, again: bool) -> None:
        operations = self._screen.operations
        found = Found(at_ms=operations.machine_ms())
        opened = opening(self._screen, "the first that are found")
        if again and (before := self._view().found) is not None:
            self._show(replace(self._view(), found=replace(before, running=True)))
            opened.end()
        steady_ms, due_ms, has_found = operations.clock.steady_ms, 0, False
        long_ms = steady_ms() + LONG_MS
        try:
            steps = walk(operations, self._lock_id, self._view(), self._zone())
            async with aclosing(steps):
                async for found in steps:
                    is_due = steady_ms() >= due_ms or (bool(found.remotes) and not has_found)
                    if is_due and not again:
                        self._show(replace(self._view(), found=found))
                        every_ms = LONG_SHOWN_MS if steady_ms() >= long_ms else SHOWN_MS
                        due_ms = steady_ms() + every_ms
                        has_found = bool(found.remotes)
                    if found.remotes:
                        opened.end()
        except LocktermError as error:
            self._screen.keep_refusal(error)
            found = replace(found, ended=f"then: {in_a_line(error)[-1]}")
        finally:
            opened.end()
        self._show(replace(self._view(), found=replace(found, running=False)))


async def walk(
    operations: Operations, lock_id: int, view: PageView, zone: tzinfo
) -> AsyncGenerator[Found, None]:
    """Look through a lock's whole list for what a view asks for: what was found so far, repeatedly.

    Raises:
        LocktermError: A page could not be read.
    """
    found = Found(at_ms=operations.machine_ms())
    async with aclosing(operations.remotes.walk(lock_id, ahead=True)) as steps:
        async for step in steps:
            before = () if step.is_first else found.remotes  # it may begin again: the list moved
            now_ms = operations.now_ms()
            new = [one for one in step.new if view.has(one, zone, now_ms)]
            found = replace(found, remotes=(*before, *new), searched=step.read, total=step.total)
            if len(found.remotes) > MOST_FOUND:
                most = found.remotes[:MOST_FOUND]
                yield replace(found, remotes=most, ended="stopped: type more to narrow it")
                return
            yield found
