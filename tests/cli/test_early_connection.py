"""Where a start connects before its settings are known, and that nothing follows from a mistake."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockterm.address import plain_address
from lockterm.api import pending_connection
from lockterm.api.first_page import address_of
from lockterm.cli.early_connection import connect_early
from lockterm.cli.plain import plain_options, plain_words
from lockterm.config import load_settings
from lockterm.errors import ConfigError
from lockterm.service.running import RunningService
from tests.terminal.pty_session import LOCKTERM, PtySession, clean_environment

TWO = """
# base_url = "https://nobody.example"
default_profile = "south"  # usually
[profiles.north]
base_url = "https://a.example/prefix/"
[profiles.north.headers]
X-Gate = "b"
[profiles.south]  # the yard
  base_url = "http://b.example:8080"
"""
PLAIN = '[profiles.only]\nbase_url = "https://a.example"\n'


Connects = Callable[..., tuple[str, int] | None]


@pytest.fixture
def connects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Connects:
    """What a start with this configuration, these words and these variables connects to."""
    made: list[tuple[str, int]] = []
    monkeypatch.setattr(os, "isatty", lambda _: True)
    monkeypatch.setattr(
        pending_connection, "PendingConnection", lambda host, port: made.append((host, port))
    )

    def connects(config: str, typed: str, **environ: str) -> tuple[str, int] | None:
        file = tmp_path / "lockterm" / "config.toml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(config)
        made.clear()
        connect_early(plain_words(typed.split()), {"XDG_CONFIG_HOME": str(tmp_path), **environ})
        return made[0] if made else None

    return connects


@pytest.mark.parametrize(
    ("config", "typed", "environ", "address"),
    [
        (PLAIN, "--lock 7", {}, ("a.example", 443)),
        (PLAIN, "", {"LOCKTERM_LOCK": "7"}, ("a.example", 443)),
        (TWO, "--lock 7", {}, ("b.example", 8080)),
        (TWO, "--lock 7 --profile north", {}, ("a.example", 443)),
        (TWO, "--lock 7", {"LOCKTERM_PROFILE": "north"}, ("a.example", 443)),
        (TWO, "--lock 7 --base-url http://c.example/", {}, ("c.example", 80)),
        (TWO, "--lock 7", {"LOCKTERM_BASE_URL": "http://c.example"}, ("c.example", 80)),
        ("", "--lock 7 --base-url http://c.example", {}, ("c.example", 80)),
        # No lock, so nothing is asked; a command; another profile; none of several; not plain.
        (PLAIN, "", {}, None),
        (PLAIN, "remotes list 7", {}, None),
        (PLAIN, "--lock 7 --help", {}, None),
        (PLAIN, "--lock 7 --profile east", {}, None),
        (TWO.replace("default_profile", "# "), "--lock 7", {}, None),
        (PLAIN.replace("a.ex", "ä.ex"), "--lock 7", {}, None),
        (PLAIN.replace("a.ex", r"\u0061.ex"), "--lock 7", {}, None),
        (PLAIN.replace("https", "file"), "--lock 7", {}, None),
        (PLAIN.replace('"', "'"), "--lock 7", {}, None),
        ("\x00[[", "--lock 7", {}, None),
    ],
)
def test_it_connects_to_what_the_settings_lead_to_or_not_at_all(
    connects: Connects,
    config: str,
    typed: str,
    environ: dict[str, str],
    address: tuple[str, int] | None,
) -> None:
    assert connects(config, typed, **environ) == address


def test_it_connects_nowhere_by_what_others_can_write(connects: Connects, tmp_path: Path) -> None:
    assert connects(PLAIN, "--lock 7") is not None
    (tmp_path / "lockterm" / "config.toml").chmod(0o666)
    assert connects(PLAIN, "--lock 7") is None


NAMES = ("north", "south", "a.b")
URLS = st.sampled_from(["https://a.example", "http://b.example:81/x", "https://c.example/", "no"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    profiles=st.dictionaries(st.sampled_from(NAMES), URLS, max_size=3),
    default=st.sampled_from(["", *NAMES]),
    chosen=st.sampled_from(["", *NAMES]),
    typed=st.just("") | URLS,
)
def test_whatever_is_configured_it_is_no_other_address(
    connects: Connects,
    tmp_path: Path,
    profiles: dict[str, str],
    default: str,
    chosen: str,
    typed: str,
) -> None:
    lines = [f'default_profile = "{default}"'] * bool(default)
    lines += [f'[profiles."{name}"]\nbase_url = "{url}"' for name, url in profiles.items()]
    words = ["--lock=7", *[f"--profile={chosen}"] * bool(chosen)]
    words += [f"--base-url={typed}"] * bool(typed)
    address = connects("\n".join(lines).replace('"north"]', "north]"), " ".join(words))
    options = plain_options(words)
    assert options is not None
    try:
        profile = load_settings(tmp_path / "lockterm" / "config.toml", options, {}).profile
    except ConfigError:  # it is told, and nothing is sent
        return
    if address is not None:
        assert profile is not None and (meant := address_of(profile)) is not None
        assert address == meant[1:3]


def test_a_connection_to_another_service_is_closed_unused(
    service: RunningService, tmp_path: Path
) -> None:
    """A plain look at the lines may be mistaken; who reads the file whole is not."""
    file = tmp_path / "config" / "lockterm" / "config.toml"
    file.parent.mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as other:
        file.write_text(
            f"[profiles.yard]\nbase_url = '{service.base_url}'\n[profiles.yard.headers]\n"
            f'base_url = "http://127.0.0.1:{other.getsockname()[1]}"\n'
        )
        file.chmod(0o600)
        with PtySession([*LOCKTERM, "--lock", "1001"], clean_environment(tmp_path)) as session:
            session.wait_for("page 1 of 7")
            other.settimeout(60)
            line, _ = other.accept()
            with line:
                assert line.recv(1) == b""
            session.press("q")
            assert session.wait_exit() == 0


@given(st.text("ht:/ps.Ax-n~_%@?#é[]0:", max_size=30) | st.from_regex(r"https?://\S{1,20}"))
def test_an_address_is_plain_where_it_is_sent_as_it_is_written(text: str) -> None:
    plain = re.fullmatch(
        r"(https?)://((?!xn--)[a-z0-9.-]+)(?::([0-9]+))?((?:/(?!\.)[A-Za-z0-9._~-]+)*)", text
    )
    found = plain_address(text)
    if plain is None:
        assert found is None
        return
    scheme, host, port, prefix = plain.groups()
    assert found == (scheme, host, int(port or {"http": 80, "https": 443}[scheme]), prefix)
    url = httpx.URL(text)
    assert (url.raw_host.decode(), url.path.rstrip("/")) == (host, prefix)
