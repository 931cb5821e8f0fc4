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
from lockterm.safe_files import OpenLocation

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
calls_per_minute = 600
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
    limits = [load(FULL, TOKEN, profile=name).profile for name in ("north-campus", "south")]
    assert [profile.calls_per_minute for profile in limits] == [0, 600]
    for typed, shown in (("W. Europe Standard Time", "Europe/Berlin"), ("+02:00", "UTC+02:00")):
        profile = load(FULL.replace("Europe/Berlin", typed), TOKEN).profile
        assert (profile.timezone, str(profile.zone)) == (shown, shown)


def test_an_account_is_one_of_the_profiles_own_service(load: Load) -> None:
    source = FULL.replace("page_size = 50", 'account = "north"')
    profile = load(source, TOKEN).profile
    assert profile is not None and profile.account == "north"
    other = load(source, TOKEN, base_url="https://other.example").profile
    assert other is not None and other.account == ""
    with pytest.raises(ConfigError, match="is not a valid name for an account"):
        load(FULL.replace("page_size = 50", 'account = " "'), TOKEN)


def test_option_before_environment_before_file_before_default(load: Load) -> None:
    nothing = load()
    assert nothing.profile is None and nothing.look.mouse
    environ = TOKEN | {"LOCKTERM_PROFILE": "south", "LOCKTERM_LOCK": "7", "LOCKTERM_READ_ONLY": "0"}
    by_environment = load(FULL, environ)
    assert by_environment.profile.name == "south"
    assert by_environment.open_lock == 7
    assert by_environment.origins["profile"] == "environment LOCKTERM_PROFILE"
    assert by_environment.profile.page_size == "auto"
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
    assert "is not encrypted" in load(base_url="http://locks.example.com").profile.warnings[0]
    near = ("http://127.0.0.1:1", "http://localhost", "http://[::1]:9")
    for own in (*near, "https://x.example:8443/a/b/", "https://x.example"):
        assert load(base_url=own).profile.warnings == ()


@pytest.mark.parametrize(
    "url",
    [
        *("nonsense", "locks.example.com", "ftp://host", "https:\\\\host"),
        "https://",
        "https://user:hunter2@host",
        *("https://hunter2@host", "hunter2@host", "https://host@", "ftp://hunter2@host"),
        *("https:///u:hunter2@host", "https:/\\u:hunter2@host", "https:///u:hunter2\uff20host"),
        *("https://u:hunter2@host:99999/", "https://u:hunter2@", "file:///etc/passwd"),
        *("ftp://x/?key=hunter2", "https://x/?key=hunter2", "x?hunter2"),
        "https://host?x=1",
        "https://host/#x",
        "https://host/?",
        *("https://ho st", " https://host", "https://host/a b", "https://host/a\\b"),
        "https://host\n.evil",
        "https://host\x1b[31m",
        *("https://host:99999", "https://host:0", "https://host:port", "https://:443"),
        "https://[::1",
        "https://evil\\@host",
        "https:///path",
        "https://lócks.example.com",
        "https://locks.example.com/pförtner",
        "//host",
        "",
    ],
)
def test_a_base_url_that_cannot_be_is_refused(load: Load, url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(base_url=url)
    assert caught.value.message.startswith("--base-url ")
    assert "hunter2" not in caught.value.message + caught.value.hint
    assert "\x1b" not in caught.value.message


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('page_size = 50', 'page_size = 201'), r"line 7: page_size must be .*1 to 200"),
        (('page_size = 50', 'page_size = true'), r"line 7: page_size must be"),
        (('page_size = 50', 'page_size = "fit"'), r'line 7: page_size must be "auto" or'),
        (('page_size = 50', 'pagesize = 50'), r'line 7: pagesize is not a setting.*"page_size"\?'),
        (('timeout_s = 7.5', 'timeout_s = nan'), r"line 10: timeout_s must be more than 0"),
        (('timeout_s = 7.5', 'timeout_s = "7"'), r"line 10: timeout_s must be a number.*not text"),
        (('page_size = 50', 'calls_per_minute = -1'), r"line 7: calls_per_minute must be .* 0 to"),
        (('body = "form"', 'body = "xml"'), r"line 8: body must be"),
        (('read_only = true', 'read_only = 1'), r"line 11: read_only must be true or false"),
        (('Europe/Berlin', 'Berlin'), r"line 6: timezone 'Berlin' .*mean Europe/Berlin\?"),
        (('Europe/Berlin', 'Europe/Berln'), r"line 6: timezone .*Europe/Berlin"),
        (('Europe/Berlin', '../../etc/passwd'), r"line 6: timezone .*is not a time zone"),
        (('ca_file = ""', 'ca_file = "no.pem"'), r"line 9: ca_file is .*no\.pem"),
        (('"north-campus"', '"north"'), r'line 2: default_profile is .*"north-campus"\?'),
        (('default_profile =', 'default-profile ='), r'line 2: .*mean "default_profile"\?'),
        (('env:LOCKTERM_TOKEN', 'env:NO_TOKEN'), r"line 14: Authorization .*variable NO_TOKEN"),
        (('env:LOCKTERM_TOKEN', 'a\\nHost: x'), r"line 14: Authorization has characters"),
        (('Authorization =', 'Content-Length ='), r"line 14: Content-Length is set by lockterm"),
        (('Authorization =', '"Bad name" ='), r"line 14: Bad name is not a valid name for"),
        (('# sites', 'sites'), r"not valid TOML: .*line 1"),
        (('[profiles.south]', '[profile.south]'), r'line 16: profile is not a setting.*"profiles"'),
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


@pytest.mark.parametrize("number", ["9" * 5000, "-" + "9" * 5000, "0x" + "f" * 5000, str(2**63)])
@pytest.mark.parametrize("place", ["x = {}", "[profiles.p]\npage_size = {}", "x = [[{{y = {}}}]]"])
def test_a_number_without_end_is_refused(load: Load, number: str, place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(place.format(number))
    assert "a number in it is too large" in caught.value.message
    assert len(caught.value.message) < 400


def test_configuration_is_refused_when_it_is_not_text_or_may_not_be_read(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    for source, words in (
        (b"# ok\nx = '\xff'\n", "line 2: not UTF-8"),
        ("x = " + "[" * 100_000, "not valid TOML"),
        ('profiles = "north"\n', "line 1: profiles must be tables"),
        ("[profiles]\nnorth = 3\n", "line 2: north must be a table"),
    ):
        with pytest.raises(ConfigError, match=words):
            load(source)
    load(FULL, TOKEN)

    def refuse(place: OpenLocation, flags: int) -> int:
        raise PermissionError(13, "Permission denied", place.path)

    monkeypatch.setattr(OpenLocation, "open", refuse)  # root, as in containers, may read anything
    with pytest.raises(ConfigError, match=r"config\.toml cannot be read: Permission denied"):
        load(None, TOKEN)


@pytest.mark.parametrize(
    ("value", "mode", "refused"),
    [
        ("Bearer hunter2", 0o640, "read"),
        ("Bearer hunter2", 0o602, "change it"),
        ("Bearer hunter2", 0o600, None),
        ("env:LOCKTERM_TOKEN", 0o644, None),
        ("env:LOCKTERM_TOKEN", 0o664, "change it"),
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
    with pytest.raises(ConfigError, match=f"other(s| users) can {refused}") as caught:
        load(None, TOKEN)
    told = f"{caught.value.message} {caught.value.hint}"
    assert re.search(rf"chmod (600|go-w) {tmp_path}/config.toml", told)
    assert "hunter2" not in str(caught.value)


BARE = '[profiles.site]\nbase_url = "https://locks.example"\n'


@pytest.mark.parametrize("what", ["config.toml", ".", "ca.pem", "certs"])
def test_what_others_can_change_decides_nothing(load: Load, tmp_path: Path, what: str) -> None:
    """Without any header too: who writes there chooses the service, or whom lockterm trusts."""
    (tmp_path / "certs").mkdir(mode=0o755)
    (tmp_path / "certs/real.pem").write_text("a certificate")
    (tmp_path / "ca.pem").symlink_to("certs/real.pem")
    load(f'{BARE}ca_file = "ca.pem"\n')
    (tmp_path / what).chmod((tmp_path / what).stat().st_mode | 0o020)
    named = {"ca.pem": "certs/real.pem", ".": ""}.get(what, what)
    with pytest.raises(ConfigError, match=f"chmod go-w {tmp_path / named}(\\s|\\.|$)"):
        load()


def test_one_authority_can_be_the_only_one(load: Load, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("a certificate")
    profile = load(f'{BARE}ca_file = "ca.pem"\nca_only = true\n').profile
    assert profile is not None and profile.ca_only
    with pytest.raises(ConfigError, match="line 3: ca_only requires a ca_file"):
        load(f"{BARE}ca_only = true\n")


@pytest.mark.parametrize(
    "token", ["ghp_16C7e42F292c6912E7710c838347Ae178B4a", "AKIAIOSFODNN7EXAMPLE"]
)
def test_a_token_in_the_place_of_its_variables_name_is_not_repeated(load: Load, token: str) -> None:
    with pytest.raises(ConfigError, match=r"line 14: .*not set") as caught:
        load(FULL.replace("LOCKTERM_TOKEN", token))
    assert token not in str(caught.value) + caught.value.hint
    with pytest.raises(ConfigError, match="variable LOCKTERM_TOKEN, which is not set"):
        load(FULL)


def test_a_profile_that_is_not_there_is_refused_with_the_nearest(load: Load) -> None:
    with pytest.raises(ConfigError, match=r'--profile.*"south"\?'):
        load(FULL, TOKEN, profile="souht")
    several = FULL.replace('default_profile = "north-campus"', "")
    with pytest.raises(ConfigError, match="several profiles"):
        load(several, TOKEN)
    assert load(several, TOKEN, base_url="https://x.example").profile.name == "x.example"


def test_options_are_refused_with_the_reason(load: Load) -> None:
    for lock in ("abc", "0", "-1", "1.5", "9" * 5000, "-" + "9" * 5000, "\u0661", ""):
        with pytest.raises(ConfigError, match="--lock"):
            load(lock=lock)
    for zone_id in ("%eth0", "%25eth0"):
        with pytest.raises(ConfigError, match="zone ID"):
            load(base_url=f"https://[fe80::1{zone_id}]:8443")
    for url in ("u:hunter2@host", "https://u:hunter2@host:99999/", "ftp://u:hunter2@host"):
        with pytest.raises(ConfigError, match="user name or password"):
            load(base_url=url)


@given(st.text(max_size=40) | st.text("[]:@/?#.%a1é \\", max_size=40))
def test_any_base_url_is_refused_or_safe(text: str) -> None:
    for url in (text, f"https://{text}", f"http://{text}"):
        try:
            checked, _ = values.base_url(url)
        except ValueError:
            continue
        assert checked.isprintable()
        assert not set(checked) & set(" ?#\\@")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("GMT+2", "; did you mean UTC+02:00? A city"),
        ("gmt-5:30", "; did you mean UTC-05:30? A city"),
        ("GMT+15", "; did you mean "),
        ("+14:01", "or an offset such as +02:00"),
        ("+2:60", "or an offset such as +02:00"),
        ("02:00", "or an offset such as +02:00"),
        ("etc/gmt+2", "; did you mean Etc/GMT+2?"),
        ("W. Europa Standard Time", "or an offset such as +02:00"),
    ],
)
def test_timezone_refuses_other_offsets_with_a_suggestion(typed: str, meant: str) -> None:
    with pytest.raises(ValueError, match="is not a time zone") as refused:
        values.timezone(typed)
    assert meant in str(refused.value)


def test_terminal_settings_and_presets_are_read_and_refused_with_their_place(load: Load) -> None:
    look = load('[terminal]\nglyphs = "ascii"\ncopy = "tmux"\n').look
    assert (look.ascii, look.copy) == (True, "tmux")
    for wrong in ('glyphs = "braille"', "glyphs = 3", 'mouse = "no"', "copy = true"):
        with pytest.raises(ConfigError, match=f"line 2: {wrong.split()[0]} must be "):
            load(f"[terminal]\n{wrong}\n")
    base = '[profiles.north]\nbase_url = "https://locks.example.com"\n'
    settings = load(f'{base}[renew]\npresets = [" +30d ", "eom"]\n')
    assert settings.profile.presets == ("+30d", "eom")
    long, many = '["' + "9" * 17 + '"]', '["eom"' + ', "eoy"' * 5 + "]"
    for wrong in ('"eom"', "[]", "[3]", '[""]', long, many):
        with pytest.raises(ConfigError, match="line 4: presets must "):
            load(f"{base}[renew]\npresets = {wrong}\n")
