"""Every command with a failing stdout, and with a closed standard stream."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lockterm.cli.exit_codes import NOT_PRINTED
from lockterm.domain.locks import Lock
from lockterm.domain.operation import OperationState
from tests.cli.conftest import Scripts
from tests.long import telling
from tests.reference import commands
from tests.terminal import launcher
from tests.terminal.pty_session import LOCKTERM, clean_environment

LOST = "The output could not be written"
UNTRIED = {"demo", "serve", "edit"}
"""Commands that need a terminal, or run until they are stopped."""


def made(scripts: Scripts, name: str) -> str:
    """The ID of a new remote, and a plan with the same name that adds another."""
    text = f"lockId,remoteName,remoteNumber,remoteType\n1004,{name} 2,{name}-2,permanent\n"
    (scripts.home / "table.csv").write_text(text)
    (scripts.home / "locks.csv").write_text(f"1005,{name}\n")
    return str(scripts.have(remoteName=name, remoteNumber=name))


def a_run(scripts: Scripts, name: str) -> str:
    made(scripts, name)
    scripts.run("apply", str(scripts.home / "table.csv"), "--yes")
    return scripts.run("runs", "list", "--json").stdout.splitlines()[0].split('"')[3]


def a_pack(scripts: Scripts) -> str:
    return str(scripts.json("voice", "packs", "1001")["packs"][0]["name"])


def an_unconfirmed(scripts: Scripts, name: str, *, is_add: bool = False) -> str:
    """Return the ID of a user number or of an add without an answer."""
    from lockterm.store.database import Database

    remote_id = made(scripts, name)
    if is_add:
        added = ("--name", f"{name} B", "--number", f"{name}-B", "--type", "permanent")
        scripts.run("remotes", "add", "1004", *added)
    else:
        scripts.run("remotes", "user-number", "1004", remote_id, "5")
    operation_id = scripts.history()[-1].id
    database = Database(scripts.database)
    with database.transaction() as connection:
        connection.execute("UPDATE operations SET state = 'unknown' WHERE id = ?", (operation_id,))
    database.close()
    return operation_id


Arguments = Callable[[Scripts, str], tuple[str, ...]]

READING: dict[str, Arguments] = {
    "info": lambda s, n: ("info",),
    "doctor": lambda s, n: ("doctor",),
    "keys": lambda s, n: ("keys",),
    "completion": lambda s, n: ("completion", "bash"),
    "man": lambda s, n: ("man",),
    "token": lambda s, n: ("token", "north"),
    "remotes list": lambda s, n: ("remotes", "list", "1001"),
    "remotes show": lambda s, n: ("remotes", "show", "1004", made(s, n)),
    "remotes check-name": lambda s, n: ("remotes", "check-name", "1004", n),
    "voice list": lambda s, n: ("voice", "list", "1001"),
    "voice packs": lambda s, n: ("voice", "packs", "1001"),
    "voice show": lambda s, n: ("voice", "show", "1001", a_pack(s)),
    "find": lambda s, n: ("find", "a"),
    "report": lambda s, n: ("report", "--within", "30d"),
    "people": lambda s, n: ("people",),
    "locks list": lambda s, n: ("locks", "list"),
    "unconfirmed list": lambda s, n: ("unconfirmed", "list"),
    "history": lambda s, n: ("history",),
    "changes": lambda s, n: ("changes", "--json"),
    "export": lambda s, n: ("export", "1004"),
    "diff": lambda s, n: (made(s, n), "diff", str(s.home / "table.csv"))[1:],
    "runs list": lambda s, n: ("runs", "list"),
    "runs show": lambda s, n: ("runs", "show", a_run(s, n)),
}
CHANGING: dict[str, Arguments] = {
    "remotes add": lambda s, n: (
        *("remotes", "add", "1004", "--name", n, "--number", n),
        *("--type", "permanent", "--json"),
    ),
    "remotes update": lambda s, n: ("remotes", "update", "1004", made(s, n), "--name", f"{n} B"),
    "replace": lambda s, n: ("replace", "1004", made(s, n), "--number", f"{n}-9", "--yes"),
    "remotes delete": lambda s, n: ("remotes", "delete", "1004", made(s, n), "--yes"),
    "remotes clear": lambda s, n: (made(s, n), "remotes", "clear", "1004", "--yes")[1:],
    "remotes user-number": lambda s, n: ("remotes", "user-number", "1004", made(s, n), "7"),
    "voice set": lambda s, n: ("voice", "set", "1001", "de-DE", "anna", "--yes"),
    "voice fetch": lambda s, n: (
        *("voice", "fetch", "1001", a_pack(s)),
        *("--output", str(s.home / f"{n}.pack"), "--yes"),
    ),
    "locks add": lambda s, n: ("locks", "add", "1006", "--name", n),
    "locks remove": lambda s, n: ("locks", "remove", "1006"),
    "locks import": lambda s, n: (made(s, n), *("locks", "import", str(s.home / "locks.csv")))[1:],
    "unconfirmed check": lambda s, n: ("unconfirmed", "check"),
    "unconfirmed dismiss": lambda s, n: ("unconfirmed", "dismiss", an_unconfirmed(s, n), "--yes"),
    "unconfirmed adopt": lambda s, n: ("unconfirmed", "adopt", "--yes"),
    "unconfirmed accept": lambda s, n: (
        *("unconfirmed", "accept", an_unconfirmed(s, n, is_add=True)),
        "--yes",
    ),
    "unconfirmed send-again": lambda s, n: (
        "unconfirmed",
        "send-again",
        an_unconfirmed(s, n),
        "--yes",
    ),
    "apply": lambda s, n: (made(s, n), "apply", str(s.home / "table.csv"), "--yes")[1:],
    "copy": lambda s, n: (made(s, n), "copy", "1004", "1005", "--yes")[1:],
    "clean": lambda s, n: ("clean", "--expired", "1d", "--lock", "1001", "--yes"),
    "runs resume": lambda s, n: ("runs", "resume", a_run(s, n), "--yes"),
    "runs retry": lambda s, n: ("runs", "retry", a_run(s, n), "--yes"),
}
COMMANDS = READING | CHANGING


def test_each_command_is_tried_with_failing_output() -> None:
    names = {path.removeprefix("lockterm ") for path, _ in commands()}
    assert names - UNTRIED == {*COMMANDS}


@contextmanager
def full() -> Iterator[int]:
    with open("/dev/full", "wb", buffering=0) as file:
        yield file.fileno()


@contextmanager
def unread() -> Iterator[int]:
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


def run_into(stdout: int, scripts: Scripts, arguments: tuple[str, ...]) -> tuple[int | None, str]:
    """The exit code and the text on stderr."""
    with open(os.devnull, "rb") as nothing, open(scripts.home / "said", "w+") as said:
        streams = (nothing.fileno(), stdout, said.fileno())
        environment = clean_environment(scripts.home)
        session = launcher.Session([*LOCKTERM, *arguments], environment, streams)
        session.wait(60)
        code = session.exit_code
        session.close()
        said.seek(0)
        return code, said.read()


@pytest.fixture
def stocked(scripts: Scripts) -> Scripts:
    """Return a machine on which each command has something to print."""
    gate = Lock(1001, name="Gate", vendor="nordriegel", model="NR-450")
    scripts.keep([gate, Lock(1004, name="Roof")])
    made(scripts, "First")
    return scripts


@pytest.mark.sampled
@pytest.mark.parametrize("stdout", [full, unread])
@pytest.mark.parametrize("name", COMMANDS)
def test_command_ends_with_6_when_stdout_cannot_be_written(
    stocked: Scripts, name: str, stdout: Callable[[], Any]
) -> None:
    normal = stocked.run(*COMMANDS[name](stocked, "Normal")).returncode
    arguments = COMMANDS[name](stocked, "Other")
    with stdout() as number:
        code, said = run_into(number, stocked, arguments)
    assert "Traceback" not in said and "Exception" not in said
    if stdout is unread and name in READING:
        assert code == 128 + signal.SIGPIPE
        assert LOST not in said
        return
    assert code == (normal or NOT_PRINTED), said
    assert said.count(LOST) == 1


def test_apply_sends_every_row_when_its_output_fails(stocked: Scripts) -> None:
    rows = "".join(f"1004,Row {number},R-{number},permanent\n" for number in range(20))
    table = stocked.home / "rows.csv"
    table.write_text(f"lockId,remoteName,remoteNumber,remoteType\n{rows}")
    for stdout in (full, unread):
        with stdout() as number:
            code, said = run_into(number, stocked, ("apply", str(table), "--yes", "--json"))
        assert code == NOT_PRINTED, said
    assert sum(row["name"].startswith("Row ") for row in stocked.remotes(1004)) == 20
    assert {one.state for one in stocked.history()} == {OperationState.CONFIRMED}


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
@pytest.mark.parametrize(
    "name", telling(("remotes add", "remotes list", "apply", "token"), [*COMMANDS])
)
def test_command_works_when_a_standard_stream_is_closed(
    stocked: Scripts, tmp_path: Path, name: str, closed: str
) -> None:
    normal = stocked.run(*COMMANDS[name](stocked, "Normal"))
    arguments = COMMANDS[name](stocked, "Other")
    result = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *LOCKTERM, *arguments],
        env=clean_environment(tmp_path),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert "Traceback" not in result.stdout + result.stderr
    lost = closed == ">&-" and bool(normal.stdout)
    assert result.returncode == (normal.returncode or (NOT_PRINTED if lost else 0)), result.stderr
    assert (LOST in result.stderr) is lost
    assert bool(result.stdout) is (bool(normal.stdout) and closed != ">&-")


def test_token_reports_stdin_when_it_is_closed(tmp_path: Path) -> None:
    result = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *LOCKTERM, "token", "north", "--stdin"],
        env=clean_environment(tmp_path),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 2 and "stdin is closed" in result.stderr


def test_help_ends_with_6_when_stdout_cannot_be_written(scripts: Scripts) -> None:
    for arguments in (("--help",), ("--version",), ("remotes", "add", "--help")):
        with full() as number:
            code, said = run_into(number, scripts, arguments)
        assert (code, said.count(LOST)) == (NOT_PRINTED, 1)
