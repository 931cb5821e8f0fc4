"""The README's keys are the keys: its table is made from the bindings.

``python -m tests.test_readme_keys`` prints the table to paste.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from textual.binding import Binding

from lockterm.app import LocktermApp
from lockterm.keymap.check import check
from lockterm.keymap.names import written
from lockterm.keymap.places import known
from lockterm.screens.choice_modal import Choices
from lockterm.screens.columns_modal import ColumnsModal
from lockterm.screens.confirm import ConfirmModal
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
from lockterm.screens.restore import RestoreScreen
from lockterm.screens.voice import VoiceScreen
from lockterm.screens.welcome import WelcomeScreen
from lockterm.widgets.choice import Choice
from lockterm.widgets.find_line import FindLine
from lockterm.widgets.row_table import RowTable
from lockterm.widgets.text_input import TextInput
from lockterm.widgets.voice_tree import VoiceTree
from tests.keys.bound import own_bindings

README = Path(__file__).parent.parent / "README.md"
PLACES = {
    "everywhere": LocktermApp,
    "any table": RowTable,
    "any tree": VoiceTree,
    "any list": Choices,
    "any field": TextInput,
    "options in a form": Choice,
    "the line to find": FindLine,
    "any question": ConfirmModal,
    "locks": LocksScreen,
    "lock form": LockForm,
    "remotes": RemotesScreen,
    "columns": ColumnsModal,
    "remote detail": RemoteDetailScreen,
    "remote form": RemoteForm,
    "voice": VoiceScreen,
    "history": HistoryScreen,
    "operation": OperationDetailScreen,
    "restoring": RestoreScreen,
    "profiles": ProfilesScreen,
    "profile form": ProfileForm,
    "messages": MessagesScreen,
    "help": HelpScreen,
    "first run": WelcomeScreen,
}


def table() -> str:
    lines = ["| where | key | id | what it does |", "|---|---|---|---|"]
    for place, owner in PLACES.items():
        rows: dict[str, tuple[list[str], Binding]] = {}
        for binding in own_bindings(owner):
            keys, _ = rows.setdefault(str(binding.id), ([], binding))
            keys.append(f"`{written(binding.key)}`")
        lines += [
            f"| {place} | {' '.join(keys)} | `{name}` | {_sentence(binding)} |"
            for name, (keys, binding) in rows.items()
        ]
    return "\n".join(lines)


def _sentence(binding: Binding) -> str:
    text = binding.tooltip or binding.description
    return text[0].upper() + text[1:]


def test_the_readme_has_the_keys_that_work() -> None:
    assert table() in README.read_text("utf-8"), f"the README's key table should be\n{table()}"


def test_the_readme_has_every_id_and_its_example_is_taken() -> None:
    readme = README.read_text("utf-8")
    assert [name for name in known() if f"`{name}`" not in readme] == []
    example = readme.partition("```toml\n[keys]\n")[2].partition("```")[0]
    assert check(tomllib.loads(example))


if __name__ == "__main__":
    print(table())
