"""Somebody sets this machine's clock back by hours: no wait is longer, nothing old looks new."""

from __future__ import annotations

import pytest

from tests.screens.running_app import Clock, Demo, Starter, settled, shown, until
from tests.screens.test_pause import asking_to_wait

THREE_HOURS_S = 3 * 3600.0


@pytest.mark.long
async def test_a_pause_lasts_as_long_as_it_was_asked_for(
    lockterm_app: Starter, clock: Clock
) -> None:
    async with asking_to_wait(20) as server:
        app = lockterm_app.app(server.base_url, open_lock=1001)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await until(pilot, lambda: "asked lockterm to wait 20 s" in shown(pilot))
            clock.set_back_s = THREE_HOURS_S
            clock.now_s += 5
            await until(pilot, lambda: "asked lockterm to wait 15 s" in shown(pilot))
            clock.now_s += 16
            await until(pilot, lambda: "No remotes on this lock yet" in shown(pilot))
    assert len(server.asked) == 2


async def test_a_page_is_as_old_as_the_time_that_has_passed(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await until(pilot, lambda: "updated just now" in shown(pilot))
        demo.clock.set_back_s = THREE_HOURS_S
        demo.clock.now_s += 300
        await pilot.press("down")
        await until(pilot, lambda: "updated 5 min ago" in shown(pilot))
        read = await pilot.app.operations.remotes.page(1001, 1, 20)
        assert read.at_ms == demo.clock.now_ms()  # fetched anew: the one there was is too old
        await settled(pilot)


@pytest.mark.long
async def test_what_an_earlier_session_read_is_not_called_new(demo: Demo) -> None:
    async with demo(1001):
        pass
    demo.clock.now_s += 3600
    demo.service.stop()
    async with demo(1001) as pilot:
        await until(pilot, lambda: "STALE" in shown(pilot))
        await settled(pilot)
        assert "60 min ago" in shown(pilot)
    demo.clock.set_back_s = THREE_HOURS_S
    async with demo(1001) as pilot:
        await until(pilot, lambda: "STALE" in shown(pilot))
        await settled(pilot)
        assert "at an unknown time" in shown(pilot) and "just now" not in shown(pilot)
