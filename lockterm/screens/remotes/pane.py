"""The remote under the cursor, beside a wide table: from what the list told, without a request."""

from __future__ import annotations

from datetime import tzinfo

from textual.content import Content
from textual.widgets import Static

from lockterm.domain import dates
from lockterm.domain.constants import AddType, Flag, RemoteType, word
from lockterm.domain.wording import counted
from lockterm.keymap.hints import key
from lockterm.screens.remotes.columns import COLUMNS
from lockterm.screens.remotes.row import RemoteRow, name, number


class RemotePane(Static):
    """What the row cannot show whole: the name, the period in words, the times."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)

    def show_row(self, row: RemoteRow | None, zone: tzinfo) -> None:
        """Show a row of the table, or nothing."""
        self.update(_words(row, zone) if row else "")


def _words(row: RemoteRow, zone: tzinfo) -> Content:
    remote, valid = row.remote, row.valid
    shown = {
        "number": number(remote),
        "id": "not usable" if remote.id is None else str(remote.id),
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
    if remote.extra_data:
        fields = counted(len(remote.extra_data), "field")
        lines.append(("Extra", f"{fields}: {key('remotes.detail')} shows all"))
    parts: list[tuple[str, str]] = [(f"{name(remote)}\n\n", "bold")]
    for label, text in lines:
        parts += [(f"{label}\n", "dim"), (f"{text}\n", "")]
    if valid.disagreement:
        parts.append((f"\n! {valid.disagreement}", "bold"))
    return Content.assemble(*parts)
