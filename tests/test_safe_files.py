"""Links and directories of other users: nothing is written or believed through them."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from lockterm.api.trust import tls_context
from lockterm.cli.commands import run
from lockterm.cli.voice import copy_pack
from lockterm.config.file import read_config
from lockterm.config.profiles import Profiles
from lockterm.config.settings import Options
from lockterm.errors import ConfigError, LocktermError, UntrustedServerError
from lockterm.operations.export import export_files
from lockterm.paths import make_directory, write_new, write_whole
from lockterm.safe_files import OpenLocation, read_guarded, written_by_others
from lockterm.store.database import Database
from tests.certs import CERTS
from tests.conftest import NOW_MS

NOBODY = 65534


@contextmanager
def of_somebody_else(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Inside, a file, directory or link belongs to another user."""
    if os.geteuid() == 0:
        os.chown(path, NOBODY, -1, follow_symlinks=False)
        yield
        return
    stat_of = os.stat

    def stat_with_owner(*given: object, **options: object) -> os.stat_result:
        about = stat_of(*given, **options)  # type: ignore[arg-type]
        if (about.st_dev, about.st_ino) != (there.st_dev, there.st_ino):
            return about
        return os.stat_result((*about[:4], NOBODY, *about[5:]))

    there = path.lstat()
    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", stat_with_owner)
        patch.setattr(os, "fstat", lambda number: stat_with_owner(number))
        yield


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A directory that nothing may be written to, with a file that must stay as it is."""
    folder = tmp_path / "victim"
    folder.mkdir(mode=0o700)
    (folder / "file").write_text("precious")
    (folder / "file").chmod(0o600)
    return folder


WRITERS: dict[str, Callable[[Path], object]] = {
    "write_whole": lambda at: write_whole(at / "file", b"new"),
    "write_new": lambda at: write_new(at / "new", b"new"),
    "make_directory": lambda at: make_directory(at / "deep/er"),
    "history export": lambda at: export_files("history", b"", b"", at, NOW_MS),
    "voice pack": lambda at: copy_pack(CERTS / "ca.pem", at / "pack"),
    "store": lambda at: Database(at / "deep/lockterm.db").check(),
    "man": lambda at: run(["man", "--dir", str(at)]),
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("depth", [1, 2])
def test_nothing_is_written_when_another_user_made_a_link_on_the_way(
    writer: str, depth: int, victim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "shared/link"
    link.parent.mkdir()
    link.symlink_to(victim if depth == 1 else victim.parent)
    at = link if depth == 1 else link / victim.name
    with of_somebody_else(link, monkeypatch):
        if writer == "man":
            assert WRITERS[writer](at) != 0
        else:
            with pytest.raises((OSError, LocktermError), match="belongs to another user"):
                WRITERS[writer](at)
    assert [(one.name, one.read_text()) for one in victim.iterdir()] == [("file", "precious")]


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775])
def test_a_link_is_not_followed_when_others_can_replace_it(
    mode: int, victim: Path, tmp_path: Path
) -> None:
    link = tmp_path / "shared/link"
    link.parent.mkdir()
    link.symlink_to(victim / "file")
    link.parent.chmod(mode)
    with pytest.raises(PermissionError, match="others can replace the link"):
        write_whole(link, b"new")
    assert (victim / "file").read_text() == "precious"
    with pytest.raises(PermissionError, match="others can replace the link"):
        read_guarded(link, 100)
    link.parent.chmod(0o755)
    assert write_whole(link, b"new") is False
    assert (link.is_symlink(), (victim / "file").read_text()) == (True, "new")
    content, _, why = read_guarded(link, 100)
    assert (content, why) == (b"new", None)


def test_a_link_that_is_put_there_after_the_check_is_not_followed(
    victim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between a look at a directory and its use, it becomes a link."""
    (tmp_path / "a/b").mkdir(parents=True)
    open_of = os.open

    def swap(path: str, *given: int, dir_fd: int | None = None) -> int:
        if path == "b":
            (tmp_path / "a/b").rmdir()
            (tmp_path / "a/b").symlink_to(victim)
        return open_of(path, *given, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", swap)
    with pytest.raises(OSError):
        write_whole(tmp_path / "a/b/file", b"new")
    assert (victim / "file").read_text() == "precious"


def test_a_path_is_walked_as_the_system_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/file").write_text("in a")
    (tmp_path / "link").symlink_to("a/b")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "up").symlink_to("link/../file")
    (tmp_path / "all").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    for path in ("a/file", "link/../file", "./a//./file", "up", "all/up", "all/all/link/../file"):
        assert read_guarded(path, 100)[0] == b"in a" == Path(path).read_bytes()
        with OpenLocation(path) as place:
            assert place.path == str(tmp_path / "a/file")
    with pytest.raises(OSError) as caught:
        read_guarded("loop", 100)
    assert caught.value.errno == errno.ELOOP
    for path in ("", "/", "a", "a/", "..", "link"):
        with pytest.raises(ValueError, match="directory"):
            read_guarded(path or ".", 100)
    with pytest.raises(FileNotFoundError):
        read_guarded("a/none", 100)
    with pytest.raises(NotADirectoryError):
        read_guarded("a/file/x", 100)


@pytest.mark.parametrize("part", ["top", "top/mid", "top/mid/file"])
@pytest.mark.parametrize("how", ["mode", "owner"])
def test_every_part_of_a_path_counts_when_a_file_decides_something(
    part: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, link = tmp_path / "top/mid/file", tmp_path / "link"
    file.parent.mkdir(parents=True)
    file.write_text("x")
    link.symlink_to("top/mid")
    for path in (file, link / "file"):
        assert written_by_others(path) is None
    changed, words = tmp_path / part, "belongs to another user"
    with ExitStack() as stack:
        if how == "mode":
            changed.chmod(stat.S_IMODE(changed.stat().st_mode) | 0o020)
            words = f"chmod go-w {changed}"
        else:
            stack.enter_context(of_somebody_else(changed, monkeypatch))
        for path in (file, link / "file"):
            why = written_by_others(path)
            assert words in str(why)
            assert how == "owner" or str(why).endswith(words)
            assert read_guarded(path, 100)[2] == why


def test_files_are_refused_when_others_can_change_a_directory_above_them(tmp_path: Path) -> None:
    config, authority = tmp_path / "home/config/config.toml", tmp_path / "home/config/ca.pem"
    config.parent.mkdir(parents=True)
    config.write_text('[profiles.a]\nbase_url = "https://a.example"\n')
    authority.write_text(f"# naïve\n{(CERTS / 'ca.pem').read_text()}", "utf-8")
    authority.chmod(0o600)
    assert read_config(config) is not None
    assert len(tls_context("https://a", str(authority), ca_only=True).get_ca_certs()) == 1
    (tmp_path / "home").chmod(0o777)
    with pytest.raises(ConfigError, match=rf"chmod go-w {tmp_path}/home\."):
        read_config(config)
    with pytest.raises(UntrustedServerError, match="chmod go-w"):
        tls_context("https://a", str(authority), ca_only=True)


def test_a_mounted_file_is_written_in_place_when_it_cannot_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.toml"
    file.write_text('\ufeffdefault_profile = "a"\n[profiles.a]\nbase_url = "https://a.example"\n')
    file.chmod(0o600)
    inode = file.stat().st_ino

    def busy(*given: object, **options: object) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(os, "replace", busy)
    profiles = Profiles(file, Options(), {})
    saved = profiles.save(profiles.read(), "b", {"base_url": "https://b.example"})
    assert "wrote the file in place" in saved.notice
    assert file.stat().st_ino == inode
    assert [*profiles.read().profiles] == ["a", "b"]
    assert file.read_text().startswith('\ufeffdefault_profile = "a"'), "the mark stays"
    assert list(tmp_path.iterdir()) == [file]
    profiles.remove(profiles.read(), "b")
    assert [*profiles.read().profiles] == ["a"], "the file is cut where the new text ends"


def test_a_file_is_replaced_only_when_it_may_be(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(FileExistsError):
        write_whole(file, b"new", may_replace=lambda content: content == b"yours")
    with pytest.raises(FileExistsError):
        write_whole(tmp_path, b"new")
    with pytest.raises(FileExistsError):
        write_new(file, b"new")
    assert file.read_text() == "mine"
    write_whole(file, b"new", may_replace=lambda content: content == b"mine")
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]
