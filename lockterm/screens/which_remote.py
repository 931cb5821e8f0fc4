"""Which remote an add resulted in, where several could be it: a person says."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Label, OptionList
from textual.widgets.option_list import Option

from lockterm.models.operation import Operation
from lockterm.screens.base import LocktermModal
from lockterm.screens.choice_modal import Choices
from lockterm.text import clean


class WhichRemote(LocktermModal[int | None]):
    """Several remotes look like the one that was added: a person says which."""

    def __init__(self, operation: Operation) -> None:
        super().__init__()
        self._operation = operation

    def compose(self) -> ComposeResult:
        """The candidates, by id, and "none of them" with the focus."""
        name = clean(self._operation.remote_name, 60)
        with Vertical(classes="dialog"):
            yield Label(f"Which remote is the {name} that was added?", classes="question")
            yield Choices(
                Option("None of them"),
                *(Option(Content(f"Remote {identifier}")) for identifier in self._candidates),
                compact=True,
                markup=False,
            )

    @property
    def _candidates(self) -> tuple[int, ...]:
        return self._operation.candidates

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with the id, or None."""
        self.dismiss(self._candidates[event.option_index - 1] if event.option_index else None)
