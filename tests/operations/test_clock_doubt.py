"""The doubt about this machine's clock is reported when it begins and when it ends."""

from __future__ import annotations

from pathlib import Path

from lockterm.config import Profile
from lockterm.domain.clock import Clock
from lockterm.operations import Operations
from lockterm.service.running import RunningService
from tests.conftest import NOW_MS

HOUR_S = 3600.0


async def test_connection_reports_doubt_once_when_it_begins_and_ends(
    service: RunningService, tmp_path: Path
) -> None:
    wall_s = [NOW_MS / 1000]
    profile = Profile(name="site", base_url=service.base_url, timeout_s=5.0)
    operations = Operations(profile, tmp_path / "lockterm.db", clock=Clock(wall=lambda: wall_s[0]))
    connection, reported = operations.connection, list[bool]()
    connection.on_clock = lambda: reported.append(connection.doubts_clock)
    try:
        for hours, expected in ((0, []), (1, [True]), (1, [True]), (0, [True, False])):
            wall_s[0] = NOW_MS / 1000 + hours * HOUR_S
            await operations.remotes.all(1003)
            assert reported == expected
    finally:
        await operations.close()
