"""Long names in small terminals: they leave the buttons and the keys visible."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Input

from lockterm.domain.locks import Lock
from lockterm.screens.unconfirmed import NoticeLine
from lockterm.widgets.header_footer import fit_middle
from tests.faults.catalogue import close
from tests.faults.proxy import FaultProxy
from tests.screens import someone_else
from tests.screens.running_app import Demo, fill_book, settled, shown
from tests.screens.site import press, words
from tests.servers import port_of

NAMES = {
    "latin": ("Brandt & Sons building cleaning, night shift, hall B, card 1", "Gate " * 12),
    "chinese": (
        "王小明（设备维护部门外包人员，北区三号楼夜班组长兼安全员" + "甲",
        "北区三号楼东侧" * 4,
    ),
}


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize(
    ("keys", "buttons"),
    [("C", "Keep the remotes|Delete 2 remotes"), ("equals_sign", "Cancel|Plan"), ("u", "Cancel")],
)
async def test_buttons_stay_visible_in_60_columns(
    demo: Demo, kind: str, keys: str, buttons: str
) -> None:
    name, lock = NAMES[kind]
    for end in "乙丙":
        someone_else.add(demo.service, 1004, name[:-1] + end)
    async with demo(1004, size=(60, 20), locks=(Lock(1004, lock),)) as pilot:
        text = await press(pilot, keys)
        assert all(button in text for button in buttons.split("|")), shown(pilot)


@asynccontextmanager
async def unconfirmed_delete(demo: Demo) -> AsyncIterator[Pilot[int]]:
    """An app in 60 columns after the answer to a delete was lost; the names are long."""
    name, lock = NAMES["chinese"]
    someone_else.add(demo.service, 1004, name)
    fill_book(demo, Lock(1004, lock))
    async with (
        FaultProxy(port_of(demo.service)).running() as proxy,
        demo.starter(proxy, 1004, size=(60, 20)) as pilot,
    ):
        proxy.arm("delete", close, 1)
        await press(pilot, "d")
        await press(pilot, "D")
        await settled(pilot)
        yield pilot


async def test_keys_of_an_unconfirmed_change_stay_visible_in_60_columns(demo: Demo) -> None:
    async with unconfirmed_delete(demo) as pilot:
        pilot.app.clear_notifications()
        await settled(pilot)
        text = words(pilot.app)
        assert "UNCONFIRMED" in text and "c check A send again X dismiss" in text, shown(pilot)


async def test_number_of_unconfirmed_changes_stays_visible_in_60_columns(demo: Demo) -> None:
    async with unconfirmed_delete(demo) as pilot:
        notices = pilot.app.screen.query_one(NoticeLine)
        notices.unconfirmed *= 3
        await settled(pilot)
        assert "(1 of 3) c check A send again X dismiss" in words(pilot.app), shown(pilot)


async def test_locks_differ_if_their_names_differ_only_at_the_end(demo: Demo) -> None:
    locks = [Lock(lock_id, f"{'Gate ' * 8}{lock_id}") for lock_id in (1001, 1002)]
    async with demo(size=(60, 20), locks=locks) as pilot:
        names = [line[:30] for line in shown(pilot.app).splitlines() if "Gate" in line]
        assert len(names) == len({*names}) == 2, names


async def test_cursor_is_visible_in_a_field_with_a_long_name(demo: Demo) -> None:
    name, lock = NAMES["latin"]
    someone_else.add(demo.service, 1004, name)
    async with demo(1004, size=(60, 20), locks=(Lock(1004, lock),)) as pilot:
        await press(pilot, "e")
        field = pilot.app.focused
        assert isinstance(field, Input) and field.cursor_at_end
        assert field.content_region.contains_point(field.cursor_screen_offset)
        assert "hall B, card 1" in words(pilot.app)


def test_breadcrumbs_share_the_width() -> None:
    for room in range(42, 75):
        lock, name = NAMES["chinese"][1], NAMES["latin"][0]
        line = fit_middle(["Locks", lock, "Remotes", f"Edit {name}"], room)
        _, second, _, last = line.split(" > ")
        assert cell_len(line) <= room and abs(cell_len(second) - cell_len(last)) <= 3, line


async def test_remotes_differ_if_their_names_differ_only_at_the_end(demo: Demo) -> None:
    for end in ("17", "18"):
        someone_else.add(demo.service, 1004, f"{NAMES['latin'][0]}{end}")
    async with demo(1004, size=(60, 20)) as pilot:
        text = words(pilot.app)
        assert "17 X-1" in text and "18 X-1" in text, text
