"""The line below a table repaints no more than its age, unless the words behind it move."""

from __future__ import annotations

from typing import Any, Self

from textual.app import App, ComposeResult
from textual.geometry import Region

from lockterm.widgets.pager import Pager


class NotingPager(Pager):
    """A pager that notes what it repaints."""

    noted: list[tuple[Region, ...]]

    def refresh(self, *regions: Region, **options: Any) -> Self:
        self.noted = [*getattr(self, "noted", []), regions]
        return super().refresh(*regions, **options)


class PagerApp(App[None]):
    """A pager whose data was read at 0 ms."""

    now_ms = 0

    def compose(self) -> ComposeResult:
        yield NotingPager(lambda: self.now_ms)


async def test_the_whole_line_is_repainted_only_when_the_width_of_the_age_changes() -> None:
    app = PagerApp()
    async with app.run_test(size=(60, 5)) as pilot:
        pager = app.query_one(NotingPager)
        pager.show("7 of 9, updated ", 0, ", all read")
        await pilot.pause()
        start = len("7 of 9, updated ") + pager.styles.padding.left
        age = Region(start, 0, len("9 s ago"), 1)
        for seconds, repainted in [(8, [()]), (9, [(age,)]), (9, []), (10, [()])]:
            app.now_ms, pager.noted = seconds * 1000, []
            pager.tick()
            assert pager.noted == repainted, seconds
