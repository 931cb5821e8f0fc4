"""The theme: chosen inside, kept, there again at the next start; out of the way where it must."""

from __future__ import annotations

import json
import logging
from datetime import UTC
from itertools import combinations
from typing import Any

import pytest
from rich.color import ColorSystem
from rich.style import Style
from textual.geometry import Region
from textual.pilot import Pilot

from lockterm.config.look import TRUE_COLORS, Look
from lockterm.domain import dates
from lockterm.domain.remotes import Remote
from lockterm.domain.validity import COERCED
from lockterm.screens.remotes.table import RemotesTable
from lockterm.service.running import RunningService
from lockterm.terminal.colors import contrast
from lockterm.terminal.themes import OWN
from lockterm.widgets.line_table import STATES
from tests.matrix.colors import EYES, OF_THEMES, PALETTES, distance, ratio_of
from tests.screens.running_app import Starter, notices, settled, shown, strips
from tests.screens.tour import tour


@pytest.mark.long
async def test_a_theme_is_chosen_kept_and_there_at_the_next_start(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        await pilot.press("T")
        await settled(pilot)
        assert "lockterm-dark" in shown(pilot)
        await pilot.press("j", "enter")
        await settled(pilot)
        assert pilot.app.theme == "lockterm-light"
        assert pilot.app.current_theme.dark is False
    again = lockterm_app.app(service, 1001)
    assert again.theme == "lockterm-light", "it is there before the first frame"
    assert again.get_css_variables()["background"] == "#F7F7F8"
    async with again.run_test() as pilot:
        await settled(pilot)
        assert str(pilot.app.screen.styles.background.hex) == "#F7F7F8"


@pytest.mark.long
async def test_leaving_the_list_changes_and_keeps_nothing(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        await pilot.press("T", "j", "j", "escape")
        await settled(pilot)
        assert pilot.app.theme == "lockterm-dark"
        assert pilot.app.choices.get("theme") is None


@pytest.mark.parametrize("kept", ["no-such-theme", 7, ["nord"], {"a": 1}])
def test_unknown_saved_theme_is_ignored_and_logged(
    lockterm_app: Starter, caplog: pytest.LogCaptureFixture, kept: object
) -> None:
    first = lockterm_app.app("http://127.0.0.1:9")
    first.choices.keep("theme", kept)
    with caplog.at_level(logging.WARNING, "lockterm"):
        app = lockterm_app.app("http://127.0.0.1:9")
    assert app.theme == "lockterm-dark"
    assert "the saved theme is unknown" in caplog.text


def test_a_theme_kept_under_its_british_name_is_there(lockterm_app: Starter) -> None:
    lockterm_app.app("http://127.0.0.1:9").choices.keep("theme", "colour-blind-light")
    assert lockterm_app.app("http://127.0.0.1:9").theme == "color-blind-light"


@pytest.mark.long
@pytest.mark.parametrize("look", [Look(quiet=True), Look(colors=16), Look(colors=0)])
async def test_where_the_terminals_colors_are_used_the_choice_waits(
    service: RunningService, lockterm_app: Starter, look: Look
) -> None:
    lockterm_app.app(service).choices.keep("theme", "nord")
    async with lockterm_app(service, 1001, look) as pilot:
        assert pilot.app.theme == OWN.name
        await pilot.press("T")
        await settled(pilot)
        assert not pilot.app.screen.is_modal
        assert "Your saved theme still applies" in notices(pilot)
        if look.quiet:
            await pilot.press("Q")
            await settled(pilot)
            assert pilot.app.theme == "nord"
            await pilot.press("Q")
            await settled(pilot)
    kept = (lockterm_app.app(service)).choices.get("theme")
    assert json.dumps(kept) == '"nord"'
    assert lockterm_app.app(service).theme == "nord"


@pytest.mark.long
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
        assert pilot.app.theme == "lockterm-light"
        assert "It applies until you quit." in notices(pilot)


@pytest.mark.long
@pytest.mark.parametrize("colors", [TRUE_COLORS, 256])
async def test_each_state_is_read_in_every_theme(
    service: RunningService, lockterm_app: Starter, colors: int
) -> None:
    system = {TRUE_COLORS: ColorSystem.TRUECOLOR, 256: ColorSystem.EIGHT_BIT}[colors]
    async with lockterm_app(service, 1001, Look(colors=colors)) as pilot:
        for theme in pilot.app.available_themes:
            pilot.app.theme = theme
            await settled(pilot)
            seen = await _states(pilot)
            assert {*seen} == {*STATES}
            for state, style in seen.items():
                assert style.color is not None and style.bgcolor is not None
                if not style.color.is_system_defined and not style.bgcolor.is_system_defined:
                    told = contrast(style.color, style.bgcolor, system)
                    assert told >= 4.5, (theme, state, str(style))


FOR_EYES = ("high-contrast-dark", "high-contrast-light", "color-blind-dark", "color-blind-light")
APART = 15.0
"""The least distance of the colors of two states, as CIE76 measures it; 2.3 can just be told."""


@pytest.mark.parametrize("theme", FOR_EYES)
async def test_states_differ_for_color_blind_people(
    service: RunningService, lockterm_app: Starter, theme: str
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        pilot.app.theme = theme
        await settled(pilot)
        seen = {
            state: style.color.get_truecolor()
            for state, style in (await _states(pilot)).items()
            if style.color is not None
        }
        assert {*seen} == {*STATES}
        for (one, first), (other, second) in combinations(seen.items(), 2):
            for eyes in EYES:
                assert distance(first, second, eyes) >= APART, (one, other, eyes)


@pytest.mark.long
@pytest.mark.parametrize("theme", FOR_EYES)
async def test_every_word_is_read_in_the_themes_for_eyes(
    service: RunningService, lockterm_app: Starter, theme: str
) -> None:
    least = 7.0 if theme.startswith("high-contrast") else OF_THEMES
    async with lockterm_app(service) as pilot:
        pilot.app.theme = theme
        await settled(pilot)
        async for name in tour(pilot):
            screen = pilot.app.screen
            on_top = screen.query_one(".dialog, #palette") if screen.is_modal else screen
            x, y, width, height = on_top.region
            for strip in strips(screen)[y : y + height]:
                for text, style, _ in strip.crop(x, x + width):
                    if any(map(str.isalnum, text)) and style and style.color and style.bgcolor:
                        told = contrast(style.color, style.bgcolor, ColorSystem.TRUECOLOR)
                        assert told >= least, (name, text, told, str(style))


@pytest.mark.long
@pytest.mark.parametrize("ground", ["dark", "light"])
async def test_each_state_is_read_in_the_terminals_own_colors(
    service: RunningService, lockterm_app: Starter, ground: str
) -> None:
    names = [*PALETTES["VGA"]][:-1]
    grounds = {"dark": ("black",), "light": ("white",)}[ground]
    async with lockterm_app(service, 1001) as pilot:
        pilot.app.theme = f"ansi-{ground}"
        await settled(pilot)
        for state, style in (await _states(pilot)).items():
            front, back = (
                "default" if one is None or one.number is None else names[one.number]
                for one in (style.color, style.bgcolor)
            )
            look = front, back, bool(style.reverse), grounds, bool(style.bold)
            assert ratio_of(*look, palettes=("xterm", "VGA", "Tango")) >= OF_THEMES, state


async def test_without_colors_what_is_urgent_is_bold(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001, Look(colors=0, ascii=True)) as pilot:
        bold = {state for state, style in (await _states(pilot)).items() if style.bold}
        assert bold == {"week", "disagree", "coerced"}


async def _states(pilot: Pilot[Any]) -> dict[str, Style]:
    """How the sign of each state is painted, in a row without the cursor."""
    table = pilot.app.screen.query_one(RemotesTable)
    now_ms = pilot.app.operations.now_ms()
    day = dates.DAY_MS
    spans = [(-9, -1, 2), (-1, 1, 1), (-1, 20, 1), (-1, 99, 1), (1, 2, 1), (-9, -1, 1), (-1, 99, 9)]
    remotes = [
        Remote(
            id=place,
            remote_type=2,
            start_ms=now_ms + first * day,
            end_ms=now_ms + last * day,
            status=status,
            is_coerced=1,
        )
        for place, (first, last, status) in enumerate(spans)
    ]
    table.show_remotes([Remote(id=99), *remotes], UTC, now_ms, top=True)
    table.move_cursor(0)
    await settled(pilot)
    styles = {}
    for place, row in enumerate(table.rows[1:], 2):
        state, coerced = (
            style
            for text, style, _ in table.render_lines(Region(0, place, 80, 1))[0]
            if text.strip() in (row.valid.state.sign, COERCED)
        )
        styles[row.valid.state.look], styles["coerced"] = state, coerced
    return styles
