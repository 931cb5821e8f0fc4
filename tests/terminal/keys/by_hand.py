"""Typing at the speed of a person."""

from __future__ import annotations

import time

from tests.terminal.pty_session import PtySession

A_KEY_S = 0.15
"""Seconds that a person takes for a key."""


def type_by_hand(session: PtySession, *keys: bytes | str, a_key_s: float = A_KEY_S) -> None:
    """Type keys as fast as a person does."""
    for key in keys:
        session.send(key.encode() if isinstance(key, str) else key)
        end_s = time.monotonic() + a_key_s
        while (left_s := end_s - time.monotonic()) > 0:
            session.pump(left_s)
