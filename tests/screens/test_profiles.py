"""The profiles inside lockterm: listed with what is wrong, opened, added, changed, removed."""

from __future__ import annotations

import asyncio
import json
import tomllib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from lockterm.app import LocktermApp
from lockterm.config import Options
from lockterm.config.look import Look
from lockterm.config.profiles import Profiles
from lockterm.domain.remotes import Remote
from lockterm.paths import Paths
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.locks import LocksScreen
from lockterm.screens.modal import RefusedModal
from lockterm.screens.profiles import ProfilesScreen
from lockterm.screens.profiles.form import ProfileForm
from lockterm.screens.profiles.screen import ProfilesTable
from lockterm.service.running import RunningService
from lockterm.widgets.cells import shorten_middle
from lockterm.widgets.header_footer import ColoredTitleLine, TitleLine
from tests.screens.running_app import Clock, settled, until
from tests.screens.site import canned, press, press_to, settled_when, shown, words
from tests.screens.snapshots import assert_picture
from tests.screens.test_title_clicks import click

FILE = """\
default_profile = "north-campus"  # where most of us are

[profiles.north-campus]
base_url = "{url}"
timezone = "Europe/Berlin"
color = "green"

[profiles.harbour]
base_url = "https://locks.harbour.example"
timezone = "Asia/Shanghai"
read_only = true
color = "red"

[profiles.old-town]
base_url = "https://old-town.example"
timezone = "Europe/Berln"

[profiles.annexe]
base_url = "http://127.0.0.1:9/locks"
[profiles.annexe.headers]
Authorization = "env:NOT_SET"
"""

Open = Callable[..., Any]


class Home:
    """A configuration, and apps on its profiles."""

    def __init__(self, root: Path, url: str, clock: Clock) -> None:
        self.paths = Paths.below(root)
        self.file = self.paths.config_file
        self.file.parent.mkdir(parents=True)
        self.file.write_text(FILE.format(url=url))
        self.file.chmod(0o600)
        self.clock = clock

    @asynccontextmanager
    async def open(
        self,
        name: str = "north-campus",
        *,
        size: tuple[int, int] = (80, 24),
        environ: dict[str, str] | None = None,
        **options: Any,
    ) -> AsyncIterator[Pilot[int]]:
        profiles = Profiles(self.file, Options(**options), environ or {})
        profile = profiles.resolve(profiles.read(), name).profile
        assert profile is not None
        app = LocktermApp(profile, self.paths, profiles=profiles, clock=self.clock)
        app.animation_level = "none"
        async with app.run_test(size=size, notifications=True) as pilot:
            await settled(pilot)
            await press_to(pilot, ProfilesScreen, "P")
            yield pilot

    def filed(self) -> dict[str, Any]:
        return tomllib.loads(self.file.read_text())


@pytest.fixture
def home(tmp_path: Path, service: RunningService, clock: Clock) -> Home:
    return Home(tmp_path, service.base_url, clock)


def goes_on(pilot: Pilot[int]) -> Any:
    assert isinstance(pilot.app, LocktermApp)
    return pilot.app.goes_on


async def confirm(pilot: Pilot[int]) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
    await until(pilot, lambda: pilot.app.screen.painted_s is not None)
    await pilot.press("right", "enter")


async def form_of(pilot: Pilot[int], key: str) -> ProfileForm:
    return await press_to(pilot, ProfileForm, key)


async def back(pilot: Pilot[int]) -> None:
    await settled_when(pilot, lambda: isinstance(pilot.app.screen, ProfilesScreen))


async def test_all_profiles_are_listed_the_broken_ones_with_their_reason(home: Home) -> None:
    async with home.open() as pilot:
        text = shown(pilot.app)
        assert " north-campus   127.0.0.1" in text.splitlines()[0]
        rows = {line.split()[0]: line for line in text.splitlines()[2:6]}
        assert "in use, default" in rows["north-campus"]
        assert rows["harbour"].split()[2] == "yes", "it is read-only"
        assert "locks.harbour.example" in rows["harbour"]
        assert "BROKEN" in rows["old-town"]
        assert "BROKEN" in rows["annexe"]
        await pilot.press("j", "j")
        await until(pilot, lambda: "is not a time zone; did you mean" in words(pilot.app))
        await press(pilot, "enter")
        assert goes_on(pilot) is None
        await pilot.press("escape", "j")
        await until(pilot, lambda: "variable NOT_SET, which is not set" in words(pilot.app))
        await pilot.press("g", "j", "enter")
        await until(pilot, lambda: goes_on(pilot) is not None)
        profile = goes_on(pilot).profile
        assert (profile.name, profile.host) == ("harbour", "locks.harbour.example")
        assert profile.read_only


@pytest.mark.long
async def test_a_click_on_a_title_sorts_them_and_the_cursor_stays_on_its_profile(
    home: Home,
) -> None:
    async with home.open() as pilot:
        table = pilot.app.screen.query_one(ProfilesTable)

        def profiles() -> list[str]:
            return ["".join(text for text, _ in table.line(row)).split()[0] for row in range(4)]

        by_itself = profiles()
        await pilot.press("j")
        assert "Profile^" in await click(pilot, ProfilesTable, "Profile")
        assert profiles() == ["annexe", "harbour", "north-campus", "old-town"]
        assert table.highlighted == "harbour"
        await click(pilot, ProfilesTable, "Profile")
        assert profiles() == ["old-town", "north-campus", "harbour", "annexe"]
        await click(pilot, ProfilesTable, "Color")
        assert profiles() == ["north-campus", "harbour", "old-town", "annexe"], "without: last"
        await click(pilot, ProfilesTable, "Color")
        assert "Color" in await click(pilot, ProfilesTable, "Color")
        assert profiles() == by_itself
        assert table.highlighted == "harbour"


@pytest.mark.long
async def test_what_was_said_at_the_start_wins_and_the_list_says_so(home: Home) -> None:
    environ = {"LOCKTERM_BASE_URL": "https://elsewhere.example"}
    async with home.open(environ=environ, read_only=True) as pilot:
        assert "LOCKTERM_BASE_URL=https://elsewhere.example sets the service" in words(pilot.app)
        assert "--read-only sets whether lockterm sends changes" in words(pilot.app)
        assert "  sent" not in shown(pilot.app)
        await pilot.press("j", "enter")
        await until(
            pilot, lambda: "To switch, start lockterm without" in pilot.app.messages[-1].text
        )
        assert goes_on(pilot) is None


async def test_a_write_on_its_way_is_not_cut_off(tmp_path: Path, clock: Clock) -> None:
    answer = asyncio.Event()

    async def late(_: object) -> object:
        await answer.wait()
        return {"errcode": 0, "errmsg": "", "description": "", "data": {}}

    async with canned({"/updateUserNo": late, "/list": late, "UserNo": late}) as server:
        home = Home(tmp_path, server.base_url, clock)
        async with home.open() as pilot:
            operations = pilot.app.screen.operations
            remote = Remote.read({"id": 5, "remoteName": "Anna"})
            write = asyncio.ensure_future(
                operations.writes.set_user_no(1001, remote, 7, just_read=True)
            )
            await until(pilot, lambda: operations.writes.under_way)
            await press_to(pilot, RefusedModal, "j", "enter")
            await until(pilot, lambda: "A change is being sent" in shown(pilot.app))
            assert goes_on(pilot) is None
            await pilot.press("escape")
            answer.set()
            await write
            await pilot.press("enter")
            await until(pilot, lambda: goes_on(pilot) is not None)


@pytest.mark.long
async def test_one_is_added_after_it_was_tried_made_the_default_and_removed(
    home: Home, service: RunningService
) -> None:
    before = home.file.read_text()
    async with home.open() as pilot:
        await form_of(pilot, "a")
        await pilot.press(*"south", "tab", *service.base_url, "ctrl+s")
        await back(pilot)
        assert "south" in shown(pilot.app)
        assert home.file.read_text() == (
            f'{before}\n[profiles.south]\nbase_url = "{service.base_url}"\n'
        )
        assert [path for _, path in service.requests] == ["/api/v1/bluetooth-remote/list"]
        await pilot.press("g", "j", "0")
        await settled_when(pilot, lambda: home.filed()["default_profile"] == "harbour")
        await press_to(pilot, ConfirmModal, "x")
        text = words(pilot.app)
        assert "north-campus will become the default" in text
        assert "Nothing will change at the service" in text
        await confirm(pilot)
        await back(pilot)
        assert list(home.filed()["profiles"]) == ["north-campus", "old-town", "annexe", "south"]
        assert home.filed()["default_profile"] == "north-campus"


@pytest.mark.long
async def test_the_one_in_use_is_changed_and_opened_again(home: Home) -> None:
    async with home.open() as pilot:
        form = await form_of(pilot, "e")
        assert form.field("name").control.disabled
        form.field("read_only").focus_control()
        await pilot.press("right", "tab", "left", "ctrl+s")
        await back(pilot)
        assert "reopen it with the changes" in pilot.app.messages[-1].text
        assert pilot.app.screen.operations.profile.read_only is False
        await pilot.press("enter")
        await until(pilot, lambda: goes_on(pilot) is not None)
        assert goes_on(pilot).profile.read_only
        assert goes_on(pilot).profile.color == "yellow"
    assert "# where most of us are" in home.file.read_text()


@pytest.mark.long
async def test_a_broken_one_can_be_mended(home: Home, service: RunningService) -> None:
    async with home.open() as pilot:
        await pilot.press("G")
        await form_of(pilot, "e")
        await pilot.press("ctrl+u", *service.base_url, "ctrl+t")
        await until(pilot, lambda: "NOT_SET, which is not set" in words(pilot.app))
        await pilot.press("tab", "tab", "ctrl+u", "tab", "ctrl+u", "ctrl+s")
        await back(pilot)
        assert home.filed()["profiles"]["annexe"] == {"base_url": service.base_url}
        await pilot.press("enter")
        await until(pilot, lambda: goes_on(pilot) is not None)


@pytest.mark.long
async def test_form_warns_when_headers_go_to_another_address(home: Home) -> None:
    async with home.open() as pilot:
        for key, headers in (("G", True), ("g", False)):  # annexe has one, north-campus none
            await pilot.press(key)
            form = await form_of(pilot, "e")
            await pilot.press("ctrl+u", *"https://other.example")
            warning = form.field("base_url").warning
            assert "Lock book and history stay" in warning
            assert ("send the headers to this address" in warning) is headers
            await pilot.press("escape")
            await confirm(pilot)
            await back(pilot)
        form = await form_of(pilot, "a")  # a new profile has nothing that stays with it
        await pilot.press(*"new", "tab", *"https://other.example")
        assert form.field("base_url").warning == ""


async def test_a_test_can_be_stopped_and_typed_fields_stay(tmp_path: Path, clock: Clock) -> None:
    async def never(_: object) -> object:
        await asyncio.Event().wait()

    async with canned({"/list": never}) as server:
        home = Home(tmp_path, server.base_url, clock)
        async with home.open() as pilot:
            form = await form_of(pilot, "e")
            await pilot.press("tab", "ctrl+u", *"UTC", "ctrl+t")
            await until(pilot, lambda: form.doing)
            await pilot.press("x")  # nothing can be typed while it is asked
            await pilot.press("escape")
            await until(pilot, lambda: "Stopped" in words(pilot.app))
            assert form.typed()["timezone"] == "UTC"
            await pilot.press("escape")  # nothing is under way: this leaves
            await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))


@pytest.mark.long
async def test_what_is_typed_is_kept_and_a_secret_in_the_wrong_field_is_not(home: Home) -> None:
    def kept() -> Any:
        choices = json.loads(home.paths.choices.read_bytes()) if home.paths.choices.exists() else {}
        return choices.get("profile_form", {}).get("typed", {})

    async with home.open(environ={"TOKEN": "s3cr3t"}) as pilot:
        form = await form_of(pilot, "a")
        form.fill({"name": "south", "header": "X-Token", "variable": "TOKEN"})
        await until(pilot, lambda: kept())
        assert kept() == {"name": "south", "header": "X-Token", "variable": "TOKEN"}
        form.fill({"base_url": "https://me:s3cr3t@locks.example", "name": "south 2"})
        form.fill({"header": "Authorization: Bearer s3cr3t", "variable": "s3cr3t"})
        await until(pilot, lambda: kept()["name"] == "south 2")
        assert kept() == {"name": "south 2"}


@pytest.mark.long
async def test_broken_configuration_is_read_again_and_quitting_asks_when_something_was_typed(
    home: Home,
) -> None:
    source = home.file.read_text()
    async with home.open() as pilot:
        home.file.write_text(source + "[nonsense")
        await pilot.press("r")
        await until(pilot, lambda: "is not valid TOML" in words(pilot.app))
        await press_to(pilot, RefusedModal, "a")
        await pilot.press("escape")
        home.file.write_text(source)
        await pilot.press("r")
        await until(pilot, lambda: "harbour" in shown(pilot.app))
        await form_of(pilot, "a")
        await press_to(pilot, ConfirmModal, *"south", "ctrl+q")
        await until(pilot, lambda: "without saving?" in words(pilot.app))
        await until(pilot, lambda: pilot.app.screen.painted_s is not None)
        await press_to(pilot, ProfileForm, "enter")
        await pilot.press("escape")
        await confirm(pilot)
        await back(pilot)
        await press_to(pilot, LocksScreen, "escape")


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_pictures(tmp_path: Path, clock: Clock, size: tuple[int, int]) -> None:
    home = Home(tmp_path, "https://locks.example.com", clock)
    at = f"{size[0]}x{size[1]}"
    async with home.open(size=size) as pilot:
        await press(pilot, "j", "j")
        about = pilot.app.screen.query_one("#profile-about")
        about.update(str(about.render()).replace(str(home.file), "~/.config/lockterm/config.toml"))
        await settled(pilot)
        assert_picture(pilot.app, f"profiles-{at}")
        await pilot.press("k")
        await form_of(pilot, "e")
        await until(pilot, lambda: "Local time:" in words(pilot.app))
        assert_picture(pilot.app, f"profile-form-{at}")


# --- the title line ----------------------------------------------------------------------------


class TitleApp(App[None]):
    """A title line alone."""

    def __init__(self, *arguments: str, breadcrumbs: tuple[str, ...], **options: Any) -> None:
        super().__init__()
        self.look = Look(colors=0)
        kind = ColoredTitleLine if "color" in options else TitleLine
        self.line: TitleLine = kind(*arguments, **options)
        self.line.breadcrumbs = breadcrumbs

    def compose(self) -> ComposeResult:
        yield self.line


@pytest.mark.parametrize("width", [60, 80, 120, 200])
async def test_title_always_shows_profile_host_and_state(width: int) -> None:
    breadcrumbs = ("Locks", "A gate with a very long name indeed", "Remotes", "Edit Anna Weber")
    name, host = "north-campus-and-annexes", "locks.north-campus.example.com:8443"
    app = TitleApp(name, host, breadcrumbs=breadcrumbs, read_only=True, color="red")
    app.line.online = False
    async with app.run_test(size=(width, 20)):
        line = str(app.line.render())
    assert cell_len(line) == width
    assert line.endswith("  read-only  OFFLINE")
    left, profile, shown_host = line.removesuffix("  read-only  OFFLINE").rsplit(maxsplit=2)
    assert "Edit" in left or "Anna" in left or left.startswith("Locks")
    assert (profile[:4], profile[-4:]) == (name[:4], name[-4:])
    assert (shown_host[:5], shown_host[-5:]) == (host[:5], host[-5:])
    assert (profile, shown_host) == (name, host) or width < 120


@given(st.text(max_size=40), st.integers(5, 30))
def test_shortening_keeps_both_ends(text: str, room: int) -> None:
    short = shorten_middle(text, room)
    assert cell_len(short) <= max(room, 3)
    if cell_len(text) > room and text.isascii() and text.isalnum():
        assert short[0] == text[0]
        assert short[-1] == text[-1]


async def test_form_says_that_the_variable_has_the_whole_value_when_the_header_is_authorization(
    home: Home,
) -> None:
    async with home.open(environ={"TOKEN": "Bearer x"}) as pilot:
        form = await form_of(pilot, "a")
        row = form.field("variable")
        for header, variable, note in (
            ("", "", "never asks"),
            ("authorization", "", 'export NAME="Bearer ..."'),
            ("Authorization", "NOT_SET", "is not set. Set the whole value: export NAME="),
            ("Authorization", "TOKEN", "The variable is set."),
            ("X-Key", "NOT_SET", "Set it before you start lockterm"),
        ):
            form.fill({"header": header, "variable": variable})
            await until(pilot, lambda: note in row.note)  # noqa: B023
        assert "your own CA" in form.field("ca_file").note
