"""One emulator with lockterm in it: keys go in as a person's do, pixels and bytes come out."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.matrix.emulators.display import SIZE, Display, Grid, Pixels, box_of_change
from tests.matrix.emulators.emulators import Emulator
from tests.matrix.job import Step
from tests.matrix.picture import Picture
from tests.terminal.pty_session import PATIENCE_S, clean_environment
from tests.terminal.replica import Replica

COLUMNS, ROWS = 80, 24
_TURN_S, _TURNS = 0.04, 4
"""What stood still for so many turns, and did nothing, is finished."""
_KEYS = {"enter": "Return", "escape": "Escape", "tab": "Tab", "pagedown": "Next"}
_SIZE = re.compile(r"(\d+)x(\d+)")

# First the place of the cells is learnt: an empty screen, then one that is full. All that lockterm
# writes is kept by ``script``, which is part of every Linux.
_INSIDE = r"""
until [ "$(stty size)" = "{rows} {columns}" ]; do sleep 0.02; done
tty >tty
say() {{ touch "$1.said"; until [ -e "$1.heard" ]; do sleep 0.02; done; }}
printf '\033[?25l\033[2J\033[H'; say empty
printf '\033[7m%{cells}s\033[m' ''; say full
printf '\033[2J\033[H\033[?25h'
exec script --quiet --flush --log-out log --command {command}
"""

# Letters of two colors only: with shades at their edges one letter would reach into the next.
_FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<include ignore_missing="yes">/etc/fonts/fonts.conf</include>
<match target="pattern"><edit name="antialias" mode="assign"><bool>false</bool></edit></match>
<match target="font"><edit name="antialias" mode="assign"><bool>false</bool></edit></match>
</fontconfig>"""


class Window:
    """A running emulator.

    Args:
        display: Where it is.
        place: Where the program in it was started.
        watched: All that has to be at rest before a picture is taken.
    """

    def __init__(self, display: Display, place: Path, watched: list[psutil.Process]) -> None:
        self._display, self._place, self._watched = display, place, watched
        self.replica = Replica(COLUMNS, ROWS)
        """What lockterm has written, as pyte understands it."""
        self._read = -1
        self.grid = self._learn_grid()
        self._id, self._edges = self._focus()

    # --- what is seen --------------------------------------------------------------------------

    def settled(self) -> Pixels:
        """The picture, once nothing is under way any more."""
        still, before = 0, None
        watched = self._processes()
        end = time.monotonic() + PATIENCE_S
        while still < _TURNS:
            assert time.monotonic() < end, "it never comes to rest"
            time.sleep(_TURN_S)
            self.pump()
            now = (self._display.pixels(), _work(watched), len(self.replica.raw))
            still = still + 1 if now == before else 0
            before = now
        return before[0]

    def pump(self) -> None:
        """Read what lockterm has written since."""
        log = self._place / "log"
        if not log.exists():
            return
        with log.open("rb") as file:
            if self._read < 0:
                first = file.readline()  # script's own
                if not first.endswith(b"\n"):
                    return
                self._read = len(first)
            file.seek(self._read)
            if data := file.read():
                self._read += len(data)
                self.replica.write(data)

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Read until a condition holds."""
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, f"not seen: {what}\n{self.replica.text}"
            time.sleep(0.02)
            self.pump()

    def _processes(self) -> list[psutil.Process]:
        found = [*self._watched]
        for root in self._watched:
            found += root.children(recursive=True)
        return found

    def _learn_grid(self) -> Grid:
        pictures = []
        for word in ("empty", "full"):
            self.wait_until((self._place / f"{word}.said").exists, f"the emulator {word}")
            pictures.append(self.settled())
            (self._place / f"{word}.heard").touch()
        box = box_of_change(self._display, *pictures)
        return Grid(self._display, box, (COLUMNS, ROWS))

    def _focus(self) -> tuple[str, tuple[int, int]]:
        """Have the keys go to the window with the cells; its id, and what is around the cells."""
        cells = COLUMNS * self.grid.width, ROWS * self.grid.height
        for found in self._display.do("search", "--onlyvisible", "--name", "").split():
            shape = self._display.do("getwindowgeometry", "--shell", found)
            size = dict(line.split("=") for line in shape.split())
            wide, high = int(size["WIDTH"]), int(size["HEIGHT"])
            if cells[0] <= wide < SIZE[0] and cells[1] <= high < SIZE[1]:
                self._display.do("windowfocus", "--sync", found)
                return found, (wide - cells[0], high - cells[1])
        raise AssertionError("no window has the cells in it")

    # --- what is done --------------------------------------------------------------------------

    def press(self, *keys: str) -> None:
        """Press keys by their names; what is no name is typed. ``60x20``: give it that size."""
        for key in keys:
            if size := _SIZE.fullmatch(key):
                self.resize(int(size[1]), int(size[2]))
            elif key in _KEYS or key.startswith("ctrl+"):
                self._display.do("key", _KEYS.get(key, key))
            else:
                self._display.do("type", "--delay", "1", "--", key)

    def take(self, step: Step) -> Pixels:
        """Press the keys of a step, and wait for its screen."""

        def is_there() -> bool:
            words = Picture(self.replica.screen).words
            gone = not step.gone or not re.search(step.gone, words)
            return gone and all(re.search(pattern, words) for pattern in step.shows.words)

        self.press(*step.keys)
        self.wait_until(is_there, f"{step.name}: {step.shows.words}, and not {step.gone!r}")
        rested_s = time.monotonic() + step.rest_s
        self.wait_until(lambda: time.monotonic() >= rested_s, f"the rest after {step.name}")
        return self.settled()

    def clear_and_redraw(self) -> Pixels:
        """Wipe the screen from outside of lockterm, and have it drawn again by its key."""
        empty = self._settled_after(self._clear)
        drawn = self._settled_after(lambda: self.press("ctrl+l"))
        assert drawn != empty, "ctrl+l draws nothing"
        return drawn

    def _settled_after(self, act: Callable[[], None]) -> Pixels:
        """The picture after something that is bound to change it."""
        before = self._display.pixels()
        act()
        self.wait_until(lambda: self._display.pixels() != before, "a change of the picture")
        return self.settled()

    def _clear(self) -> None:
        """Write to the emulator as any other program on its terminal would."""
        with Path((self._place / "tty").read_text().strip()).open("wb") as terminal:
            terminal.write(b"\033[2J")

    def resize(self, columns: int, rows: int) -> None:
        """Give the window the size of so many cells, and wait until lockterm draws for it."""
        wide = columns * self.grid.width + self._edges[0]
        high = rows * self.grid.height + self._edges[1]
        self.pump()
        self.replica.screen.resize(rows, columns)
        before = len(self.replica.raw)
        self._display.do("windowsize", self._id, str(wide), str(high))
        self.grid = self.grid.resized(columns, rows)
        self.wait_until(lambda: len(self.replica.raw) > before, "something drawn for another size")


def _work(processes: list[psutil.Process]) -> list[tuple[float, float]]:
    """The time of each process so far; of one that is at work, something that never stays."""
    found = []
    for process in processes:
        with suppress(psutil.NoSuchProcess), process.oneshot():
            times = process.cpu_times()
            at_work = process.status() == psutil.STATUS_RUNNING
            found.append((times.user + times.system, time.monotonic() if at_work else 0.0))
    return found


@contextmanager
def opened(
    emulator: Emulator, display: Display, server: int, command: list[str], place: Path
) -> Iterator[Window]:
    """An emulator, and lockterm in it.

    Args:
        emulator: Which one.
        display: Where.
        server: The process of the display.
        command: Lockterm with its options.
        place: A new directory.
    """
    place.mkdir()
    for path, content in emulator.files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(content)
    (place / "fonts.conf").write_text(_FONTS)
    inside = _INSIDE.format(
        rows=ROWS, columns=COLUMNS, cells=ROWS * COLUMNS, command=shlex.quote(shlex.join(command))
    )
    # Each emulator says itself which terminal it is; lockterm is told the one of the case.
    (place / "inside").write_text(f"export TERM={emulator.term}\n{inside}")
    environment = clean_environment(
        place,
        DISPLAY=display.name,
        LANG=emulator.lang,
        LIBGL_ALWAYS_SOFTWARE="1",
        FONTCONFIG_FILE=str(place / "fonts.conf"),
        ESCDELAY="25",
        XDG_RUNTIME_DIR=str(place),
    )
    environment["PYTHONPATH"] = str(Path(__file__).parents[3])
    with (place / "said").open("wb") as said:
        process = subprocess.Popen(
            [*emulator.command, "/bin/sh", "inside"],
            env=environment,
            cwd=place,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    try:
        yield Window(display, place, [psutil.Process(process.pid), psutil.Process(server)])
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End an emulator with all that runs in it."""
    alive = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    for each in alive:
        with suppress(psutil.NoSuchProcess):
            each.send_signal(signal.SIGKILL)
    process.kill()
    process.wait()
