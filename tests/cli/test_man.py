"""The manual pages: one for each command, with all its help has, as man shows it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import click
import pytest

from lockterm.cli.commands import lockterm as root
from lockterm.cli.keys import rows
from lockterm.cli.man import pages
from lockterm.keymap import DEFAULT_KEYMAP
from tests.cli.conftest import Run
from tests.cli.test_readme_commands import commands

PAGES = pages(root)


def test_each_command_has_a_page(lockterm: Run, tmp_path: Path) -> None:
    names = {path.replace(" ", "-") for path, _ in commands()}
    assert names < {name.removesuffix(".1") for name in PAGES}
    for _ in "once", "again":
        result = lockterm("man", "--dir", str(tmp_path / "an other"))
        assert (result.returncode, result.stderr) == (0, "")
    folder = tmp_path / "an other/man1"
    assert {page.name: page.read_text("ascii") for page in folder.iterdir()} == PAGES
    undo = result.stdout.splitlines()[-1].removeprefix("To undo: ")
    subprocess.run(["sh", "-c", undo], check=True, timeout=60)
    assert list(folder.iterdir()) == []


def test_they_are_put_where_man_looks(lockterm: Run, tmp_path: Path) -> None:
    result = lockterm("man", env={"XDG_DATA_HOME": str(tmp_path / "share")})
    assert result.returncode == 0
    assert len(list((tmp_path / "share/man/man1").iterdir())) == len(PAGES)


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_somebody_else_wrote_stays(lockterm: Run, tmp_path: Path, kind: str) -> None:
    other, page = tmp_path / "other.1", tmp_path / "man1/lockterm-keys.1"
    page.parent.mkdir()
    (page if kind == "file" else other).write_text(".TH OTHER 1\n")
    if kind == "link":
        page.symlink_to(other)
    result = lockterm("man", "--dir", str(tmp_path))
    assert result.returncode == 1
    assert f"{page} is there, and lockterm has not written it." in result.stderr
    assert (page.read_text(), list(page.parent.iterdir())) == (".TH OTHER 1\n", [page])


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not there")
def test_man_shows_what_the_help_has_and_has_nothing_to_warn_of(tmp_path: Path) -> None:
    for name, text in PAGES.items():
        (tmp_path / name).write_text(text, "ascii")
    drawn = subprocess.run(
        ["groff", "-man", "-Tutf8", "-P-cbou", "-ww", "-rLL=400n", *sorted(PAGES)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert drawn.stderr == ""
    shown = {" ".join(line.split()) for line in drawn.stdout.splitlines()}
    for path, command in (("lockterm", root), *commands()):
        # Lines that are no running text: those of the examples and tables.
        for line in (command.epilog or "").partition("\b\n")[2].splitlines():
            if line.startswith("  "):
                assert " ".join(line.split()) in shown, path
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help and parameter.help in drawn.stdout, path
    for row in rows(DEFAULT_KEYMAP):
        assert row.does in drawn.stdout
