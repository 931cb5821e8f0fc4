"""What the matrix would overlook is overlooked on thirty terminals: its eyes are tested here."""

from __future__ import annotations

import pyte
import pytest

from tests.matrix import reading, sent
from tests.matrix.picture import Picture
from tests.matrix.reading import Expected
from tests.matrix.terminals import C_LOCALE, NO_COLOR, X256, Terminal

MANY = Terminal("many", X256, (40, 8))
FEW = Terminal("few", "xterm", (40, 8))
TITLE = "Locks > Main gate       127.0.0.1:8080"
KEYS = "a add  (e edit) d delete  ? help"
PLAIN = Expected(key_line=False)


def shown(*body: str, title: str = TITLE, keys: str = KEYS) -> Picture:
    """A screen of 40x8: a title, some rows, keys."""
    screen = pyte.Screen(40, 8)
    stream = pyte.Stream(screen)
    for row, text in enumerate([title, *body, *[""] * (6 - len(body)), keys], 1):
        stream.feed(f"\x1b[{row};1H\x1b[m{text}")
    return Picture(screen)


DIALOG = (
    "  \x1b[35mA row behind it\x1b[m",
    "      ╭────────────────────────╮",
    "      │ Delete Anna?           │",
    "      │   \x1b[1;7mKeep\x1b[m   \x1b[1mDelete Anna\x1b[m   │",
    "      ╰────────────────────────╯",
)


def test_a_screen_as_it_should_be_has_nothing_wrong() -> None:
    expected = Expected(("Anna", "page 1 of 7"), stands_out="Anna", others="Ben", rows="normal")
    body = ("Name    State", "\x1b[7mAnna    normal\x1b[m", "Ben     normal", "", "", "page 1 of 7")
    assert reading.wrong(shown(*body), expected, FEW) == []
    asked = Expected(("Delete Anna",), dialog=True, stands_out="Keep", others="Delete Anna {3}")
    assert reading.wrong(shown(*DIALOG), asked, FEW) == []


def test_cursor_has_a_mark_only_in_quiet_mode() -> None:
    quiet = Terminal("quiet", X256, options=("--quiet",))
    body = ("Name    State", ">Anna   normal", " Ben    normal", "", "", "page 1 of 7")
    anna, ben = (
        Expected(stands_out=one, others=other) for one, other in (("Anna", "Ben"), ("Ben", "Anna"))
    )
    assert reading.wrong(shown(*body), anna, quiet) == []
    assert reading.wrong(shown(*body), anna, FEW)
    assert reading.wrong(shown(*body), ben, quiet)


@pytest.mark.parametrize(
    ("written", "terminal", "is_read"),
    [
        ("\x1b[38;2;255;255;255;48;2;255;255;255m", MANY, False),  # white on white
        ("\x1b[38;5;234;48;5;233m", MANY, False),
        ("\x1b[38;5;253;48;5;233m", MANY, True),
        ("\x1b[7;38;5;253;48;5;233m", MANY, True),
        ("\x1b[97m", FEW, False),  # white on what may be white
        ("\x1b[30m", FEW, False),
        ("\x1b[33m", FEW, False),
        ("\x1b[30;40m", FEW, False),
        ("\x1b[31m", FEW, True),
        ("\x1b[7m", FEW, True),
        ("", FEW, True),
        ("\x1b[37m", Terminal("dark", X256, theme="ansi-dark"), True),
        ("\x1b[36m", Terminal("dark", X256, theme="ansi-dark"), True),
        ("\x1b[33m", Terminal("dark", X256, theme="ansi-dark"), False),  # VGA's brown
        ("\x1b[94m", Terminal("dark", X256, theme="ansi-dark"), False),
        ("\x1b[32m", Terminal("light", X256, theme="ansi-light"), False),
        ("\x1b[37m", Terminal("light", X256, theme="ansi-light"), False),
    ],
)
def test_a_text_is_readable_or_not(written: str, terminal: Terminal, is_read: bool) -> None:
    problems = reading.wrong(shown(f"{written}Anna"), PLAIN, terminal)
    assert [problem[:10] for problem in problems] == ([] if is_read else ["unreadable"])


def test_what_steps_back_may_be_paler_and_no_more() -> None:
    grey, faint = "\x1b[38;5;240;48;5;233m", "\x1b[38;5;234;48;5;233m"
    assert reading.wrong(shown(f"{grey}(e edit) "), PLAIN, MANY) == []
    assert reading.wrong(shown(f"{faint}(e edit) "), PLAIN, MANY)
    assert reading.wrong(shown(f"{grey}e edit"), PLAIN, MANY)
    assert (
        reading.wrong(shown(f"{grey}Delete 7"), Expected(dimmed="Delete 7", key_line=False), MANY)
        == []
    )


@pytest.mark.parametrize(
    ("picture", "expected", "wrong"),
    [
        (shown(keys="a add  e edit  d delete  f find  n ne w"[:40]), Expected(), "not help"),
        (shown(keys="a add  e edit  d delete  something ? hel"), Expected(help=False), "cut off"),
        (shown(title="Locks > Main gate > Remotes"), Expected(), "host"),
        (shown(*[""] * 5, "page 1 of 7 · upd…"), Expected(), "above the keys"),
        (shown("Anna Web"), Expected(("Anna Weber",)), "not there whole"),
        (shown(*DIALOG[:3], DIALOG[3][:-1] + "▌", DIALOG[4]), Expected(dialog=True), "no dialog"),
        (shown(*DIALOG[:4]), Expected(dialog=True), "no dialog"),
        (shown(keys="▌ Deleted Anna"), Expected(notice="Deleted Ben"), "no notice says"),
        (shown(keys="▌ Deleted…: Recorded"), Expected(notice="Deleted Ben"), "no notice says"),
        (shown(*DIALOG), Expected(), "in the way"),
        (shown("Name", "Anna  normal", "Ben"), Expected(rows="normal"), "a row does not say"),
    ],
)
def test_what_is_cut_off_is_noticed(picture: Picture, expected: Expected, wrong: str) -> None:
    problems = reading.wrong(picture, expected, FEW)
    assert any(wrong in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("anna", "ben", "terminal", "is_told"),
    [
        ("\x1b[7m", "", FEW, True),
        ("\x1b[4m", "", FEW, True),
        ("\x1b[41m", "", FEW, False),  # by color alone
        ("\x1b[1m", "", FEW, False),
        ("", "\x1b[7m", FEW, False),
        ("\x1b[7m", "\x1b[7m", FEW, False),
        ("\x1b[38;5;253;48;5;24m", "\x1b[38;5;253;48;5;233m", MANY, False),  # as dark in grey
        ("\x1b[38;5;233;48;5;253m", "\x1b[38;5;253;48;5;233m", MANY, True),
    ],
)
def test_focus_is_visible_without_color(
    anna: str, ben: str, terminal: Terminal, is_told: bool
) -> None:
    expected = Expected(stands_out="Anna", others="Ben", key_line=False)
    picture = shown(f"{anna}Anna", f"{ben}Ben")
    assert (reading.wrong(picture, expected, terminal) == []) is is_told


@pytest.mark.parametrize(
    ("terminal", "written", "is_right"),
    [
        (Terminal("t", X256, environment=NO_COLOR), "\x1b[0;1;7mAnna", True),
        (Terminal("t", X256, environment=NO_COLOR), "\x1b[1;31mAnna", False),
        (Terminal("t", X256, environment=NO_COLOR), "\x1b[39mAnna", False),
        (Terminal("t", "vt100"), "\x1b[49m", False),
        (FEW, "\x1b[31;102mAnna\x1b[39;49m", True),
        (FEW, "\x1b[1;38;5;253mAnna", False),
        (MANY, "\x1b[1;38;5;253;48;5;2;7mAnna", True),
        (MANY, "\x1b[48;2;1;2;3mAnna", False),
        (Terminal("t", X256, environment={"COLORTERM": "truecolor"}), "\x1b[48;2;1;2;3m", True),
        (Terminal("t", X256, options=("--no-mouse",)), "\x1b[?1004h\x1b[?1000l", True),
        (Terminal("t", X256, options=("--no-mouse",)), "\x1b[?1003h", False),
        (Terminal("t", "screen-256color"), "\x1b[?1000h", False),
        (MANY, "\x1b[?1003h…", True),
        (Terminal("t", X256, environment=C_LOCALE), "\x1b]0;x\x07张伟 Zoë 👩\u200d🚒 - ~", True),
        (Terminal("t", X256, environment=C_LOCALE), "Zoë…", False),
        (Terminal("t", "linux"), "7 · 20", False),
        (Terminal("t", X256, options=("--quiet",)), "╭─╮", False),
        (Terminal("t", X256, options=("--quiet",)), " Brandt Elektro · lift ", True),
        (Terminal("t", X256, options=("--quiet",)), "Brandt Elektro ~ A-2 · B", False),
        (Terminal("t", X256, options=("--quiet",)), "清 洁 班 组  · 早 班 ", True),
    ],
)
def test_what_is_written_is_what_the_terminal_knows(
    terminal: Terminal, written: str, is_right: bool
) -> None:
    assert (sent.wrong(written.encode(), terminal, [written]) == []) is is_right
