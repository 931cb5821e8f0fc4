"""Completion, in a real shell if it is installed."""

from __future__ import annotations

import json
import os
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
