"""Pictures of screens: the files in ``screenshots/`` are the baselines that the README shows.

``pytest --all --update-screenshots`` rewrites them; look at what changed before committing it.
"""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from textual.app import App

DIRECTORY = Path(__file__).parents[2] / "screenshots"

_TEXT = re.compile(r'textLength="([\d.]+)"([^>]*>)([^<]*)<')

update = False
"""Whether pictures are written instead of compared; set from ``--update-screenshots``."""


def assert_picture(app: App[Any], name: str) -> None:
    """Compare what the app shows with ``screenshots/NAME.svg``.

    Pin size and clock; the caller waits until the screen is settled.
    """
    file = DIRECTORY / f"{name}.svg"
    now = normalised(app.export_screenshot(title="lockterm"))
    if update:
        DIRECTORY.mkdir(exist_ok=True)
        file.write_text(now, encoding="utf-8")
        return
    assert file.exists(), f"no picture {file.name} yet: run pytest --all --update-screenshots"
    if file.read_text(encoding="utf-8") != now:
        other = file.with_suffix(".new.svg")
        other.write_text(now, encoding="utf-8")
        raise AssertionError(
            f"the screen is not the one of {file.name}; see {other.name} beside it. If it is"
            " better, run pytest --all --update-screenshots"
        )


def normalised(svg: str) -> str:
    """The picture without what differs from run to run, and without fonts from the network."""
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    svg = _TEXT.sub(_stretched, svg)
    svg = re.sub(r"\s*@font-face\s*{[^}]*}", "", svg)
    svg = re.sub(r"127\.0\.0\.1:\d{5}", "127.0.0.1:40000", svg)  # the service's free port
    return re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE)


def _stretched(found: re.Match[str]) -> str:
    """Rich counts characters where it should count cells: wide ones come out squeezed."""
    length, between, content = found.groups()
    text = unescape(content)
    cells = cell_len(text)
    if text and cells != len(text):
        length = f"{float(length) / len(text) * cells:.1f}".removesuffix(".0")
    return f'textLength="{length}"{between}{content}<'
