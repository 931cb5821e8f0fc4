"""The remote under the cursor, beside a wide table: from what the list told, without a request."""

from __future__ import annotations

from datetime import tzinfo

from textual.content import Content
from textual.widgets import Static

from lockterm import moments
from lockterm.keymap.spoken import key
from lockterm.models.constants import AddType, Flag, RemoteType, word
from lockterm.widgets.remote_line import Row, name, number


class RemotePane(Static):
    """What the row cannot show whole: the name, the period in words, the times."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)

    def show_row(self, row: Row | None, zone: tzinfo) -> None:
        """Show a row of the table, or nothing."""
        self.update(_words(row, zone) if row else "")


def _words(row: Row, zone: tzinfo) -> Content:
    remote, valid = row.remote, row.valid
    lines: list[tuple[str, str]] = [
        ("Number", number(remote)),
        ("Id", "not usable" if remote.id is None else str(remote.id)),
        ("Type", word(RemoteType, remote.remote_type)),
        ("Valid", valid.words),
        ("State", row.busy or valid.state),
        ("Added", f"via {word(AddType, remote.add_type)}"),
        ("Coerced", word(Flag, remote.is_coerced)),
    ]
    for label, stamp in (("Created", remote.create_time), ("Updated", remote.update_time)):
        if stamp:
            lines.append((label, moments.stamp(moments.as_ms(stamp), zone)))
    if remote.extra_data:
        count = len(remote.extra_data)
        fields = f"{count} field{'' if count == 1 else 's'}"
        lines.append(("Extra", f"{fields}: {key('remotes.detail')} shows all"))
    parts: list[tuple[str, str]] = [(f"{name(remote)}\n\n", "bold")]
    for label, text in lines:
        parts += [(f"{label}\n", "dim"), (f"{text}\n", "")]
    if valid.disagreement:
        parts.append((f"\n! {valid.disagreement}", "bold"))
    return Content.assemble(*parts)
