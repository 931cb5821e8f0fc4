"""Failed installations of files: one sentence, no traceback, no partial file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lockterm.cli.install import install_files
from lockterm.errors import LocktermError
from tests.cli.conftest import Run
from tests.terminal.pty_session import LOCKTERM

WITHOUT_RIGHTS = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search", *LOCKTERM)
"""lockterm without root's right to enter every directory."""


def test_install_reports_why_nothing_was_written(lockterm: Run, tmp_path: Path) -> None:
    file, folder = tmp_path / "file", tmp_path / "closed/man1"
    file.write_text("a file")
    folder.mkdir(mode=0, parents=True)
    limited = ("sh", "-c", 'ulimit -f 1; exec "$0" "$@"', *LOCKTERM)
    closed = LOCKTERM if os.geteuid() else WITHOUT_RIGHTS
    for command, program, words in (
        (("man", "--dir", f"{file}/x"), LOCKTERM, f"{file}/x/man1/lockterm.1.gz: Not a directory"),
        (("man", "--dir", f"{tmp_path}/closed"), closed, f"{folder}/lockterm.1.gz: Permission den"),
        (("man", "--dir", f"{tmp_path}/man"), limited, "man/man1/lockterm.1.gz: File too large"),
        (("completion", "--install", "bash"), LOCKTERM, f"{file}/bash-completion/comple: Not a di"),
    ):
        result = lockterm(*command, program=program, env={"XDG_DATA_HOME": str(file)})
        assert (result.returncode, result.stdout) == (1, "")
        place, why = words.split(": ")
        assert place in result.stderr and f" cannot be written: {why}" in result.stderr
        assert ". Nothing was written. " in result.stderr
        assert result.stderr.startswith("lockterm: /") and result.stderr.count("\n") == 1
    folder.chmod(0o700)
    assert file.read_text() == "a file"
    assert [*folder.iterdir()] == [*(tmp_path / "man/man1").iterdir()] == []


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_install_does_not_read_a_path_when_it_is_not_a_file(
    lockterm: Run, tmp_path: Path, make: object
) -> None:
    """Reading a pipe would wait for ever."""
    page = tmp_path / "man1/lockterm.1"
    page.parent.mkdir()
    assert callable(make)
    make(page)
    result = lockterm("man", "--dir", str(tmp_path))
    assert (result.returncode, result.stdout) == (1, "")
    assert f"{page} exists, and lockterm did not write it." in result.stderr
    assert list(page.parent.iterdir()) == [page]


def test_install_counts_written_files_when_one_fails(tmp_path: Path) -> None:
    # As long as a name may be: the one beside it, which it is written to first, is longer.
    first, long = tmp_path / "first", tmp_path / ("n" * 255)
    with pytest.raises(LocktermError, match=r"too long\. 1 of 2 files were written\."):
        install_files({first: b"text", long: b"text"})
    assert list(tmp_path.iterdir()) == [first]
    assert first.read_text() == "text"


@pytest.mark.parametrize("given", ["", "relative", "./relative"])
def test_install_ignores_a_directory_variable_when_it_is_relative(
    lockterm: Run, tmp_path: Path, given: str
) -> None:
    names = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    homes = dict.fromkeys(names, given)
    written = lockterm("man", env=homes).stdout
    assert f" manual pages to {tmp_path}/.local/share/man/man1." in written
    for shell, file in (
        ("bash", ".local/share/bash-completion/completions/lockterm"),
        ("fish", ".config/fish/completions/lockterm.fish"),
    ):
        result = lockterm("completion", "--install", shell, env=homes)
        assert result.stdout.startswith(f"Written: {tmp_path / file}\n")
    assert "relative" not in lockterm("info", env=homes).stdout
