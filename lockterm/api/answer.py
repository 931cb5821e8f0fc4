"""An HTTP answer, whoever received it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lockterm.domain.safe_text import clean, masked, spellings

QUOTED = 200
"""Characters of an answer that an error shows."""

Quote = Callable[[str | bytes], str]
"""Makes some of an answer's text fit to be shown: short, one line, and without our secrets."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    """The header fields, by lower-case name."""
    body: bytes
    """The body, unpacked; only its beginning where there is a flaw."""
    flaw: str
    """Why the body cannot be trusted, in a few words; empty if it can."""
    quote: Quote


def quoting(headers: Iterable[str]) -> Quote:
    """What quotes an answer to a request.

    Args:
        headers: The values that were sent along, which are secrets.
    """
    secrets = spellings(headers)

    def quote(text: str | bytes) -> str:
        # Splitting all of 8 MiB would keep the keys waiting; a secret must not be cut in two.
        text = text[: 16 * QUOTED + max(map(len, secrets), default=0)]
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        text = masked(text, secrets)[: 16 * QUOTED]
        return clean(" ".join(text.split()), QUOTED)

    return quote
