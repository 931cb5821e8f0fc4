"""From 160 columns the lock book stands beside the remotes, and leads to another lock."""

from __future__ import annotations

import pytest

from lockterm.domain.locks import Lock
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.layout import BookPane
from tests.screens import someone_else
from tests.screens.running_app import Demo, notices, settled, shown, until
from tests.screens.site import LOCKS, MAIN_GATE, fill_book, press

BROAD = (160, 48)


def book(text: str) -> list[str]:
    """What stands at the left: the titles, then the locks."""
    lines = [line[1:].partition("│")[0].split() for line in text.splitlines()[2:-3]]
    return [" ".join(words) for words in lines if words]


async def test_it_has_the_locks_by_name_and_marks_the_one_that_is_open(demo: Demo) -> None:
    async with demo(1004, size=BROAD, locks=LOCKS) as pilot:  # which is not in the book
        has = ["Loading dock 42", ">lock 1004 -", "Main gate 137", "Server room 9", "化学品仓库 -"]
        await until(pilot, lambda: book(shown(pilot)) == ["Lock Remotes", *has])
        await pilot.resize_terminal(159, 48)
        await until(pilot, lambda: "Loading dock" not in shown(pilot))
        await pilot.resize_terminal(160, 48)
        await until(pilot, lambda: book(shown(pilot)) == ["Lock Remotes", *has])
        await settled(pilot)
        assert len(demo.service.requests) == 1  # the page: nothing is asked for the book
        screen = pilot.app.screen
        assert isinstance(screen, RemotesScreen)
        assert [lock.lock_id for lock in screen.known_locks] == [1002, 1003, 1001, 1006]


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (159, 48)])
async def test_a_narrower_terminal_has_none(demo: Demo, size: tuple[int, int]) -> None:
    async with demo(1003, size=size, locks=LOCKS) as pilot:
        await settled(pilot)
        assert not pilot.app.screen.query(BookPane)
        await press(pilot, "right_parenthesis")
        assert "化学品仓库 > Remotes" in shown(pilot).splitlines()[0]
        assert not pilot.app.screen.query(BookPane)


@pytest.mark.long
async def test_a_click_and_the_keys_go_to_another_lock(demo: Demo) -> None:
    async with demo(None, size=BROAD, locks=LOCKS) as pilot:
        await press(pilot, "enter")
        for place, title in ((4, "化学品仓库"), (1, "Loading dock"), (3, "Server room")):
            await pilot.click(BookPane, offset=(4, place + 1))
            await settled(pilot)
            assert f"Locks > {title} > Remotes" in shown(pilot).splitlines()[0]
            assert book(shown(pilot))[place].startswith(f">{title}")
        for key, title in (
            ("right_parenthesis", "化学品仓库"),
            ("right_parenthesis", "Loading dock"),
            ("left_parenthesis", "化学品仓库"),
        ):
            await press(pilot, key)
            assert f"Locks > {title} > Remotes" in shown(pilot).splitlines()[0]
            assert len(pilot.app.screen_stack) == 2
        await press(pilot, "escape")
        assert len(pilot.app.screen_stack) == 1


@pytest.mark.long
async def test_what_is_typed_behind_the_key_is_for_the_other_lock(demo: Demo) -> None:
    fill_book(demo, MAIN_GATE, Lock(1004, name="Yard"))
    someone_else.add(demo.service, 1004, "Anna")
    async with demo(1001, size=BROAD) as pilot:
        await press(pilot, "left_parenthesis", "d")
        await until(pilot, lambda: "Delete Anna (X-1)" in shown(pilot))
        await settled(pilot)
        await pilot.press("D")
        await until(pilot, lambda: "Deleted Anna" in notices(pilot))
        await settled(pilot)
        assert "Locks > Yard > Remotes" in shown(pilot).splitlines()[0]
        assert someone_else.page(demo.service, 1004) == []


@pytest.mark.long
async def test_marks_are_not_left_behind(demo: Demo) -> None:
    async with demo(1003, size=BROAD, locks=LOCKS) as pilot:
        await pilot.press("space")
        await pilot.click(BookPane, offset=(4, 2))
        await settled(pilot)
        assert "Some remotes are marked. Press U to unmark them." in notices(pilot)
        await press(pilot, "right_parenthesis", "escape", "U", "right_parenthesis")
        assert "化学品仓库 > Remotes" in shown(pilot).splitlines()[0]
