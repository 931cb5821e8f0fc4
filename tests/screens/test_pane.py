"""Beside a wide table: the remote under the cursor, its period as a bar, what was done to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.domain import glyphs
from lockterm.domain.dates import DAY_MS
from lockterm.domain.remotes import Remote
from lockterm.domain.text.validity import period_bar
from lockterm.screens.remotes.pane import RemotePane
from lockterm.screens.remotes.table import RemotesTable
from tests.conftest import NOW_MS
from tests.screens.running_app import Demo, shown, until
from tests.screens.site import press, settled_when

LIMITED = Remote(id=1, remote_type=2, start_ms=NOW_MS - 30 * DAY_MS, end_ms=NOW_MS + 10 * DAY_MS)


@pytest.mark.parametrize(
    ("start", "end", "bar", "plain"),
    [
        (-30, 10, "├━━━━━━━━━━━━━╋────┤", "[=============|----]"),
        (0, 10, "├╋─────────────────┤", "[|-----------------]"),
        (5, 10, "╋ ├────────────────┤", "| [----------------]"),
        (-10, -5, "├━━━━━━━━━━━━━━━━┤ ╋", "[================] |"),
        (10, 5, "", ""),
    ],
)
def test_a_bar_has_today_where_it_is(start: int, end: int, bar: str, plain: str) -> None:
    days = {"start_ms": NOW_MS + start * DAY_MS, "end_ms": NOW_MS + end * DAY_MS}
    remote = replace(LIMITED, **days)
    assert period_bar(remote, NOW_MS, 20) == bar
    assert period_bar(replace(remote, remote_type=1), NOW_MS, 20) == ""
    glyphs.use(glyphs.ASCII)
    assert period_bar(remote, NOW_MS, 20) == plain
    last = remote.end_ms and period_bar(remote, remote.end_ms - 1, 20)
    assert not bar or (last and last.endswith("|]") and len(last) == 20)


def in_pane(pilot: Pilot[Any]) -> list[str]:
    """Return the lines inside the frame of the panel."""
    lines = [line.rstrip("│").rpartition("│")[2] for line in shown(pilot).splitlines()]
    return [line.strip() for line in lines]


@pytest.mark.long
async def test_pane_shows_fields_period_and_local_changes(demo: Demo) -> None:
    days = {"startDate": NOW_MS - 30 * DAY_MS, "endDate": NOW_MS + 10 * DAY_MS}
    more = {"remoteType": 4, "weekDay": [1, 2, 5], "isCoerced": 1, **days}
    demo.add(1004, "Omar")
    demo.add(1004, "Nadia", remoteNumber="N-7", **more)
    async with demo(1004, size=(120, 40), page_size="auto") as pilot:
        table = pilot.app.screen.query_one(RemotesTable)
        nadia = [row.remote.remote_name for row in table.rows].index("Nadia")
        table.move_cursor(nadia)
        await until(pilot, lambda: "─ Nadia ─" in shown(pilot))
        lines = in_pane(pilot)
        for label, value in (("Number", "N-7"), ("Days", "M T · · F · ·"), ("Coerced", "yes")):
            assert f"{label:<9}{value}" in lines
        until_when = ["30 Nov 2026 09:00 +01:00,", "in 10 days"]
        valid = lines.index("Valid    Mon, Tue, Fri, until")
        assert lines[valid + 1 : valid + 3] == until_when, "no date is broken"
        bar = next(place for place, line in enumerate(lines) if line.startswith("├━"))
        assert lines[bar + 1].split("  ")[0] == "21 Oct 2026"
        assert lines[bar + 1].endswith("30 Nov 2026")
        assert "Your changes" not in shown(pilot)
        await pilot.press("e", "end", *" Ruiz", "ctrl+s")
        await until(pilot, lambda: "Name: Nadia -> Nadia Ruiz" in shown(pilot))
        await pilot.press("right", "enter")
        await settled_when(pilot, lambda: "Your changes" in shown(pilot))
        lines = in_pane(pilot)
        assert "change" in lines[lines.index("Your changes") + 1]
        table.move_cursor(1 - nadia)
        await until(pilot, lambda: "─ Omar ─" in shown(pilot))
        assert "Your changes" not in shown(pilot)


async def test_detail_screen_shows_validity_and_changes_beside_the_fields(demo: Demo) -> None:
    days = {"startDate": NOW_MS - 30 * DAY_MS, "endDate": NOW_MS + 10 * DAY_MS}
    demo.add(1004, "Nadia", remoteType=4, weekDay=[1, 2, 5], **days)
    async with demo(1004, size=(120, 40)) as pilot:
        await press(pilot, "enter")
        lines = in_pane(pilot)
        assert "─ Validity ─" in shown(pilot) and "M T · · F · ·" in lines
        assert any(line.startswith("├━") for line in lines)
        assert "Your changes" not in shown(pilot)
        await pilot.press("e", "end", *" Ruiz", "ctrl+s")
        await until(pilot, lambda: "Name: Nadia -> Nadia Ruiz" in shown(pilot))
        await pilot.press("right", "enter")
        await until(pilot, lambda: "Your changes" in shown(pilot))
        await pilot.resize_terminal(119, 40)
        await until(pilot, lambda: "Validity" not in shown(pilot))


async def test_pane_shows_the_end_of_a_name_that_its_title_cuts(demo: Demo) -> None:
    """Names of nearly the width of the title, and one that needs two lines."""
    names = [f"{'Alexandra ' * 9}"[: length - 3] + "end" for length in (*range(26, 40), 60)]
    for called in names:
        demo.add(1004, called)
    async with demo(1004, size=(120, 40), page_size="auto") as pilot:
        table = pilot.app.screen.query_one(RemotesTable)
        pane = pilot.app.screen.query_one(RemotePane)
        for place, row in enumerate(table.rows):
            table.move_cursor(place)
            called = row.remote.remote_name
            await until(pilot, lambda called=called: pane.border_title == called)
            x, y, width, height = pane.region
            lines = [line[x : x + width] for line in shown(pilot).splitlines()[y : y + height]]
            inside = " ".join(line.strip("│ ") for line in lines[1:-1])
            assert f" {called} " in lines[0] or called in inside, lines[:4]
            assert (f" {called} " in lines[0]) != (called in inside), "the name stands once"
