"""A click on a title sorts the rows that are loaded: up, down, and as the service has them."""

from __future__ import annotations

from lockterm.screens.remotes.table import RemotesTable
from lockterm.service.running import RunningService
from tests.screens.running_app import Starter, settled, shown


async def test_a_click_on_a_title_sorts_up_then_down_then_not_at_all(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        table = pilot.app.screen.query_one(RemotesTable)

        def numbers() -> list[str]:
            return [row.remote.remote_number or "" for row in table.rows]

        as_sent, here = numbers(), table.selected
        title = shown(pilot).splitlines()[1].index("Number")
        for wanted, words in (
            (sorted(as_sent), "sorted by number, lowest first"),
            (sorted(as_sent, reverse=True), "sorted by number, highest first"),
            (as_sent, "page 1 of 1 · 9 remotes"),
        ):
            await pilot.click(RemotesTable, offset=(title, 0))
            await settled(pilot)
            assert numbers() == wanted and table.selected == here
            assert words in shown(pilot)
        await pilot.click(RemotesTable, offset=(0, 0))  # the margin is nobody's title
        await settled(pilot)
        assert numbers() == as_sent
        for title in ("Name", "Valid", "State"):
            at = shown(pilot).splitlines()[1].index(title)
            await pilot.click(RemotesTable, offset=(at, 0))
            await settled(pilot)
            assert shown(pilot).splitlines()[1][at:].startswith((f"{title} ^", f"{title}^"))
