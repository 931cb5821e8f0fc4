"""The doctor's look at copying: what stands before the clipboard, and whether it lets values by."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from typing import Any

from lockterm.cli.doctor.answers import TerminalAnswers
from lockterm.cli.doctor.finding import Finding
from lockterm.config.look import Look

TIMEOUT_S = 2.0
"""How long tmux may take to tell its settings, in seconds."""

_NAMES = {"tmux": "tmux", "GNU screen": "screen"}
"""What a multiplexer calls itself -> how it is spelled in the configuration."""


def copying(look: Look, answers: TerminalAnswers, environ: Mapping[str, str]) -> Finding:
    """How a copied value goes, and what has to be set for it to arrive."""
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
        return _through_tmux(_ask_tmux() if environ.get("TMUX") else None, facts)
    if look.copy == "screen":
        sentence = "Copying: by OSC 52, in pieces that GNU screen hands on."
    elif answers.clipboard:
        sentence = "Copying: by OSC 52; the terminal says that it takes it."
    else:
        sentence = "Copying: by OSC 52; the terminal does not say whether it takes it."
    return Finding("OK", sentence, facts=facts)


def _through_tmux(tmux: dict[str, Any] | None, facts: dict[str, Any]) -> Finding:
    if tmux is None:
        sentence = "Copying: by OSC 52 through a tmux that cannot be asked; by default it drops it."
        return Finding("WARN", sentence, "Set in that tmux: set -s set-clipboard on", facts)
    facts["tmux"] = tmux
    terminal = tmux["terminal"]
    # Older ones do not take values, but let wrapped sequences by.
    version = tuple(map(int, tmux["version"].split(".")))
    if not tmux["knowsClipboard"] and version >= (3, 2):
        return Finding(
            "WARN",
            f"Copying: tmux knows no clipboard of a terminal of the type {terminal}.",
            f"If it has one, set: set -as terminal-features ',{terminal}:clipboard'",
            facts,
        )
    return Finding("OK", f"Copying: tmux hands values on to {terminal}.", facts=facts)


def _ask_tmux() -> dict[str, Any] | None:
    """What the tmux around this program tells about itself; None where there is no answer.

    ``terminal`` is TERM of the terminal that shows it; ``allowPassthrough`` is null where it does
    not know this option and lets all by.
    """
    about = _tmux("display-message", "-p", "#{version} #{client_tty} #{client_termname}")
    found = re.match(r"(?:next-)?(\d+\.\d+)\S* (\S+) (\S+)", about or "")
    if not found:
        return None
    # Each terminal that shows it has a block of its own, with what it can do.
    blocks = (_tmux("info") or "").split("Terminal ")
    own = next((block for block in blocks if f" for {found[2]}," in block), "")
    return {
        "version": found[1],
        "setClipboard": _tmux("show-options", "-sqv", "set-clipboard") or "",
        "allowPassthrough": _tmux("show-options", "-gqv", "allow-passthrough") or None,
        "terminal": found[3],
        "knowsClipboard": re.search(r" Ms: \(string\)", own) is not None,
    }


def _tmux(*command: str) -> str | None:
    try:
        done = subprocess.run(
            ["tmux", *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
