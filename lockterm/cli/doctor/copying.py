"""The doctor's look at copying: what stands before the clipboard, and whether it lets values by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockterm.cli.doctor.answers import Answers
from lockterm.cli.doctor.finding import Finding
from lockterm.config.look import Look

PATIENCE_S = 2.0
"""How long tmux may take to tell its settings, in seconds."""

_NAMES = {"tmux": "tmux", "GNU screen": "screen"}
"""What a multiplexer calls itself -> how it is spelled in the configuration."""


@dataclass(frozen=True, slots=True)
class Tmux:
    """What the tmux around this program tells about itself."""

    version: tuple[int, int]
    """Such as 3, 4."""
    set_clipboard: str
    """``on``, ``external`` or ``off``."""
    passthrough: str
    """``on``, ``all`` or ``off``; empty where it does not know this option and lets all by."""
    terminal: str
    """TERM of the terminal that shows it."""
    knows_clipboard: bool
    """Whether it knows how that terminal's clipboard is set."""


def copying(look: Look, answers: Answers, environ: Mapping[str, str]) -> Finding:
    """How a copied value goes, and what has to be set for it to arrive."""
    facts: dict[str, Any] = {"copy": look.copy, "saysItCopies": answers.clipboard}
    inside = _NAMES.get(answers.multiplexer or "")
    if inside is not None and inside != look.copy and not environ.get("TMUX"):
        return Finding(
            "WARN",
            "terminal",
            f"Copying: set for {look.copy}, but this terminal is {answers.name}.",
            f'In the configuration, write [terminal] copy = "{inside}".',
            facts | {"multiplexer": inside},
        )
    if look.copy == "tmux":
        tmux = ask_tmux() if environ.get("TMUX") else None
        return _through_tmux(tmux, facts)
    if look.copy == "screen":
        sentence = "Copying: by OSC 52, in pieces that GNU screen hands on."
    elif answers.clipboard:
        sentence = "Copying: by OSC 52; the terminal says that it takes it."
    else:
        sentence = "Copying: by OSC 52; the terminal does not say whether it takes it."
    return Finding("OK", "terminal", sentence, facts=facts)


def _through_tmux(tmux: Tmux | None, facts: dict[str, Any]) -> Finding:
    wanted = "Set in that tmux: set -s set-clipboard on"
    if tmux is None:
        sentence = "Copying: by OSC 52 through a tmux that cannot be asked; by default it drops it."
        return Finding("WARN", "terminal", sentence, wanted, facts)
    facts["tmux"] = {
        "version": ".".join(map(str, tmux.version)),
        "setClipboard": tmux.set_clipboard,
        "allowPassthrough": tmux.passthrough or None,
        "terminal": tmux.terminal,
        "knowsClipboard": tmux.knows_clipboard,
    }
    # Older ones do not take values, but let wrapped sequences by.
    if not tmux.knows_clipboard and tmux.version >= (3, 2):
        return Finding(
            "WARN",
            "terminal",
            f"Copying: tmux knows no clipboard of a terminal of the type {tmux.terminal}.",
            f"If it has one, set: set -as terminal-features ',{tmux.terminal}:clipboard'",
            facts,
        )
    sentence = f"Copying: tmux hands values on to {tmux.terminal}."
    return Finding("OK", "terminal", sentence, facts=facts)


def ask_tmux() -> Tmux | None:
    """Ask the tmux around this program. It only reads; None where there is no answer."""
    about = _tmux("display-message", "-p", "#{version} #{client_tty} #{client_termname}")
    found = re.match(r"(?:next-)?(\d+)\.(\d+)\S* (\S+) (\S+)", about or "")
    if not found:
        return None
    # Each terminal that shows it has a block of its own, with what it can do.
    blocks = (_tmux("info") or "").split("Terminal ")
    own = next((block for block in blocks if f" for {found[3]}," in block), "")
    return Tmux(
        version=(int(found[1]), int(found[2])),
        set_clipboard=_tmux("show-options", "-sqv", "set-clipboard") or "",
        passthrough=_tmux("show-options", "-gqv", "allow-passthrough") or "",
        terminal=found[4],
        knows_clipboard=re.search(r" Ms: \(string\)", own) is not None,
    )


def _tmux(*command: str) -> str | None:
    import subprocess

    try:
        done = subprocess.run(
            ["tmux", *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
