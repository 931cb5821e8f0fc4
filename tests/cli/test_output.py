"""Tables and prompts on a terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.terminal.pty_session import PtySession, clean_environment

TABLE = "from lockterm.cli.output import put_table; put_table(['A', 'B'], [['n' * 30, 'k' * 30]])"
WRAPPED = "from lockterm.cli.output import put_wrapped; put_wrapped('ok    ', 'word ' * 30)"
QUESTION = (
    "from lockterm.cli.options import confirm; print('agreed', confirm('Delete it?', yes=False))"
)


@pytest.mark.parametrize(("columns", "width"), [(70, 30), (40, 19), (20, 9), (5, 8)])
def test_put_table_keeps_eight_cells_of_a_column_when_room_is_short(
    tmp_path: Path, columns: int, width: int
) -> None:
    """A narrower table would be unreadable, so it exceeds the terminal."""
    session = PtySession([sys.executable, "-c", TABLE], clean_environment(tmp_path), (columns, 24))
    with session as terminal:
        assert terminal.wait_exit() == 0
        row = bytes(terminal.raw).decode().splitlines()[1]
    assert [len(cell) for cell in row.split("  ")] == [width, width]


def test_put_wrapped_fills_the_terminal_and_indents_the_lines_below_the_head(
    tmp_path: Path,
) -> None:
    session = PtySession([sys.executable, "-c", WRAPPED], clean_environment(tmp_path), (40, 24))
    with session as terminal:
        assert terminal.wait_exit() == 0
        lines = bytes(terminal.raw).decode().splitlines()
    heads = ["ok    ", *["      "] * 4]
    counts = [7, 7, 7, 7, 2]
    assert lines == [
        f"{head}{' '.join(['word'] * n)}" for head, n in zip(heads, counts, strict=True)
    ]


def test_confirm_asks_again_when_the_answer_is_neither_yes_nor_no(tmp_path: Path) -> None:
    session = PtySession([sys.executable, "-c", QUESTION], clean_environment(tmp_path))
    with session as terminal:
        terminal.wait_for("Delete it")
        terminal.press(*"perhaps", "enter")
        terminal.wait_for("Answer y or n")
        terminal.press(*"YES", "enter")
        terminal.wait_for("agreed True")
        assert terminal.wait_exit() == 0
