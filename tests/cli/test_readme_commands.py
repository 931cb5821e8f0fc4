"""The documentation: generated pages, links, and commands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockterm.cli.serve import serve
from lockterm.paths import Paths
from tests.cli.test_help import find_commands, parse_command

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def test_generated_pages_are_current(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.reference", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True)
    for page in tmp_path.iterdir():
        now = (ROOT / "docs/reference" / page.name).read_text("utf-8")
        assert now == page.read_text("utf-8"), "run python -m tests.reference"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_resolve(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{page.name} links {target}"
        if anchor:
            titles = re.findall(r"^#+ (.*)$", linked.read_text("utf-8"), re.M)
            slugs = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
            assert anchor in slugs, f"{page.name} links {target}"


def typed_commands(page: Path) -> Iterator[str]:
    """Yield each lockterm command in a shell block of a page."""
    for block in re.findall(r"^ *```sh\n(.*?)^ *```", page.read_text("utf-8"), re.M | re.S):
        yield from find_commands(block)


def test_documented_commands_are_accepted_by_the_parser() -> None:
    typed = [line for page in PAGES for line in typed_commands(page)]
    assert len(typed) > 30
    for line in typed:
        parse_command(line)


def test_documented_serve_options_exist() -> None:
    page = (ROOT / "docs/reference/service.md").read_text("utf-8")
    found = re.search(r"^lockterm serve ((?:.*\\\n)*.*)$", page, re.M)
    compose = (ROOT / "tests/service/compose.yaml").read_text("utf-8")
    listed = re.findall(r"^      - (--.*)$", compose, re.M)
    for arguments in (shlex.split(found[1].replace("\\\n", " ")), listed):
        assert "--migrate" in arguments
        serve.make_context("serve", list(arguments))


def test_readme_names_each_directory_that_stays_after_removal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.delenv(f"XDG_{kind}_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    paths = Paths.standard()
    kept = {paths.config_file.parent, paths.data_dir, paths.state_dir, paths.cache_dir}
    assert {path if path in kept else path.parent for path in paths.named().values()} == kept
    readme = (ROOT / "README.md").read_text("utf-8")
    removing = readme.partition("\nTo remove it, ")[2].partition("\n\n")[0]
    named = re.findall(r"`~(/[^`]*)`", removing)
    assert {Path(f"/home/me{place}") for place in named} == kept
    for command in ("lockterm man", "completion --install", "lockterm edit", "lockterm demo"):
        assert f"`{command}`" in removing


def test_documentation_has_each_exit_code() -> None:
    page = (ROOT / "docs/reference/exit-codes.md").read_text("utf-8")
    for number in ("0", "1", "2", "3", "4", "5", "6", "130"):
        assert f"\n| {number} | " in page
