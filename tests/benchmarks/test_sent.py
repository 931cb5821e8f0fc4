"""What a key sends to the terminal, in ratios: quiet less than the default, both less than bare."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockterm.service.running import RunningService
from tests.benchmarks.measuring import BARE, DEFAULT, QUIET, sent_bytes

pytestmark = pytest.mark.long

MOST = {"to the first page": 0.95, "cursor down": 0.26, "page flip": 0.95, "form opened": 0.8}
"""The most that quiet may send of what the default sends."""
MOST_BYTES = {"to the first page": 2900, "cursor down": 240, "page flip": 1640, "form opened": 1475}
MOST_BYTES |= {"detail opened": 2400, "voices opened": 4000}
"""The most that the default may send, in bytes; more where a frame is drawn while it is read."""


def test_quiet_sends_less_than_the_default_and_that_less_than_a_bare_app(tmp_path: Path) -> None:
    with RunningService() as service:
        sent = dict(sent_bytes(service.base_url, tmp_path, idle_s=1.0))
    for look, by_what in sent.items():
        for what, bytes_ in by_what.items():
            assert (bytes_ == 0) is what.startswith("idle"), (look, what, bytes_)
    for key, bytes_ in MOST_BYTES.items():
        assert sent[DEFAULT][key] <= bytes_, key
    for key, most in MOST.items():
        ratio = sent[QUIET][key] / sent[DEFAULT][key]
        assert ratio <= most, f"{key}: quiet sends {ratio:.2f} of the default"
        assert sent[DEFAULT][key] < sent[BARE][key], key
        assert sent["lockterm, NO_COLOR"][key] < sent[DEFAULT][key], key
