"""Switching profiles: one app ends in good order, the next begins in the same process."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from lockterm.service.running import RunningService
from tests.terminal.pty_session import Start


@pytest.fixture
def hosts(tmp_path: Path, running_service: Callable[..., RunningService]) -> tuple[str, str]:
    """Two profiles, north and south, each on a service of its own; their hosts."""
    urls = [running_service().base_url for _ in range(2)]
    file = tmp_path / "config" / "lockterm" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        f'default_profile = "north"\n\n[profiles.north]\nbase_url = "{urls[0]}"\n\n'
        f'[profiles.south]\nbase_url = "{urls[1]}"\nread_only = true\ncolor = "red"\n\n'
        '[profiles.broken]\nbase_url = "https://b.example"\ntimezone = "Nowhere"\n'
        '[keys]\n"app.profiles" = "P,f12"\n'  # in a form, letters are text wherever the focus is
    )
    first, second = (url.removeprefix("http://") for url in urls)
    return first, second


@pytest.mark.long
def test_profiles_are_switched_there_and_back(lockterm: Start, hosts: tuple[str, str]) -> None:
    north, south = hosts
    session = lockterm("--lock", "1001", seen="page 1 of 7")
    assert session.lines[0].endswith(f"north  {north}")
    session.press("P", seen="^ broken .*BROKEN")
    session.press("j", "enter", seen=f"^Locks .* south   {south}  read-only")
    session.wait_for("The lock book is empty")
    session.press("P", seen="^ south .*in use")
    # the line below the table has the reason too
    session.press("j", "enter", seen="Open: not available")
    assert "'Nowhere' is not a" in session.text
    session.press("escape")  # in one read with a letter, it would be a key with alt
    session.wait_until(lambda: "Open: not available" not in session.text, "the profiles alone")
    session.press("k", "k", "enter", seen=f"^Locks .* north  {north}$")
    session.wait_for("The lock book is empty")
    session.quit()
    assert session.attributes() == session.attributes_before
    assert not session.others()
    assert b"Traceback" not in session.raw


def test_a_signal_ends_the_second_app_like_the_first(
    lockterm: Start, hosts: tuple[str, str]
) -> None:
    session = lockterm(seen="^Locks .*north")
    session.press("P", seen="^ north .*in use")
    session.press("j", "enter", seen="^Locks .* south ")
    session.wait_for("The lock book is empty")
    session.kill(signal.SIGTERM)
    assert session.wait_exit() == 128 + signal.SIGTERM
    assert session.attributes() == session.attributes_before


@pytest.mark.long
def test_a_form_is_offered_again_when_its_profile_is(
    lockterm: Start, hosts: tuple[str, str]
) -> None:
    session = lockterm("--lock", "1001", seen="page 1 of 7")
    session.press("a", seen="Add a remote")
    session.press("Night watch", "\x1b[24~", seen="^ north .*in use")
    session.press("j", "enter", seen="^Locks .* south ")
    session.wait_for("The lock book is empty")
    session.press("P", seen="^ south .*in use")
    session.press("k", "enter", seen="^Locks .* north ")
    session.wait_for("was not finished")
    session.wait_for("Night watch")
