"""The first run: nothing is configured, a person sits in front of it, and has keys alone."""

from __future__ import annotations

import signal
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockterm.service.running import RunningService
from tests.long import telling
from tests.terminal.pty_session import PtySession, Start

TOKEN = "one-secret-of-this-test"
SET = {"LOCKTERM_TOKEN": f"Bearer {TOKEN}"}
GO_ON = "\x1b[C\r"
"""In a dialog: to the button behind the one with the focus, and press it."""
DEAD = "http://127.0.0.1:1"


def config_of(home: Path) -> Path:
    return home / "config" / "lockterm" / "config.toml"


def open_form(lockterm: Start, **options: Any) -> PtySession:
    """The form for a first profile."""
    session = lockterm(**options, seen="Try the demo")
    session.press("2", seen="Base URL")
    return session


def fill(session: PtySession, *fields: str) -> None:
    """Type the fields from the top on, and leave each with tab."""
    for field in fields:
        session.press(field, "tab")


def test_it_offers_the_demo(lockterm: Start) -> None:
    session = lockterm(seen="Try the demo")
    session.press("enter", seen="Main gate +1001")
    session.press("P", seen="Profiles: not available")
    session.press("escape")
    session.wait_until(lambda: "not available" not in session.text, "the refusal has gone")
    session.quit()


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
def test_a_service_is_tried_and_its_profile_is_used_from_then_on(
    lockterm: Start,
    tmp_path: Path,
    running_service: Callable[..., RunningService],
    size: tuple[int, int],
) -> None:
    service = running_service(token=TOKEN)
    session = open_form(lockterm, env=SET, size=size)
    fill(session, "north-campus", service.base_url, "", "Authorization", "LOCKTERM_TOKEN")
    session.wait_for("The variable is set")
    session.press("\x14", seen=r"answers correctly in \d+ ms")  # ctrl+t
    assert not config_of(tmp_path).exists(), "a test writes nothing"
    session.press("\x13", seen="The lock book is empty")  # ctrl+s
    host = service.base_url.removeprefix("http://")
    assert f"north-campus  {host}" in session.lines[0]
    session.quit()

    file = config_of(tmp_path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert TOKEN not in file.read_text()
    assert TOKEN.encode() not in session.raw
    assert tomllib.loads(file.read_text()) == {
        "default_profile": "north-campus",
        "profiles": {
            "north-campus": {
                "base_url": service.base_url,
                "headers": {"Authorization": "env:LOCKTERM_TOKEN"},
            }
        },
    }

    again = lockterm("--lock", "1001", env=SET, size=size, seen=r"page 1 of \d")
    again.quit()


@pytest.mark.long
def test_what_is_wrong_is_said_and_nothing_typed_is_lost(
    lockterm: Start, tmp_path: Path, running_service: Callable[..., RunningService]
) -> None:
    service = running_service(token=TOKEN)
    session = open_form(lockterm, env=SET | {"WRONG": "Bearer nonsense"})
    fill(session, "north", "nonsense", "Europe/Berln", "Authorization", "WRONG")
    session.press("\x13", seen="The base URL 'nonsense' is not a web address")
    session.wait_for("The time zone 'Europe/Berln' is not a time zone")
    # the focus is on the first wrong one
    session.press("\x15", DEAD, "tab", "\x15", "\x13", seen="Save the profile anyway")
    session.wait_for("Service unreachable")
    session.press("enter", seen=r"\( \) blue")  # keep editing
    session.press("shift+tab", "\x15", service.base_url, "\x13", seen="Save the profile anyway")
    session.wait_for("Refused by the service: unauthorized")
    assert not config_of(tmp_path).exists()
    session.press(GO_ON, seen="The lock book is empty")
    assert "north  127.0.0.1" in session.lines[0]
    assert tomllib.loads(config_of(tmp_path).read_text())["default_profile"] == "north"
    session.quit()


@pytest.mark.long
def test_unset_variable_is_reported_before_and_after(
    lockterm: Start, service: RunningService
) -> None:
    session = open_form(lockterm)
    fill(session, "north", service.base_url, "", "Authorization", "NOT_SET")
    session.wait_for("The variable is not set")
    session.press("\x13", seen="Save the profile anyway")
    session.press(GO_ON, seen="lockterm: /")
    assert session.wait_exit() == 2
    assert "variableNOT_SET,whichisnotset" in "".join(session.text.split())


@pytest.mark.long
def test_where_nothing_can_be_written_the_form_stays(
    lockterm: Start, tmp_path: Path, service: RunningService
) -> None:
    session = open_form(lockterm)
    (tmp_path / "config").write_text("")  # root, as in containers, may write anywhere else
    fill(session, "north", service.base_url)
    session.press("\x13", seen="Nothing was written")
    assert service.base_url in session.text
    (tmp_path / "config").unlink()
    session.press("\x13", seen="The lock book is empty")
    assert config_of(tmp_path).exists()


@pytest.mark.long
def test_configuration_is_kept_when_it_appears_during_the_form(
    lockterm: Start, tmp_path: Path, service: RunningService
) -> None:
    session = open_form(lockterm)
    fill(session, "north", service.base_url)
    file = config_of(tmp_path)
    file.parent.mkdir(parents=True)
    file.write_text('# of another session\n[profiles.south]\nbase_url = "https://s.example"\n')
    # the path in it decides how the rest is broken
    session.press("\x13", seen="Save again to write")
    assert "north" not in file.read_text()
    session.press("\x13", seen="The lock book is empty")
    assert "  north  127.0.0.1" in session.lines[0], "what was chosen is opened"
    assert file.read_text().startswith(
        'default_profile = "south"\n\n# of another session\n[profiles.south]\n'
    )
    assert tomllib.loads(file.read_text())["profiles"].keys() == {"south", "north"}


@pytest.mark.long
def test_leaving_says_how_to_go_on_and_asks_before_it_loses_something(lockterm: Start) -> None:
    session = open_form(lockterm)
    session.press("north")
    session.press("\x11", seen="without saving")  # ctrl+q
    session.press("enter", seen=r"\( \) blue")
    session.press("escape", seen="without saving")
    session.press(GO_ON, seen="Try the demo")
    session.press("\x11")  # a letter would do nothing: a form was just left
    assert session.wait_exit() == 2
    assert "Run `lockterm demo`" in " ".join(session.lines)
    assert b"Traceback" not in session.raw


@pytest.mark.parametrize("number", telling([signal.SIGKILL], [signal.SIGKILL, signal.SIGTERM]))
def test_what_was_typed_is_there_again_however_it_ended(
    lockterm: Start, tmp_path: Path, number: signal.Signals
) -> None:
    session = open_form(lockterm)
    fill(session, "north", "https://locks.example.com")
    choices = tmp_path / "state" / "lockterm" / "choices.json"
    session.wait_until(
        lambda: choices.exists() and "locks.example.com" in choices.read_text(), "it is kept"
    )
    session.kill(number)
    assert session.wait_exit() == (-number if number == signal.SIGKILL else 128 + number)
    again = open_form(lockterm)
    again.wait_for("https://locks.example.com")
    again.wait_for("your earlier input, which was not saved")


@pytest.mark.long
def test_a_broken_default_profile_says_so_and_ends(lockterm: Start, tmp_path: Path) -> None:
    file = config_of(tmp_path)
    file.parent.mkdir(parents=True)
    file.write_text('[profiles.a]\nbase_url = "https://a.example"\ntimezone = "Nowhere"\n')
    session = lockterm()
    assert session.wait_exit() == 2
    assert "line 3: timezone 'Nowhere' is not a time zone" in " ".join(session.lines)


@pytest.mark.long
def test_the_welcome_has_room_in_60x20(lockterm: Start) -> None:
    session = lockterm(size=(60, 20), env={"NO_COLOR": "1"}, seen="^  1  Try the demo$")
    session.wait_for("^     A made-up site on this machine$")
    session.wait_for("^  2  Connect to a service$")
    session.wait_for("^  Colors +none; lockterm shows states as words$")
    session.wait_for("^  Size +60x20$")
    session.wait_for("^1 demo  2 connect  q quit")
    assert b"\x1b[38;" not in session.raw
    assert b"\x1b[48;" not in session.raw
