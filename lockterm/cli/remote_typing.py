"""The options of ``remotes add`` and ``update``, read as the form reads its fields."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING

from lockterm import moments
from lockterm.cli.asking import agree, require_someone
from lockterm.cli.door import Door
from lockterm.cli.ending import Misused, tell
from lockterm.models.constants import RemoteType, word
from lockterm.rules import effective, needs_dates, touches_validity
from lockterm.text import clean
from lockterm.typed_remote import LABELS, Reading, read_typed, shown_fields, typed_of

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote

OPTIONS = {
    "remoteName": "--name",
    "remoteNumber": "--number",
    "remoteType": "--type",
    "startDate": "--start",
    "endDate": "--end",
    "weekDay": "--days",
    "addType": "--via",
    "isCoerced": "--coerced",
    "remoteUserNo": "--user-number",
    "remoteRight": "--admin-right",
    "mac": "--mac",
    "electricQuantity": "--battery",
    "businessId": "--business-id",
    "firmwareInfo": "--firmware-info",
    "extraData": "--extra-data",
}
"""Contract field -> the option that gives it."""

TYPES = {"permanent": "1", "time-limited": "2", "recurring": "4"}
VIAS = {"bluetooth": "1", "gateway": "2"}
FLAGS = {"default": "0", "yes": "1", "no": "2"}
"""Word of an option -> the contract's number, as the form has it (2.2)."""


def read_options(
    given: Mapping[str, str], zone: tzinfo, now_ms: int, before: Remote | None = None
) -> Reading:
    """Read what was typed.

    Args:
        given: Contract field -> text, of the options that were given.
        zone: The zone of the lock.
        now_ms: Now, in milliseconds.
        before: The remote of an update.

    Raises:
        Misused: Something cannot be sent; each field's reason is in it.
    """
    initial = typed_of(None, zone) if before is None else {}
    reading = read_typed({**initial, **given}, zone, now_ms, before)
    reasons = dict(reading.errors)
    for name, choices in reading.choices.items():
        ways = " or ".join(f"“{moments.typed(ms, zone)}”" for ms in choices)
        reasons[name] = f"The clocks show that time twice: write {ways}."
    kind = reading.values.remote_type
    if "remoteType" not in reasons:
        shown = shown_fields(kind, adding=before is None)
        for name in given.keys() - set(shown):
            reasons[name] = f"It means nothing for a {word(RemoteType, kind)} remote: leave it out."
    if reasons:
        ordered = [name for name in OPTIONS if name in reasons]
        raise Misused(
            "Nothing was sent. " + " ".join(f"{OPTIONS[name]}: {reasons[name]}" for name in ordered)
        )
    return reading


def resolved(
    reading: Reading, given: Mapping[str, str], zone: tzinfo, *, adding: bool
) -> list[str]:
    """What dates and weekdays were understood as, line by line; clean."""
    shown = shown_fields(reading.values.remote_type, adding=adding)
    lines = [f"Times are those of {moments.zone_name(zone)}."] if "endDate" in shown else []
    for name in ("startDate", "endDate", "weekDay", "mac"):
        note = reading.notes.get(name)
        if note and name in shown and (adding or name in given):
            lines.append(f"{LABELS[name]}: {clean(note)}")
    return lines if len(lines) > 1 else []


def accept_warnings(door: Door, reading: Reading, before: Remote | None, *, yes: bool) -> bool:
    """Whether what is allowed but unwise is wanted all the same.

    Raises:
        Misused: It was not said, and nobody can be asked.
    """
    if door.dry_run:
        yes = True
    found = dict(reading.warnings)
    after = effective(before, reading.values)
    sends_dates = needs_dates(after.remote_type) and touches_validity(before, after)
    if sends_dates and door.operations.doubts_clock:
        found["startDate"] = _clock_doubt(door.operations.clock_offset_s or 0)
    if not found:
        return True
    for name, words in found.items():
        tell(f"note: {OPTIONS[name]}: {words}")
    require_someone(yes, "Sending it all the same")
    return agree("Send it all the same?", yes=yes)


def _clock_doubt(offset_s: float) -> str:
    side = "behind" if offset_s > 0 else "ahead of"
    return (
        f"This machine's clock is {round(abs(offset_s) / 60)} min {side} the service's: now and"
        " +30d were counted from it."
    )
