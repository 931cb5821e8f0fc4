"""What is done in each emulator: every screen that shows a name beside something else."""

from __future__ import annotations

from collections.abc import Sequence

from lockterm.terminal.key_queue import CLOSED_S
from tests.matrix.emulators.names import NAMES
from tests.matrix.job import Step
from tests.matrix.reading import Expected

COUNT = 30
_FIRST = Expected(("page 1 of 2", f"{COUNT} remotes"))
_SMALLER = Expected((f"{COUNT} remotes", "16 per page"))
_LOOKED_AT = ("Renée Müller", "דוד כהן", "👩🏽‍🚒 Kim")
"""Whose detail, form and question are opened: a wide letter, the other direction, joined signs."""


def _on(name: str, down: int, number: str) -> tuple[Step, ...]:
    """Every screen of one remote."""
    return (
        Step(f"cursor on {name}", ("j",) * down, _FIRST),
        Step(f"detail of {name}", ("enter",), Expected(("Field +Value", number))),
        Step(f"back from {name}", ("escape",), _FIRST, gone="Field +Value"),
        Step(f"form of {name}", ("e",), Expected(("You have not changed anything yet",))),
        Step(
            f"left the form of {name}",
            ("escape",),
            _FIRST,
            gone="not changed anything",
            rest_s=CLOSED_S,  # a letter that comes sooner does nothing
        ),
        Step(f"delete {name}?", ("d",), Expected(("Delete", number, "Keep"))),
        Step(f"kept {name}", ("enter",), _FIRST, gone="Keep"),
    )


def _pages_and_find() -> tuple[Step, ...]:
    return (
        Step("next page", ("n",), Expected(("page 2 of 2",))),
        Step("cursor on the next page", ("j", "j", "k"), Expected(("page 2 of 2",))),
        Step("previous page", ("p",), _FIRST),
        Step("find", ("/",), Expected(("Find: ",))),
        Step("found", ("A-2",), Expected(("Find: A-2", "20 of 30"))),
        Step("all again", ("escape",), _FIRST, gone="Find:"),
    )


def brief(numbers: Sequence[str]) -> tuple[Step, ...]:
    """Both pages, one remote, and find, for an emulator whose kind is tried in full.

    Args:
        numbers: The numbers of the remotes, as the service lists them.
    """
    place = NAMES.index(_LOOKED_AT[1])
    on = _on(NAMES[place], place, numbers[place])
    on = tuple(step for step in on if "form" not in step.name)
    return (Step("start", (), _FIRST), *on, *_pages_and_find())


def whole(numbers: Sequence[str]) -> tuple[Step, ...]:
    """The steps in their order.

    Args:
        numbers: The numbers of the remotes, as the service lists them.
    """
    steps = [Step("start", (), _FIRST)]
    at = 0
    for name in _LOOKED_AT:
        place = NAMES.index(name)
        steps += _on(name, place - at, numbers[place])
        at = place
    return (
        *steps,
        *_pages_and_find(),
        Step("help", ("?",), Expected(("Help", "Esc close"))),
        Step("help, further", ("pagedown",), Expected(("Help",)), gone="Remotes: add, look"),
        Step("back from the help", ("escape",), _FIRST, gone="Esc close"),
        Step("history", ("H",), Expected(("History",))),
        Step("back from the history", ("escape",), _FIRST, gone="History"),
        Step("smaller", ("60x20",), _SMALLER),
        Step("cursor where it is smaller", ("j", "k"), _SMALLER),
        Step("as large as before", ("80x24",), Expected(("page 1 of 2", "20 per page"))),
        Step("clear?", ("C",), Expected((f"Delete all {COUNT} remotes",))),
        Step("not cleared", ("escape",), _FIRST, gone="Delete all"),
    )
