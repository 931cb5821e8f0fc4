"""What others left where lockterm keeps its files, and what others may see of them."""

from __future__ import annotations

import logging
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from lockterm.cli.doctor import check_store
from lockterm.cli.logfile import log_to
from lockterm.config import Profile
from lockterm.config.file import read_config
from lockterm.errors import ConfigError, StoreError
from lockterm.paths import Paths, append_private, make_directory
from lockterm.store.cache import LARGEST, Cache
from lockterm.store.database import Database
from lockterm.store.sessions import StoreSession


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_directory_that_was_open_to_others_is_closed(tmp_path: Path):
    place = tmp_path / "state"
    place.mkdir()
    place.chmod(0o777)
    make_directory(place)
    assert mode(place) == 0o700
    StoreSession(tmp_path / "new" / "state" / "sessions").open()
    assert mode(tmp_path / "new") == mode(tmp_path / "new" / "state") == 0o700


def test_foreign_directory_is_refused(tmp_path: Path, monkeypatch):
    place = tmp_path / "lockterm"
    place.mkdir(mode=0o777)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    with pytest.raises(StoreError, match="belongs to another user"):
        make_directory(place)
    with pytest.raises(StoreError), Database(place / "lockterm.db").transaction():
        pass
    handler = log_to(place / "lockterm.log")
    logging.getLogger("lockterm").warning("for nobody else")
    logging.getLogger("lockterm").removeHandler(handler)
    assert list(place.iterdir()) == []


def test_files_that_others_could_read_are_closed_to_them(tmp_path: Path):
    store, log, pipe = (tmp_path / name for name in ("lockterm.db", "lockterm.log", "pipe"))
    for file in (store, log):
        file.touch()
        file.chmod(0o666)
    database = Database(store)
    with database.transaction():
        files = [*tmp_path.glob("lockterm.db*")]
        assert len(files) == 3 and {mode(file) for file in files} == {0o600}
    database.close()
    append_private(log, "a line")
    assert mode(log) == 0o600
    os.mkfifo(pipe)
    with pytest.raises(OSError):  # it is not waited for
        append_private(pipe, "a line")


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_store_refuses_links_and_pipes(tmp_path: Path, kind: str, suffix: str):
    victim, planted = tmp_path / "victim", tmp_path / f"lockterm.db{suffix}"
    if kind == "link":
        planted.symlink_to(victim)
    else:
        os.mkfifo(planted)
    database = Database(tmp_path / "lockterm.db")
    with pytest.raises(StoreError, match="a link, or not a file"), database.transaction():
        pass
    assert not victim.exists()


def test_foreign_configuration_gets_no_headers(tmp_path: Path, monkeypatch):
    file = tmp_path / "config.toml"
    file.write_text('[profiles.p]\nbase_url = "https://x"\nheaders = {A = "env:TOKEN"}\n')
    file.chmod(0o644)
    os.chown(file, os.getuid(), -1)
    assert read_config(file) is not None
    if os.getuid() == 0:
        os.chown(file, 4712, -1)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    with pytest.raises(ConfigError, match="another user"):
        read_config(file)


def test_answers_that_would_fill_the_disk_are_not_kept(tmp_path: Path):
    cache = Cache(tmp_path / "answers.db", Profile("p", "http://x"))
    cache.put("page 1", "small", 1)
    cache.put("page 1", "x" * LARGEST, 2)
    assert cache.get("page 1") is None
    cache.put("page 1", "x" * (LARGEST - 10), 3)
    assert cache.get("page 1") is not None
    cache.close()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER odd AFTER INSERT ON locks BEGIN DELETE FROM operations; END",
        "CREATE VIEW odd AS SELECT 1",
    ],
)
def test_store_is_refused_when_it_has_a_foreign_trigger_or_view(
    statement: str, tmp_path: Path
) -> None:
    file = tmp_path / "lockterm.db"
    with closing(Database(file)) as database, database.transaction():
        pass
    with closing(sqlite3.connect(file)) as other:
        other.execute(statement)
    with closing(Database(file)) as database:
        for use in (database.transaction, database.reading):
            with pytest.raises(StoreError, match=r"lockterm did not make: odd"), use():
                pass
    (told,) = check_store(Paths(*[tmp_path] * 4))
    assert (told.state, "lockterm did not make: odd" in told.sentence) == ("FAIL", True)
    with closing(sqlite3.connect(file)) as other:
        other.execute(f"DROP {statement.split()[1]} odd")
    with closing(Database(file)) as database, database.transaction() as connection:
        assert connection.execute("PRAGMA trusted_schema").fetchone()[0] == 0
