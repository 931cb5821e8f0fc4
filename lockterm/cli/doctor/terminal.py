"""The doctor's look at the terminal: keys, colours, glyphs, copying, size."""

from __future__ import annotations

import locale
import os
import sys
from collections.abc import Iterator, Mapping

from lockterm.cli.doctor.finding import Finding, trouble
from lockterm.terminal import NoTerminal, require_terminal

SMALLEST = (60, 20)
"""Columns and rows below which screens do not fit."""
HOME = (80, 24)
"""Columns and rows at which a page fits whole."""


def terminal_findings(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether lockterm can draw here, and what is worth knowing about it."""
    if not _has_terminal():
        over = " over SSH" if "SSH_CONNECTION" in environ else ""
        yield Finding(
            "WARN",
            "terminal",
            f"There is no terminal here{over}: commands work, the UI does not.",
            "For the UI, run it in a terminal; over SSH with ssh -t.",
            {"tty": False, "encoding": _encoding()},
        )
        return
    try:
        require_terminal(environ)
    except NoTerminal as error:
        yield trouble("terminal", error)
        return
    yield _size()
    yield _keys(environ)
    yield _colours(environ)
    yield _glyphs()
    yield _copying(environ)


def _has_terminal() -> bool:
    """Whether keys could be read and a screen drawn, as ``require_terminal`` wants it."""
    streams = (sys.__stdin__, sys.__stderr__)
    return all(stream is not None and stream.isatty() for stream in streams)


def _size() -> Finding:
    columns, rows = os.get_terminal_size(2)
    size, facts = f"{columns}x{rows}", {"tty": True, "columns": columns, "rows": rows}
    if columns < SMALLEST[0] or rows < SMALLEST[1]:
        advice = "Make it at least 60x20, better 80x24."
        return Finding("FAIL", "terminal", f"Size: {size} is too small.", advice, facts)
    if columns < HOME[0] or rows < HOME[1]:
        advice = "At 80x24 a page of 20 fits whole."
        return Finding("OK", "terminal", f"Size: {size} is enough.", advice, facts)
    return Finding("OK", "terminal", f"Size: {size}.", facts=facts)


def multiplexer(environ: Mapping[str, str]) -> str:
    """``tmux``, ``screen`` or nothing: what stands between lockterm and the terminal."""
    if environ.get("TMUX"):
        return "tmux"
    if environ.get("STY"):
        return "screen"
    term = environ.get("TERM", "")
    # Over SSH from inside of one, only TERM tells.
    return next((name for name in ("tmux", "screen") if term.startswith(name)), "")


def _keys(environ: Mapping[str, str]) -> Finding:
    inside = multiplexer(environ)
    taken = {"tmux": "tmux keeps Ctrl+B for itself", "screen": "GNU screen keeps Ctrl+A for itself"}
    words = f"{taken[inside]}; lockterm has no key on it." if inside else "nothing is kept from it."
    facts = {"term": environ.get("TERM", ""), "multiplexer": inside or None}
    return Finding("OK", "terminal", f"Keys: {words}", facts=facts)


def _colours(environ: Mapping[str, str]) -> Finding:
    term = environ.get("TERM", "")
    if environ.get("NO_COLOR"):
        sentence = "Colours: none, for NO_COLOR is set; states are told by words."
        return Finding("OK", "terminal", sentence, facts={"colours": 0, "noColor": True})
    if environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        depth, why = 1 << 24, f"COLORTERM={environ['COLORTERM'].strip()}"
    elif "256color" in term or "direct" in term:
        depth, why = 256, f"TERM={term}"
    elif term.startswith("vt"):
        depth, why = 0, f"TERM={term}"
    else:
        depth, why = 16, f"TERM={term}"
    shown = f"{depth:,}" if depth else "none"
    return Finding(
        "OK", "terminal", f"Colours: {shown} ({why}).", facts={"colours": depth, "noColor": False}
    )


def _glyphs() -> Finding:
    encoding = _encoding()
    facts = {"encoding": encoding, "locale": locale.setlocale(locale.LC_CTYPE)}
    if encoding.lower().replace("-", "") == "utf8":
        return Finding("OK", "terminal", "Glyphs: UTF-8.", facts=facts)
    advice = "Set LC_ALL=C.UTF-8, and leave PYTHONIOENCODING unset."
    return Finding("WARN", "terminal", f"Glyphs: the encoding is {encoding}.", advice, facts)


def _encoding() -> str:
    return getattr(sys.__stderr__, "encoding", None) or "ascii"


def _copying(environ: Mapping[str, str]) -> Finding:
    inside = multiplexer(environ)
    facts = {"copy": "osc52", "through": inside or None}
    if inside == "tmux":
        sentence = "Copying: by OSC 52 through tmux, which passes it on if told to."
        advice = "Run: tmux set -g set-clipboard on"
        return Finding("WARN", "terminal", sentence, advice, facts)
    if inside == "screen":
        sentence = "Copying: by OSC 52 through GNU screen, which cuts long values."
        return Finding("OK", "terminal", sentence, facts=facts)
    sentence = "Copying: by OSC 52; whether the terminal takes it cannot be asked."
    return Finding("OK", "terminal", sentence, facts=facts)
