"""The manual pages: one for each command, with all of its help."""

from __future__ import annotations

import gzip
import subprocess
from pathlib import Path

import click
import pytest

from lockterm.cli.commands import lockterm as root
from lockterm.cli.info import key_rows
from lockterm.cli.install import pages
from lockterm.keymap import DEFAULT_KEYMAP
from tests.cli.conftest import Run
from tests.programs import require
from tests.reference import commands

PAGES = pages(root)


def test_man_writes_a_page_for_each_command(lockterm: Run, tmp_path: Path) -> None:
    names = {path.replace(" ", "-") for path, _ in commands()}
    assert names < {name.removesuffix(".1") for name in PAGES}
    folder = tmp_path / "an other/man1"
    folder.mkdir(parents=True)
    for name, text in PAGES.items():
        (folder / name).write_text(text)  # as an earlier version wrote them: pipx warned about each
    for _ in "once", "again":
        result = lockterm("man", "--dir", str(tmp_path / "an other"))
        assert (result.returncode, result.stderr) == (0, "")
    found = {page.name: gzip.decompress(page.read_bytes()) for page in folder.iterdir()}
    assert found == {f"{name}.gz": text.encode("ascii") for name, text in PAGES.items()}
    undo = result.stdout.splitlines()[-1].removeprefix("To undo: ")
    subprocess.run(["sh", "-c", undo], check=True, timeout=60)
    assert list(folder.iterdir()) == []


def test_man_writes_pages_to_the_data_directory_by_default(lockterm: Run, tmp_path: Path) -> None:
    result = lockterm("man", env={"XDG_DATA_HOME": str(tmp_path / "share")})
    assert result.returncode == 0
    folder = tmp_path / "share/man/man1"
    assert len(list(folder.iterdir())) == len(PAGES)
    assert not any((folder / name).exists() for name in PAGES), "pipx links its pages there"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("lockterm-keys.1", b".TH OTHER 1\n"),
        ("lockterm-keys.1.gz", gzip.compress(b".TH OTHER 1\n")),
        ("lockterm-keys.1.gz", b"\x1f\x8b no gzip"),
        ("lockterm-keys.1", None),
    ],
    ids=["text", "gzip", "no gzip", "link of pipx"],
)
def test_man_leaves_a_page_when_another_program_wrote_it(
    lockterm: Run, tmp_path: Path, name: str, content: bytes | None
) -> None:
    page = tmp_path / "man1" / name
    page.parent.mkdir()
    if content is None:  # pipx links the page that it has installed
        page.symlink_to(tmp_path / "installed.1")
    page.write_bytes(content or PAGES[name].encode())
    before = page.read_bytes()
    result = lockterm("man", "--dir", str(tmp_path))
    assert result.returncode == 1
    assert f"{page} exists, and lockterm did not write it." in result.stderr
    assert (page.is_symlink(), page.read_bytes()) == (content is None, before)
    assert list(page.parent.iterdir()) == [page]


def test_man_pages_have_the_help_when_groff_formats_them(tmp_path: Path) -> None:
    require("groff", "groff")
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
    for row in key_rows(DEFAULT_KEYMAP):
        assert row.does in drawn.stdout
