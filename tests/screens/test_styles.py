"""Styles are read when something that they are for is made."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from textual.widget import Widget

import lockterm
from lockterm.app import LocktermApp
from lockterm.app.styles import PATH, sections
from lockterm.config import Profile
from lockterm.paths import Paths
from lockterm.service.running import RunningService
from tests.screens.running_app import shown, until

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
