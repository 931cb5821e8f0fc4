"""What the doctor found: one line of its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lockterm.cli.exit_codes import hint_of
from lockterm.errors import LocktermError

State = Literal["OK", "WARN", "FAIL"]
"""``WARN`` is worth knowing; only ``FAIL`` makes the exit code 1."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    state: State
    """How it is."""
    sentence: str
    """What was seen."""
    advice: str = ""
    """What to do; empty where it is well."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What was measured, for programs."""


def trouble(error: LocktermError) -> Finding:
    """The finding that something is wrong, in the words of its error."""
    return Finding("FAIL", error.meaning, hint_of(error))
