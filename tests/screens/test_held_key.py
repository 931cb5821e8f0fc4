"""``n`` held down: the pager follows, and the service is asked for the page that is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from lockterm.domain import dates
from lockterm.operations.remote_list import HELD_S
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.screen import HeldKey
from lockterm.widgets.data_status import Pager, PagerForm
from tests.operations.test_walks import Service, record
from tests.screens.running_app import Clock, Starter, settled, shown
from tests.screens.site import press

PRESSES = 100


@pytest.mark.long
async def test_one_request_for_the_page_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed: set[int] = set()
    show = Pager.show

    def note(pager: Pager, forms: Sequence[PagerForm], at_ms: int | None = None) -> None:
        page = str(forms).partition("loading page ")[2].partition(" ")[0]
        followed.update([int(page.replace(",", ""))] if page else [])
        show(pager, forms, at_ms)

    monkeypatch.setattr(Pager, "show", note)
    # However slowly a machine takes the presses, the key is held, and none looks like the last one.
    remotes = "lockterm.screens.remotes"
    monkeypatch.setattr(
        f"{remotes}.screen.HeldKey", lambda _: HeldKey(dates.Clock(steady=lambda: 0.0))
    )
    monkeypatch.setattr("lockterm.operations.remote_list.HELD_S", 2.0)
    service = Service(lambda page_no: [record(page_no)], pages=1000)
    starter = Starter(tmp_path, Clock())
    async with service.running(), starter(service, open_lock=1) as pilot:
        before = len(service.asked)
        for _ in range(PRESSES):
            pilot.app.simulate_key("n")
        await settled(pilot)
        assert f"page {PRESSES + 1} of 1,000" in shown(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, RemotesScreen)
        asked = [one.start for one in service.asked[before:] if "/list?" in one.start]
        # The page, its two neighbors, and what was there before it was clear that it is held.
        assert len(asked) < PRESSES / 5, asked
        assert len(followed) > PRESSES / 2
        assert any(f"pageNo={PRESSES + 1}&" in start for start in asked)
        await press(pilot, "n")
        assert f"page {PRESSES + 2} of 1,000" in shown(pilot)


def test_a_key_is_held_as_long_as_its_repeats_come() -> None:
    now_s = 0.0
    key = HeldKey(dates.Clock(steady=lambda: now_s))
    presses = []
    for pause_s in (0, HELD_S / 5, HELD_S / 5, HELD_S * 2, HELD_S / 5):
        now_s += pause_s
        presses.append(key.is_repeated())
    assert presses == [False, True, True, False, True]
    assert HELD_S > 1 / 10, "slow keyboards repeat ten times a second"
