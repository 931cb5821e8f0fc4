"""The form of a profile: typed, tried at the service, and written into the configuration."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from textual import events, on, work
from textual.app import ComposeResult
from textual.reactive import var
from textual.widgets import Button
from textual.worker import Worker

from lockterm.config.file import ConfigFile
from lockterm.config.profiles import header_of
from lockterm.config.typed_profile import LABELS, CheckedProfile, check, may_be_secret, typed_of
from lockterm.domain.text import clean
from lockterm.domain.wording import sentences
from lockterm.errors import ConfigError, StoreError
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.form import FormScreen
from lockterm.screens.form_drafts import Soon
from lockterm.screens.profiles.fields import ProfileFields
from lockterm.screens.profiles.trial import Tried, try_profile
from lockterm.terminal.key_queue import opens
from lockterm.widgets.bindings import bindings
from lockterm.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from lockterm.config.preferences import Preferences
    from lockterm.config.profiles import Profiles
    from lockterm.operations import Operations

KEPT = "profile_form"
"""Under this name a form that is not finished is kept among the choices."""


class ProfileForm(FormScreen[str | None]):
    """Add a profile, or change one. Answers with its name once it is written.

    Args:
        profiles: Reads and writes the file.
        file: The configuration as it was read.
        name: The profile to change; None adds one.
        choices: Keeps what is typed, should the terminal go.
        door: The profile in use, for the title line; None on the first run.
    """

    BINDINGS = bindings("profile_form")

    AUTO_FOCUS = None

    doing: var[str] = var("", init=False)
    """What the form is waiting for; empty: for the person."""

    def __init__(
        self,
        profiles: Profiles,
        file: ConfigFile,
        name: str | None,
        choices: Preferences,
        door: Operations | None = None,
    ) -> None:
        super().__init__(door)
        self._profiles = profiles
        self._file = file
        self._profile_name = name
        self._choices = choices
        filed = self._filed()
        others = len(filed.get("headers", {})) - bool(header_of(filed)[0])
        before = typed_of(name or "", filed)
        self.fields = ProfileFields(
            profiles, before, lambda: self.host.now_ms(), is_new=name is None, others=others
        )
        self._soon = Soon(self, self._keep)
        self._touched: Mapping[str, str] = {}
        self._trying: Worker[None] | None = None

    def crumbs(self) -> tuple[str, ...]:
        if not self.has_service:
            return ("Connect to a service",)
        return ("Profiles", f"Edit {self._profile_name}" if self._profile_name else "Add a profile")

    def compose_body(self) -> ComposeResult:
        yield self.fields
        yield StatusLine()

    def on_mount(self) -> None:
        """Go on where an earlier form was interrupted."""
        kept = self._choices.get(KEPT)
        words = "Save tries the service first. Nothing is written before that."
        if isinstance(kept, dict) and kept.get("name") == (self._profile_name or ""):
            typed = kept.get("typed")
            if isinstance(typed, dict) and all(isinstance(text, str) for text in typed.values()):
                self.fields.fill(typed)
                words = "This is what was typed before and not saved."
        self._say(words)

    def _filed(self) -> Mapping[str, Any]:
        return self._file.profiles.get(self._profile_name or "", {})

    # --- what is typed survives ------------------------------------------------------------------

    @on(ProfileFields.Changed)
    def _typing(self) -> None:
        self._touched = self.fields.touched()  # at the end its widgets are gone before the form
        self._soon.begin()

    def _keep(self) -> None:
        """Keep what was touched, but nothing that might be a secret in the wrong field."""
        typed = {
            field: text
            for field, text in self._touched.items()
            if not may_be_secret(field, text)
            and (field != "variable" or self._profiles.is_set(text))
        }
        self._remember({"name": self._profile_name or "", "typed": typed} if typed else None)

    def _forget(self) -> None:
        self._soon.stop()
        if self._choices.get(KEPT) is not None:
            self._remember(None)

    def _remember(self, kept: Mapping[str, Any] | None) -> None:
        with suppress(OSError, StoreError):  # the form works without it
            self._choices.keep(KEPT, kept)

    @property
    def would_lose(self) -> str:
        """What leaving now would lose, as a question."""
        what = " ".join(filter(None, ("the profile", clean(self._profile_name or "", 40))))
        return f"Leave {what} without saving?" if self._touched else ""

    # --- trying ----------------------------------------------------------------------------------

    def why_not(self, action: str) -> str:
        """One thing at a time."""
        return self.doing if action in ("save", "test") else ""

    def watch_doing(self, doing: str) -> None:
        """Nothing is typed while what was typed is tried; escape stops it."""
        self.fields.disabled = bool(doing)
        if doing:
            self._say(f"{doing} escape stops it.")
        self.refresh_bindings()

    def _say(self, words: str, *, is_wrong: bool = False) -> None:
        self.query_one(StatusLine).say(words, is_wrong=is_wrong)

    def _checked(self) -> CheckedProfile | None:
        """What was typed, over what the file says now; None where something is wrong."""
        name = self._profile_name or ""
        typed = self.fields.typed()
        if name in self._file.profiles:  # what was not touched is as another session left it
            typed = typed_of(name, self._filed()) | self.fields.touched()
        taken = {} if self._profile_name else self._file.profiles
        checked = check(typed, self._filed(), taken, self._profiles.path.parent)
        self.fields.show_errors(checked.errors)
        if checked.errors:
            wrong = ", ".join(LABELS[field] for field in checked.errors)
            self._say(f"To correct: {wrong}.", is_wrong=True)
            return None
        return checked

    async def _try(self, checked: CheckedProfile) -> Tried:
        focused = self.focused
        self.doing = f"Asking {clean(checked.filed['base_url'], 60)} ..."
        try:
            name = self._profile_name or self.fields.typed()["name"]
            tried = await try_profile(self._profiles, self._file, name, checked.filed)
        finally:
            self.doing = ""
            if focused is not None:
                focused.focus()
        self._say(tried.words, is_wrong=not tried.works)
        return tried

    @on(Button.Pressed, "#test")
    def action_test(self) -> None:
        self._trying = self._test()

    @work
    async def _test(self) -> None:
        if checked := self._checked():
            await self._try(checked)

    # --- saving ----------------------------------------------------------------------------------

    @on(Button.Pressed, "#save")
    def action_save(self) -> None:
        self._trying = self._save()

    @work
    @opens("the result of saving")
    async def _save(self) -> None:
        if not (checked := self._checked()):
            return
        tried = await self._try(checked)
        if not tried.works:
            confirm = ConfirmModal(
                "The service could not be used. Save the profile all the same?",
                tried.words,
                verb="Save all the same",
                keep="Keep editing",
            )
            if not await self.app.push_screen_wait(confirm):
                return
        name = self._profile_name or self.fields.typed()["name"]
        try:
            saved = await asyncio.to_thread(self._profiles.save, self._file, name, checked.filed)
        except ConfigError as error:
            self._say(sentences(error), is_wrong=True)
            self.tell(error, "Not saved")
            with suppress(ConfigError):
                self._file = self._profiles.read()
            return
        if saved.notice:
            self.notify(clean(saved.notice), title="Configuration", severity="warning")
        self._forget()
        self.dismiss(name)

    # --- leaving ---------------------------------------------------------------------------------

    @on(Button.Pressed, "#leave")
    def _leave_pressed(self) -> None:
        self.action_leave()

    @work
    @opens("what is below the form")
    async def action_leave(self) -> None:
        """Stop trying; or leave, and ask first where something was typed."""
        if self.doing and self._trying is not None:
            self._trying.cancel()
            self._say("Stopped. Nothing was written.")
            return
        if question := self.would_lose:
            confirm = ConfirmModal(question, verb="Leave", keep="Keep editing", loses_text=True)
            if not await self.app.push_screen_wait(confirm):
                return
        self._forget()
        self.dismiss(None)

    def on_unmount(self) -> None:
        """Keep the last keys of a form that ends with the program."""
        self._soon.end()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        event.widget.scroll_visible(animate=False)
