"""Completion of typed text: a field that completes paths, and suggestions for time zones."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zoneinfo import available_timezones

from rich.cells import cell_len
from textual import events, work
from textual.message import Message
from textual.suggester import Suggester

from lockterm.config.values import zone_of_offset
from lockterm.config.zones import find_zone, normalize_zone
from lockterm.domain import dates
from lockterm.domain.safe_text import clean
from lockterm.paths import find_unquoted
from lockterm.terminal.key_queue import opens
from lockterm.widgets.actions import bindings
from lockterm.widgets.text_input import TextInput


@dataclass(frozen=True, slots=True)
class Completion:
    """The names in a directory that start with the typed text."""

    place: str
    """The directory: the typed text up to and including the last slash."""
    names: Sequence[str] = ()
    """The sorted names without control characters. The name of a directory ends with a slash."""
    why_none: str = ""
    """Why the directory cannot be read, as a sentence; otherwise empty."""

    @property
    def common(self) -> str:
        """The typed text, extended by the prefix that all names share."""
        return self.place + os.path.commonprefix(self.names)  # noqa: RUF071 (letters are meant)

    @property
    def is_whole(self) -> bool:
        """Whether there is exactly one name, and it is not the name of a directory."""
        return len(self.names) == 1 and not self.names[0].endswith("/")


def complete(typed: str) -> Completion:
    """Return the completions of a path. Call this in a thread, because a file system may be slow.

    Args:
        typed: The start of a path, in which ``~`` means a home directory. Hidden files are included
            only if the typed name starts with a dot.
    """
    if typed.startswith("~") and "/" not in typed:
        return Completion("", [f"{typed}/"] if _is_home(typed) else ())
    found = _complete(typed)
    if not found.names and find_unquoted(typed.strip()) is not None:  # pasted or dropped
        return Completion("", [typed])
    return found


def _complete(typed: str) -> Completion:
    head, slash, part = typed.rpartition("/")
    place = head + slash
    try:
        folder = Path(place or ".").expanduser()
        with os.scandir(folder) as entries:
            names = [
                entry.name + "/" * entry.is_dir()
                for entry in entries
                if entry.name.startswith(part)
                and entry.name.isprintable()
                and (part.startswith(".") or not entry.name.startswith("."))
            ]
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "No such directory"
        return Completion(place, why_none=f"{reason}.")
    return Completion(place, sorted(names))


def _is_home(typed: str) -> bool:
    try:
        return Path(typed).expanduser().is_dir()
    except RuntimeError:
        return False


class PathInput(TextInput):
    """A path field with completion, as in a shell.

    Args:
        value: The initial text.
    """

    BINDINGS = bindings("path")

    @dataclass
    class Told(Message):
        """Posted when the completions are known. ``words`` lists them and is safe to show."""

        words: str

    class Entered(Message):
        """Posted when the user presses Enter, so that the path is complete."""

    def __init__(self, value: str = "") -> None:
        super().__init__(value, select_on_focus=True)

    def on_mount(self) -> None:
        self.look()

    def on_key(self, event: events.Key) -> None:
        """On Tab, complete the path, or go to the next field if the path is already complete."""
        if event.key == "tab" and self.value and not self.selected_text:
            event.stop()
            event.prevent_default()
            self.go_on()

    def on_input_changed(self) -> None:
        self.look()

    @work(exclusive=True, group="path")
    async def look(self) -> None:
        """Find the completions of the path, and post a message with them."""
        typed = self.value
        found = await asyncio.to_thread(complete, typed)
        self.post_message(self.Told(self._describe_completion(found, typed)))

    @work
    @opens("the completed path")
    async def go_on(self) -> None:
        """Add the prefix that all completions share, or leave the field if the path is complete."""
        typed = self.value
        found = await asyncio.to_thread(complete, typed)
        if typed != self.value:
            return
        if len(found.common) > len(typed):
            self.value = found.common
            self.cursor_position = len(self.value)
        elif found.is_whole:
            self.app.action_focus_next()

    def action_enter(self) -> None:
        """Post a message that the path is complete."""
        self.post_message(self.Entered())

    def _describe_completion(self, found: Completion, typed: str) -> str:
        if found.why_none:
            return found.why_none
        if not found.names:
            return (
                "Nothing in this directory starts with that text."
                if typed
                else "This directory is empty."
            )
        if found.is_whole and found.common == typed:
            return ""
        return _some(found.names, self.size.width or self.app.size.width - 17)


def _some(names: Sequence[str], room: int) -> str:
    """Return the names that fit into ``room`` cells, and the number of names that do not fit."""
    shown = ""
    for place, name in enumerate(names):
        left = len(names) - place
        text = f"{shown}  {clean(name, 60)}".lstrip()
        more = f"  and {left - 1:,} more" if left > 1 else ""
        if shown and cell_len(text + more) > room:
            return f"{shown}  and {left:,} more"
        shown = text
    return shown


@cache
def _zones() -> tuple[str, ...]:
    """Return every IANA time zone of this machine.

    Call this function in a thread, because it reads many files.
    """
    return tuple(sorted(name for name in available_timezones() if "/" in name or name == "UTC"))


class ZoneSuggester(Suggester):
    """A suggester for time zones, which completes ``eur`` to ``Europe/Amsterdam``."""

    def __init__(self) -> None:
        super().__init__(case_sensitive=False)

    async def get_suggestion(self, value: str) -> str | None:
        zones = await asyncio.to_thread(_zones)
        return next((zone for zone in zones if zone.lower().startswith(value)), None)


async def zone_note(typed: str, now_ms: int) -> str:
    """Return a note about a typed time zone: the local time, or up to three similar zones.

    If lockterm stores the zone by another name, the note begins with that name. Zones whose city
    starts with the typed text count as the most similar. If the text is an offset, such as
    ``GMT+2``, the note suggests a zone. If no zone is similar, the note says that.
    """
    if name := await asyncio.to_thread(normalize_zone, typed):
        known = "" if name == typed else f"{name}. "
        return f"{known}Local time: {dates.day_time(now_ms, find_zone(name), exact=False)}."
    if meant := zone_of_offset(typed):
        return f"{meant[:1].upper()}{meant[1:]}."
    found = await asyncio.to_thread(_zones_with, typed)
    return f"Matches: {', '.join(found[:3])}." if found else "There is no such time zone."


def _zones_with(typed: str) -> list[str]:
    wanted = typed.strip().replace(" ", "_").lower()
    found = [zone for zone in _zones() if wanted in zone.lower()]
    found.sort(key=lambda zone: (not zone.rpartition("/")[2].lower().startswith(wanted), zone))
    return found
