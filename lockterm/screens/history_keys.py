"""The keys of the history; the same list makes its line of keys, its help and its palette."""

from __future__ import annotations

from textual.binding import Binding, BindingType

KEYS: list[BindingType] = [
    Binding("enter", "open", "open", id="history.open", tooltip="Everything about it"),
    Binding(
        "R",
        "restore",
        "restore",
        id="history.restore",
        tooltip="Add again what this delete or clear took away; says first what is lost",
    ),
    Binding("slash", "find", "find", id="history.find", tooltip="Type to find"),
    Binding(
        "o",
        "outcomes",
        "outcomes",
        id="history.outcomes",
        tooltip="Show all outcomes, then only unsettled, failed, done",
    ),
    Binding(
        "l",
        "one_lock",
        "lock",
        id="history.one_lock",
        tooltip="Show only this lock's operations, or those of all locks again",
    ),
    Binding(
        "E",
        "export",
        "export",
        id="history.export",
        tooltip="Write what is shown to a CSV and a JSON file",
    ),
    Binding("n", "next", "older", show=False, id="history.next", tooltip="The next page"),
    Binding("p", "previous", "newer", show=False, id="history.previous"),
    Binding("r", "refresh", "refresh", show=False, id="history.refresh"),
    Binding(
        "escape",
        "back",
        "back",
        id="history.back",
        tooltip="Show all again; then go back",
    ),
]
