"""The doctor's findings about the terminal, and its test of the keys that arrive.

The doctor checks the terminal's replies to queries, and how lockterm uses the terminal.
"""

from __future__ import annotations

import locale
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Literal

from rich.cells import cell_len

from lockterm.cli.exit_codes import advice_of
from lockterm.cli.output import are_terminals, put, put_wrapped
from lockterm.cli.terminal_queries import (
    LETTER,
    NAME_GLYPHS,
    OWN_GLYPHS,
    Conversation,
    TerminalAnswers,
    ask_terminal,
    can_ask_terminal,
)
from lockterm.config.look import TRUE_COLORS, Look
from lockterm.errors import LocktermError
from lockterm.keymap.hints import written
from lockterm.terminal.signals import RESTORE, NoTerminalError, require_terminal

_TMUX_TIMEOUT_S = 2.0
"""The maximum time to wait for a reply of tmux, in seconds."""

_NAMES = {"tmux": "tmux", "GNU screen": "screen"}
"""Maps ``TerminalAnswers.multiplexer`` to the value of the setting ``copy`` for it."""

SMALLEST = (60, 20)
"""The minimum size of a terminal for the UI, in columns and rows."""
HOME = (80, 24)
"""The size of a terminal in which a page of 20 remotes fits, in columns and rows."""

KEYS = (
    *("enter", "esc", "tab", "shift+tab", "space", "backspace", "del"),
    *("up", "down", "left", "right", "home", "end", "pgup", "pgdn", "shift+up", "shift+down"),
    *("f1", "f2", "f3", "f4", "f5"),
    *("ctrl+s", "ctrl+n", "ctrl+g", "ctrl+o", "ctrl+r"),
    *("ctrl+t", "ctrl+y", "ctrl+l", "ctrl+p", "ctrl+q"),
)
"""The keys of lockterm that a terminal or a multiplexer may handle itself or send differently."""

KEYS_TIMEOUT_S = 30.0
"""The time without a key after which the test of keys ends, in seconds."""

_LAST_KEYS = ("q", "ctrl+c")
_TICK_S = 0.05

State = Literal["OK", "WARN", "FAIL"]
"""The severity of a finding. Only ``FAIL`` makes the exit code 1."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check, which is one line of the report."""

    state: State
    sentence: str
    advice: str = ""
    """Advice to the user; empty if nothing is wrong."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Measured values for the output of ``--json``."""


def finding_of(error: LocktermError) -> Finding:
    """Return a finding that reports an error."""
    return Finding("FAIL", error.meaning, advice_of(error))


def check_terminal(
    environ: Mapping[str, str],
    look: Look,
    origins: Mapping[str, str],
    at_end: ExitStack | None,
) -> Iterator[Finding]:
    """Check whether lockterm can draw on the terminal, and how.

    Args:
        environ: The environment variables.
        look: The colors, glyphs and other display settings that lockterm uses.
        origins: Maps each display setting to the origin of its value.
        at_end: The stack that restores the terminal after the queries; None to send no queries.
    """
    # As in require_terminal: lockterm reads keys from stdin and draws screens on stderr.
    if not are_terminals(sys.__stdin__, sys.__stderr__):
        over = " over SSH" if "SSH_CONNECTION" in environ else ""
        yield Finding(
            "WARN",
            f"There is no terminal{over}. Commands work, but the UI does not.",
            "For the UI, run lockterm in a terminal. Over SSH, use ssh -t.",
            {"tty": False, "encoding": _encoding()},
        )
        return
    try:
        require_terminal(environ)
    except NoTerminalError as error:
        yield finding_of(error)
        return
    answers = None
    if at_end is not None and can_ask_terminal():
        answers = ask_terminal(environ, at_end, utf8=look.utf8)
    yield _check_answers(answers or TerminalAnswers(), environ, answers is not None)
    answers = answers or TerminalAnswers()
    yield _check_size(answers)
    yield _check_keys(look, answers)
    yield _check_colors(look, answers, origins)
    yield _check_glyphs(look, answers, origins)
    yield check_copying(look, answers, environ)
    yield Finding(
        "OK",
        "If the connection breaks, the terminal keeps lockterm's modes, such as mouse reports.",
        "Then type reset and press Enter, even if you do not see it.",
        {"restoredBy": RESTORE},
    )


def _check_answers(answers: TerminalAnswers, environ: Mapping[str, str], asked: bool) -> Finding:
    term = environ["TERM"]
    took_ms = None if answers.round_trip_s is None else round(answers.round_trip_s * 1000, 1)
    facts = {
        "tty": True,
        "term": term,
        "asked": asked,
        "roundTripMs": took_ms,
        "name": answers.name,
        "multiplexer": answers.multiplexer,
        "modes": dict(answers.modes),
    }
    unknown = "so lockterm uses the environment variables."
    if not asked:
        return Finding(
            "OK", f"Type: {term}. lockterm did not query the terminal, {unknown}", facts=facts
        )
    if took_ms is None:
        sentence = f"Type: {term}. The terminal does not answer queries, {unknown}"
        return Finding("WARN", sentence, "Check that TERM is right.", facts)
    name = f"is {answers.name}" if answers.name else "reports no name"
    sentence = f"Type: {term}. The terminal {name} and answers in {took_ms:.0f} ms."
    known = answers.modes.get("synchronizedOutput")
    if known is not None:
        sentence += f" It {'draws' if known else 'does not draw'} whole frames."
    return Finding("OK", sentence, facts=facts)


def _check_size(answers: TerminalAnswers) -> Finding:
    columns, rows = os.get_terminal_size(2)
    size = f"{columns}x{rows}"
    facts: dict[str, Any] = {
        "tty": True,
        "columns": columns,
        "rows": rows,
        "saysSize": answers.size,
    }
    if not (columns and rows):
        used = shutil.get_terminal_size((80, 24))
        wide, high = answers.size or used
        sentence = f"Size: the terminal reports none, so lockterm uses {used.columns}x{used.lines}."
        return Finding("WARN", sentence, f"Run: stty columns {wide} rows {high}", facts)
    if answers.size is not None and answers.size != (columns, rows):
        wide, high = answers.size
        sentence = f"Size: {size} is set, but the terminal has {wide}x{high}."
        return Finding("WARN", sentence, f"Run: stty columns {wide} rows {high}", facts)
    if columns < SMALLEST[0] or rows < SMALLEST[1]:
        advice = "Make the window at least 60x20, better 80x24."
        return Finding("FAIL", f"Size: {size} is too small.", advice, facts)
    if columns < HOME[0] or rows < HOME[1]:
        return Finding(
            "OK", f"Size: {size} is enough.", "At 80x24, a page of 20 remotes fits.", facts
        )
    return Finding("OK", f"Size: {size}.", facts=facts)


def _check_keys(look: Look, answers: TerminalAnswers) -> Finding:
    taken = {
        "tmux": "tmux keeps Ctrl+B, which lockterm does not use",
        "screen": "GNU screen keeps Ctrl+A, which lockterm does not use",
        "plain": "all known keys reach lockterm",
    }
    facts = {
        "multiplexer": None if look.copy == "plain" else look.copy,
        "kittyKeys": answers.kitty_keys,
        "bracketedPaste": answers.modes.get("bracketedPaste"),
        "mouse": answers.modes.get("mouse"),
        "mouseTaken": look.mouse,
    }
    mouse = "is handled by " + ("lockterm" if look.mouse else "the terminal")
    if answers.modes.get("mouse") is False:
        mouse = "is not reported by this terminal"
    sentence = f"Keys: {taken[look.copy]}. The mouse {mouse}."
    return Finding("OK", sentence, "Try each: lockterm doctor --keys", facts)


def _check_colors(look: Look, answers: TerminalAnswers, origins: Mapping[str, str]) -> Finding:
    why = origins.get("colors", "default")
    facts = {
        "colors": look.colors,
        "from": why,
        "noColor": "NO_COLOR" in why,
        "says24Bit": answers.true_color,
    }
    if facts["noColor"]:
        sentence = "Colors: none, because NO_COLOR is set. Words show the states."
        return Finding("OK", sentence, facts=facts)
    if look.quiet:
        return Finding("OK", "Colors: 16, because quiet is set.", facts=facts)
    shown = f"{look.colors:,}" if look.colors else "none"
    sentence = f"Colors: {shown} ({why})."
    if answers.true_color and look.colors < TRUE_COLORS:
        advice = "For all colors: export COLORTERM=truecolor"
        sentence += " The terminal shows 16,777,216 different colors."
        return Finding("OK", sentence, advice, facts)
    if answers.true_color is False and look.colors == TRUE_COLORS:
        sentence += " The terminal replaces some of these colors."
        return Finding("WARN", sentence, "Unset COLORTERM if colors look wrong.", facts)
    return Finding("OK", sentence, facts=facts)


def _check_glyphs(look: Look, answers: TerminalAnswers, origins: Mapping[str, str]) -> Finding:
    why = origins.get("glyphs", "default")
    facts: dict[str, Any] = {
        "glyphs": "ascii" if look.in_ascii else "unicode",
        "from": why,
        "encoding": _encoding(),
        "locale": locale.setlocale(locale.LC_CTYPE),
        "widths": dict(answers.widths),
    }
    sentence = f"Glyphs: {'ASCII' if look.in_ascii else 'Unicode'} ({why})."
    if not look.utf8:
        sentence = f"Glyphs: ASCII ({why}). Other characters in names are shown as ?."
        advice = "If the terminal supports UTF-8: export LC_ALL=C.UTF-8"
        if answers.widths.get(LETTER) == 1:
            sentence = (
                f"Glyphs: Unicode. The terminal supports UTF-8, but the locale does not ({why})."
            )
            advice = "To print names without escapes: export LC_ALL=C.UTF-8"
            facts["glyphs"] = "unicode"
        return Finding("WARN", sentence, advice, facts)
    odd = [glyph for glyph, cells in answers.widths.items() if cells != cell_len(glyph)]
    if ours := [glyph for glyph in odd if glyph in OWN_GLYPHS and not look.in_ascii]:
        sentence += f" This terminal draws {' '.join(ours)} in another width, so rows shift."
        advice = 'In the configuration, write [terminal] glyphs = "ascii".'
        return Finding("WARN", sentence, advice, facts)
    if others := [glyph for glyph in odd if glyph in NAME_GLYPHS]:
        sentence += (
            f" This terminal draws {' '.join(others)} in another width, so names shift rows."
        )
        return Finding("WARN", sentence, facts=facts)
    if answers.widths:
        sentence += " Accents, wide letters and emoji have the expected width."
    return Finding("OK", sentence, facts=facts)


def _encoding() -> str:
    return getattr(sys.__stderr__, "encoding", None) or "ascii"


def check_copying(look: Look, answers: TerminalAnswers, environ: Mapping[str, str]) -> Finding:
    """Check how copied values reach the clipboard, and whether the user must change a setting."""
    facts: dict[str, Any] = {"copy": look.copy, "saysItCopies": answers.clipboard}
    inside = _NAMES.get(answers.multiplexer or "")
    if inside is not None and inside != look.copy and not environ.get("TMUX"):
        return Finding(
            "WARN",
            f"Copying: set for {look.copy}, but this terminal is {answers.name}.",
            f'In the configuration, write [terminal] copy = "{inside}".',
            facts | {"multiplexer": inside},
        )
    if look.copy == "tmux":
        return _check_tmux(_ask_tmux() if environ.get("TMUX") else None, facts)
    if look.copy == "screen":
        sentence = "Copying: by OSC 52, in pieces that GNU screen passes on."
    elif answers.clipboard:
        sentence = "Copying: by OSC 52. The terminal reports that it supports OSC 52."
    else:
        sentence = "Copying: by OSC 52. The terminal does not report whether it supports OSC 52."
    return Finding("OK", sentence, facts=facts)


def _check_tmux(tmux: dict[str, Any] | None, facts: dict[str, Any]) -> Finding:
    if tmux is None:
        sentence = (
            "Copying: by OSC 52 through a tmux that does not answer. By default, tmux drops OSC 52."
        )
        return Finding("WARN", sentence, "Set in that tmux: set -s set-clipboard on", facts)
    facts["tmux"] = tmux
    terminal = tmux["terminal"]
    # Before version 3.2, tmux does not copy values itself, but passes wrapped sequences on.
    version = tuple(map(int, tmux["version"].split(".")))
    if not tmux["knowsClipboard"] and version >= (3, 2):
        return Finding(
            "WARN",
            f"Copying: tmux knows no clipboard for the terminal type {terminal}.",
            (
                "If the terminal has a clipboard, set: set -as terminal-features"
                f" ',{terminal}:clipboard'"
            ),
            facts,
        )
    return Finding("OK", f"Copying: tmux passes copied values on to {terminal}.", facts=facts)


def _ask_tmux() -> dict[str, Any] | None:
    """Return facts about the instance of tmux in which lockterm runs; None if tmux does not reply.

    The fact ``terminal`` is the value of TERM in the terminal in which tmux runs. The fact
    ``allowPassthrough`` is None for a version of tmux that lacks this option and forwards all
    sequences.
    """
    about = _run_tmux("display-message", "-p", "#{version} #{client_tty} #{client_termname}")
    found = re.match(r"(?:next-)?(\d+\.\d+)\S* (\S+) (\S+)", about or "")
    if not found:
        return None
    # For each terminal, the output has a block with the abilities of this terminal.
    blocks = (_run_tmux("info") or "").split("Terminal ")
    own = next((block for block in blocks if f" for {found[2]}," in block), "")
    return {
        "version": found[1],
        "setClipboard": _run_tmux("show-options", "-sqv", "set-clipboard") or "",
        "allowPassthrough": _run_tmux("show-options", "-gqv", "allow-passthrough") or None,
        "terminal": found[3],
        "knowsClipboard": re.search(r" Ms: \(string\)", own) is not None,
    }


def _run_tmux(*command: str) -> str | None:
    try:
        done = subprocess.run(
            ["tmux", *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_TMUX_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def run_keys() -> int:
    """Print how each pressed key arrives, and finally which keys did not arrive.

    Returns:
        The exit code. It is always 0, because the user may not have pressed every key.

    Raises:
        NoTerminalError: If there is no usable terminal.
    """
    require_terminal(os.environ)
    if not can_ask_terminal():
        raise NoTerminalError(
            "Another program uses this terminal now.", hint="Run the command in the foreground."
        )
    put(
        "Press each of these keys. To end, press q or Ctrl+C, or press no key for"
        f" {KEYS_TIMEOUT_S:.0f} s:"
    )
    put_wrapped("  ", " ".join(KEYS))
    seen: set[str] = set()
    for key, sequence in _read_keys():
        seen.add(key)
        known = "" if key in KEYS or len(key) == 1 else "   not used by lockterm"
        put(f"  {key:<12} arrives as {ascii(sequence)[1:-1]}{known}")
        if key in _LAST_KEYS:
            break
    missing = [key for key in KEYS if key not in seen]
    put(f"{len(KEYS) - len(missing)} of {len(KEYS)} keys arrived.")
    if missing:
        put_wrapped("Not seen: ", f"{' '.join(missing)}.")
        then = "In the configuration, set other keys for these actions under [keys]."
        put_wrapped("", f"If you pressed these keys, another program used them. {then}")
    return 0


def _read_keys() -> Iterator[tuple[str, str]]:
    """Yield each key's name, as screens receive it, and the characters that the terminal sent."""
    # Textual is missing when the manual pages are built.
    from textual import events

    from lockterm.terminal.terminal_input import TerminalInput

    keys = TerminalInput()
    with Conversation(raw=True) as terminal:
        sent, until = b"", time.monotonic() + KEYS_TIMEOUT_S
        while (now_s := time.monotonic()) < until:
            data = terminal.read(_TICK_S)
            if data == b"":
                return  # the terminal hung up
            sent += data or b""
            arrived = list(keys.feed(data, now_s) if data else keys.tick(now_s))
            for message in arrived:
                if isinstance(message, events.Key):
                    until = time.monotonic() + KEYS_TIMEOUT_S
                    yield written(message.key), sent.decode("utf-8", "replace")
            if arrived:
                sent = b""
