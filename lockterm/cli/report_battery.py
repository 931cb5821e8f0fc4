"""The command ``lockterm report --battery``, which lists remotes with a low battery."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from itertools import islice
from operator import itemgetter

from lockterm.cli.all_locks import list_unread, read_all, to_counts_json
from lockterm.cli.exit_codes import DONE, FAILED, UNREACHABLE, notify
from lockterm.cli.options import Format
from lockterm.cli.output import put, put_csv, put_json, put_stderr, put_table
from lockterm.cli.remotes.reading import CSV_COLUMNS, csv_rows
from lockterm.cli.session import Session, lock_json
from lockterm.domain.locks import Lock
from lockterm.domain.remotes import FIELDS, Remote
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.operations.batteries import NOT_REPORTED, BatteryReader, battery_of
from lockterm.operations.everywhere import LockRead

MOST_DETAILS = 1000
"""The default maximum number of remotes whose details are read."""
_PROGRESS_S = 0.1
"""The minimum time between two updates of the progress line, in seconds."""
_COLUMNS = ("electricQuantity", "firmwareInfo")
_NAMES = ("id", "remoteName", "remoteNumber")


def report_batteries(session: Session, most_percent: int, most_details: int, form: Format) -> int:
    """Read the details of remotes, and print the remotes at or below a battery level.

    If a signal stops the reading, the function prints the remotes that were read so far.

    Args:
        session: The session that reads the locks.
        most_percent: The maximum battery level of a printed remote, in percent.
        most_details: The maximum number of remotes whose details are read.
        form: The format of the output.

    Returns:
        The exit code.
    """
    found = read_all(session)
    total = sum(one.listing.count for one in found if one.listing is not None)
    reader, signals = BatteryReader(session.operations.connection), list[int]()
    progress = _Progress(min(total, most_details))

    def interrupt(number: int) -> None:
        signals.append(number)
        reader.stop("Interrupted.")
        progress.clear()
        notify("stopping after the requests that are under way ...")

    wanted = [*islice(_list_remotes(found), most_details)]
    try:
        session.run(reader.read((remote for _, remote in wanted), progress.note), stop=interrupt)
    finally:
        progress.clear()
    low, without = list[tuple[int, Lock, Remote]](), 0
    for lock, remote in wanted:
        detail = reader.details.get(remote.id or 0)
        level = battery_of(detail) if detail is not None else None
        without += detail is not None and level is None
        if detail is not None and level is not None and level <= most_percent:
            low.append((level, lock, detail))
    low.sort(key=itemgetter(0))  # a stable sort keeps the order of the lock book
    unread = total - len(reader.details)
    if form is Format.JSON:
        put_json(
            {
                "battery": most_percent,
                **to_counts_json(found),
                "remotes": total,
                "withoutLevel": without,
                "remotesNotRead": unread,
                "low": [
                    {"level": level, "lock": lock_json(lock), "remote": remote.raw}
                    for level, lock, remote in low
                ],
            }
        )
    elif form is Format.CSV:
        _put_csv(session, low)
    elif reader.is_reported:
        _put_table(low)
        read = f"{len(reader.details):,} of {format_count(total, 'remote')} read"
        rest = f", {without:,} without a battery level" if without else ""
        put(f"{format_count(len(low), 'remote')} at or below {most_percent} %, {read}{rest}")
    _report_unread(reader, unread)
    if signals:
        return 128 + signals[0]
    if list_unread(found) or unread or not reader.is_reported:
        return UNREACHABLE
    return FAILED if low else DONE


def _list_remotes(found: list[LockRead]) -> Iterator[tuple[Lock, Remote]]:
    for one in found:
        for remote in one.listing.remotes() if one.listing is not None else ():
            yield one.lock, remote


def _report_unread(reader: BatteryReader, unread: int) -> None:
    """Report on stderr which locks and which details of remotes were not read, and why."""
    if not reader.is_reported:
        notify(f"{NOT_REPORTED} {format_count(len(reader.details), 'detail')} read without one.")
    elif unread:
        why = reader.stopped
        if not why and unread > reader.left_out:
            why = "Raise --max-details to read more."
        notify(f"{format_count(unread, 'remote')} not read. {clean(why, 300)}".rstrip())


def _put_table(low: list[tuple[int, Lock, Remote]]) -> None:
    if not low:
        return
    has_firmware = any(remote.firmware_info for _, _, remote in low)
    titles = ["Battery", "Lock", *(FIELDS[name].label for name in _NAMES)]
    rows = [
        [
            f"{level} %",
            lock.title,
            *(FIELDS[name].of(remote) or "-" for name in _NAMES),
            *([_format_firmware(remote)] * has_firmware),
        ]
        for level, lock, remote in low
    ]
    put_table([*titles, *["Firmware"] * has_firmware], rows)


def _format_firmware(remote: Remote) -> str:
    """Return the firmware information as the service sent it, or ``-`` if there is none."""
    return json.dumps(remote.firmware_info, ensure_ascii=False) if remote.firmware_info else "-"


def _put_csv(session: Session, low: list[tuple[int, Lock, Remote]]) -> None:
    rows = (
        {**row, "lockName": lock.name, "lockId": lock.lock_id}
        for _, lock, remote in low
        for row in csv_rows([remote], session.operations.zone(lock))
    )
    put_csv(("lockName", *_COLUMNS, *CSV_COLUMNS), rows)


class _Progress:
    """A line on stderr with the number of details read, if stderr is a terminal.

    Args:
        due: The number of remotes whose details will be read.
    """

    def __init__(self, due: int) -> None:
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()
        self._due = due
        self._done = self._width = 0
        self._drawn_s = 0.0

    def note(self) -> None:
        """Count one more remote whose details were read, and update the line."""
        self._done += 1
        now_s = time.monotonic()
        if self._is_shown and now_s - self._drawn_s >= _PROGRESS_S:
            text = f"{self._done:,} of {self._due:,} details read (Ctrl+C stops)"
            self._drawn_s, self._width = now_s, len(text)
            put_stderr(f"\r{text}", nl=False)

    def clear(self) -> None:
        """Erase the line."""
        if self._width:
            put_stderr(f"\r{' ' * self._width}\r", nl=False)
            self._width = 0
