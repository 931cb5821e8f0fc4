"""The form of a profile, which tests the profile with its service before saving it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from textual import on, work
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Input

from lockterm.config import values
from lockterm.config.file import ConfigFile
from lockterm.config.profiles import header_of
from lockterm.config.typed_profile import (
    LABELS,
    READ_ONLY,
    UNCOLORED,
    WRITABLE,
    CheckedProfile,
    check,
    may_be_secret,
    typed_of,
)
from lockterm.domain.safe_text import clean
from lockterm.domain.text.service import format_sentences
from lockterm.errors import (
    ConfigError,
    LocktermError,
    StoreError,
    UnreachableError,
    UntrustedServerError,
)
from lockterm.operations.connection import CLOCK_TOLERANCE_S
from lockterm.operations.probe import ServiceAnswers, ask, look_at_certificate
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.form import LEAVE, SAVE, FormButton, FormScreen
from lockterm.terminal.key_queue import opens
from lockterm.widgets.actions import bindings
from lockterm.widgets.choice import Choice, OptionLine
from lockterm.widgets.completion import ZoneSuggester, zone_note
from lockterm.widgets.form_field import FormField
from lockterm.widgets.text_input import TextInput

if TYPE_CHECKING:
    from textual.widget import Widget

    from lockterm.config import Profile
    from lockterm.config.preferences import Preferences
    from lockterm.config.profiles import Profiles
    from lockterm.operations import Operations


TIMEOUT_S = 10.0
"""The maximum timeout of a test in seconds, because the user waits for the result."""


@dataclass(frozen=True, slots=True)
class ProfileTest:
    """The result of testing a profile with its service."""

    works: bool
    """Whether lockterm can use the service with the profile."""
    words: str
    """The findings, or the error and the user's next step, without control characters."""


async def try_profile(
    profiles: Profiles, file: ConfigFile, name: str, filed: Mapping[str, Any]
) -> ProfileTest:
    """Test a profile with its service without changing anything.

    Args:
        profiles: The profiles of the configuration file.
        file: The configuration file as last read.
        name: The name of the profile.
        filed: The profile's values, as the configuration file contains them or will contain them.
    """
    trial = replace(file, profiles={name: filed}, default_profile=None)
    try:
        profile = profiles.resolve(trial, name).profile
        assert profile is not None
        profile = replace(profile, timeout_s=min(profile.timeout_s, TIMEOUT_S))
        answers = await ask(profile)
    except ConfigError as error:  # omit the path: the file lacks this profile yet
        return _failed(error, error.message.removeprefix(f"{file.path}: "))
    except LocktermError as error:
        is_out_of_reach = isinstance(error, UnreachableError) and not isinstance(
            error, UntrustedServerError
        )
        hint = "Check the network and the base URL, then try again." if is_out_of_reach else ""
        return _failed(error, error.meaning, hint)
    if denial := answers.denial:
        hint = denial.hint or "Check the base URL, the header name and the environment variable."
        return _failed(denial, denial.meaning, hint)
    findings = [
        f"{profile.host} answers correctly in {answers.first_ms:.0f} ms.",
        await _secrecy(profile),
        _clocks(answers),
    ]
    return ProfileTest(True, " ".join(findings))


def _failed(error: LocktermError, message: str, hint: str = "") -> ProfileTest:
    stop = "" if message.endswith((".", "?", "!")) else "."
    parts = (f"{error.title}: {message}{stop}", hint or error.hint)
    return ProfileTest(False, " ".join(clean(part, 400) for part in parts if part))


async def _secrecy(profile: Profile) -> str:
    if not profile.base_url.startswith("https:"):
        warning = values.base_url(profile.base_url)[1]
        return (
            "NOTHING IS ENCRYPTED. Use https." if warning else "The service runs on this machine."
        )
    try:
        seen = await asyncio.to_thread(look_at_certificate, profile)
    except (LocktermError, OSError, ValueError):
        return "The certificate is trusted."  # the earlier call used it
    return f"The certificate is trusted ({seen.tls}) and valid until {seen.until}."


def _clocks(answers: ServiceAnswers) -> str:
    offset_s = answers.offset_s
    if offset_s is None:
        return "The service does not report its time."
    if abs(offset_s) <= CLOCK_TOLERANCE_S:
        return f"The clocks agree within {abs(offset_s) + 1:.0f} s."
    side = "behind" if offset_s > 0 else "ahead of"
    return (
        f"This machine's clock is {abs(offset_s):.0f} s {side} the service's clock."
        " Set this machine's clock, or dates will be wrong."
    )


KEPT = "profile_form"
"""The name of the preference that stores the input of an unfinished form."""


_PLACEHOLDERS = {
    "name": "for example: north-campus",
    "base_url": "for example: https://locks.example.com",
    "header": "optional, for example: Authorization",
    "variable": "for example: LOCKTERM_TOKEN",
    "account": "optional, for example: north-tenant",
    "ca_file": "optional, for example: ~/gateway-ca.pem",
}
_READ_ONLY = ((WRITABLE, "no"), (READ_ONLY, "yes"))


class ProfileForm(FormScreen[str | None]):
    """The form that adds or changes a profile. The result is the name of the saved profile.

    Args:
        profiles: The profiles of the configuration file.
        file: The configuration file as last read.
        name: The name of the profile to change; None to add a profile.
        choices: The preferences, which store the input in case the terminal closes.
        door: The operations of the profile that the header shows; None if no profile exists yet.
    """

    BINDINGS = bindings("profile_form")
    BUTTONS = (SAVE, FormButton("form.test", "test", "Test"), LEAVE)

    AUTO_FOCUS = None

    STOPPED = "Stopped. Nothing was written."

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
        self.before = typed_of(name or "", filed)
        self._others = others
        """The number of headers of the profile that the form does not show and does not change."""
        self._touched: Mapping[str, str] = {}

    def breadcrumbs(self) -> tuple[str, ...]:
        if not self.has_service:
            return ("Connect to a service",)
        return ("Profiles", f"Edit {self._profile_name}" if self._profile_name else "Add a profile")

    def compose_fields(self) -> ComposeResult:
        with VerticalScroll(id="fields", can_focus=False):
            for name, label in LABELS.items():
                yield FormField(name, label, self._control(name))

    def _control(self, name: str) -> Widget:
        if name in ("read_only", "color"):
            colors = tuple((word, word) for word in (UNCOLORED, *values.COLORS))
            options = _READ_ONLY if name == "read_only" else colors
            known = self.before[name] in dict(options)
            return Choice(options, self.before[name] if known else "")
        field = TextInput(self.before[name], placeholder=_PLACEHOLDERS.get(name, ""))
        if name == "timezone":
            field.suggester = ZoneSuggester()
        field.disabled = name == "name" and self._profile_name is not None
        return field

    def on_mount(self) -> None:
        """Show the hints below the fields, and continue a form that was interrupted."""
        self._describe_fields()
        saved = self._choices.get(KEPT)
        status = "lockterm tests the service before it saves the profile."
        if isinstance(saved, dict) and saved.get("name") == (self._profile_name or ""):
            typed = saved.get("typed")
            if isinstance(typed, dict) and all(isinstance(text, str) for text in typed.values()):
                self.fill(typed)
                status = "This is your earlier input, which was not saved."
        self.say(status)

    def _filed(self) -> Mapping[str, Any]:
        return self._file.profiles.get(self._profile_name or "", {})

    # --- the saved input -------------------------------------------------------------------------

    def keep_draft(self) -> None:
        """Save the touched fields, except values that may be secrets typed into the wrong field."""
        typed = {
            field: text
            for field, text in self._touched.items()
            if not may_be_secret(field, text)
            and (field != "variable" or self._profiles.is_set(text))
        }
        self._remember({"name": self._profile_name or "", "typed": typed} if typed else None)

    def forget_draft(self) -> None:
        self.soon.stop()
        if self._choices.get(KEPT) is not None:
            self._remember(None)

    def _remember(self, kept: Mapping[str, Any] | None) -> None:
        with suppress(OSError, StoreError):  # the form works without saved input
            self._choices.keep(KEPT, kept)

    @property
    def would_lose(self) -> str:
        """The question to ask before leaving unsaved input; empty if nothing was typed."""
        what = " ".join(filter(None, ("the profile", clean(self._profile_name or "", 40))))
        return f"Leave {what} without saving?" if self._touched else ""

    def _describe_fields(self) -> None:
        """Show the initial hints below the fields."""
        if self._profile_name is not None:
            self.field("name").note = "The name cannot change: lock book and history use it."
        if self._others:
            more = (
                "1 other header stays"
                if self._others == 1
                else f"{self._others} other headers stay"
            )
            self.field("header").note = f"{more} unchanged in the file."
        self.field(
            "account"
        ).note = "If empty, the credentials identify the account. Profiles can share an account."
        self.field("ca_file").note = "Required if your own CA issued the service's certificate."
        self._about_url()
        self._about_zone()
        self._about_variable()
        self.field("name" if self._profile_name is None else "base_url").focus_control()

    # --- notes of the fields -----------------------------------------------------------------

    @on(Input.Changed)
    @on(OptionLine.Changed)
    def _typing(self, event: Input.Changed | OptionLine.Changed) -> None:
        row = event.control.query_ancestor(FormField)
        row.error = ""
        match row.field:
            case "base_url":
                self._about_url()
            case "timezone":
                self._about_zone()
            case "header" | "variable":
                self._about_variable()
        self._touched = self.touched()  # read now: at exit, the widgets go before the form
        self.soon.begin()

    def _about_url(self) -> None:
        row = self.field("base_url")
        warning = ""
        typed = row.value.strip()
        try:
            warning = values.base_url(typed)[1] or ""
        except ValueError:
            pass
        else:
            if (
                self._profile_name is not None
                and not warning
                and typed != self.before["base_url"].rstrip("/")
            ):
                warning = (
                    "Lock book and history stay with this profile. Enter only an address of"
                    " the same service."
                )
                if self._others or self.before["header"]:
                    warning += " Testing and saving send the headers to this address."
        row.warning = warning

    def _about_variable(self) -> None:
        row = self.field("variable")
        name = row.value.strip()
        is_set = bool(name) and self._profiles.is_set(name)
        is_bearer = self.field("header").value.strip().lower() == "authorization"
        if is_set:
            row.note = "The variable is set."
        elif is_bearer:
            state = "The variable is not set. " if name else ""
            row.note = f'{state}Set the whole value: export NAME="Bearer ..."'
        elif name:
            row.note = "The variable is not set. Set it before you start lockterm."
        else:
            row.note = "lockterm never asks for the value and never stores it."

    @work(exclusive=True, group="zone")
    async def _about_zone(self) -> None:
        row = self.field("timezone")
        typed = row.value.strip()
        if not typed:
            own = await asyncio.to_thread(values.machine_zone)
            row.note = (
                f"If empty, lockterm uses this machine's time zone, {own}."
                if own
                else "If empty, lockterm uses UTC."
            )
        else:
            row.note = await zone_note(typed, self.host.now_ms())

    # --- testing ---------------------------------------------------------------------------------

    def disabled_reason(self, action: str) -> str:
        """Return why saving or testing is disabled; empty if it is enabled.

        The reason is the work that is currently running.
        """
        return self.doing if action in ("save", "test") else ""

    def _checked(self) -> CheckedProfile | None:
        """Return the profile made from the input and the current file; None if input is invalid."""
        name = self._profile_name or ""
        typed = self.typed()
        if name in self._file.profiles:  # untouched fields keep changes of another session
            typed = typed_of(name, self._filed()) | self.touched()
        taken = {} if self._profile_name else self._file.profiles
        checked = check(typed, self._filed(), taken, self._profiles.path.parent)
        self.show_errors(checked.errors)
        if checked.errors:
            wrong = ", ".join(LABELS[field] for field in checked.errors)
            self.say(f"Fix: {wrong}.", is_wrong=True)
            return None
        return checked

    async def _try(self, checked: CheckedProfile) -> ProfileTest:
        focused = self.focused
        self.doing = f"Testing {clean(checked.filed['base_url'], 60)} ..."
        try:
            name = self._profile_name or self.typed()["name"]
            tried = await try_profile(self._profiles, self._file, name, checked.filed)
        finally:
            self.doing = ""
            if focused is not None:
                focused.focus()
        self.say(tried.words, is_wrong=not tried.works)
        return tried

    def action_test(self) -> None:
        self.under_way = self._test()

    @work
    async def _test(self) -> None:
        if checked := self._checked():
            await self._try(checked)

    # --- saving ----------------------------------------------------------------------------------

    def action_save(self) -> None:
        self.under_way = self._save()

    @work
    @opens("the result of saving")
    async def _save(self) -> None:
        if not (checked := self._checked()):
            return
        tried = await self._try(checked)
        if not tried.works:
            confirm = ConfirmModal(
                "lockterm could not use the service. Save the profile anyway?",
                tried.words,
                verb="Save anyway",
                keep="Keep editing",
            )
            if not await self.app.push_screen_wait(confirm):
                return
        name = self._profile_name or self.typed()["name"]
        try:
            saved = await asyncio.to_thread(self._profiles.save, self._file, name, checked.filed)
        except ConfigError as error:
            self.say(format_sentences(error), is_wrong=True)
            self.tell(error, "Not saved")
            with suppress(ConfigError):
                self._file = self._profiles.read()
            return
        if saved.notice:
            self.notify(clean(saved.notice), title="Configuration", severity="warning")
        self.forget_draft()
        self.dismiss(name)

    def ask_to_leave(self) -> ConfirmModal | None:
        if not (question := self.would_lose):
            return None
        return ConfirmModal(question, verb="Leave", keep="Keep editing", loses_text=True)
