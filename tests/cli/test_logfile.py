"""The log file: levels, rotation, two sessions on one file, and masked secrets."""

from __future__ import annotations

import logging
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lockterm.cli import logfile
from lockterm.cli.logfile import log_to
from tests.cli.conftest import Scripts

Start = Callable[..., logging.Handler]
logger = logging.getLogger("lockterm")


@pytest.fixture
def start() -> Iterator[Start]:
    """Return ``log_to``; its handlers end with the test."""
    handlers: list[logging.Handler] = []

    def begin(*args: object, **options: object) -> logging.Handler:
        handlers.append(log_to(*args, **options))  # type: ignore[arg-type]
        return handlers[-1]

    yield begin
    for handler in handlers:
        logger.removeHandler(handler)
        handler.close()


def test_log_has_exchanges_without_secrets_when_level_is_debug(scripts: Scripts) -> None:
    headers = '[profiles.site.headers]\nAuthorization = "Bearer hunter2-hunter2"\n'
    scripts.config.write_text(scripts.config.read_text() + headers)
    scripts.config.chmod(0o600)
    given = ("--name", "Anna", "--number", "A-1", "--type", "permanent")
    pin = ("--extra-data", '{"pin": "4711-4711"}')
    log = scripts.home / "state/lockterm/lockterm.log"
    assert scripts.run("remotes", "list", "1001").returncode == 0
    assert not log.exists(), "nothing happened that is worth a line"
    added = scripts.run("remotes", "add", "1004", *given, *pin, "--log-level", "debug")
    assert added.returncode == 0
    lines = log.read_text().splitlines()
    assert [line.split(" ", 2)[2].rpartition(" after ")[0] for line in lines] == [
        "DEBUG POST /api/v1/bluetooth-remote/checkRemoteName: 200",
        "DEBUG GET /api/v1/bluetooth-remote/list: 200",
        "DEBUG POST /api/v1/bluetooth-remote/checkRemoteName: 200",
        "DEBUG POST /api/v1/bluetooth-remote/add: 200",
    ]
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    for secret in ("hunter2", "4711", "Anna"):
        assert secret not in log.read_text()
    scripts.refuse("--log-level", "chatty", "info")


def test_log_masks_secrets_and_cleans_lines(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "state/lockterm.log"
    start(file, "warning", secrets=["Bearer hunter2-hunter2"])
    logger.info("quiet")
    logger.error("said %s and \x1b]0;owned\x07\n2026 INFO forged", "hunter2-hunter2")
    try:
        raise ValueError("Bearer hunter2-hunter2\x1b[31m")
    except ValueError:
        logger.exception("a bug")
    text = file.read_text()
    assert text.splitlines()[0].endswith("and �]0;owned��2026 INFO forged")
    assert "Traceback" in text
    for word in ("quiet", "hunter2", "\x1b"):
        assert word not in text
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    file.unlink()
    logger.warning("after it was deleted")
    assert file.read_text().endswith(" WARNING after it was deleted\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_log_rotates_when_two_sessions_fill_it(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logfile, "LARGEST", 200)
    file = tmp_path / "lockterm.log"
    sessions = start(file), start(file)
    for number in range(24):
        text = f"line {number:02d} {'x' * 40}"
        sessions[number % 2].handle(logging.makeLogRecord({"msg": text, "levelname": "INFO"}))
        assert file.read_text().splitlines()[-1].endswith(text), "in the file that is in place"
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == [f"lockterm.log{end}" for end in ("", ".1", ".2", ".3")]
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert path.stat().st_size <= 200


def test_log_drops_records_when_it_cannot_be_written(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "victim").write_text("")
    link = tmp_path / "lockterm.log"
    link.symlink_to(tmp_path / "victim")
    start(link)
    start(tmp_path / "victim" / "lockterm.log")
    logger.error("nowhere to go")
    assert (tmp_path / "victim").read_text() == ""
    assert capsys.readouterr() == ("", "")
