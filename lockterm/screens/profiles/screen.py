"""The screen that switches between profiles, and adds, changes or removes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from textual import work
from textual.app import ComposeResult
from textual.widgets import Static

from lockterm.config.file import color_key
from lockterm.config.profiles import successor
from lockterm.domain.names import natural
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.domain.text.service import format_sentences
from lockterm.errors import ConfigError
from lockterm.keymap.hints import key, with_keys
from lockterm.screens.base import LocktermScreen
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.list_screen import ListScreen
from lockterm.screens.profiles.form import ProfileForm
from lockterm.terminal.key_queue import opens
from lockterm.widgets.actions import bindings
from lockterm.widgets.data_status import KeyOffers, describe_error
from lockterm.widgets.row_table import Column, RowTable

if TYPE_CHECKING:
    from lockterm.config import Settings
    from lockterm.config.file import ConfigFile
    from lockterm.config.preferences import Preferences
    from lockterm.config.profiles import ProfileEntry, Profiles
    from lockterm.operations import Operations


BROKEN = "BROKEN"


class ProfilesTable(RowTable):
    """The table of profiles: name, host, state, read-only mode, time zone and color."""

    sortable = ("Profile", "Host", "Read-only", "Zone", "Color")

    def __init__(self) -> None:
        super().__init__(
            Column("Profile", most=24, least=10),
            Column("Host", most=40, least=22),
            Column("", most=16, least=16),
            Column("Read-only", most=9, least=9, rank=1),
            Column("Zone", most=24, least=10, rank=3),
            Column("Color", most=6, rank=2),
            id="profiles",
        )

    def show_profiles(
        self, entries: Sequence[ProfileEntry], in_use: str, cursor: str | None = None
    ) -> None:
        """Replace the rows.

        Args:
            entries: The profiles in the order of the file. The table sorts them by the clicked
                column title.
            in_use: The name of the profile of this session.
            cursor: The name of the profile to select; None to keep the selection.
        """
        rows = {entry.name: _cells(entry, in_use) for entry in entries}
        self.show(dict(self.in_order([*rows.items()])), cursor)

    def sort_key(self, row: tuple[str, Sequence[str]], title: str) -> Any:
        text = row[1][[column.title for column in self._plan].index(title)]
        return None if text == "-" else natural(text)


def _cells(entry: ProfileEntry, in_use: str) -> tuple[str, ...]:
    marks = [
        BROKEN if entry.error else "",
        "in use" if entry.name == in_use else "",
        "default" if entry.is_default else "",
    ]
    profile = entry.profile
    if profile is None:
        host = str(entry.filed.get("base_url", "")).partition("://")[2]
        read_only, zone = "-", str(entry.filed.get("timezone", "-"))
        color = str(entry.filed.get(color_key(entry.filed), "-"))
    else:
        read_only = "yes" if profile.read_only else "no"
        host, zone, color = profile.host, profile.timezone, profile.color or "-"
    shown = (entry.name, host or "-", ", ".join(filter(None, marks)), read_only, zone, color)
    return tuple(clean(value, LONGEST_CELL) for value in shown)


_ON_A_PROFILE = {"switch", "edit", "make_default", "remove"}
"""The actions that need a selected profile."""


class ProfilesScreen(ListScreen[None]):
    """The screen with every profile of the configuration, including invalid profiles.

    Args:
        operations: The operations on the service and the local store of the profile in use.
        profiles: The profiles of the configuration file.
        choices: The preferences, which store the input of an unfinished form.
        go_on: A function that receives settings, ends this session, and starts a new session with
            the settings.
    """

    BINDINGS = bindings("profiles")

    row_action = "switch"
    table: ProfilesTable

    def __init__(
        self,
        operations: Operations,
        profiles: Profiles,
        choices: Preferences,
        go_on: Callable[[Settings], None],
    ) -> None:
        super().__init__(operations, ProfilesTable())
        self._profiles = profiles
        self._choices = choices
        self._go_on = go_on
        self._file: ConfigFile | None = None
        self._error: ConfigError | None = None
        self._entries: dict[str, ProfileEntry] = {}
        self._go_to: str | None = operations.profile.name

    def breadcrumbs(self) -> tuple[str, ...]:
        return ("Profiles",)

    def compose_body(self) -> ComposeResult:
        yield from self.compose_list()
        yield Static(id="profile-about", markup=False)

    # --- loading -------------------------------------------------------------------------------

    def on_screen_resume(self) -> None:
        """Read the file again, because an editor or another session may have changed it."""
        self.load_profiles()

    @work(exclusive=True, group="profiles")
    @opens("the profiles")
    async def load_profiles(self) -> None:
        """Read the configuration file, and show its profiles or the error."""
        try:
            file = await asyncio.to_thread(self._profiles.read)
            entries = await asyncio.to_thread(self._profiles.entries, file)
        except ConfigError as error:
            self._error, self._file, self._entries = error, None, {}
        else:
            self._error, self._file = None, file
            self._entries = {entry.name: entry for entry in entries}
        self.paint()

    def paint(self) -> None:
        entries = list(self._entries.values())
        self.table.show_profiles(entries, self.operations.profile.name, self._go_to)
        self._go_to = None
        self.show_list()
        self.describe_rows()

    def describe_empty(self) -> tuple[str, KeyOffers]:
        if self._error is not None:
            return describe_error(self._error), {"{profiles.refresh}": "try again", "Esc": "close"}
        if self._file is None:
            return "Reading the configuration ...", {}
        fact = f"There are no profiles in {clean(self._file.path)}."
        return fact, {"{profiles.add}": "add a profile", "Esc": "close"}

    @property
    def current(self) -> ProfileEntry | None:
        """The selected profile; None if the table is empty."""
        return self._entries.get(self.table.highlighted or "")

    def describe_rows(self) -> None:
        lines = []
        if entry := self.current:
            if entry.error is not None:
                lines.append(f"! {format_sentences(entry.error)}")
            elif entry.profile is not None:
                about = entry.profile
                texts = [clean(about.base_url, 200), f"times in {clean(about.timezone)}"]
                lines.append("   ".join([*texts, *["read-only"] * about.read_only]))
        lines += self._before_the_file()
        self.query_one("#profile-about", Static).update("\n".join(lines))
        self.refresh_bindings()

    def _before_the_file(self) -> list[str]:
        """Return sentences about options and environment variables that override the file."""
        said = (
            (self._profiles.pinned_by, "sets the service of this session"),
            (self._profiles.read_only_by, "sets whether lockterm sends changes"),
            (self._profiles.chosen_by, "selected the profile of this session"),
        )
        return [f"{clean(who, 60)} {what}, and overrides the file." for who, what in said if who]

    # --- actions -------------------------------------------------------------------------------

    def disabled_reason(self, action: str) -> str:
        """Return why an action is disabled now; empty if it is enabled."""
        entry = self.current if self.is_mounted else None
        if action == "add":
            return "" if self._file is not None else "The configuration cannot be read."
        if action in _ON_A_PROFILE and entry is None:
            return "No profile is selected."
        if action == "make_default" and entry and self._file:
            is_said = self._file.default_profile == entry.name
            return "This profile is already the default." if is_said else ""
        return self._why_not_switch(entry) if action == "switch" and entry else ""

    def _why_not_switch(self, entry: ProfileEntry) -> str:
        if entry.error is not None:
            return (
                f"{format_sentences(entry.error)} Press {key('profiles.edit')} to change the"
                " profile."
            )
        if by := self._profiles.pinned_by:
            by = clean(by, 60)
            return f"{by} sets the service. To switch, start lockterm without {by}."
        if self.operations.run_under_way is not None:
            return "A run is under way. Wait until the run ends, or stop it, then switch."
        if self.operations.writes.under_way:
            return "A change is being sent. Wait for the answer, then switch."
        open_screens = (one for one in self.app.screen_stack if isinstance(one, LocktermScreen))
        if any(screen.would_lose for screen in open_screens):
            return (
                "Another screen has unfinished work. Close this screen, finish or stop that"
                " work, then switch."
            )
        return ""

    @work
    @opens("the screen of the other profile", must_appear=True)
    async def action_switch(self) -> None:
        """Read the configuration file again, and start a session with the selected profile."""
        entry = self.current
        if entry is None:
            return
        with self.refusing_errors():
            file = await asyncio.to_thread(self._profiles.read)
            settings = await asyncio.to_thread(self._profiles.resolve, file, entry.name)
            if reason := self._why_not_switch(entry):  # a change may have been sent since
                self.refuse_to_open("Open", reason)
            else:
                self._go_on(settings)

    def action_add(self) -> None:
        self._fill_in(None)

    def action_edit(self) -> None:
        if entry := self.current:
            self._fill_in(entry.name)

    def _fill_in(self, name: str | None) -> None:
        if self._file is not None:
            form = ProfileForm(self._profiles, self._file, name, self._choices, self.operations)
            self.app.push_screen(form, self._filled_in)

    def _filled_in(self, name: str | None) -> None:
        if name is not None:
            self._tell_saved(name)

    @work
    async def _tell_saved(self, name: str) -> None:
        self._go_to = name
        await self.load_profiles().wait()
        entry = self._entries.get(name)
        hint = with_keys("Press {profiles.open} to open the profile.")
        if entry is None or entry.error is not None:
            hint = "The profile cannot be opened."
        elif name == self.operations.profile.name:
            hint = with_keys(
                "The profile is in use. Press {profiles.open} to reopen it with the changes."
            )
        self.notify(hint, title=f"Saved the profile {clean(name, 60)}")

    @work
    @opens("the profiles")
    async def action_make_default(self) -> None:
        """Make lockterm start with the selected profile."""
        entry = self.current
        if entry is None or self._file is None:
            return
        with self.showing_errors():
            saved = await asyncio.to_thread(self._profiles.make_default, self._file, entry.name)
            self._show_notice(saved)
            self.notify(
                f"lockterm will start with the profile {clean(entry.name, 60)}.", title="Default"
            )
        self.load_profiles()

    @work
    @opens("the profiles")
    async def action_remove(self) -> None:
        entry, file = self.current, self._file
        if entry is None or file is None:
            return
        if not await self.app.push_screen_wait(_removal(entry, file, self.operations.profile.name)):
            return
        with self.showing_errors():
            self._show_notice(await asyncio.to_thread(self._profiles.remove, file, entry.name))
            self.notify("", title=f"Removed the profile {clean(entry.name, 60)}")
        self.load_profiles()

    def _show_notice(self, saved: ConfigFile) -> None:
        if saved.notice:
            self.notify(clean(saved.notice), title="Configuration", severity="warning")

    def action_refresh(self) -> None:
        self.load_profiles()

    def action_close(self) -> None:
        self.dismiss()


def _removal(entry: ProfileEntry, file: ConfigFile, in_use: str) -> ConfirmModal:
    """Return the dialog that confirms removing a profile, and explains the effects."""
    details = [
        "Nothing will change at the service. The lock book and the history stay on this machine."
        " A new profile with the same name will show them again."
    ]
    if entry.name == in_use:
        details.append(
            "The profile is in use. It stays open until you quit lockterm or open another profile."
        )
    after = successor(file, entry.name)
    if after is None and len(file.profiles) == 1:
        details.append(
            "This is the last profile. At the next start, lockterm will ask for a service."
        )
    elif after is not None and after != file.default_profile:
        details.append(f"This is the default profile. {clean(after, 60)} will become the default.")
    question = f"Remove the profile {clean(entry.name, 60)} from the configuration?"
    return ConfirmModal(
        question, "\n".join(details), verb="Remove the profile", keep="Keep the profile"
    )
