"""The lock whose remotes have names of nine kinds, or plain ones beside the same values."""

from __future__ import annotations

import time
from collections.abc import Sequence

import httpx

from lockterm.service.packs import PACKS
from lockterm.service.running import RunningService
from tests.matrix.emulators.names import NAMES, numbers, plain
from tests.matrix.emulators.steps import COUNT

LOCK = 7001
LOCK_NAME = "Bramą 1"
"""Questions are laid out in another way where a name is not ASCII: this one never is, and no
terminal disagrees on it."""
AWAY_MS = 900 * 86_400_000
"""How far the ends are: in 2 years, and for months after a test has begun still."""
AGE_MS = 907_200_000
"""How long ago all was added: 10 days ago, and for half a day after a test has begun still."""
NUMBERS = numbers(COUNT)
REAL = [NAMES[at % len(NAMES)] + " 2" * (at >= len(NAMES)) for at in range(COUNT)]
"""The names, in the order of the list."""


def now_ms() -> int:
    """The time of this machine, by which the emulators' lockterm goes."""
    return time.time_ns() // 1_000_000


def fill(service: RunningService, ambiguous: int = 1) -> None:
    """Make the lock, and its remotes with plain names.

    Args:
        service: Where.
        ambiguous: How many cells the terminal takes for á and the like: plain names are as wide.
    """
    vendor, model = next(iter(PACKS))
    start_ms = now_ms()
    with service.app.state.site.database.writing() as db:
        row = (LOCK, LOCK_NAME, "", vendor, model)
        db.execute("INSERT INTO lock (id, name, alias, vendor, model) VALUES (?, ?, ?, ?, ?)", row)
    with httpx.Client(base_url=service.base_url, trust_env=False, verify=False) as http:
        for at, name in enumerate(REAL):
            kind, ends = (1, 2, 4)[at % 3], at % 3
            form = {
                "lockId": LOCK,
                "remoteName": plain(name, at, ambiguous),
                "remoteNumber": NUMBERS[at],
                "remoteType": kind,
                "addType": 1,
                "startDate": 1_790_000_000_000 if ends else 0,
                "endDate": start_ms + AWAY_MS if ends else 0,
                "weekDay": [1, 2] if kind == 4 else [],
            }
            answer = http.post("/api/v1/bluetooth-remote/add", json=form).json()
            assert answer["errcode"] == 0, answer
    with service.app.state.site.database.writing() as db:
        db.execute(
            "UPDATE remote SET created_ms = :added, updated_ms = :added",
            {"added": start_ms - AGE_MS},
        )


def rename(service: RunningService, names: Sequence[str]) -> None:
    """Give all remotes other names, and leave everything else as it is."""
    with service.app.state.site.database.writing() as db:
        ids = [row[0] for row in db.execute("SELECT id FROM remote ORDER BY id").fetchall()]
        for name, remote in zip(names, ids, strict=True):
            db.execute("UPDATE remote SET name = ? WHERE id = ?", (name, remote))
