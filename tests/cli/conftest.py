"""Fixtures: an empty home, and commands without a terminal."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
import subprocess
import time
import unicodedata
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest

from lockterm.cli.commands import lockterm as root
from lockterm.domain.locks import Lock
from lockterm.domain.operation import Operation
from lockterm.service.running import RunningService
from lockterm.store.database import Database
from lockterm.store.journal import Journal
from lockterm.store.lock_book import LockBook
from tests.faults.proxy import Exchange, FaultProxy
from tests.servers import port_of
from tests.terminal import launcher
from tests.terminal.pty_session import LOCKTERM, PtySession, clean_environment

HOSTILE = "\x1b]0;owned\x07\u202eEvil\r\n\x9b31m"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def assert_harmless(text: str) -> None:
    """Check that no character of a printed text could act on a terminal."""
    for char in text.replace("\n", ""):
        assert unicodedata.category(char) not in ("Cc", "Cf", "Zl", "Zp"), repr(char)


def parse_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def list_documented_codes(command: click.Command) -> list[int]:
    """Return the exit codes in the help of a command."""
    section = (command.epilog or "").partition("\nExit codes:\n")[2].partition("\n\n")[0]
    return [int(number) for number in re.findall(r"^  (\d+) ", section, re.M)]


def assert_documented(arguments: Sequence[str], code: int) -> None:
    """Check that the help of a command lists an exit code."""
    command: click.Command = root
    for word in arguments:
        if isinstance(command, click.Group):
            command = command.get_command(click.Context(command), word) or command
    assert min(code, 130) in list_documented_codes(command), f"{arguments} ended with {code}"


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    """Return the path of a configuration that does not exist yet."""
    path = tmp_path / "config/lockterm/config.toml"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def lockterm(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run ``lockterm ARGUMENTS`` to its end; ``env`` adds to the environment.

    The help of the command has to list the exit code.
    """
    folder = tmp_path_factory.mktemp("said")

    def run(
        *arguments: str, env: dict[str, str] | None = None, program: tuple[str, ...] = LOCKTERM
    ) -> subprocess.CompletedProcess[str]:
        environment = clean_environment(tmp_path, **(env or {}))
        result = launcher.run([*program, *arguments], environment, folder)
        assert_documented(arguments, result.returncode)
        return result

    return run


async def answer_changed(exchange: Exchange, change: Callable[[Any], object]) -> None:
    """Answer as the service does, after a change to the JSON of its answer."""
    document = json.loads((await exchange.apply()).body)
    change(document)
    body = json.dumps(document).encode()
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


PROFILE = """\
[profiles.site]
base_url = "{base_url}"
timezone = "Europe/Berlin"
timeout_s = 5
"""
READS = ("list", "detail", "checkRemoteName", "voice/list", "voice/packs", "voice/detail")


@dataclass
class Scripts:
    """A technician's machine: a profile, a lock book, and commands run on it."""

    service: RunningService
    home: Path
    run: Run
    """Run a command and return its result."""

    config: Path

    @property
    def database(self) -> Path:
        return self.home / "state/lockterm/lockterm.db"

    def use(self, base_url: str) -> None:
        """Point the profile at another URL."""
        self.config.write_text(PROFILE.format(base_url=base_url))

    def keep(self, locks: Iterable[Lock]) -> None:
        """Write locks into the lock book."""
        with closing(Database(self.database)) as database:
            for lock in locks:
                LockBook(database, "site").save(lock)

    def book(self) -> dict[int, Lock]:
        """Return the lock book by IDs."""
        with closing(Database(self.database)) as database:
            return {lock.lock_id: lock for lock in LockBook(database, "site").locks()}

    def history(self) -> list[Operation]:
        """Return the operations of the journal."""
        with closing(Database(self.database)) as database:
            return Journal(database, "site").history()

    def json(self, *arguments: str, code: int = 0) -> Any:
        """Return what a command prints with ``--json``."""
        result = self.run(*arguments, "--json")
        assert result.returncode == code, result.stderr
        return json.loads(result.stdout)

    def refuse(self, *arguments: str, words: str = "", code: int = 2) -> str:
        """Check that a command prints nothing but an error, and return the error."""
        result = self.run(*arguments)
        assert (result.returncode, result.stdout) == (code, ""), result.stderr
        assert words in result.stderr
        return result.stderr

    async def arun(
        self, *arguments: str, program: tuple[str, ...] = LOCKTERM
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a thread, so that a proxy keeps working."""
        return await asyncio.to_thread(self.run, *arguments, program=program)

    async def start(
        self, *arguments: str, program: tuple[str, ...] = LOCKTERM
    ) -> asyncio.subprocess.Process:
        """Start a command, to interrupt it."""
        pipe, environment = subprocess.PIPE, clean_environment(self.home)
        return await asyncio.create_subprocess_exec(
            *program,
            *arguments,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
        )

    def terminal(
        self, *arguments: str, size: tuple[int, int] = (80, 24), **environment: str
    ) -> PtySession:
        """Return a session that runs a command in a terminal."""
        return PtySession(
            [*LOCKTERM, *arguments], clean_environment(self.home, **environment), size
        )

    def file(self, name: str, text: str) -> str:
        """Write a file and return its path."""
        (self.home / name).write_text(text)
        return str(self.home / name)

    def remotes(self, lock_id: int) -> list[dict[str, Any]]:
        """Return the remotes of a lock from the database of the service."""
        with self.service.app.state.site.database.reading() as db:
            rows = db.execute("SELECT * FROM remote WHERE lock_id = ? ORDER BY id", (lock_id,))
            names = [column[0] for column in rows.description]
            return [dict(zip(names, row, strict=True)) for row in rows]

    def have(self, lock_id: int = 1004, **given: Any) -> int:
        """Add a remote without a command, and clear the list of requests."""
        body = {"remoteName": "Anna", "remoteNumber": "A-1", "remoteType": 1, "addType": 1} | given
        request = urllib.request.Request(
            f"{self.service.base_url}/api/v1/bluetooth-remote/add",
            json.dumps({"lockId": lock_id, **body}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            remote_id: int = json.load(answer)["data"]["remoteId"]
        self.service.requests.clear()
        return remote_id

    def rename(self, remote_id: int, name: str, **more: str) -> None:
        """Give a remote a name and a number that no command accepts, in the service's database."""
        values = {"name": name, "number": f"={name}", **more}
        columns = ", ".join(f"{column} = ?" for column in values)
        with self.service.app.state.site.database.writing() as db:
            db.execute(f"UPDATE remote SET {columns} WHERE id = ?", (*values.values(), remote_id))

    def writes(self) -> list[str]:
        """Return the last part of each path that could have changed something."""
        calls = [path.removeprefix("/api/v1/") for _, path in self.service.requests]
        short = [call.removeprefix("bluetooth-remote/") for call in calls]
        return [call for call in short if call not in READS]


@pytest.fixture
def scripts(
    lockterm: Run, tmp_path: Path, config_file: Path, running_service: Callable[..., RunningService]
) -> Scripts:
    """Return a profile ``site`` on a service with the clock of this machine."""
    service = running_service(clock=lambda: int(time.time() * 1000), today=datetime.now(UTC).date())
    found = Scripts(service, tmp_path, lockterm, config_file)
    found.use(service.base_url)
    return found


@pytest.fixture
async def proxy(scripts: Scripts) -> AsyncIterator[FaultProxy]:
    """Start a proxy that can fail, and point the profile at it."""
    async with FaultProxy(port_of(scripts.service)).running() as proxy:
        scripts.use(proxy.base_url)
        yield proxy
