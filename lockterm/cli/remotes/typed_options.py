"""The options of ``remotes add`` and ``update``: from the table of fields, read as a form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from typing import Any

import click

from lockterm.cli.exit_codes import UsageError
from lockterm.cli.options import Command
from lockterm.domain import dates
from lockterm.domain.constants import RemoteType, choices, word
from lockterm.domain.reading import Field, Kind
from lockterm.domain.remotes import ADDED, FIELDS, Remote
from lockterm.domain.safe_text import clean
from lockterm.domain.table_columns import shown_twice
from lockterm.domain.typed_remote import TypedRemote, read_typed, shown_fields, typed_of

_METAVARS = {Kind.NUMBER: "INT", Kind.DATE: "TIME", Kind.WEEKDAYS: "DAYS", Kind.OBJECT: "JSON"}


def takes_fields(fields: Sequence[Field]) -> Callable[[Command], Command]:
    """Give a command an option for each field.

    It is given what was typed as in the form, or None, by the contract's names.
    """

    def decorate(command: Command) -> Command:
        for field in reversed(fields):
            command = _option(field)(command)
        return command

    return decorate


def _option(field: Field) -> Callable[[Command], Command]:
    names = (field.name, f"--{field.option}")
    if field.constants is None:
        return click.option(*names, metavar=_METAVARS.get(field.kind, "TEXT"), help=field.about)
    words = choices(field.constants)

    def number(context: click.Context, option: click.Parameter, typed: str | None) -> Any:
        return None if typed is None else str(words[typed])

    return click.option(*names, type=click.Choice(list(words)), callback=number, help=field.about)


def read_options(
    given: Mapping[str, str], zone: tzinfo, now_ms: int, before: Remote | None = None
) -> TypedRemote:
    """Read what was typed.

    Args:
        given: Contract field -> text, of the options that were given.
        zone: The zone of the lock.
        now_ms: Now, in milliseconds.
        before: The remote of an update.

    Raises:
        UsageError: Something cannot be sent; each field's reason is in it.
    """
    initial = typed_of(None, zone) if before is None else {}
    reading = read_typed({**initial, **given}, zone, now_ms, before)
    reasons = dict(reading.errors)
    for name, moments in reading.choices.items():
        reasons[name] = shown_twice(moments, zone)
    kind = reading.values.remote_type
    if "remoteType" not in reasons:
        shown = shown_fields(kind, adding=before is None)
        for name in given.keys() - set(shown):
            reasons[name] = f"It means nothing for a {word(RemoteType, kind)} remote: leave it out."
    if reasons:
        said = [
            f"--{field.option}: {reasons[field.name]}" for field in ADDED if field.name in reasons
        ]
        raise UsageError(f"Nothing was sent. {' '.join(said)}")
    return reading


def resolved(
    reading: TypedRemote, given: Mapping[str, str], zone: tzinfo, *, adding: bool
) -> list[str]:
    """What dates and weekdays were understood as, line by line; clean."""
    shown = shown_fields(reading.values.remote_type, adding=adding)
    lines = [
        f"{FIELDS[name].label}: {clean(note)}"
        for name in shown
        if (note := reading.notes.get(name)) and (adding or name in given)
        if FIELDS[name].kind is not Kind.OBJECT  # its note is its size
    ]
    if lines and "endDate" in shown:
        lines.insert(0, f"Times are those of {clean(dates.zone_name(zone))}.")
    return lines
