"""What a key sends to the terminal, in ratios: quiet less than the default, both less than bare."""

from __future__ import annotations

from pathlib import Path

from lockterm.service.running import RunningService
from tests.benchmarks.measuring import BARE, DEFAULT, QUIET, sent_bytes

MOST = {"to the first page": 0.65, "cursor down": 0.95, "page flip": 0.95, "form opened": 0.5}
"""The most that quiet may send of what the default sends."""


def test_quiet_sends_less_than_the_default_and_that_less_than_a_bare_app(tmp_path: Path) -> None:
    with RunningService() as service:
        sent = dict(sent_bytes(service.base_url, tmp_path, idle_s=1.0))
    for look, by_what in sent.items():
        *keys, idle = by_what
        assert by_what[idle] == 0, f"{look} writes while nothing happens"
        assert all(by_what[key] > 0 for key in keys), look
    for key, most in MOST.items():
        ratio = sent[QUIET][key] / sent[DEFAULT][key]
        assert ratio <= most, f"{key}: quiet sends {ratio:.2f} of the default"
        assert sent[DEFAULT][key] < sent[BARE][key], key
        assert sent["lockterm, NO_COLOR"][key] < sent[DEFAULT][key], key
