"""Completion, in a real shell if it is installed."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lockterm.domain.locks import Lock
from tests.cli.conftest import LOCKTERM, Run, Scripts
from tests.programs import require
from tests.terminal.pty_session import clean_environment


@pytest.mark.parametrize(
    ("shell", "place", "words"),
    [
        (
            *("bash", "share/bash-completion/completions/lockterm"),
            "complete -o nosort -F _lockterm_completion lockterm",
        ),
        ("zsh", "share/zsh/site-functions/_lockterm", "#compdef lockterm"),
        (
            *("fish", "config/fish/completions/lockterm.fish"),
            "complete --no-files --command lockterm",
        ),
    ],
    ids=["bash", "zsh", "fish"],
)
def test_completion_prints_and_installs_the_script_for_its_shell(
    lockterm: Run, tmp_path: Path, shell: str, place: str, words: str
) -> None:
    file = tmp_path / place
    homes = {"XDG_DATA_HOME": str(tmp_path / "share"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    for _ in "once", "again":
        result = lockterm("completion", "--install", shell, env=homes)
        assert (result.returncode, result.stderr) == (0, "")
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


def test_completion_script_is_private_when_the_umask_is_open(lockterm: Run, tmp_path: Path) -> None:
    homes = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    open_to_all = ("sh", "-c", 'umask 0; exec "$0" "$@"', *LOCKTERM)
    result = lockterm("completion", "--install", "fish", env=homes, program=open_to_all)
    assert result.returncode == 0
    file = tmp_path / "config/fish/completions/lockterm.fish"
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


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


def test_completion_refuses_an_unknown_shell(lockterm: Run) -> None:
    result = lockterm("completion", "ksh")
    assert (result.returncode, result.stdout) == (2, "")
    assert "bash" in result.stderr


NAMES = ["a$(touch x)", "a'b", "a\\b", "a;b", "a b", 'a"b', "a`b`", "a*", "plain"]


@pytest.mark.parametrize("name", NAMES)
def test_bash_completion_quotes_a_profile_name(
    tmp_path: Path, config_file: Path, name: str
) -> None:
    """Bash runs the command line unchanged when a person presses Enter."""
    environment = clean_environment(tmp_path)
    environment |= {"_LOCKTERM_COMPLETE": "bash_complete", "COMP_CWORD": "2"}
    environment["COMP_WORDS"] = f"lockterm --profile {name[0]}"
    config_file.write_text(f'[profiles.{json.dumps(name)}]\nbase_url = "https://locks.example"\n')
    script = """
        IFS=',' read type value <<< "$("$0" -m lockterm)"
        eval "set -- $value"
        printf '%s\\n' "$#" "$1"
    """
    result = subprocess.run(
        ["bash", "--norc", "-c", script, sys.executable],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert result.stdout == f"1\n{name}\n", result.stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.long
def test_bash_completion_completes_commands_options_and_locks(scripts: Scripts) -> None:
    require("bash", "bash")
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
    environment = clean_environment(scripts.home)
    environment["PATH"] = f"{command.parent}:{environment['PATH']}"
    result = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert result.stderr == ""
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["remotes", "replace", "report"],
        ["add", "check-name", "clear", "delete", "list", "show", "update", "user-number"],
        ["1005", "1004"],
        ["1005"],
        ["permanent", "time-limited", "recurring"],
        ["site"],
        [],
        ["2001"],
    ]
