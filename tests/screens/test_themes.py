"""The theme: chosen inside, kept, there again at the next start; out of the way where it must."""

from __future__ import annotations

import importlib
import json
import logging
import pkgutil
from datetime import UTC
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from rich.color import ColorSystem
from rich.style import Style
from textual.geometry import Region
from textual.pilot import Pilot
from textual.widget import Widget

import lockterm
from lockterm.app import LocktermApp
from lockterm.app.appearance import PATH, sections
from lockterm.config import Profile
from lockterm.config.look import TRUE_COLORS, Look
from lockterm.domain import dates
from lockterm.domain.remotes import Remote
from lockterm.domain.validity import COERCED
from lockterm.paths import Paths
from lockterm.screens.remotes.table import RemotesTable
from lockterm.service.running import RunningService
from lockterm.terminal.colors import contrast
from lockterm.terminal.themes import OWN
from lockterm.widgets.line_table import STATES
from tests.matrix.colors import EYES, OF_THEMES, PALETTES, distance, ratio_of
from tests.screens.running_app import Demo, Starter, notices, settled, shown, strips, until
from tests.screens.site import press
from tests.screens.tour import tour


@pytest.mark.long
async def test_a_theme_is_chosen_kept_and_there_at_the_next_start(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await press(pilot, "T", "j", "j", "escape")
        assert pilot.app.theme == "lockterm-dark"
        assert pilot.app.choices.get("theme") is None, "the list was left"
        await press(pilot, "T")
        assert "lockterm-dark" in shown(pilot)
        await press(pilot, "j", "enter")
        assert pilot.app.theme == "lockterm-light"
        assert pilot.app.current_theme.dark is False
    again = demo.starter.app(demo.service, 1001)
    assert again.theme == "lockterm-light", "it is there before the first frame"
    assert again.get_css_variables()["background"] == "#F7F7F8"
    async with again.run_test() as pilot:
        await settled(pilot)
        assert str(pilot.app.screen.styles.background.hex) == "#F7F7F8"


@pytest.mark.parametrize(
    ("kept", "theme"),
    [
        *((one, "lockterm-dark") for one in ("no-such-theme", 7, ["nord"], {"a": 1})),
        ("colour-blind-light", "color-blind-light"),  # its British name
    ],
)
def test_unknown_saved_theme_is_ignored_and_logged(
    lockterm_app: Starter, caplog: pytest.LogCaptureFixture, kept: object, theme: str
) -> None:
    lockterm_app.app("http://127.0.0.1:9").choices.keep("theme", kept)
    with caplog.at_level(logging.WARNING, "lockterm"):
        assert lockterm_app.app("http://127.0.0.1:9").theme == theme
    assert ("the saved theme is unknown" in caplog.text) is (theme == "lockterm-dark")


@pytest.mark.long
@pytest.mark.parametrize("look", [Look(quiet=True), Look(colors=16), Look(colors=0)])
async def test_where_the_terminals_colors_are_used_the_choice_waits(demo: Demo, look: Look) -> None:
    demo.starter.app(demo.service).choices.keep("theme", "nord")
    async with demo(1001, look) as pilot:
        assert pilot.app.theme == OWN.name
        await press(pilot, "T")
        assert not pilot.app.screen.is_modal
        assert "Your saved theme still applies" in notices(pilot)
        if look.quiet:
            await press(pilot, "Q")
            assert pilot.app.theme == "nord"
            await press(pilot, "Q")
    kept = (demo.starter.app(demo.service)).choices.get("theme")
    assert json.dumps(kept) == '"nord"'
    assert demo.starter.app(demo.service).theme == "nord"


@pytest.mark.long
async def test_unkept_theme_holds_for_the_session(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(name: str, value: object) -> None:
        raise OSError(28, "No space left on device")

    async with demo(1001) as pilot:
        monkeypatch.setattr(pilot.app.choices, "keep", full)
        await press(pilot, "T")
        await press(pilot, "j", "enter")
        assert pilot.app.theme == "lockterm-light"
        assert "It applies until you quit." in notices(pilot)


@pytest.mark.long
@pytest.mark.parametrize("colors", [TRUE_COLORS, 256])
async def test_each_state_is_read_in_every_theme(demo: Demo, colors: int) -> None:
    system = {TRUE_COLORS: ColorSystem.TRUECOLOR, 256: ColorSystem.EIGHT_BIT}[colors]
    async with demo(1001, Look(colors=colors)) as pilot:
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
async def test_states_differ_for_color_blind_people(demo: Demo, theme: str) -> None:
    async with demo(1001) as pilot:
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


@pytest.mark.parametrize("theme", ("lockterm-dark", "lockterm-light", *FOR_EYES))
async def test_fields_have_another_background_than_their_form(demo: Demo, theme: str) -> None:
    async with demo(1001) as pilot:
        pilot.app.theme = theme
        await press(pilot, "a")
        field = pilot.app.screen.query_one("#remoteNumber")
        assert not field.has_focus
        assert field.background_colors[0] != field.background_colors[1]


@pytest.mark.long
@pytest.mark.parametrize("theme", FOR_EYES)
async def test_every_word_is_read_in_the_themes_for_eyes(demo: Demo, theme: str) -> None:
    least = 7.0 if theme.startswith("high-contrast") else OF_THEMES
    async with demo() as pilot:
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
async def test_each_state_is_read_in_the_terminals_own_colors(demo: Demo, ground: str) -> None:
    names = [*PALETTES["VGA"]][:-1]
    grounds = {"dark": ("black",), "light": ("white",)}[ground]
    async with demo(1001) as pilot:
        pilot.app.theme = f"ansi-{ground}"
        await settled(pilot)
        for state, style in (await _states(pilot)).items():
            front, back = (
                "default" if one is None or one.number is None else names[one.number]
                for one in (style.color, style.bgcolor)
            )
            look = front, back, bool(style.reverse), grounds, bool(style.bold)
            assert ratio_of(*look, palettes=("xterm", "VGA", "Tango")) >= OF_THEMES, state


async def test_without_colors_what_is_urgent_is_bold(demo: Demo) -> None:
    async with demo(1001, Look(colors=0, ascii=True)) as pilot:
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
    batteries = pilot.app.operations.batteries
    rows = [Remote(id=99), *remotes]
    table.show_remotes(rows, UTC, now_ms, busy={}, batteries=batteries, cursor=None, top=True)
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


# --- sections of styles --------------------------------------------------------------------------

AT_ONCE = 32
"""Textual parses all it has read for each new part beyond 64; 26 are its own widgets' defaults."""


def _read(app: LocktermApp) -> set[str]:
    """The headings of the sections that were read."""
    return {heading for path, heading in app.stylesheet.source if path == str(PATH)}


async def test_a_start_reads_the_styles_of_what_it_shows(
    service: RunningService, tmp_path: Path
) -> None:
    profile = Profile("yard", service.base_url)
    app = LocktermApp(profile, Paths.below(tmp_path), open_lock=1001)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = "RemotesScreen, RemoteDetailScreen, AllLocksScreen"
        first = {"Screen", "LineTable", "StatePanel", screen}
        assert _read(app) == first
        await pilot.press("question_mark")
        await until(pilot, lambda: "Help" in shown(pilot))
        assert _read(app) - {"NotificationLine"} == first | {"HelpScreen", "FindLine"}


def test_each_section_is_for_a_widget_that_there_is() -> None:
    for module in pkgutil.walk_packages(lockterm.__path__, "lockterm."):
        if module.name.startswith(("lockterm.screens", "lockterm.widgets", "lockterm.terminal")):
            importlib.import_module(module.name)
    kinds, waiting = set[str](), [Widget]
    while waiting:
        kinds.update(kind.__name__ for kind in waiting)
        waiting = [one for kind in waiting for one in kind.__subclasses__()]
    named = [name for names in sections() for name in names.split(", ")]
    assert set(named) <= kinds
    assert len(set(named)) == len(named), "a class in two headings gets the styles of the last"
    assert "LineTable" in named


def test_textual_keeps_what_it_has_parsed() -> None:
    assert 1 < len(sections()) <= AT_ONCE
