"""Settings: their order, where each came from, and what is refused, with the place named."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm.config import Options, Profile, Settings, load_settings, values
from lockterm.errors import ConfigError

FULL = """\
# sites
default_profile = "north-campus"

[profiles.north-campus]
base_url = "https://locks.example.com/"
timezone = "Europe/Berlin"
page_size = 50
body = "form"
ca_file = ""
timeout_s = 7.5
read_only = true

[profiles.north-campus.headers]
Authorization = "env:LOCKTERM_TOKEN"

[profiles.south]
base_url = "http://localhost:8080/locks"
"""
TOKEN = {"LOCKTERM_TOKEN": "Bearer hunter2-hunter2"}


Load = Callable[..., Settings]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load(
        source: str | bytes | None = None, environ: dict[str, str] | None = None, **options: object
    ) -> Settings:
        path = tmp_path / "config.toml"
        if source is not None:
            path.write_bytes(source.encode() if isinstance(source, str) else source)
            path.chmod(0o600)
        return load_settings(path, Options(**options), environ or {})  # type: ignore[arg-type]

    return load


def test_a_profile_is_read_whole(load: Load) -> None:
    settings = load(FULL, TOKEN)
    assert settings.profile == Profile(
        name="north-campus",
        base_url="https://locks.example.com",
        timezone="Europe/Berlin",
        page_size=50,
        body="form",
        timeout_s=7.5,
        headers={"Authorization": "Bearer hunter2-hunter2"},
        read_only=True,
    )
    assert settings.profile.zone.key == "Europe/Berlin"
    assert settings.profile.host == "locks.example.com"
    assert settings.origins["page_size"].endswith("config.toml, line 7")
    assert settings.origins["timeout_s"].endswith("config.toml, line 10")
    assert settings.origins["lock"] == "default"
    assert "hunter2" not in repr(settings)


def test_without_anything_nothing_is_chosen(load: Load) -> None:
    settings = load()
    assert settings.profile is None
    assert settings.look.mouse


def test_option_before_environment_before_file_before_default(load: Load) -> None:
    environ = TOKEN | {"LOCKTERM_PROFILE": "south", "LOCKTERM_LOCK": "7", "LOCKTERM_READ_ONLY": "0"}
    by_environment = load(FULL, environ)
    assert by_environment.profile.name == "south"
    assert by_environment.open_lock == 7
    assert by_environment.origins["profile"] == "environment LOCKTERM_PROFILE"
    assert by_environment.profile.page_size == 20

    by_option = load(FULL, environ, profile="north-campus", lock="9")
    assert by_option.profile.name == "north-campus"
    assert by_option.open_lock == 9
    assert by_option.origins["lock"] == "option --lock"
    assert not by_option.profile.read_only, "the environment comes before the file"
    assert load(FULL, environ, read_only=True).profile.read_only
    assert load(FULL, TOKEN | {"LOCKTERM_PROFILE": ""}).profile.name == "north-campus"


def test_secrets_go_to_no_other_host_and_the_book_is_another(load: Load) -> None:
    profile = load(FULL, {}, base_url="https://elsewhere.example").profile
    assert profile.headers == {}
    assert "not sent" in " ".join(profile.warnings)
    assert profile.name == "elsewhere.example"
    assert profile.timezone == "Europe/Berlin", "the rest of the profile still applies"

    same = load(FULL, TOKEN, base_url="https://locks.example.com").profile
    assert same.name == "north-campus"
    assert same.headers


def test_http_elsewhere_is_allowed_with_a_warning(load: Load) -> None:
    assert "without encryption" in load(base_url="http://locks.example.com").profile.warnings[0]
    for own in ("http://127.0.0.1:1", "http://localhost", "http://[::1]:9", "https://x.example"):
        assert load(base_url=own).profile.warnings == ()


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "ftp://host",
        "https://",
        "https://user:hunter2@host",
        "https://host?x=1",
        "https://host/#x",
        "https://host/?",
        "https://ho st",
        "https://host\n.evil",
        "https://host\x1b[31m",
        "https://host:99999",
        "https://host:0",
        "https://[::1",
        "https://evil\\@host",
        "https:///path",
        "//host",
        "",
    ],
)
def test_a_base_url_that_cannot_be_is_refused(load: Load, url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(base_url=url)
    assert caught.value.message.startswith("--base-url ")
    assert "hunter2" not in caught.value.message
    assert "\x1b" not in caught.value.message


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('page_size = 50', 'page_size = 201'), r"line 7: page_size must be .*1 to 200"),
        (('page_size = 50', 'page_size = true'), r"line 7: page_size must be"),
        (('page_size = 50', 'pagesize = 50'), r'line 7: pagesize is no setting.*"page_size"\?'),
        (('timeout_s = 7.5', 'timeout_s = nan'), r"line 10: timeout_s must be more than 0"),
        (('timeout_s = 7.5', 'timeout_s = "7"'), r"line 10: timeout_s must be a number.*not text"),
        (('body = "form"', 'body = "xml"'), r"line 8: body must be"),
        (('read_only = true', 'read_only = 1'), r"line 11: read_only must be true or false"),
        (('Europe/Berlin', 'Berlin'), r"line 6: timezone 'Berlin' .*mean Europe/Berlin\?"),
        (('Europe/Berlin', 'Europe/Berln'), r"line 6: timezone .*Europe/Berlin"),
        (('Europe/Berlin', '../../etc/passwd'), r"line 6: timezone .*is no time zone"),
        (('ca_file = ""', 'ca_file = "no.pem"'), r"line 9: ca_file names .*no\.pem"),
        (('"north-campus"', '"north"'), r'line 2: default_profile names .*"north-campus"\?'),
        (('default_profile =', 'default-profile ='), r'line 2: .*mean "default_profile"\?'),
        (('env:LOCKTERM_TOKEN', 'env:NO_TOKEN'), r"line 14: Authorization .*variable NO_TOKEN"),
        (('env:LOCKTERM_TOKEN', 'a\\nHost: x'), r"line 14: Authorization has characters"),
        (('Authorization =', 'Content-Length ='), r"line 14: Content-Length is set by lockterm"),
        (('Authorization =', '"Bad name" ='), r"line 14: Bad name is no name for a header"),
        (('# sites', 'sites'), r"no valid TOML: .*line 1"),
        (('[profiles.south]', '[profile.south]'), r'line 16: profile is no setting.*"profiles"\?'),
        (('base_url = "https', 'base_url = 5 # "https'), r"line 5: base_url must be text"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_the_file_is_named_with_its_line(
    load: Load, change: tuple[str, str], says: str
) -> None:
    source = FULL.replace(*change, 1)
    assert source != FULL
    with pytest.raises(ConfigError) as caught:
        load(source, TOKEN)
    assert re.search(says, caught.value.message), caught.value.message
    assert "config.toml" in caught.value.message
    assert "hunter2" not in caught.value.message


def test_a_file_that_is_no_text_is_refused(load: Load) -> None:
    with pytest.raises(ConfigError, match="line 2: not UTF-8"):
        load(b"# ok\nx = '\xff'\n")
    with pytest.raises(ConfigError, match="no valid TOML"):
        load("x = " + "[" * 100_000)


def test_a_file_that_may_not_be_read_is_refused(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(FULL, TOKEN)

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)  # root, as in containers, may read anything
    with pytest.raises(ConfigError, match=r"config\.toml cannot be read: Permission denied"):
        load(None, TOKEN)


@pytest.mark.parametrize(
    ("value", "mode", "refused"),
    [
        ("Bearer hunter2", 0o640, "read"),
        ("Bearer hunter2", 0o602, "change"),
        ("Bearer hunter2", 0o600, None),
        ("env:LOCKTERM_TOKEN", 0o644, None),
        ("env:LOCKTERM_TOKEN", 0o664, "change"),
    ],
)
def test_secrets_that_others_can_reach_are_refused(
    load: Load, tmp_path: Path, value: str, mode: int, refused: str | None
) -> None:
    load(FULL.replace("env:LOCKTERM_TOKEN", value), TOKEN)
    (tmp_path / "config.toml").chmod(mode)
    if refused is None:
        load(None, TOKEN)
        return
    with pytest.raises(ConfigError, match=f"line 14: .*others can {refused}") as caught:
        load(None, TOKEN)
    assert f"chmod 600 {tmp_path}/config.toml" in caught.value.hint
    assert "hunter2" not in str(caught.value)


def test_a_profile_that_is_not_there_is_refused_with_the_nearest(load: Load) -> None:
    with pytest.raises(ConfigError, match=r'--profile.*"south"\?'):
        load(FULL, TOKEN, profile="souht")
    several = FULL.replace('default_profile = "north-campus"', "")
    with pytest.raises(ConfigError, match="several profiles"):
        load(several, TOKEN)
    assert load(several, TOKEN, base_url="https://x.example").profile.name == "x.example"


@pytest.mark.parametrize("lock", ["abc", "0", "-1", "1.5", "9" * 30, "\u0661", ""])
def test_a_lock_that_is_no_number_is_refused(load: Load, lock: str) -> None:
    with pytest.raises(ConfigError, match="--lock"):
        load(lock=lock)


@given(st.text(max_size=40))
def test_any_base_url_is_refused_or_safe(text: str) -> None:
    for url in (text, f"https://{text}"):
        try:
            checked, _ = values.base_url(url)
        except ValueError:
            continue
        assert checked.isprintable()
        assert not set(checked) & set(" ?#\\@")
