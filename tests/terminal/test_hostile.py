"""Whatever the service says steers no terminal, fires no action and does not end lockterm."""

from __future__ import annotations

import re
import unicodedata

import pytest

from tests.terminal.hostile_service import hostile_service
from tests.terminal.pty_session import Start

OUR_SEQUENCES = re.compile(
    r"\x1b\]22;[a-z-]*(?:\x07|\x1b\\)|"  # the pointer's shape
    r"\x1b\[(?:"
    r"[0-9;]*[mHCKX]"  # colors, cursor position, the rest of a line, blanks
    r"|\?(?:7|25|1000|1002|1003|1004|1006|1015|1016|1049|2004|2026|2048)[hl]"  # modes
    r"|\?20(?:26|48)\$p|0?[56]n"  # questions
    r")"
)
"""Everything that lockterm itself tells a terminal."""
JOINERS = "\u200c\u200d"


def _what_would_steer(raw: bytes) -> list[str]:
    """What is neither a sequence of ours nor text that is only shown."""
    text = OUR_SEQUENCES.sub("", raw.decode("utf-8"))
    hidden = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    return [
        text[max(at - 10, 0) : at + 10]
        for at, char in enumerate(text)
        if char not in "\r\n" + JOINERS and unicodedata.category(char) in hidden
    ]


@pytest.mark.long
def test_hostile_strings_on_every_screen(lockterm: Start) -> None:
    with hostile_service() as (base_url, calls):
        session = lockterm("--base-url", base_url, "--lock", "7", size=(100, 34))

        def go(*keys: str, seen: str) -> None:
            session.press(*keys, seen=seen)

        def leave(what: str) -> None:
            """Wait until it is gone: a key right behind the escape would make another key of it."""
            session.press("escape")
            session.wait_until(lambda: re.search(what, session.text) is None, f"no {what}")

        go(seen="page 1 of 1.*20 remotes")
        go("enter", seen="^[ │]+Field +Value")
        leave("Field +Value")
        go("d", seen="Delete .* from")
        leave("Delete .* from")
        go("u", seen="Set the user number")
        go("5", seen="│ +5 +│")
        go("enter", seen="Refused by")
        go("C", seen="Delete all 20 remotes")
        leave("Delete all 20 remotes")
        go("v", seen="Which vendor and model")
        go("a", seen="Vendor +a ")
        go("tab", "b", seen="Model +b ")
        go("tab", "tab", "enter", seen="of the lock[^X]*Voice now: unknown")
        go("down", "enter", seen="Set the voice of")
        leave("Set the voice of")
        leave("Voices")
        go("M", seen="Messages")
        leave("Messages")
        go("a", seen="Required: Name")
        go(*"Anna", "tab", seen="lockterm could not check whether the name is free")
        session.press("\x11")  # Ctrl+Q
        assert session.wait_exit() == 0

        form = lockterm(
            "--base-url", base_url, "--lock", "7", size=(100, 34), seen="page 1 of 1.*20 remotes"
        )
        form.press("e", seen="You have not changed anything yet")
        form.press("\x11")
        assert form.wait_exit() == 0

    for ended in (session, form):
        assert _what_would_steer(bytes(ended.raw)) == []
        assert ended.raw.count(b"\x1b[?1049l") == 1
        assert b"\x1b[38;5;199;5m" not in ended.raw
    assert {"list", "detail", "updateRemoteUserNo", "checkRemoteName", "packs"} <= set(calls)
