"""Profiles are written into the file of a person: what is not changed keeps its bytes."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm.config import Options
from lockterm.config.file import read_config
from lockterm.config.profiles import Profiles
from lockterm.config.typed_profile import READ_ONLY, UNCOLORED, check, typed_of
from lockterm.config.writing import edited
from lockterm.errors import ConfigError

FILED = {"base_url": "https://new.example", "color": "red", "headers": {"X-Key": "env:KEY"}}

ODD = """\
# sites of the north; do not "tidy"
default_profile   =   'a'   # the first

[ profiles . a ]   # spaces are allowed
base_url = "https://a.example"   # behind the gate
  timezone = 'Europe/Berlin'
# timeout_s = 3

\t[profiles.a.headers]
Authorization = \"\"\"env:TOKEN\"\"\"

# --- the south ---
[profiles."b b"]
base_url="https://b.example"
timeout_s = 1_0.5

[terminal]  # mine
quiet = false

[profiles.c]
base_url = "https://c.example"
# the end"""


def profiles_of(source: str) -> dict[str, Any]:
    return {name: dict(filed) for name, filed in tomllib.loads(source).get("profiles", {}).items()}


def test_a_change_touches_its_line_alone() -> None:
    after = profiles_of(ODD)
    after["a"] |= {"base_url": "https://z.example", "color": "red"}
    changed = ODD.replace("https://a.example", "https://z.example")
    added = '# timeout_s = 3\ncolor = "red"\n'
    assert edited(ODD, "a", after) == changed.replace("# timeout_s = 3\n", added) + "\n"
    text = edited(ODD, "a", profiles_of(ODD) | {"n v": FILED})
    assert text == ODD + (
        '\n\n[profiles."n v"]\nbase_url = "https://new.example"\ncolor = "red"\n\n'
        '[profiles."n v".headers]\nX-Key = "env:KEY"\n'
    )


def test_comments_stay_when_something_is_removed() -> None:
    after = profiles_of(ODD)
    del after["a"]["headers"]
    text = edited(ODD, "a", after)
    assert '# timeout_s = 3\n\n# --- the south ---\n[profiles."b b"]' in text
    assert "TOKEN" not in text
    del after["a"]
    text = edited(ODD, "c", after)
    assert '# --- the south ---\n[profiles."b b"]' in text
    assert "gate" not in text
    assert text.startswith('# sites of the north; do not "tidy"\ndefault_profile   =   "c"   # the')
    del after["c"]
    assert "quiet = false\n\n# the end\n" in edited(text, "b b", after)
    pieces = ODD + "\n[profiles.a.more]\nx = 1 # mine\n# the very end\n"
    after = profiles_of(pieces)
    del after["a"]
    assert edited(pieces, "c", after) is None, "a comment would go"
    source = '# the south\n[profiles.a]\nbase_url = "https://a.example"\n'
    assert edited(source, "a", profiles_of(source)) == f'default_profile = "a"\n\n{source}'


# --- any file ----------------------------------------------------------------------------------

NAMES = ("a", "b b", "ü", "x.y", "a-1")
comments = st.sampled_from(["", "# mine", "#\ttabs # and more", "# [profiles.zz]", '# """', "#ü"])
gaps = st.lists(st.one_of(st.just(""), comments), max_size=3)
urls = st.sampled_from(['"https://h.example"', "'http://localhost:1'", '"""https://q.example"""'])
extras = st.sampled_from(
    ["", "page_size = 5_0", "page_size=0x14", "timeout_s = 1.5e1", "read_only =  true",
     "timezone = '''\nEurope/Berlin'''", 'body="form"', "color = 'blue'"]
)  # fmt: skip


@st.composite
def profile_blocks(draw: st.DrawFn, name: str) -> str:
    key = f'"{name}"'
    plain = f"base_url {draw(st.sampled_from(['=', '= ', ' =  ']))} {draw(urls)}"
    tail = draw(comments)
    lines = [*draw(gaps)]
    match draw(st.integers(0, 3)):
        case 0:
            lines += [f"[profiles.{key}]", plain + (f" {tail}" if tail else ""), draw(extras)]
            if draw(st.booleans()):
                lines += [*draw(gaps), f"[profiles.{key}.headers] {tail}", 'Auth = "env:TOKEN"']
        case 1:
            lines += [f"[ profiles . {key} ] {tail}", *draw(gaps), f"  {plain}"]
            lines += ["headers = { 'A b' = 'env:X' }"]
        case 2:
            lines += [f"[profiles.{key}]", plain, 'headers.Auth = "env:TOKEN"', tail]
        case _:
            lines += [f"[profiles.{key}.headers]", "Auth='env:T'", f"[profiles.{key}]", plain]
    return "\n".join(lines)


@st.composite
def sources(draw: st.DrawFn) -> str:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4))
    head = [*draw(gaps)]
    if names and draw(st.booleans()):
        head += [f"default_profile='{draw(st.sampled_from(names))}' {draw(comments)}"]
    match draw(st.integers(0, 5)):
        case 0 if names:  # all profiles in one value
            inner = ", ".join(f'"{name}" = {{ base_url = {draw(urls)} }}' for name in names)
            blocks = [f"profiles = {{ {inner} }} # all"] if "\n" not in inner else []
            if not blocks:
                head = [line for line in head if not line.startswith("default")]
        case 1 if names:  # values with dots
            blocks = [f'profiles."{name}".base_url = {draw(urls)} # dots' for name in names]
        case _:
            blocks = [draw(profile_blocks(name)) for name in names]
            other = "[terminal]  # t\nquiet=true # q\n\n" + draw(comments)
            blocks.insert(draw(st.integers(0, len(blocks))), other)
    text = "\n".join([*head, *blocks])
    if draw(st.booleans()):
        text += "\n"
    return text.replace("\n", "\r\n") if draw(st.booleans()) and "'''" not in text else text


def is_subsequence(wanted: list[str], lines: list[str]) -> bool:
    rest = iter(lines)
    return all(line in rest for line in wanted)


def comment_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.lstrip().startswith("#")]


@given(sources(), st.data())
def test_any_file_keeps_what_is_not_changed(source: str, data: st.DataObject) -> None:
    before = tomllib.loads(source)
    old = profiles_of(source)
    default = before.get("default_profile")
    deed = data.draw(st.sampled_from(["add", "change", "remove", "default"]))
    names = list(old) or ["a"]
    name = data.draw(st.sampled_from(names))
    after = dict(old)
    match deed:
        case "add":
            after["new one"] = FILED
        case "change" if old:
            typed = typed_of(name, old[name]) | {"color": "red", "base_url": "https://new.example"}
            typed |= data.draw(st.sampled_from([{}, {"header": "", "variable": ""}]))
            after[name] = dict(check(typed, old[name], {}).filed)
        case "remove" if old:
            del after[name]
            default = next(iter(after), None) if default == name else default
        case _:
            default = name if old else None
    text = edited(source, default, after)
    assert text is not None, "every file of this kind can be written"
    now = tomllib.loads(text)
    assert profiles_of(text) == after
    assert now.get("default_profile") == default
    assert now.get("terminal") == before.get("terminal")
    lines, kept = text.splitlines(), source.splitlines()
    if deed in ("add", "default") and before.get("default_profile") == default:
        if "profiles = {" not in source:
            assert is_subsequence(kept, lines), "no line was changed, and none went"
    elif deed == "change" and old and "profiles = {" not in source:
        changed = sum(line not in lines for line in kept)
        assert changed <= 4, "base_url, color and the header"
    if deed != "remove":
        assert is_subsequence(comment_lines(source), lines), "no comment went"


# --- the file ----------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config" / "lockterm" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(ODD)
    path.chmod(0o600)
    return path


def opened(path: Path, environ: dict[str, str] | None = None, **options: Any) -> Profiles:
    return Profiles(path, Options(**options), environ or {"TOKEN": "secret-of-a"})


def test_the_first_profile_is_the_default_and_the_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "config" / "lockterm" / "config.toml"
    profiles = opened(path)
    before = os.umask(0)
    try:
        profiles.save(profiles.read(), "north", FILED)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [one.name for one in path.parent.iterdir()] == ["config.toml"], "nothing is left beside"
    assert tomllib.loads(path.read_text())["default_profile"] == "north"
    profiles.save(profiles.read(), "south", FILED)
    assert tomllib.loads(path.read_text())["default_profile"] == "north"
    path.write_text('[profiles.only]\nbase_url = "https://o.example"\n')
    profiles.save(profiles.read(), "second", FILED)
    assert tomllib.loads(path.read_text())["default_profile"] == "only", "as it was without words"


def test_a_file_that_others_could_read_is_closed(file: Path) -> None:
    file.chmod(0o644)
    file.parent.chmod(0o755)
    profiles = opened(file)
    profiles.make_default(profiles.read(), "c")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_write_is_refused_when_the_file_has_changed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles = opened(file)
    seen = profiles.read()
    with monkeypatch.context() as while_waiting:
        other = "# the other one\n"
        while_waiting.setattr("fcntl.flock", lambda *_: file.write_text(other))
        with pytest.raises(ConfigError, match="changed by another session"):
            profiles.save(seen, "new", FILED)
        assert file.read_text() == other
    for other in (ODD + "\n# typed in an editor", ""):
        file.write_text(other)
        with pytest.raises(ConfigError, match="changed by another session"):
            profiles.save(seen, "new", FILED)
        assert file.read_text() == other
    file.unlink()
    with pytest.raises(ConfigError, match="changed by another session"):
        profiles.save(seen, "new", FILED)
    assert not file.exists()
    none = profiles.read()
    file.write_text("# somebody was here\n")
    with pytest.raises(ConfigError, match="changed by another session"):
        profiles.save(none, "new", FILED)
    file.unlink()
    profiles.save(profiles.read(), "new", FILED)
    assert list(profiles_of(file.read_text())) == ["new"]


def test_a_file_of_another_user_is_not_written(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profiles = opened(file)
    seen = profiles.read()
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
    for thing in ("directory", "config.toml"):
        with pytest.raises(ConfigError, match=rf"{thing}.* another user.*Nothing was written"):
            profiles.save(seen, "new", FILED)
        assert file.read_text() == ODD
        monkeypatch.setattr("lockterm.config.writing.make_directory", lambda _: None)


def test_where_nothing_can_be_written_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    profiles = opened(tmp_path / "taken" / "config.toml")
    seen = Profiles(tmp_path / "none", Options(), {}).read()
    with pytest.raises(ConfigError, match=r"Nothing was written.*") as caught:
        profiles.save(type(seen)(profiles.path), "new", FILED)
    assert "XDG_CONFIG_HOME" in caught.value.hint


def test_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link" / "config.toml"
    link.parent.mkdir()
    link.symlink_to(file)
    profiles = opened(link)
    profiles.make_default(profiles.read(), "c")
    assert link.is_symlink()
    assert tomllib.loads(file.read_text())["default_profile"] == "c"


# --- the list ----------------------------------------------------------------------------------


def test_entries_show_broken_profiles_beside_good_ones(file: Path) -> None:
    file.write_text(ODD.replace("timeout_s = 1_0.5", 'timezone = "Nowhere"'))
    profiles = opened(file, {"OTHER": "x"})
    a, b, c = profiles.entries(profiles.read())
    assert "variable TOKEN, which is not set" in str(a.error)
    assert "'Nowhere' is not a time zone" in str(b.error)
    assert c.error is None
    assert c.profile is not None
    assert (a.is_default, c.is_default) == (True, False)


def test_what_was_said_at_the_start_comes_before_the_file(file: Path) -> None:
    environ = {"TOKEN": "x", "LOCKTERM_READ_ONLY": "1", "LOCKTERM_PROFILE": "c"}
    profiles = opened(file, environ, base_url="https://elsewhere.example")
    assert profiles.pinned_by == "--base-url"
    assert profiles.read_only_by == "LOCKTERM_READ_ONLY=1"
    assert profiles.chosen_by == "LOCKTERM_PROFILE=c"
    hosts = [entry.profile and entry.profile.host for entry in profiles.entries(profiles.read())]
    assert hosts == ["a.example", "b.example", "c.example"]
    assert all(entry.profile.read_only for entry in profiles.entries(profiles.read()))


def test_removing_the_default_names_another_one(file: Path) -> None:
    profiles = opened(file)
    for left in (["b b", "c"], ["c"], []):
        config = profiles.read()
        profiles.remove(config, config.default_profile or next(iter(config.profiles)))
        now = read_config(file)
        assert list(now.profiles) == left
        assert now.default_profile == (left[0] if left else None)
    assert "# the end" in file.read_text()
    assert "[terminal]  # mine\nquiet = false" in file.read_text()


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("name", "", "A profile requires a name"),
        ("name", "b b", "A profile 'b b' already exists"),
        ("name", "a\x07b", "is not a valid name for a profile"),
        ("base_url", "nonsense", "The base URL 'nonsense' is not a web address. Write https://"),
        ("base_url", "", "address of a service"),
        ("timezone", "Europe/Berln", "or Europe/Berlin or"),
        ("header", "Bad name", "The header is not a valid name for a header."),
        ("header", "Host", "is set by lockterm itself"),
        ("header", "", "Type the header that gets the value"),
        (
            "variable",
            "Bearer hunter2",
            "The variable is not a valid name for an environment variable",
        ),
        ("variable", "", "Type the environment variable"),
        ("color", "pink", "is not a profile color"),
        ("account", " ", "is not a valid name for an account"),
        ("ca_file", "/no/such.pem", "The CA file is /no/such.pem, which is not a readable file"),
        ("ca_file", "~nobody-here/ca.pem", "that home directory does not exist"),
    ],
)
def test_what_is_typed_wrongly_is_said_in_the_words_of_the_file(
    field: str, value: str, says: str
) -> None:
    right = {"name": "n", "base_url": "https://n.example", "header": "X", "variable": "KEY"}
    typed = typed_of("", {}) | right
    assert not check(typed, {}, {"b b": {}}).errors
    assert check(typed | {"account": "north"}, {}, {}).filed["account"] == "north"
    errors = check(typed | {field: value}, {}, {"b b": {}}).errors
    assert says in " ".join(errors.values())
    assert "hunter2" not in str(errors)


def test_check_files_every_field_of_the_form(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("x")
    filed = {
        **{"base_url": "https://n.example", "timezone": "Europe/Oslo", "account": "north"},
        **{"ca_file": str(tmp_path / "ca.pem"), "read_only": True, "color": "red"},
        "headers": {"X": "env:KEY"},
    }
    typed = {name: value for name, value in filed.items() if isinstance(value, str)}
    typed |= {"name": "n", "read_only": READ_ONLY, "header": "X", "variable": "KEY"}
    checked = check(typed_of("", {}) | typed, {}, {}, tmp_path)
    assert (checked.errors, checked.filed) == ({}, filed)
    assert check(typed_of("n", filed), filed, {}, tmp_path).filed == filed
    spelled = filed | {"base_url": "https://n.example/", "read_only": False}
    assert check(typed_of("n", spelled), spelled, {}, tmp_path).filed == spelled
    for written in ("yes", "false", 1, 0, []):  # a setting of another type stays read-only
        odd = {"base_url": "https://n.example", "read_only": written}
        typed = typed_of("n", odd)
        assert typed["read_only"] == READ_ONLY
        assert check(typed, odd, {}).filed["read_only"] is True


def test_the_ca_file_of_a_form_begins_at_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("a certificate")
    (tmp_path / "ca.pem").chmod(0o600)
    right = {"name": "n", "base_url": "https://n.example", "ca_file": "ca.pem"}
    checked = check(typed_of("", {}) | right, {}, {}, tmp_path)
    assert (checked.errors, checked.filed["ca_file"]) == ({}, "ca.pem")
    filed = {"base_url": "https://n.example", "ca_file": "ca.pem", "ca_only": True}
    typed = typed_of("n", filed)
    assert typed["ca_file"] == "ca.pem"
    assert check(typed, filed, {}, tmp_path).filed == filed
    assert "ca_only" in check(typed | {"ca_file": ""}, filed, {}, tmp_path).errors["ca_file"]
    del filed["ca_only"]
    assert "ca_file" not in check(typed | {"ca_file": ""}, filed, {}, tmp_path).filed


def test_the_older_spelling_of_color_is_read_and_stays(file: Path) -> None:
    file.write_text(ODD.replace("timeout_s = 1_0.5", 'colour = "green"'))
    profiles = opened(file)
    shown = profiles.resolve(profiles.read(), "b b")
    assert shown.profile.color == "green"
    assert shown.origins["color"].endswith("line 15")
    filed = profiles.read().profiles["b b"]
    typed = typed_of("b b", filed)
    assert typed["color"] == "green"
    assert check(typed, filed, {}).filed == filed
    changed = check(typed | {"color": "red"}, filed, {}).filed
    assert changed == {"base_url": "https://b.example", "colour": "red"}
    assert check(typed | {"color": UNCOLORED}, filed, {}).filed == {"base_url": "https://b.example"}


def test_a_wrong_color_is_refused_with_its_line(file: Path) -> None:
    for color, words in (
        ('color = "gren"', r'line 15: color \'gren\'.*did you mean "green"\?'),
        ('colour = "green"\ncolor = "red"', "line 15: colour is also set as color"),
    ):
        file.write_text(ODD.replace("timeout_s = 1_0.5", color))
        profiles = opened(file)
        with pytest.raises(ConfigError, match=words):
            profiles.resolve(profiles.read(), "b b")
