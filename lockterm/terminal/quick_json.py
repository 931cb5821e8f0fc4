"""JSON read without the module json, which takes longer to import than what it reads is needed for.

A start waits for this module, so it imports nothing but what json itself reads with.
"""

from __future__ import annotations

import json

try:
    from _json import make_scanner
except ImportError:  # a Python without it has the slow one alone
    make_scanner = None  # type: ignore[assignment, misc]

TYPE_CHECKING = False  # as in typing, which takes longer to import than this
if TYPE_CHECKING:
    from typing import Any, NoReturn


def loads(content: bytes) -> Any:
    """What JSON says, as ``json.loads`` tells it; no blanks before it, and no NaN in it.

    Raises:
        ValueError: It is no JSON.
        RecursionError: It is nested too deeply.
    """
    text = content.decode("utf-8", "surrogatepass")
    if make_scanner is None:
        return json.loads(text)
    try:
        value, end = make_scanner(_Rules())(text, 0)  # type: ignore[arg-type]
    except StopIteration:
        raise ValueError("it is no JSON") from None
    if text[end:].strip():
        raise ValueError("something stands behind it")
    return value


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


class _Rules:
    strict = True
    object_hook = object_pairs_hook = None
    parse_int, parse_float = int, float
    parse_constant = staticmethod(_refuse)
