"""Completion, in a real shell where there is one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lockterm.models.locks import Lock
from tests.cli.conftest import Run, Scripts
from tests.terminal.pty_session import clean_environment


@pytest.mark.parametrize(
    ("shell", "words"),
    [
        ("bash", "complete -o nosort -F _lockterm_completion lockterm"),
        ("zsh", "#compdef lockterm"),
        ("fish", "complete --no-files --command lockterm"),
    ],
)
def test_each_shell_gets_its_script(lockterm: Run, shell: str, words: str) -> None:
    result = lockterm("completion", shell)
    assert result.returncode == 0
    assert words in result.stdout
    assert f"_LOCKTERM_COMPLETE={shell}_complete" in result.stdout


def test_an_unknown_shell_is_refused(lockterm: Run) -> None:
    result = lockterm("completion", "ksh")
    assert (result.returncode, result.stdout) == (2, "")
    assert "bash" in result.stderr


def test_bash_completes_commands_options_and_locks(scripts: Scripts, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash is not None, "bash is what completes here"
    scripts.keep([Lock(1004, name="Roof hatch"), Lock(1005, name="Main gate"), Lock(2001)])
    command = tmp_path / "bin/lockterm"
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
    """
    environment = clean_environment(tmp_path)
    environment["PATH"] = f"{command.parent}:{environment['PATH']}"
    result = subprocess.run(
        [bash, "--norc", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert result.stderr == ""
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["remotes"],
        ["add", "check-name", "clear", "delete", "list", "show", "update", "user-number"],
        ["1005", "1004"],
        ["1005"],
        ["permanent", "time-limited", "recurring"],
        ["site"],
    ]
