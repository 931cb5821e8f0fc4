"""No command sends a change if the profile is read-only, for any reason."""

from __future__ import annotations

import pytest

from lockterm.cli.remotes import remotes
from lockterm.cli.voice import voice
from tests.cli.conftest import Scripts

READING = {"remotes": {"list", "show", "check-name"}, "voice": {"packs", "list", "show", "fetch"}}
"""Commands that change nothing."""
WRITING = {
    ("remotes", "add"): ("1004", "--name", "B", "--number", "B-1", "--type", "permanent"),
    ("remotes", "update"): ("1004", "ID", "--name", "C"),
    ("remotes", "delete"): ("1004", "ID", "--yes"),
    ("remotes", "clear"): ("1004", "--yes"),
    ("remotes", "user-number"): ("1004", "ID", "5"),
    ("voice", "set"): ("1001", "de-DE", "anna"),
}
"""The other commands, with arguments that send a change on a writable profile."""


def test_each_command_is_listed_as_reading_or_writing() -> None:
    for group in (remotes, voice):
        names = {name for group_name, name in WRITING if group_name == group.name}
        assert set(group.commands) == names | READING[str(group.name)]


@pytest.mark.parametrize("how", ["option", "option in front", "environment", "file"])
def test_commands_send_nothing_when_the_profile_is_read_only(scripts: Scripts, how: str) -> None:
    remote_id = str(scripts.have())
    front = ("--read-only",) if how == "option in front" else ()
    option = ("--read-only",) if how == "option" else ()
    env = {"LOCKTERM_READ_ONLY": "1"} if how == "environment" else {}
    if how == "file":
        scripts.config.write_text(scripts.config.read_text() + "read_only = true\n")
    for (group, name), arguments in WRITING.items():
        words = [remote_id if word == "ID" else word for word in arguments]
        result = scripts.run(*front, group, name, *words, *option, env=env)
        assert (result.returncode, result.stdout) == (1, ""), name
        assert "read-only" in result.stderr, name
        assert result.stderr.count("\n") == 1
    assert not scripts.service.requests, "it was said before anything was asked"
    assert scripts.run(*front, "remotes", "list", "1004", *option, env=env).returncode == 0
    assert len(scripts.remotes(1004)) == 1
    assert scripts.history() == []


def test_plans_are_shown_and_not_run_when_the_profile_is_read_only(scripts: Scripts) -> None:
    table = "lockId,remoteNumber,remoteName,remoteType\n1004,C-1,Carl,1\n"
    apply = ("apply", scripts.file("table.csv", table), "--read-only")
    assert scripts.run(*apply, "--dry-run").returncode == 0
    replace = ("replace", "1004", str(scripts.have()), "--number", "B-2", "--read-only")
    for command in (apply, replace):
        scripts.refuse(*command, "--yes", words="is read-only", code=1)
    assert scripts.writes() == []


def test_writing_commands_send_when_the_profile_is_writable(scripts: Scripts) -> None:
    """Without this, the test above would prove nothing."""
    for (group, name), arguments in WRITING.items():
        remote_id = str(scripts.have(remoteName=f"For {name}"))
        words = [remote_id if word == "ID" else word for word in arguments]
        result = scripts.run(group, name, *words)
        assert result.returncode == 0, result.stderr
        assert len(scripts.writes()) == 1, name
