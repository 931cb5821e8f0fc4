"""Which kept frame is shown at a start, and what may be sent of it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lockterm.config import Options, Settings, load_settings
from lockterm.config.look import FULL_LOOK
from lockterm.config.preferences import Preferences
from lockterm.config.settings import VARIABLES
from lockterm.domain.locks import Lock
from lockterm.paths import Paths
from lockterm.store.cache import Cache
from lockterm.store.database import Database
from lockterm.store.frame_file import MOST_BYTES, FrameFile, frames_in
from lockterm.store.lock_book import LockBook
from lockterm.terminal import last_frame, start_key
from lockterm.terminal.at_once import cache_of, frame_of
from lockterm.terminal.frame import frame_for
from lockterm.terminal.last_frame import OLDEST_MS, LastFrame, Shown
from lockterm.terminal.start_key import SETTLED_NS, StartKey

SIZE = (80, 24)
NOW_MS = 1_800_000_000_000
ENVIRON = {"TERM": "xterm-256color", "LANG": "C.UTF-8", "TZ": "UTC", "TOKEN": "Bearer anna"}
CONFIG = """
default_profile = "north"
[profiles.north]
base_url = "https://a.example"
[profiles.north.headers]
Authorization = "env:TOKEN"
[profiles.south]
base_url = "https://a.example"
[profiles.south.headers]
Authorization = "env:TOKEN"
"""
AS_EVER = Options(lock="1001")
ROW = [("A", "1;38;5;253;48;5;17"), ("\u0301e", "32"), ("長", ""), ("", ""), *[(" ", "44")] * 76]


class Starts:
    """Sessions one after the other, in one home."""

    def __init__(self, home: Path) -> None:
        self.paths = Paths.below(home)
        self.paths.config_file.parent.mkdir()
        self.paths.config_file.write_text(CONFIG)

    def last(self, options: Options = AS_EVER, **environ: str) -> LastFrame:
        known = ENVIRON | environ
        start = self.start(options, **environ)
        start.watch(self.paths.config_file)
        settings: Settings = load_settings(self.paths.config_file, options, known)
        assert settings.profile is not None
        file = FrameFile(self.paths.cache_dir, settings.profile)
        settings = replace(settings, is_last=options.lock is None)
        return LastFrame(file, settings, known, start, self.paths)

    def start(self, options: Options = AS_EVER, **environ: str) -> StartKey:
        """As it is when what was configured a moment ago was configured long ago."""
        now_ns = time.time_ns() + 2 * SETTLED_NS
        return StartKey([repr(options)], ENVIRON | environ, now_ns)

    def rows_at_once(
        self,
        options: Options = AS_EVER,
        *,
        size: tuple[int, int] = SIZE,
        after_ms: int = 61_000,
        **environ: str,
    ) -> Any:
        """What is shown before the configuration is read."""
        start = self.start(options, **environ)
        for content in frames_in(str(self.paths.cache_dir)):
            if (found := frame_of(content, start, size, NOW_MS + after_ms)) is not None:
                return found[1]
        return None

    @property
    def choices(self) -> Preferences:
        return Preferences(self.paths.choices)

    def keep(self, rows: list[Any] | None = None) -> None:
        last = self.last()
        frame = frame_for(last.settings.look)
        shown = rows or [ROW] * SIZE[1]
        frame.changes([(0, y, row) for y, row in enumerate(shown)], SIZE)
        last.note(frame, Shown(1001, NOW_MS, (22, 0, 80)), last.settings.look)
        last.keep(self.choices)

    def rows(
        self,
        options: Options = AS_EVER,
        *,
        lock_id: int = 1001,
        size: tuple[int, int] = SIZE,
        after_ms: int = 61_000,
        **environ: str,
    ) -> Any:
        options = replace(options, lock=str(lock_id))
        at_once = self.rows_at_once(options, size=size, after_ms=after_ms, **environ)
        last = self.last(options, **environ)
        found = last.found(lock_id, size, self.choices, NOW_MS + after_ms)
        rows = found and found[1]
        assert at_once in (rows, None), "nothing else is shown at once"
        return rows

    @property
    def file(self) -> Path:
        (file,) = self.paths.cache_dir.iterdir()
        return file


@pytest.fixture
def starts(tmp_path: Path) -> Starts:
    starts = Starts(tmp_path)
    starts.keep()
    return starts


def test_the_cells_come_back_with_their_age(starts: Starts) -> None:
    rows = starts.rows()
    assert rows[:22] == [ROW] * 22 and rows[23] == ROW
    said = "".join(text for text, _ in rows[22]).strip()
    assert said == "OLD, seen 1 min ago, asking the service ..."
    assert {codes for text, codes in rows[22] if text != " "} == {ROW[0][1]}
    assert starts.file.stat().st_mode & 0o777 == 0o600


def test_they_come_back_before_the_configuration_is_read(starts: Starts) -> None:
    assert starts.rows_at_once() == starts.rows() is not None
    assert starts.rows_at_once(SSH_TTY="/dev/pts/9", WINDOWID="7") is not None


@pytest.mark.parametrize("given", ["", "relative", "/absolute"])
def test_they_are_looked_for_where_they_are_kept(
    monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", given)
    assert cache_of(os.environ) == str(Paths.standard().cache_dir)


def test_without_credentials_the_surroundings_count_as_well(starts: Starts) -> None:
    starts.paths.config_file.write_text('[profiles.north]\nbase_url = "https://a.example"\n')
    starts.keep()
    assert starts.rows_at_once() is not None
    for other in ("TERM", "COLORTERM", "NO_COLOR", "TMUX", "SSH_CONNECTION", "LANG", "TZ", "HOME"):
        assert starts.rows_at_once(**{other: "another"}) is None, other
    assert starts.rows_at_once(Options(lock="1001", quiet=True)) is None


def test_what_depends_on_the_time_is_as_new_for_as_long_as_it_says_the_same(
    starts: Starts,
) -> None:
    """Two hours and a bit: of that half at the least is made use of, and nothing beyond."""

    def as_new(after_ms: int) -> Any:
        content = starts.file.read_bytes()
        found = frame_of(content, starts.start(AS_EVER), SIZE, NOW_MS + after_ms)
        assert found is not None
        return found[2]

    last = starts.last()
    frame = frame_for(last.settings.look)
    frame.changes([(0, y, ROW) for y in range(24)], SIZE)
    says_so_until = NOW_MS + 130 * 60_000
    shown = Shown(1001, NOW_MS, (22, 0, 80), (7, 8), lambda ms: ms < says_so_until)
    half = frame_for(last.settings.look)
    half.changes([(0, 0, ROW)], SIZE)
    last.note(half, shown, last.settings.look)
    last.note(frame, replace(shown, answer=None), last.settings.look)
    last.keep(starts.choices)
    assert as_new(0) is None, "nothing that was half drawn is kept in place of the whole"
    last.note(frame, shown, last.settings.look)
    last.note(frame, replace(shown, answer=None), last.settings.look)  # the cursor has moved
    last.keep(starts.choices)
    assert as_new(65 * 60_000) == ((7, 8), 22, ROW)
    assert as_new(130 * 60_000) is None


def choose(starts: Starts, name: str, value: Any) -> None:
    starts.choices.keep(name, value)


def configure(starts: Starts, text: str = "", north: str = "") -> None:
    config = CONFIG.replace("[profiles.north]", f"[profiles.north]\n{north}", 1) + text
    starts.paths.config_file.write_text(config)


OTHER_STARTS: dict[str, Callable[[Starts], Any]] = {
    "lock": lambda starts: starts.rows(lock_id=1002),
    "profile": lambda starts: starts.rows(Options(profile="south")),
    "service": lambda starts: starts.rows(Options(base_url="https://b.example")),
    "read-only": lambda starts: starts.rows(Options(read_only=True)),
    "columns of the terminal": lambda starts: starts.rows(size=(81, 24)),
    "rows of the terminal": lambda starts: starts.rows(size=(80, 25)),
    "TERM": lambda starts: starts.rows(TERM="xterm-direct"),
    "the same colours by another TERM": lambda starts: starts.rows(TERM="alacritty-256color"),
    "COLORTERM": lambda starts: starts.rows(COLORTERM="truecolor"),
    "NO_COLOR": lambda starts: starts.rows(NO_COLOR="1"),
    "quiet": lambda starts: starts.rows(Options(quiet=True)),
    "quiet by the environment": lambda starts: starts.rows(LOCKTERM_QUIET="1"),
    "tmux": lambda starts: starts.rows(TMUX="/tmp/tmux"),
    "screen": lambda starts: starts.rows(STY="1.x"),
    "ssh": lambda starts: starts.rows(SSH_CONNECTION="1 2 3 4"),
    "locale": lambda starts: starts.rows(LANG="C"),
    "credentials": lambda starts: starts.rows(TOKEN="Bearer omar"),
    "zone": lambda starts: (configure(starts, north='timezone = "Asia/Tokyo"'), starts.rows())[1],
    "page size": lambda starts: (configure(starts, north="page_size = 50"), starts.rows())[1],
    "a clock that was set back": lambda starts: starts.rows(after_ms=-1),
    "age": lambda starts: starts.rows(after_ms=OLDEST_MS + 1),
    "theme": lambda starts: (choose(starts, "theme", "nord"), starts.rows())[1],
    "columns": lambda starts: (choose(starts, "remotes.columns", ["name"]), starts.rows())[1],
    "keys": lambda starts: (configure(starts, '[keys]\n"remotes.add" = "Z"'), starts.rows())[1],
}


@pytest.mark.parametrize("what", OTHER_STARTS)
def test_nothing_is_shown_at_another_start(starts: Starts, what: str) -> None:
    assert starts.rows() is not None
    assert OTHER_STARTS[what](starts) is None


def test_nothing_is_shown_by_another_version(
    starts: Starts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(last_frame, "__version__", "0.0.1")
    monkeypatch.setattr(start_key, "__version__", "0.0.1")
    assert starts.rows() is None


@pytest.mark.parametrize("what", ["credentials", "age"])
def test_what_is_shown_never_again_is_dropped(starts: Starts, what: str) -> None:
    file = starts.file
    assert OTHER_STARTS[what](starts) is None
    assert not file.exists()


def with_cell(told: Any, codes: Any, texts: Any) -> None:
    told["rows"][3] = [[codes, texts], ["", " " * 79]]


DAMAGES: dict[str, Callable[[Any], Any]] = {
    "escape": lambda told: with_cell(told, "", "\x1b"),
    "escape in a cell": lambda told: with_cell(told, "", ["a\x1b[2J"]),
    "C1": lambda told: with_cell(told, "", "\x9b"),
    "line end": lambda told: with_cell(told, "", "\n"),
    "delete": lambda told: with_cell(told, "", "\x7f"),
    "right to left": lambda told: with_cell(told, "", "\u202e"),
    "no width": lambda told: with_cell(told, "", ["a\u200b"]),
    "half of a pair": lambda told: with_cell(told, "", ["\ud800"]),
    "a heap of marks": lambda told: with_cell(told, "", ["a" + "\u0301" * 1000]),
    "style": lambda told: with_cell(told, "1m\x1b[2J\x1b[", "a"),
    "style with an end of line": lambda told: with_cell(told, "1\n", "a"),
    "concealed": lambda told: with_cell(told, "8", "a"),
    "half a colour": lambda told: with_cell(told, "38;5", "a"),
    "no style": lambda told: with_cell(told, None, "a"),
    "numbers": lambda told: with_cell(told, "", [7]),
    "cells": lambda told: told["rows"][3].append(["", "x"]),
    "rows": lambda told: told["rows"].pop(),
    "no rows": lambda told: told.pop("rows"),
    "rows that are none": lambda told: told.update(rows=7),
    "age": lambda told: told.update(at_ms="now"),
    "endless age": lambda told: told.update(at_ms=float("inf")),
    "foot": lambda told: told.update(foot=[22, 0, 81]),
    "foot beyond": lambda told: told.update(foot=[24, 0, 80]),
    "foot before": lambda told: told.update(foot=[-1, 0, 80]),
    "foot of words": lambda told: told.update(foot="abc"),
    "cursor": lambda told: told.update(cursor=["1;1H\x1b[2J", 0]),
    "cursor beyond": lambda told: told.update(cursor=[80, 0]),
    "cursor before": lambda told: told.update(cursor=[0, -1]),
    "no cursor": lambda told: told.pop("cursor"),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_or_tampered_frame_is_ignored(starts: Starts, what: str) -> None:
    told = json.loads(starts.file.read_text())
    DAMAGES[what](told)
    starts.file.write_text(json.dumps(told))
    assert starts.rows() is None


@pytest.mark.parametrize(
    "content", [b"", b"\0", b"[]", b'"x"', b"7", b"\xff", b"[" * 100_000, b" " * (MOST_BYTES + 1)]
)
def test_what_is_no_frame_is_ignored(starts: Starts, content: bytes) -> None:
    starts.file.write_bytes(content)
    assert starts.rows() is None


@pytest.mark.parametrize("which", ["file", "directory"])
def test_what_others_could_write_is_ignored(starts: Starts, which: str) -> None:
    place = starts.file if which == "file" else starts.file.parent
    place.chmod(place.stat().st_mode | 0o020)
    assert starts.rows() is None
    place.chmod(place.stat().st_mode & ~0o020)
    assert starts.rows() is not None


def test_a_pipe_or_a_link_to_what_others_write_is_not_waited_for(starts: Starts) -> None:
    file, open_to_all = starts.file, starts.paths.data_dir
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    file.rename(open_to_all / "frame")
    file.symlink_to(open_to_all / "frame")
    assert starts.rows() is None
    file.unlink()
    os.mkfifo(file)
    assert starts.rows() is None


def test_one_that_is_too_large_is_not_kept(starts: Starts) -> None:
    file = starts.file
    last = starts.last()
    frame = frame_for(last.settings.look)
    wide = [[("長" + "\u0301" * 9, str(30 + x % 7)) for x in range(200)]] * 100
    frame.changes([(0, y, row) for y, row in enumerate(wide)], (200, 100))
    last.note(frame, Shown(1001, NOW_MS, (22, 0, 80)), last.settings.look)
    last.keep(starts.choices)
    assert not file.exists(), "and the one before is not the last any more"


def test_one_that_is_half_drawn_or_looks_otherwise_is_not_kept(starts: Starts) -> None:
    kept = starts.file.read_bytes()
    last = starts.last()
    frame = frame_for(last.settings.look)
    frame.changes([(0, 0, [("x", "")])], SIZE)
    last.note(frame, Shown(1001, NOW_MS, (22, 0, 80)), last.settings.look)
    last.keep(starts.choices)
    starts_otherwise = FULL_LOOK
    assert last.settings.look != starts_otherwise
    frame.changes([(0, y, ROW) for y in range(24)], SIZE)
    other = starts.last()
    other.note(frame, Shown(1001, NOW_MS + 1, (22, 0, 80)), starts_otherwise)
    other.keep(starts.choices)
    assert starts.file.read_bytes() == kept


def test_what_is_dropped_from_the_cache_takes_the_frame_with_it(starts: Starts) -> None:
    """After a change, and after a 401 or 403; also what was noted and is not written yet."""
    last = starts.last()
    profile = last.settings.profile
    assert profile is not None
    frame = frame_for(last.settings.look)
    frame.changes([(0, y, ROW) for y in range(24)], SIZE)
    last.note(frame, Shown(1001, NOW_MS, (22, 0, 80)), last.settings.look)
    file = starts.file
    cache = Cache(starts.paths.cache_dir / "answers.db", profile, last.file)
    cache.frame.drop()
    assert not file.exists()
    last.keep(starts.choices)
    assert not file.exists()
    last.note(frame, Shown(1001, NOW_MS, (22, 0, 80)), last.settings.look)
    last.keep(starts.choices)
    assert file.exists()
    cache.close()


def touched(starts: Starts) -> None:
    starts.paths.config_file.write_text(CONFIG)


def edited_in_place(starts: Starts) -> None:
    """As many bytes, and the time that it had."""
    file = starts.paths.config_file
    before = file.stat()
    file.write_text(CONFIG.replace("env:TOKEN", "env:OTHER"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def chosen_elsewhere(starts: Starts) -> None:
    starts.choices.keep("theme", "nord")


@pytest.mark.parametrize("change", [touched, edited_in_place, chosen_elsewhere])
def test_nothing_is_shown_at_once_after_a_change_to_a_file(
    starts: Starts, change: Callable[[Starts], None]
) -> None:
    assert starts.rows_at_once() is not None
    change(starts)
    assert starts.rows_at_once() is None


def kept_start(starts: Starts, last: LastFrame) -> Any:
    """What of the start is kept with a frame."""
    frame = frame_for(last.settings.look)
    frame.changes([(0, y, ROW) for y in range(24)], SIZE)
    last.note(frame, Shown(1001, NOW_MS, (22, 0, 80)), last.settings.look)
    last.keep(starts.choices)
    return json.loads(starts.file.read_text())["start"]


def test_a_start_is_kept_only_where_a_later_one_can_be_compared(starts: Starts) -> None:
    assert kept_start(starts, starts.last())
    assert not kept_start(starts, starts.last(Options(lock="1002"))), "it opens another lock"
    assert not kept_start(starts, starts.last(Options())), "it opens the lock book"
    assert not kept_start(starts, starts.last(LC_CTYPE="C.UTF-8")), "Python may have set that"
    starts.paths.config_file.write_text(CONFIG.replace("env:TOKEN", "env:TZ"))
    assert not kept_start(starts, starts.last()), "its value would be kept"
    starts.paths.config_file.write_text(CONFIG)
    soon = StartKey([], ENVIRON)
    soon.watch(starts.paths.config_file)
    assert soon.noted([], [], {}) is None, "it may be changed again in this moment"
    last = starts.last()
    before = starts.choices
    chosen_elsewhere(starts)
    frame = frame_for(last.settings.look)
    frame.changes([(0, y, ROW) for y in range(24)], SIZE)
    last.note(frame, Shown(1001, NOW_MS, (22, 0, 80)), last.settings.look)
    last.keep(before)
    assert not json.loads(starts.file.read_text())["start"], "another session chose a theme"


def test_the_lock_opened_last_is_shown_at_once_until_another_one_is(starts: Starts) -> None:
    configure(starts, north="open_last = true")
    database = Database(starts.paths.database)
    book = LockBook(database, "north")
    book.save(Lock(1001, opened_ms=1))
    book.save(Lock(1002, opened_ms=0))
    database.close()
    assert kept_start(starts, starts.last(Options()))
    assert starts.rows_at_once(Options()) is not None
    database = Database(starts.paths.database)
    LockBook(database, "north").note_look(1002, 7, 2)
    assert starts.rows_at_once(Options()) is None
    database.close()
    assert starts.rows_at_once(Options()) is None


def test_every_variable_of_a_setting_counts() -> None:
    assert {*VARIABLES.values()} <= {*start_key.VARIABLES}


def test_no_secret_can_be_read_from_it(starts: Starts) -> None:
    assert "anna" not in starts.file.read_text()
