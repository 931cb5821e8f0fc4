"""A PostgreSQL server on a socket of its own, made for the tests and gone with them."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lockterm.service.app import create_service
from lockterm.service.storage import DatabaseUnusableError
from tests.programs import require


def name_of(address: str) -> str:
    """The name of a database, by its address."""
    return str(psycopg.conninfo.conninfo_to_dict(address)["dbname"])


def make_tables(address: str) -> None:
    """Have a service make its tables in a database, and close it."""
    create_service(address, migrate=True).state.site.database.close()


def refusal(
    address: str, words: str | None = None, *, migrate: bool = True
) -> DatabaseUnusableError:
    """Why a service cannot use a database, which it says with these words."""
    with pytest.raises(DatabaseUnusableError, match=words) as refused:
        create_service(address, migrate=migrate)
    return refused.value


@dataclass
class Cluster:
    """The server: as root it runs as another user, because it refuses to run as root."""

    programs: Path
    folder: Path
    settings: str
    port: int = 5432
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def new_database(self) -> str:
        """The address of a new database without any tables."""
        name = f"site{next(self._numbers)}"
        self.do(f"CREATE DATABASE {name}")
        # As the documentation says for PostgreSQL 14 and older.
        self.do("REVOKE CREATE ON SCHEMA public FROM PUBLIC", self.address(name))
        return self.address(name)

    def address(self, name: str) -> str:
        """The address of a database, for a role that the server asks for no password."""
        return (
            f"postgresql://lockterm@/{name}?host={self.folder}&port={self.port}&require_auth=none"
        )

    def do(self, sql: str, address: str = "") -> list[Any]:
        """One statement of the server's owner in a database; returns what it found."""
        place = self.address(name_of(address) if address else "postgres")
        with psycopg.connect(place, autocommit=True) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def control(self, action: str, *more: str) -> None:
        """Start, stop or restart it, and wait until that is done."""
        data, log = self.folder / "data", self.folder / "log"
        # Before PostgreSQL 14, md5 is the default.
        options = f"-k {self.folder} -c password_encryption=scram-sha-256 {self.settings}"
        self.run("pg_ctl", action, "-D", data, "-w", "-s", "-l", log, "-o", options, *more)

    def run(self, program: str, *arguments: object) -> None:
        """Run one of PostgreSQL's programs as the server's user."""
        owner = self.folder.stat()
        root = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}
        subprocess.run(
            [self.programs / program, *map(str, arguments)],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd=self.folder,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            **(root if os.geteuid() == 0 else {}),
        )


@contextmanager
def running_cluster(settings: str = "-c listen_addresses='' -c fsync=off") -> Iterator[Cluster]:
    """A server for as long as it is wanted; the test is skipped where there is no PostgreSQL."""
    found = shutil.which("initdb")
    installed = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda file: int(file.parts[-3])
    )
    require("initdb", "postgresql", found=bool(found or installed))
    programs = (Path(found) if found else installed[-1]).resolve().parent
    folder = Path(tempfile.mkdtemp(prefix="lockterm-pg-"))
    try:
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        cluster = Cluster(programs, folder, settings)
        data = folder / "data"
        cluster.run("initdb", "-D", data, "-U", "lockterm", "-A", "trust", "-E", "UTF8", "-N")
        cluster.control("start")
        try:
            yield cluster
        finally:
            cluster.control("stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL server of one's own, which nobody else can reach."""
    with running_cluster() as cluster:
        yield cluster
