"""Every screen and dialog on terminals with few colors, none, or no glyphs beyond ASCII."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.color import ColorSystem
from rich.segment import Segment
from textual.pilot import Pilot

import lockterm.service
from lockterm.config.look import FULL_LOOK, Look
from lockterm.errors import ResultUnknownError
from lockterm.screens.voice.packs import PacksTable
from lockterm.service.running import RunningService
from lockterm.terminal.colors import contrast
from lockterm.terminal.patches import in_ascii
from lockterm.terminal.render_barrier import SLOW_S, Link
from lockterm.terminal.themes import OWN
from tests.faults.calls import new_remote
from tests.faults.catalogue import close
from tests.faults.proxy import FaultProxy
from tests.long import telling
from tests.matrix.colors import OF_THEMES, PALETTES, ratio_of
from tests.screens import someone_else
from tests.screens.running_app import Demo, Starter, notices, settled, shown, strips, until
from tests.screens.site import press
from tests.screens.tour import STOPS, cells, tour

NONE = Look(colors=0, ascii=True)
SIXTEEN = Look(colors=16)
QUIET = Look(quiet=True)

ON_BOTH = {None, 1, 2, 5}
"""The terminal's own, red, green, magenta: read on a black background and on a white one."""


def has_cursor(pilot: Pilot[Any]) -> bool:
    return any(
        segment.style is not None and segment.style.reverse
        for strip in strips(pilot.app.screen)
        for segment in strip
    )


WITHOUT_CURSOR = {"help", "history", "back from voice"}
"""Nothing is chosen there: text to scroll, an empty list."""


@pytest.mark.long
async def test_without_colors_none_is_painted_and_the_cursor_is_still_seen(demo: Demo) -> None:
    async with demo(None, NONE) as pilot:
        visited = []
        async for name in tour(pilot):
            visited.append(name)
            for glyph, style in cells(pilot):
                assert style.color is None and style.bgcolor is None, (name, glyph, str(style))
            assert has_cursor(pilot) or name in WITHOUT_CURSOR, f"{name}\n{shown(pilot)}"
    assert len(visited) == len(STOPS)


@pytest.mark.parametrize("look", [SIXTEEN, QUIET], ids=["16", "quiet"])
@pytest.mark.long
async def test_few_colors_are_the_terminals_own_and_ascii_goes_beyond_it_in_data_only(
    demo: Demo, look: Look
) -> None:
    sources = Path(lockterm.service.__file__).parent.glob("*.py")
    glyphs = {glyph for source in sources for glyph in source.read_text()}
    data = {glyph for glyph in glyphs if in_ascii(Segment(glyph)).text == glyph}
    async with demo(None, look) as pilot:
        async for name in tour(pilot):
            for glyph, style in cells(pilot):
                seen = (name, glyph, str(style))
                front, back = style.color, style.bgcolor
                assert front is None or (not front.triplet and front.number in ON_BOTH), seen
                assert back is None or back.is_default, seen
                assert glyph.isascii() or glyph in data or not look.in_ascii, seen


NAMES = [*PALETTES["VGA"]][:-1]
"""The terminal's own colors by their numbers, as the matrix names them."""


@pytest.mark.long
@pytest.mark.parametrize("ground", ["dark", "light"])
async def test_words_in_the_terminals_own_colors_are_read_in_every_palette(
    demo: Demo, ground: str
) -> None:
    port = int(demo.service.base_url.rpartition(":")[2])
    async with FaultProxy(port).running() as proxy, demo.starter(proxy, 1001) as pilot:
        pilot.app.theme = f"ansi-{ground}"
        operations = pilot.app.operations
        proxy.arm("add", close)
        with pytest.raises(ResultUnknownError):
            await operations.writes.add_remote(new_remote(1001))
        await until(pilot, lambda: "UNCONFIRMED" in shown(pilot))
        await press(pilot, "e")
        await pilot.press("end", "ctrl+u", "ctrl+s")
        await until(pilot, lambda: "Required: Name" in shown(pilot))
        grounds = {"dark": ("black",), "light": ("white",)}[ground]
        for glyph, style in cells(pilot):
            front, back = (
                "default" if one is None or one.number is None else NAMES[one.number]
                for one in (style.color, style.bgcolor)
            )
            if glyph.isalnum() and not style.dim:
                look = front, back, bool(style.reverse), grounds, bool(style.bold)
                told = ratio_of(*look, palettes=("xterm", "VGA", "Tango"))
                assert told >= OF_THEMES, (glyph, str(style))


THEMES = [
    "lockterm-dark",
    "lockterm-light",
    "textual-dark",
    "textual-light",
    "nord",
    "solarized-light",
    "catppuccin-frappe",
]


@pytest.mark.long
@pytest.mark.parametrize("theme", THEMES)
async def test_words_differ_from_their_background_in_256_colors(demo: Demo, theme: str) -> None:
    async with demo(None, Look(colors=256)) as pilot:
        app = pilot.app
        app.theme = theme
        await settled(pilot)
        assert app.console.color_system == "256"
        async for name in tour(pilot):
            for style in {style for glyph, style in cells(pilot) if glyph.isalnum()}:
                if style.color and style.bgcolor:
                    told = contrast(style.color, style.bgcolor, ColorSystem.EIGHT_BIT)
                    assert told >= 1.8, (name, str(style))


NAMED = "…·–─“”•→"
"""A name with the signs that lockterm and Textual draw with."""


@pytest.mark.long
@pytest.mark.parametrize(
    "look", telling([QUIET], [QUIET, NONE, FULL_LOOK]), ids=["quiet", "none", "all"]
)
async def test_a_name_keeps_its_signs_whatever_lockterm_draws_with(
    running_service: Callable[..., RunningService], lockterm_app: Starter, look: Look
) -> None:
    service = running_service(sample_data=False)
    someone_else.add(service, 1001, NAMED)
    async with lockterm_app(service, 1001, look) as pilot:
        for key, place in (("", "table"), ("enter", "detail"), ("escape", ""), ("d", "question")):
            if key:
                await press(pilot, key)
            assert NAMED in shown(pilot), f"{place}\n{shown(pilot)}"
            ours = {sign for sign in shown(pilot).replace(NAMED, "") if not sign.isascii()}
            assert not (look.in_ascii and ours), f"{place}: {ours}\n{shown(pilot)}"


@pytest.mark.parametrize("look", [NONE, SIXTEEN], ids=["none", "16"])
async def test_the_cursor_of_a_list_is_reversed(demo: Demo, look: Look) -> None:
    async with demo(1001, look) as pilot:
        for key, text in (
            ("number_sign", "20 remotes per page"),
            ("y", "A-2054"),
            ("ctrl+p", "Add"),
        ):
            await press(pilot, key)
            under = [
                segment.style is not None and segment.style.reverse
                for strip in strips(pilot.app.screen)
                for segment in strip
                if text in segment.text and not re.search("crew|a remote", segment.text)
            ]
            assert under == [True], shown(pilot)
            await press(pilot, "escape")


@pytest.mark.long
@pytest.mark.parametrize("look", [FULL_LOOK, SIXTEEN], ids=["true color", "16"])
async def test_quiet_can_begin_and_end_on_any_screen(demo: Demo, look: Look) -> None:
    async with demo(1001, look) as pilot:
        app = pilot.app
        loud, theme = shown(pilot), app.theme
        await press(pilot, "question_mark")
        await press(pilot, "Q")
        assert app.look.quiet
        assert app.theme == OWN.name
        assert app.animation_level == "none"
        assert "16 colors" in notices(pilot)
        await _close_notices(pilot)
        await press(pilot, "escape")
        quiet = shown(pilot)
        assert quiet != loud
        assert not {"·", "…", "“"} & set(quiet), quiet
        assert all(style.bgcolor is None or style.bgcolor.is_default for _, style in cells(pilot))
        await press(pilot, "f3")
        await _close_notices(pilot)
        assert app.theme == theme
        assert shown(pilot) == loud


async def test_quiet_marks_the_cursor_and_repaints_no_row_for_it(demo: Demo) -> None:
    async with demo(1001, QUIET) as pilot:
        first, second = _rows(pilot)
        assert first[0] == ">" and second[0] == " "
        assert not has_cursor(pilot)
        await press(pilot, "down")
        assert _rows(pilot) == [" " + first[1:], ">" + second[1:]]
        await press(pilot, "v")
        await pilot.press("escape")  # no vendor: the voices stay unknown, and have the focus
        await settled(pilot)
        packs = pilot.app.screen.query_one(PacksTable)
        assert not packs.has_focus and ">" not in packs.render_line(1).text
        packs.focus()
        await settled(pilot)
        assert packs.render_line(1).text[0] == ">"


def _rows(pilot: Pilot[Any]) -> list[str]:
    return shown(pilot).splitlines()[2:4]


async def _close_notices(pilot: Pilot[Any]) -> None:
    pilot.app.clear_notifications()
    await settled(pilot)


@pytest.mark.parametrize("quiet", [False, True])
async def test_quiet_reads_only_what_was_asked_for(demo: Demo, quiet: bool) -> None:
    async with demo(1001, Look(quiet=quiet)) as pilot:
        assert someone_else.counted(demo.service, "list") == (1 if quiet else 2)
        await press(pilot, "n")
        assert "page 2 of 7" in shown(pilot)
        assert someone_else.counted(demo.service, "list") == (2 if quiet else 3)


async def test_releasing_the_mouse_is_reported(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await pilot.press("O")
        assert not pilot.app.look.mouse
        assert "The terminal now handles the mouse" in notices(pilot)
        await pilot.press("f4")
        assert pilot.app.look.mouse


def measure(monkeypatch: pytest.MonkeyPatch, trips_s: list[float]) -> tuple[list[float], int]:
    """Measure a link whose answers take so long: what is reported, and how often it asked."""
    now_s, sent = 100.0, list[str]()
    monkeypatch.setattr("textual.message._time.get_time", lambda: now_s)
    frame_diff: Any = SimpleNamespace(send=sent.append)
    link = Link(frame_diff)
    assert link.answered(now_s) is None  # shift+f3 looks the same: it was not asked for
    link.measure()
    told = []
    for trip_s in trips_s:
        now_s += trip_s
        if (shortest_s := link.answered(now_s)) is not None:
            told.append(shortest_s)
    return told, len(sent)


def test_link_reports_the_quicker_of_two_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert measure(monkeypatch, [0.9, SLOW_S, 0.1]) == ([pytest.approx(SLOW_S)], 2)
    assert measure(monkeypatch, [0.2]) == ([], 2)
    assert measure(monkeypatch, []) == ([], 1)
