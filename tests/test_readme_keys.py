"""The README's keys are the keys: its table is made from the bindings.

``python -m tests.test_readme_keys`` prints the table to paste.
"""

from __future__ import annotations

from pathlib import Path

from textual.binding import Binding

from lockterm.app import LocktermApp
from lockterm.keymap.names import written
from lockterm.screens.columns_modal import ColumnsModal
from lockterm.screens.help import HelpScreen
from lockterm.screens.history import HistoryScreen
from lockterm.screens.lock_form import LockForm
from lockterm.screens.locks import LocksScreen
from lockterm.screens.messages import MessagesScreen
from lockterm.screens.operation_detail import OperationDetailScreen
from lockterm.screens.profile_form import ProfileForm
from lockterm.screens.profiles import ProfilesScreen
from lockterm.screens.remote_detail import RemoteDetailScreen
from lockterm.screens.remote_form import RemoteForm
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.voice import VoiceScreen
from lockterm.widgets.row_table import RowTable

README = Path(__file__).parent.parent / "README.md"
PLACES = {
    "everywhere": LocktermApp,
    "any table": RowTable,
    "locks": LocksScreen,
    "lock form": LockForm,
    "remotes": RemotesScreen,
    "columns": ColumnsModal,
    "remote detail": RemoteDetailScreen,
    "remote form": RemoteForm,
    "voice": VoiceScreen,
    "history": HistoryScreen,
    "operation": OperationDetailScreen,
    "profiles": ProfilesScreen,
    "profile form": ProfileForm,
    "messages": MessagesScreen,
    "help": HelpScreen,
}


def table() -> str:
    lines = ["| where | key | what it does |", "|---|---|---|"]
    for place, owner in PLACES.items():
        rows: dict[str, tuple[list[str], Binding]] = {}
        for binding in Binding.make_bindings(owner.BINDINGS):
            keys, _ = rows.setdefault(binding.action, ([], binding))
            keys.append(f"`{written(binding.key)}`")
        lines += [
            f"| {place} | {' '.join(keys)} | {_sentence(binding)} |"
            for keys, binding in rows.values()
            if binding.description
        ]
    return "\n".join(lines)


def _sentence(binding: Binding) -> str:
    text = binding.tooltip or binding.description
    return text[0].upper() + text[1:]


def test_the_readme_has_the_keys_that_work() -> None:
    assert table() in README.read_text("utf-8"), f"the README's key table should be\n{table()}"


if __name__ == "__main__":
    print(table())
