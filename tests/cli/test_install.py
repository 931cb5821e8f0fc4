"""``lockterm completion`` and ``man``: scripts for real shells, pages, and failed installations."""

from __future__ import annotations

import gzip
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import click
import pytest

from lockterm.cli.commands import lockterm as root
from lockterm.cli.install import install_files
from lockterm.cli.keys import key_rows
from lockterm.cli.man import pages
from lockterm.domain.locks import Lock
from lockterm.errors import LocktermError
from lockterm.keymap import DEFAULT_KEYMAP
from tests.cli.conftest import Run, Scripts
from tests.programs import require
from tests.reference import commands
from tests.terminal.pty_session import LOCKTERM, clean_environment

# --- completion ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shell", "place", "words"),
    [
        ("bash", "share/bash-completion/completions/lockterm", "complete -o nosort -F _lockterm"),
        ("zsh", "share/zsh/site-functions/_lockterm", "#compdef lockterm"),
        ("fish", "config/fish/completions/lockterm.fish", "complete --no-files --command lockterm"),
    ],
)
def test_completion_prints_and_installs_the_script_for_its_shell(
    lockterm: Run, tmp_path: Path, shell: str, place: str, words: str
) -> None:
    file = tmp_path / place
    homes = {"XDG_DATA_HOME": str(tmp_path / "share"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    open_to_all = ("sh", "-c", 'umask 0; exec "$0" "$@"', *LOCKTERM)
    for program in (open_to_all, LOCKTERM):
        result = lockterm("completion", "--install", shell, env=homes, program=program)
        assert (result.returncode, result.stderr) == (0, "")
        assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert result.stdout.startswith(f"Written: {file}\n")
    assert result.stdout.endswith(f"To undo: rm {file}\n")
    printed = lockterm("completion", shell)
    assert printed.returncode == 0 and words in printed.stdout
    assert f"_LOCKTERM_COMPLETE={shell}_complete" in printed.stdout
    assert file.read_text().startswith(printed.stdout)
    file.write_text("somebody's own\n")
    result = lockterm("completion", "--install", shell, env=homes)
    assert (result.returncode, file.read_text()) == (1, "somebody's own\n")
    assert f"{file} exists, and lockterm did not write it." in result.stderr
    unknown = lockterm("completion", "ksh")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "bash" in unknown.stderr


@pytest.mark.parametrize(
    ("shell", "command"),
    [
        ("bash", '. "$0"; complete -p lockterm'),
        ("zsh", 'autoload -U compinit; compinit -u; . "$0"'),
        ("fish", "source $argv[1]"),
    ],
)
def test_completion_script_loads_when_its_shell_reads_it(
    lockterm: Run, tmp_path: Path, shell: str, command: str
) -> None:
    require(shell, shell)
    script = tmp_path / "script"
    script.write_text(lockterm("completion", shell).stdout)
    done = subprocess.run(
        [shell, "-c", command, script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr == ""


def _run_bash(script: str, *arguments: str, home: Path, **environment: str) -> str:
    """Run a script in bash, which has to say nothing on stderr."""
    require("bash", "bash")
    result = subprocess.run(
        ["bash", "--norc", "-c", script, *arguments],
        env=clean_environment(home) | environment,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert result.stderr == ""
    return result.stdout


def test_bash_completion_quotes_a_profile_name(tmp_path: Path, config_file: Path) -> None:
    """Bash runs the command line unchanged when a person presses Enter."""
    script = """
        IFS=',' read type value <<< "$("$0" -m lockterm)"
        eval "set -- $value"
        printf '%s\\n' "$#" "$1"
    """
    for name in ("a$(touch x)", "a'b", "a\\b", "a;b", "a b", 'a"b', "a`b`", "a*", "plain"):
        profile = f'[profiles.{json.dumps(name)}]\nbase_url = "https://locks.example"\n'
        config_file.write_text(profile)
        environment = {"_LOCKTERM_COMPLETE": "bash_complete", "COMP_CWORD": "2"}
        environment["COMP_WORDS"] = f"lockterm --profile {name[0]}"
        assert _run_bash(script, sys.executable, home=tmp_path, **environment) == f"1\n{name}\n"
    assert not (tmp_path / "x").exists()


@pytest.mark.long
def test_bash_completion_completes_commands_options_and_locks(scripts: Scripts) -> None:
    scripts.keep([Lock(1004, name="Roof hatch"), Lock(1005, name="Main gate"), Lock(2001)])
    other = '[profiles.other]\nbase_url = "https://locks.example"\n'
    scripts.config.write_text(f'default_profile = "site"\n{scripts.config.read_text()}{other}')
    command = scripts.home / "bin/lockterm"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m lockterm "$@"\n')
    command.chmod(0o755)
    # What bash does on tab: it sets these, calls the function, and offers COMPREPLY.
    script = """
        eval "$(lockterm completion bash)"
        tab() {
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
            _lockterm_completion lockterm
            echo "${COMPREPLY[*]}"
        }
        tab lockterm re
        tab lockterm remotes ""
        tab lockterm remotes delete 10
        tab lockterm remotes list main
        tab lockterm remotes add 1004 --type ""
        tab lockterm --profile s
        tab lockterm --profile other remotes list ""
        tab lockterm --profile other remotes list --profile site 2
    """
    path = f"{command.parent}:{os.environ['PATH']}"
    assert _run_bash(script, home=scripts.home, PATH=path).splitlines() == [
        "remotes replace report",
        "add check-name clear delete list show update user-number",
        "1005 1004",
        "1005",
        "permanent time-limited recurring",
        "site",
        "",
        "2001",
    ]


# --- man -----------------------------------------------------------------------------------------


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


# --- failed installations ------------------------------------------------------------------------


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
