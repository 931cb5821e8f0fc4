"""The dialog in which one state is chosen, whose remotes are shown alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Literal

from textual.app import App

from lockterm.domain.remote_states import StateFilter
from lockterm.domain.validity import COERCED, State
from lockterm.screens.dialogs.choice import ChoiceModal


def ask_only(
    app: App[Any],
    question: str,
    counts: Counter[StateFilter] | None,
    only: StateFilter | None,
    show: Callable[[StateFilter | None], None],
) -> None:
    """Ask of which state remotes are to be shown alone.

    Args:
        app: Where it is asked.
        question: What is chosen from.
        counts: How many were read of each state; None: not counted.
        only: What is shown alone now.
        show: Shows what was chosen; None: all.
    """
    found: list[tuple[StateFilter, str]] = [
        (state, f"{state.sign} {state.meaning}") for state in State
    ]
    found.append(("coerced", f"{COERCED} coerced"))
    if counts is not None:
        found = [(one, f"{words}: {counts[one]:,}") for one, words in found]
    known: list[tuple[StateFilter | Literal["all"], str]] = [("all", "all of them"), *found]

    def answer(chosen: StateFilter | Literal["all"] | None) -> None:
        if chosen is not None:
            show(None if chosen == "all" else chosen)

    now = next((at for at, one in enumerate(known) if one[0] == only), 0)
    app.push_screen(ChoiceModal(question, known, now), answer)
