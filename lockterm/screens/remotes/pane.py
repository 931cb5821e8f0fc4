"""The side panel with the selected remote, filled without requests to the service."""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import tzinfo

from rich.cells import cell_len
from textual import work
from textual.content import Content
from textual.widget import Widget

from lockterm.domain import dates
from lockterm.domain.changes_elsewhere import ELSEWHERE, ChangeElsewhere, describe_change
from lockterm.domain.dates import draw_week
from lockterm.domain.operation import HistoryLine, Selection
from lockterm.domain.remotes import AddType, Flag, Remote, RemoteType, needs_weekdays, word
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.validity import format_days, period_bar
from lockterm.errors import StoreError
from lockterm.keymap.hints import key
from lockterm.operations import Operations
from lockterm.screens.history.table import format_line
from lockterm.screens.remotes.columns import COLUMNS
from lockterm.screens.remotes.table import RemoteRow, name, number
from lockterm.widgets.cells import Part, cut
from lockterm.widgets.line_table import CORNERS

MOST_DONE = 5
"""The maximum number of a remote's latest changes that the panel shows."""

MOST_LINES = 500
"""The number of the lock's latest changes in which the panel searches for the remote."""

_WHOLE = re.compile(r"\d+ [A-Z][a-z]{2} \d{4}|\d\d:\d\d [+-]\d\d:\d\d|in \d+ \w+|\d+ \w+ ago")
"""Matches texts that must not be broken across lines: dates, times with offset, relative times."""

_NO_BREAK = "\N{NO-BREAK SPACE}"


class RemotePane(Widget):
    """A panel with a remote's values, its period of validity as a bar, and recent changes.

    Args:
        operations: The operations on the service and the local store.
        lock_id: The ID of the lock whose remotes are shown.
        has_fields: Whether the panel shows the values of all columns, under the remote's name.
            Otherwise the panel shows only the validity and the changes.
    """

    def __init__(
        self,
        operations: Operations,
        lock_id: int,
        *,
        has_fields: bool = True,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._operations = operations
        self._lock_id = lock_id
        self._has_fields = has_fields
        self._row: RemoteRow | None = None
        self._zone: tzinfo | None = None
        self._now_ms = 0
        self._change: ChangeElsewhere | None = None
        self._done: dict[int, list[HistoryLine]] = {}

    def show_row(
        self,
        row: RemoteRow | None,
        zone: tzinfo,
        now_ms: int,
        change: ChangeElsewhere | None = None,
    ) -> None:
        """Show the remote of a table row, or nothing if the row is None.

        Args:
            row: The row.
            zone: The time zone of the shown dates.
            now_ms: The current time in milliseconds.
            change: A change of the remote by others that the user has not seen; None if there is
                none.
        """
        self._row, self._zone, self._now_ms, self._change = row, zone, now_ms, change
        title = "Validity"
        if self._has_fields:
            title = name(row.remote) if row is not None else ""
        self.border_title = Content(title)
        self.refresh()

    @work(exclusive=True, group="done")
    async def look_at_journal(self) -> None:
        """Read lockterm's changes of the lock from the journal, and show them, the latest first."""
        with suppress(StoreError):  # the history reports the error
            wanted = Selection(self._lock_id)
            lines = await self._operations.journal.lines(wanted, most=MOST_LINES)
            self._done = defaultdict(list)
            for line in lines:
                if line.remote_id is not None:
                    self._done[line.remote_id].append(line)
            self.refresh()

    def render(self) -> Content:
        if self._row is None or self._zone is None:
            return Content("")
        remote, width = self._row.remote, self.content_size.width
        parts: list[Part] = []
        if not self._has_fields:
            parts += _validity(self._row, width)
        else:
            title_width = self.outer_size.width - CORNERS if self.screen.has_class("-framed") else 0
            if (
                cell_len(name(remote)) > title_width
            ):  # the title of the frame does not have all of it
                parts.append((f"{name(remote)}\n\n", "bold"))
            parts += _fields(self._row, self._zone, width)
        parts += _period(self._row, self._zone, self._now_ms, width)
        if self._change is not None:
            parts.append((f"\n{ELSEWHERE}\n", "bold"))
            text = describe_change(self._change, self._zone, self._now_ms, with_head=False)
            parts.append((f"{text}\n", ""))
        if remote.id is not None and (lines := self._done.get(remote.id)):
            parts += _done(lines[:MOST_DONE], self._zone, self._now_ms, width)
        return Content.assemble(*parts)


def _validity(row: RemoteRow, width: int) -> list[Part]:
    """Return the state, the period and the weekdays of a remote."""
    parts = [(f"{row.valid.state.sign} {row.valid.word}\n", "bold")]
    parts += [(f"{line}\n", "") for line in _broken(row.valid.words, width)]
    if _has_week(row.remote):
        parts.append((f"\n{draw_week(row.remote.week_day or ())}\n", ""))
    return parts


def _has_week(remote: Remote) -> bool:
    return needs_weekdays(remote.remote_type) and remote.week_day is not None


def _fields(row: RemoteRow, zone: tzinfo, width: int) -> list[Part]:
    """Return the lines of labels and values. A long value continues below, indented."""
    remote, valid = row.remote, row.valid
    shown = {
        "number": number(remote),
        "id": "invalid" if remote.id is None else str(remote.id),
        "type": word(RemoteType, remote.remote_type),
        "valid": valid.words,
        "state": row.busy or f"{valid.state.sign} {valid.word}",
        "added": f"via {word(AddType, remote.add_type)}",
        "coerced": word(Flag, remote.is_coerced),
    }
    for column, stamp in (("created", remote.create_time), ("updated", remote.update_time)):
        if stamp:
            shown[column] = dates.day_time(dates.as_ms(stamp), zone, exact=False)
    lines = [(COLUMNS[column].title, text) for column, text in shown.items()]
    if needs_weekdays(remote.remote_type):
        days = draw_week(remote.week_day or ()) if _has_week(remote) else format_days(remote)
        lines.insert(4, ("Days", days))
    if remote.extra_data:
        fields = format_count(len(remote.extra_data), "field")
        lines.append(("Extra", f"{fields}; {key('remotes.detail')} shows all"))
    if valid.disagreement:
        lines.append(("!", valid.disagreement))
    most = max(len(label) for label, _ in lines) + 2
    parts: list[Part] = []
    for label, text in lines:
        room = max(width - most, 8)
        # The service's text is not a sentence, so it is cut, not broken into lines.
        values = _broken(text, room) if text.isascii() else [cut(text, room)]
        parts.append((label.ljust(most), "dim"))
        parts.append((("\n" + " " * most).join(values) + "\n", "bold" * (label == "!")))
    return parts


def _broken(text: str, room: int) -> list[str]:
    """Return the lines of an ASCII text, wrapped to ``room`` cells."""
    text = _WHOLE.sub(lambda found: found.group().replace(" ", _NO_BREAK), text)
    lines = textwrap.wrap(text, room, break_on_hyphens=False)
    return [line.replace(_NO_BREAK, " ") for line in lines]


def _period(row: RemoteRow, zone: tzinfo, now_ms: int, width: int) -> list[Part]:
    remote = row.remote
    bar = period_bar(remote, now_ms, width)
    if not bar or not remote.start_ms or not remote.end_ms:
        return []
    ends = dates.day(remote.start_ms, zone), dates.last_day(remote.end_ms, zone)
    between = " " * max(width - sum(map(len, ends)), 1)
    return [(f"\n{bar}\n", ""), (f"{between.join(ends)}\n", "dim")]


def _done(lines: Sequence[HistoryLine], zone: tzinfo, now_ms: int, width: int) -> list[Part]:
    parts = [("\nYour changes\n", "bold")]
    parts += [(cut(format_line(line, zone, now_ms), width) + "\n", "") for line in lines]
    return parts
