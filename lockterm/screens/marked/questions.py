"""What is asked before marked remotes are changed: the fields, and the change they come to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, tzinfo
from typing import Any, Protocol

from lockterm.domain import bulk, json_text
from lockterm.domain.bulk import Wanted
from lockterm.domain.constants import WORDS, RemoteType, needs_dates, needs_weekdays
from lockterm.domain.date_input import read_moment
from lockterm.domain.safe_text import clean
from lockterm.domain.weekdays import parse_weekdays
from lockterm.keymap.hints import with_keys
from lockterm.screens.remote_form.inputs import DatetimeInput, WeekdayPicker
from lockterm.widgets.choice import Choice
from lockterm.widgets.form_field import FormField
from lockterm.widgets.text_input import TextInput

Typed = Mapping[str, str]
"""Field -> what is typed."""


class Incomplete(Exception):
    """What is typed is no change yet.

    Args:
        sentence: What is missing or wrong; clean.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class Questions(Protocol):
    """The fields of a form, and what they mean."""

    verb: str
    """What is done: ``Renew``."""

    def fields(self, typed: Typed, zone: tzinfo) -> Sequence[FormField]:
        """The fields, filled with what was typed before."""

    def shown(self, typed: Typed) -> Sequence[str]:
        """Those that are asked for now."""

    def notes(self, typed: Typed) -> Typed:
        """Field -> what is good to know about it; clean."""

    def wanted(self, typed: Typed) -> Wanted:
        """What each remote is to be.

        Raises:
            Incomplete: It cannot be told yet.
        """


class NewEnd:
    """A new end for all, or a time counted from each one's own end or from now."""

    verb = "Renew"

    def fields(self, typed: Typed, zone: tzinfo) -> Sequence[FormField]:
        since = Choice([("own", "its own end"), ("now", "now")], typed.get("since") or "own")
        return (
            FormField("end", "New end", DatetimeInput(zone, typed.get("end", ""), id="end")),
            FormField("since", "Counted from", since),
        )

    def shown(self, typed: Typed) -> Sequence[str]:
        return ("end", "since") if typed["end"].strip().startswith("+") else ("end",)

    def notes(self, typed: Typed) -> Typed:
        words = "+30d gives each 30 days more; a date is the same end for all. "
        return {"end": words + with_keys("A permanent one has none: {marks.act} changes types.")}

    def wanted(self, typed: Typed) -> Wanted:
        if not typed["end"].strip():
            raise Incomplete("Still needed: New end.")
        return bulk.new_end(typed["end"], from_own=typed["since"] != "now")


class NewValidity:
    """Another type, or other weekdays."""

    verb = "Change type or weekdays"

    def fields(self, typed: Typed, zone: tzinfo) -> Sequence[FormField]:
        kinds = [("0", "unchanged")]
        kinds += [(str(value), shown) for value, shown in WORDS[RemoteType].items()]
        return (
            FormField("type", "Type", Choice(kinds, typed.get("type") or "0")),
            FormField("start", "Start", DatetimeInput(zone, typed.get("start", ""), id="start")),
            FormField("end", "End", DatetimeInput(zone, typed.get("end", ""), id="end")),
            FormField("days", "Weekdays", WeekdayPicker(typed.get("days", ""), id="days")),
        )

    def shown(self, typed: Typed) -> Sequence[str]:
        kind = int(typed["type"] or 0)
        dates = ("start", "end") if needs_dates(kind) else ()
        return ("type", *dates, *(("days",) if not kind or needs_weekdays(kind) else ()))

    def notes(self, typed: Typed) -> Typed:
        own = "Empty: each keeps its own."
        return {name: "" if typed[name].strip() else own for name in ("start", "end", "days")}

    def wanted(self, typed: Typed) -> Wanted:
        kind, days = int(typed["type"] or 0) or None, typed["days"].strip()
        if kind is None and not days:
            raise Incomplete("Choose a type, or type weekdays.")
        shown = self.shown(typed)
        start, end = (typed[name] if name in shown else "" for name in ("start", "end"))
        texts = (("Start", start), ("End", end))
        wrong = {label: _date_error(text) for label, text in texts if _date_error(text)}
        chosen = None
        try:
            chosen = parse_weekdays(days) if days and "days" in shown else None
        except ValueError as error:
            wrong["Weekdays"] = str(error)
        if wrong:
            raise Incomplete(f"Fix: {', '.join(wrong)}. {next(iter(wrong.values()))}")
        return bulk.new_validity(kind, start, end, chosen)


class NewExtra:
    """A key of the extra data."""

    verb = "Set a key of the extra data"

    def fields(self, typed: Typed, zone: tzinfo) -> Sequence[FormField]:
        return (
            FormField("key", "Key", TextInput(typed.get("key", ""), placeholder="such as room")),
            FormField(
                "value", "Value", TextInput(typed.get("value", ""), placeholder="such as B2")
            ),
        )

    def shown(self, typed: Typed) -> Sequence[str]:
        return ("key", "value")

    def notes(self, typed: Typed) -> Typed:
        text = typed["value"].strip()
        if not text:
            return {"value": "JSON is sent as such: 5, true, [1, 2]; anything else as a text."}
        value = _value(text)
        kind = "a text" if isinstance(value, str) else "JSON"
        return {"value": f"Sent as {kind}: {clean(json.dumps(value, ensure_ascii=False), 60)}"}

    def wanted(self, typed: Typed) -> Wanted:
        name, text = typed["key"].strip(), typed["value"].strip()
        missing = [label for label, given in (("Key", name), ("Value", text)) if not given]
        if missing:
            raise Incomplete(f"Still needed: {', '.join(missing)}.")
        return bulk.extra_set(name, _value(text))


def _date_error(text: str) -> str:
    """Return why a text is no date in any time zone; empty if it is one, or nothing is typed."""
    return read_moment(text, UTC, _SOME_TIME_MS).error if text.strip() else ""


_SOME_TIME_MS = 1_800_000_000_000
"""What a relative time is counted from to see whether it can be read."""


def _value(text: str) -> Any:
    """What is sent for a value that was typed: what is JSON as such, else the text."""
    try:
        found = json_text.read_object(f'{{"value": {text}}}')
    except ValueError:
        return text
    return found["value"] if len(found) == 1 else text
