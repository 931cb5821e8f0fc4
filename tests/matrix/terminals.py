"""The terminals of the matrix: every value that matters is there, and the pairs that do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.terminal.multiplexers import in_screen, in_tmux
from tests.terminal.pty_session import LOCKTERM, PtySession, clean_environment

NONE, FEW, MANY, ALL = 0, 16, 256, 1 << 24
"""How many colors a terminal has."""

_TMUX = ("set -s escape-time 0", "set -g default-terminal tmux-256color")
_IN_SCREEN = "screen-256color"


@dataclass(frozen=True, slots=True)
class Terminal:
    """What lockterm is started on, and what may be sent to it."""

    name: str
    term: str
    size: tuple[int, int] = (80, 24)
    """Columns and rows."""
    environment: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    """Of lockterm."""
    theme: str = ""
    """What was chosen in an earlier session; empty: nothing."""
    inside: str = ""
    """``tmux`` or ``screen``: the real one, around lockterm; ``term`` is the terminal's."""

    @property
    def colors(self) -> int:
        """How many colors may be used; said here once more, and not asked of lockterm."""
        if self.environment.get("NO_COLOR") or self.term == "vt100":
            return NONE
        if "--quiet" in self.options:
            return FEW
        if self.environment.get("COLORTERM") == "truecolor":
            return ALL
        return MANY if "256color" in self.term else FEW

    @property
    def is_ascii(self) -> bool:
        """Whether glyphs beyond ASCII may be missing."""
        wants = self.environment.get("LC_ALL") == "C" or "--quiet" in self.options
        return wants or self.term in ("linux", "vt100")

    @property
    def grounds(self) -> tuple[str, ...]:
        """On which terminals it has to be readable: a theme may be meant for one kind."""
        kinds = {"ansi-light": ("white",), "ansi-dark": ("black",)}
        return kinds.get(self.theme, ("black", "white"))

    @property
    def has_own_theme(self) -> bool:
        """Whether its theme has the terminal's own colors, for one kind of ground."""
        return self.theme.startswith("ansi-")

    @property
    def palettes(self) -> tuple[str, ...]:
        """What its own colors may be."""
        return ("xterm", "VGA", "Tango") if self.has_own_theme else ("xterm",)

    @property
    def has_mouse(self) -> bool:
        """Whether the mouse may be asked for: GNU screen would hold every escape back."""
        in_screen = self.inside == "screen" or self.term.startswith("screen")
        return "--no-mouse" not in self.options and not in_screen

    @contextmanager
    def running(self, base_url: str, home: Path) -> Iterator[PtySession]:
        """Lockterm on it, with a home of its own.

        Args:
            base_url: The service.
            home: An empty directory.
        """
        if self.theme:
            choices = home / "state/lockterm/choices.json"
            choices.parent.mkdir(parents=True)
            choices.write_text(json.dumps({"theme": self.theme}))
        # An escape is known to be the key sooner than it is over a slow link: there are many.
        environment = {"TERM": self.term, "ESCDELAY": "25", **self.environment}
        command = [*LOCKTERM, "--base-url", base_url, *self.options]
        if self.inside == "tmux":
            with in_tmux(command, home, *_TMUX, size=self.size, **environment) as session:
                yield session
        elif self.inside == "screen":
            command = ["env", f"TERM={_IN_SCREEN}", *command]
            with in_screen(command, home, self.size, **environment) as session:
                yield session
        else:
            own = clean_environment(home, **environment)
            with PtySession(command, own, self.size) as session:
                yield session


def _each(term: str, *sizes: tuple[int, int]) -> Sequence[Terminal]:
    return [Terminal(f"{term}-{wide}x{high}", term, (wide, high)) for wide, high in sizes]


HOME, SMALL, LARGE, HUGE = (80, 24), (60, 20), (120, 40), (200, 60)
X256 = "xterm-256color"
NO_COLOR = {"NO_COLOR": "1"}
C_LOCALE = {"LC_ALL": "C"}
TRUE = {"COLORTERM": "truecolor"}

TERMINALS: tuple[Terminal, ...] = (
    *_each("xterm", HOME, SMALL, LARGE),
    *_each(X256, HOME, SMALL, LARGE),
    *_each("screen-256color", HOME),
    *_each("tmux-256color", HOME, HUGE),
    *_each("linux", HOME, SMALL, HUGE),
    *_each("vt100", HOME, SMALL),
    Terminal("no-color", X256, environment=NO_COLOR),
    Terminal("no-color-60x20", X256, SMALL, NO_COLOR),
    Terminal("no-color-linux", "linux", environment=NO_COLOR),
    Terminal("c-locale", X256, environment=C_LOCALE),
    Terminal("c-locale-60x20", "xterm", SMALL, C_LOCALE),
    Terminal("light", X256, theme="textual-light"),
    Terminal("light-truecolor-120x40", X256, LARGE, TRUE, theme="textual-light"),
    Terminal("ansi-light", X256, theme="ansi-light"),
    Terminal("ansi-dark", X256, theme="ansi-dark"),
    Terminal("dark-truecolor", X256, environment=TRUE, theme="textual-dark"),
    Terminal("no-mouse", X256, options=("--no-mouse",)),
    Terminal("quiet", X256, options=("--quiet",)),
    Terminal("quiet-no-mouse-60x20", X256, SMALL, TRUE, ("--quiet", "--no-mouse")),
    Terminal("in-tmux", X256, inside="tmux"),
    Terminal("in-tmux-60x20", X256, SMALL, inside="tmux"),
    Terminal("in-screen", X256, inside="screen"),
)
