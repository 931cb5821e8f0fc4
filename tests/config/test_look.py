"""What the environment says of a terminal: colors, glyphs, what stands before the clipboard."""

from __future__ import annotations

import re
import subprocess

import pytest

from lockterm.config import look
from lockterm.config.look import (
    TRUE_COLORS,
    colors,
    fills_erased,
    multiplexer,
    needs_ascii,
    takes_utf8,
)

FILLING = ("xterm", "xterm-256color", "linux", "rxvt-unicode-256color", "putty", "mlterm")
FILLING += ("st-256color", "alacritty", "konsole-256color", "foot")

TRUE = {"COLORTERM": "truecolor"}


@pytest.mark.parametrize(
    ("environ", "depth"),
    [
        ({"TERM": "xterm"}, 16),
        ({"TERM": "linux"}, 16),
        ({"TERM": "vt100"}, 0),
        ({"TERM": "xterm-256color"}, 256),
        ({"TERM": "xterm"} | TRUE, TRUE_COLORS),
        ({"TERM": "tmux-256color"} | TRUE, TRUE_COLORS),
        # GNU screen garbles them; it hands on what the terminal around it has set.
        ({"TERM": "screen-256color", "STY": "1.tty"} | TRUE, 256),
        ({"TERM": "screen"} | TRUE, 16),
        ({"TERM": "screen-256color", "TMUX": "/tmp/x,1,0"} | TRUE, TRUE_COLORS),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"} | TRUE, 0),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, 256),
    ],
)
def test_colors(environ: dict[str, str], depth: int) -> None:
    assert colors(environ)[0] == depth


@pytest.mark.parametrize(
    ("environ", "through"),
    [
        ({"TERM": "xterm"}, "plain"),
        ({"TERM": "screen", "TMUX": "/tmp/x,1,0"}, "tmux"),
        ({"TERM": "xterm", "STY": "1.tty"}, "screen"),
        ({"TERM": "tmux-256color"}, "tmux"),  # over SSH from inside of it
        ({"TERM": "screen-256color"}, "screen"),
        ({"TERM": "xterm", "TMUX": "", "STY": ""}, "plain"),
    ],
)
def test_multiplexer_is_found_by_its_variables(environ: dict[str, str], through: str) -> None:
    assert multiplexer(environ) == through


@pytest.mark.parametrize(
    "term",
    [
        *("xterm", "xterm-256color", "xterm-kitty", "linux", "rxvt-unicode-256color", "putty"),
        *("mlterm", "st-256color", "alacritty", "konsole-256color", "foot"),
        *("screen-256color", "tmux-256color", "vt100", "vt220", "ansi", "unheard-of"),
    ],
)
def test_what_is_erased_takes_the_background_where_terminfo_says_so(term: str) -> None:
    told = subprocess.run(["infocmp", term], capture_output=True, text=True)
    if fills_erased({"TERM": term}) and not told.returncode:
        assert re.search(r"\bbce\b", told.stdout)
    assert fills_erased({"TERM": term}) is (term in FILLING)
    assert not fills_erased({"TERM": term, "TMUX": "/tmp/x,1,0"})
    assert not fills_erased({"TERM": term, "STY": "1.tty"})


@pytest.mark.parametrize(
    ("environ", "ascii_"),
    [({"TERM": "xterm"}, False), ({"TERM": "linux"}, True), ({"TERM": "vt220"}, True)],
)
def test_glyphs(environ: dict[str, str], ascii_: bool) -> None:
    assert needs_ascii(environ)[0] is ascii_


@pytest.mark.parametrize(
    ("environ", "coerced", "utf8"),
    [
        ({}, False, False),
        ({"LANG": ""}, False, False),
        ({"LANG": "C"}, False, False),
        ({"LANG": "de_DE.utf8"}, False, True),
        ({"LANG": "de_DE.UTF-8"}, False, True),
        ({"LANG": "de_DE.ISO-8859-1"}, False, False),
        ({"LANG": "xx_XX.UTF-8"}, False, False),  # is not installed
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, False, False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False, True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True, False),  # by Python, and nobody else
        ({"LC_CTYPE": "C.UTF-8"}, True, False),
        ({"LANG": "xx_XX.UTF-8", "LC_CTYPE": "C.UTF-8"}, True, False),
    ],
)
def test_utf8(
    environ: dict[str, str], coerced: bool, utf8: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "is_installed", lambda name: not name.startswith("xx"))
    monkeypatch.setattr(look, "was_coerced", lambda: coerced)
    assert takes_utf8(environ)[0] is utf8
