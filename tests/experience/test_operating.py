"""Point 14: it can be operated: profiles, info, doctor, completion, a log file."""

from __future__ import annotations

import json
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lockterm.service.running import RunningService
from tests.terminal.pty_session import LOCKTERM, clean_environment

SECRET = "Bearer hunter2-hunter2"
CONFIG = """\
default_profile = "site"
[profiles.site]
base_url = "{base_url}"
timezone = "Europe/Berlin"
[profiles.site.headers]
Authorization = "env:LOCKTERM_TOKEN"
[profiles.other]
base_url = "http://127.0.0.1:1"
"""


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command without a terminal, as over ssh without -t."""
    return subprocess.run(
        [*LOCKTERM, *arguments],
        env=clean_environment(home, LOCKTERM_TOKEN=SECRET, SSH_CONNECTION="1 2 3 4"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.long
def test_point_14_it_can_be_operated(
    running_service: Callable[..., RunningService], tmp_path: Path
) -> None:
    service = running_service(clock=lambda: time.time_ns() // 1_000_000)  # as this machine's
    file = tmp_path / "config/lockterm/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(CONFIG.format(base_url=service.base_url))
    file.chmod(0o600)
    info = json.loads(run(tmp_path, "info", "--json").stdout)
    assert info["settings"]["profile"]["value"] == "site"
    assert "config.toml, line 1" in info["settings"]["profile"]["from"]
    doctor = run(tmp_path, "doctor", "--json")
    assert doctor.returncode == 0, doctor.stdout
    listed = run(tmp_path, "remotes", "list", "1003", "--csv", "--log-level", "debug")
    assert listed.returncode == 0 and len(listed.stdout.splitlines()) == 10
    other = run(tmp_path, "--profile", "other", "remotes", "list", "1003")
    assert other.returncode == 3  # the other profile's service is not there
    assert "lockterm" in run(tmp_path, "completion", "bash").stdout
    log = tmp_path / "state/lockterm/lockterm.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert "GET /api/v1/bluetooth-remote/list" in log.read_text()
    for said in (log.read_text(), doctor.stdout, json.dumps(info), listed.stderr):
        assert "hunter2" not in said
