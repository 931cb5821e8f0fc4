"""The theme: chosen inside, kept, there again at the next start; out of the way where it must."""

from __future__ import annotations

import json
import logging

import pytest

from lockterm.config.look import Look
from lockterm.service.running import RunningService
from lockterm.terminal.colours import OWN
from tests.screens.running_app import Starter, notices, settled, shown


async def test_a_theme_is_chosen_kept_and_there_at_the_next_start(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        await pilot.press("T")
        await settled(pilot)
        assert "textual-dark" in shown(pilot)
        await pilot.press("j", "enter")
        await settled(pilot)
        assert pilot.app.theme == "textual-light"
        assert pilot.app.current_theme.dark is False
    again = lockterm_app.app(service, 1001)
    assert again.theme == "textual-light", "it is there before the first frame"
    assert again.get_css_variables()["background"] == "#E0E0E0"
    async with again.run_test() as pilot:
        await settled(pilot)
        assert str(pilot.app.screen.styles.background.hex) == "#E0E0E0"


async def test_leaving_the_list_changes_and_keeps_nothing(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        await pilot.press("T", "j", "j", "escape")
        await settled(pilot)
        assert pilot.app.theme == "textual-dark"
        assert pilot.app.choices.get("theme") is None


@pytest.mark.parametrize("kept", ["no-such-theme", 7, ["nord"], {"a": 1}])
def test_a_kept_theme_that_is_none_is_ignored_and_logged(
    lockterm_app: Starter, caplog: pytest.LogCaptureFixture, kept: object
) -> None:
    first = lockterm_app.app("http://127.0.0.1:9")
    first.choices.keep("theme", kept)
    with caplog.at_level(logging.WARNING, "lockterm"):
        app = lockterm_app.app("http://127.0.0.1:9")
    assert app.theme == "textual-dark"
    assert "the kept theme is none that is known" in caplog.text


@pytest.mark.parametrize("look", [Look(quiet=True), Look(colours=16), Look(colours=0)])
async def test_where_the_terminals_colours_are_used_the_choice_waits(
    service: RunningService, lockterm_app: Starter, look: Look
) -> None:
    lockterm_app.app(service).choices.keep("theme", "nord")
    async with lockterm_app(service, 1001, look) as pilot:
        assert pilot.app.theme == OWN.name
        await pilot.press("T")
        await settled(pilot)
        assert not pilot.app.screen.is_modal
        assert "A theme chosen elsewhere is kept" in notices(pilot)
        if look.quiet:
            await pilot.press("Q")
            await settled(pilot)
            assert pilot.app.theme == "nord"
            await pilot.press("Q")
            await settled(pilot)
    kept = (lockterm_app.app(service)).choices.get("theme")
    assert json.dumps(kept) == '"nord"'
    assert lockterm_app.app(service).theme == "nord"


async def test_a_choice_that_cannot_be_kept_holds_for_the_session(
    service: RunningService, lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(name: str, value: object) -> None:
        raise OSError(28, "No space left on device")

    async with lockterm_app(service, 1001) as pilot:
        monkeypatch.setattr(pilot.app.choices, "keep", full)
        await pilot.press("T")
        await settled(pilot)
        await pilot.press("j", "enter")
        await settled(pilot)
        assert pilot.app.theme == "textual-light"
        assert "for this session alone" in notices(pilot)
