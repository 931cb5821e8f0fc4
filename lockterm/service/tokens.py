"""Bearer tokens, each with a name. A file contains their hashes, which cannot be used as tokens.

SHA-256 without a salt is enough: a token from ``new_token`` has 256 random bits, and a token that
a person chose has at least ``SHORTEST`` characters. A slow hash would delay every request.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from hashlib import sha256

SHORTEST = 20
"""Minimum number of characters of a token that a person chose."""
MAX_BYTES = 1024 * 1024
"""Maximum size of a file of tokens, in bytes."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HASH = re.compile(r"sha256:([0-9a-f]{64})")


class Tokens:
    """The access tokens that the service accepts.

    Args:
        read: A function that returns two texts: the lines of a file of tokens, and a sentence if
            other users could have changed the file, otherwise an empty string. The constructor and
            ``read_again`` call the function.

    Raises:
        OSError: If ``read`` cannot read the file.
        ValueError: If the lines have an error or no token, or other users could have changed the
            file. The message is a sentence that does not quote the lines.
    """

    def __init__(self, read: Callable[[], tuple[str, str]]) -> None:
        self._read = read
        self._names, problem = _parsed(*read())
        if problem:
            raise ValueError(problem)

    @classmethod
    def only(cls, token: str) -> Tokens:
        """Return a ``Tokens`` object that accepts a single token, given in plain text."""
        return cls(lambda: (line_of("token", token), ""))

    def read_again(self) -> None:
        """Read the file of tokens again; call this when the file may have changed.

        If the file has an error, valid tokens that it still contains stay valid, and no token is
        added. If the file cannot be read, no token stays valid, because any of them may be revoked.

        Raises:
            OSError: If ``read`` cannot read the file.
            ValueError: As for the constructor.
        """
        try:
            names, problem = _parsed(*self._read())
        except BaseException:
            self._names = {}
            raise
        if not problem:
            self._names = names
            return
        self._names = {token: name for token, name in self._names.items() if token in names}
        raise ValueError(problem)

    def __len__(self) -> int:
        """Return the number of valid tokens."""
        return len(self._names)

    def name_of(self, token: bytes) -> str | None:
        """Return the name of a token; None if the token is not valid.

        The duration of the lookup reveals nothing about valid tokens, because it compares only
        hashes.
        """
        return self._names.get(sha256(token).digest())


def new_token() -> str:
    """Return a random token that fits into a header."""
    return secrets.token_urlsafe(32)


def line_of(name: str, token: str) -> str:
    """Return the line for a token in a file of tokens.

    Raises:
        ValueError: If the name is invalid. The message is a sentence.
    """
    if not _NAME.fullmatch(name):
        raise ValueError("A name has 1 to 64 letters, digits, points, dashes or underscores.")
    return f"{name} sha256:{sha256(token.encode()).hexdigest()}"


def reason(error: OSError | ValueError) -> str:
    """Return the reason of an error that :class:`Tokens` has raised, as a sentence."""
    return f"{error.strerror}." if isinstance(error, OSError) else str(error)


def _parsed(text: str, problem: str) -> tuple[dict[bytes, str], str]:
    """Return the tokens in the valid lines, and a sentence about the first problem.

    Args:
        text: The lines of a file of tokens.
        problem: An earlier problem, which takes precedence; empty if there is none.

    Returns:
        A mapping of the hashes of the tokens to their names, and the sentence; the sentence is
        empty if there is no problem.
    """
    names: dict[bytes, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, _, rest = line.partition("#")[0].strip().partition(" ")
        if not name:
            continue
        found = _HASH.fullmatch(rest.strip())
        if found is None or not _NAME.fullmatch(name):
            problem = problem or f"Line {number} is not a name and sha256: with 64 digits."
            continue
        digest = bytes.fromhex(found[1])
        if digest in names or name in names.values():
            problem = problem or f"Line {number} has a name or a token that is there already."
        names[digest] = name
    if not names:
        problem = problem or "It has no token."
    return names, problem
