"""What the environment says of a terminal: colours, glyphs, what stands before the clipboard."""

from __future__ import annotations

import pytest

from lockterm.config.look import TRUE_COLOURS, colours, multiplexer, needs_ascii

TRUE = {"COLORTERM": "truecolor"}


@pytest.mark.parametrize(
    ("environ", "depth"),
    [
        ({"TERM": "xterm"}, 16),
        ({"TERM": "linux"}, 16),
        ({"TERM": "vt100"}, 0),
        ({"TERM": "xterm-256color"}, 256),
        ({"TERM": "xterm"} | TRUE, TRUE_COLOURS),
        ({"TERM": "tmux-256color"} | TRUE, TRUE_COLOURS),
        # GNU screen garbles them; it hands on what the terminal around it has set.
        ({"TERM": "screen-256color", "STY": "1.tty"} | TRUE, 256),
        ({"TERM": "screen"} | TRUE, 16),
        ({"TERM": "screen-256color", "TMUX": "/tmp/x,1,0"} | TRUE, TRUE_COLOURS),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"} | TRUE, 0),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, 256),
    ],
)
def test_colours(environ: dict[str, str], depth: int) -> None:
    assert colours(environ)[0] == depth


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
def test_what_stands_before_the_clipboard(environ: dict[str, str], through: str) -> None:
    assert multiplexer(environ) == through


@pytest.mark.parametrize(
    ("environ", "ascii_"),
    [
        ({"TERM": "xterm"}, False),
        ({"TERM": "linux", "LANG": "de_DE.UTF-8"}, True),
        ({"TERM": "xterm", "LANG": "de_DE.utf8"}, False),
        ({"TERM": "xterm", "LANG": "de_DE.UTF-8", "LC_ALL": "C"}, True),
        ({"TERM": "xterm", "LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),
    ],
)
def test_glyphs(environ: dict[str, str], ascii_: bool) -> None:
    assert needs_ascii(environ)[0] is ascii_
