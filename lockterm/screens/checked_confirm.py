"""A confirmation that reads its target again while it stands there."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from textual import work
from textual.content import Content
from textual.widgets import Button, Label, Static

from lockterm.screens.confirm import ConfirmModal
from lockterm.text import clean, clean_lines


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found about the target just now."""

    details: str
    """Lines below the question; may hold strings of the service."""
    question: str = ""
    """The question, where the one that stands there is no longer right."""
    verb: str = ""
    """What the acting button says now, where that has changed."""
    possible: bool = True
    """Whether there is still something to do."""


class CheckedConfirm(ConfirmModal):
    """Ask before a write, about the target as it is now. The verb works once it was read.

    Args:
        question: As known from the list.
        details: What stands below the question until the target was read.
        verb: What the acting button says.
        keep: What the other button says; it has the focus.
        typed: As for :class:`ConfirmModal`.
    """

    def __init__(
        self, question: str, details: str, *, verb: str, keep: str, typed: tuple[str, ...] = ()
    ) -> None:
        super().__init__(question, details, verb=verb, keep=keep, typed=typed, danger=True)
        self._possible = False

    @abstractmethod
    async def check(self) -> Checked:
        """Read the target and say what was found; every error is told in the words."""

    def may_act(self) -> bool:
        """Not before the target was read."""
        return self._possible and super().may_act()

    def on_mount(self) -> None:
        """Read the target."""
        self.query_one("#act", Button).disabled = True
        self._run_check()

    @work
    async def _run_check(self) -> None:
        found = await self.check()
        if not self.is_attached:
            return
        self._possible = found.possible
        self.query_one(".details Static", Static).update(clean_lines(found.details))
        if found.question:
            self.query_one(".question", Label).update(clean(found.question, 400))
        act, keep = self.query_one("#act", Button), self.query_one("#keep", Button)
        if found.verb:
            act.label = Content(clean(found.verb, 48))
        if not found.possible:
            keep.label = Content("Close")
        for button in (act, keep):
            button.refresh(layout=True)  # a new label alone keeps the old width
        act.disabled = not self.may_act()
