"""Names of nine kinds in a real tmux, read back as tmux itself has them: every value is right."""

from __future__ import annotations

import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lockterm.service.running import RunningService
from tests.matrix.emulators.lock import LOCK, NUMBERS, REAL, fill, rename
from tests.programs import require
from tests.terminal.pty_session import LOCKTERM, PATIENCE_S, clean_environment


class Pane:
    """Lockterm in a tmux that is attached to no terminal."""

    def __init__(self, socket: Path, environment: dict[str, str]) -> None:
        self._tmux = ["tmux", "-f", "/dev/null", "-S", str(socket)]
        self._environment = environment

    def do(self, *words: str) -> str:
        """A command of tmux, and what it says."""
        command = [*self._tmux, *words]
        done = subprocess.run(
            command, env=self._environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    def wait_for(self, *words: str, complete: Callable[[list[str]], bool]) -> list[str]:
        """What each row says, once all the words are there and the rows are complete."""
        end = time.monotonic() + PATIENCE_S
        while True:
            shown = self.do("capture-pane", "-p")
            found = values(shown.splitlines())
            if all(word in shown for word in words) and complete(found):
                return found
            assert time.monotonic() < end, f"not seen: {words}\n{shown}"
            time.sleep(0.05)


@contextmanager
def pane(service: RunningService, home: Path) -> Iterator[Pane]:
    """A session of 80x24."""
    require("tmux", "tmux")
    home.mkdir()
    command = [*LOCKTERM, "--base-url", service.base_url, "--lock", str(LOCK)]
    with tempfile.TemporaryDirectory(prefix="mux") as place:
        opened = Pane(Path(place) / "socket", clean_environment(home))
        size = ("-x", "80", "-y", "24")
        opened.do(
            "new-session", "-d", *size, shlex.join(command), ";", "set", "-g", "status", "off"
        )
        try:
            yield opened
        finally:
            opened.do("kill-server")


def values(lines: list[str]) -> list[str]:
    """What each row says from its number on; where none is right, all that it says."""
    found = (re.search(rf"(?<!\S)(?:{'|'.join(NUMBERS)}) .*", line) for line in lines[2:])
    return [hit[0] if hit else line for hit, line in zip(found, lines[2:], strict=True)]


WALK = (
    ((), "? help", NUMBERS[:20]),
    (("j",) * 19, "page 1 of 2", NUMBERS[:20]),
    (("n",), "page 2 of 2", NUMBERS[20:]),
    (("k", "k"), "page 2 of 2", NUMBERS[20:]),
    (("p",), "page 1 of 2", NUMBERS[:20]),
    (("/", *"A-2"), "20 of 30", [number for number in NUMBERS[:20] if "A-2" in number]),
    (("Escape",), "30 remotes", NUMBERS[:20]),
)
"""Keys, a word of the screen that they lead to, and the remotes on it."""


@pytest.mark.long
def test_every_value_is_right_in_tmux(
    running_service: Callable[..., RunningService], tmp_path: Path
) -> None:
    service = running_service(sample_data=False)
    fill(service)
    with pane(service, tmp_path / "plain") as shown:
        plain = []
        for keys, word, numbers in WALK:
            if keys:
                shown.do("send-keys", *keys)

            def listed(rows: list[str], numbers: list[str] = numbers) -> bool:
                return [row.split()[0] for row in rows[:20] if row.strip()] == numbers

            plain.append(shown.wait_for(word, complete=listed)[:20])
    rename(service, REAL)
    with pane(service, tmp_path / "real") as shown:
        for (keys, word, _), expected in zip(WALK, plain, strict=True):
            if keys:
                shown.do("send-keys", *keys)
            shown.wait_for(word, complete=lambda rows, expected=expected: rows[:20] == expected)
