"""The keys that the README tells are keys, and the example of other keys is valid."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from lockterm.cli.keys import rows
from lockterm.keymap.check import check

ROOT = Path(__file__).parents[2]


def test_the_ten_keys_of_the_readme_are_keys() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    table = readme.partition("| key | action |\n|---|---|\n")[2].partition("\n\n")[0]
    cells = [line.split(" | ")[0] for line in table.splitlines()]
    told = {key for cell in cells for key in re.findall("`(.+?)`", cell)}
    assert len(cells) == 10
    assert told - {key for row in rows({}) for key in row.keys} == set()


def test_the_example_of_the_documentation_is_valid() -> None:
    page = (ROOT / "docs/how-to/customize-keys.md").read_text("utf-8")
    example = page.partition("```toml\n[keys]\n")[2].partition("```")[0]
    assert check(tomllib.loads(example))
