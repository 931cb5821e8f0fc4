"""An X server that nobody looks at, and the pixels that it shows."""

from __future__ import annotations

import mmap
import os
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SIZE = (1000, 720)
"""Pixels, enough for 80x24 and 100x30 of every emulator."""
_BYTES = 4
"""Of one pixel."""
_XWD_COLOR = 12
"""Bytes of one entry of the color map that stands before the pixels."""

Pixels = bytes
"""All of a display, row after row."""


class Display:
    """One running X server without a window manager: windows stand where they want to.

    Args:
        name: What ``DISPLAY`` is to say.
        memory: The file in which the server keeps its pixels.
    """

    def __init__(self, name: str, memory: Path) -> None:
        self.name = name
        with memory.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        # The file is a picture in X's own format, of 32-bit words of the highest byte first.
        head = struct.unpack(">25I", self._map[:100])
        self._begin = head[0] + head[19] * _XWD_COLOR
        self.stride = head[12]
        """Bytes from one row of pixels to the next."""
        self._end = self._begin + self.stride * head[5]

    def pixels(self) -> Pixels:
        """What it shows now."""
        return self._map[self._begin : self._end]

    def do(self, *xdotool: str) -> str:
        """Type, move or ask, in the words of ``xdotool``."""
        environment = os.environ | {"DISPLAY": self.name}
        command = ["xdotool", *xdotool]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    def close(self) -> None:
        """Give back the memory."""
        self._map.close()


@contextmanager
def running(place: Path) -> Iterator[tuple[Display, int]]:
    """A display, and the process behind it.

    Args:
        place: An empty directory.
    """
    read, write = os.pipe()
    screen = f"{SIZE[0]}x{SIZE[1]}x24"
    # No pointer is drawn: it would be part of the pictures.
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", screen, "-nocursor"]
    command += ["-fbdir", str(place), "-nolisten", "tcp", "-noreset"]
    with (place / "xvfb.log").open("wb") as log:
        server = subprocess.Popen(command, pass_fds=(write,), stdout=log, stderr=log)
    os.close(write)
    try:
        with os.fdopen(read) as report:
            number = report.readline().strip()
        assert number, f"Xvfb does not start: {(place / 'xvfb.log').read_text()}"
        display = Display(f":{number}", place / "Xvfb_screen0")
        display.do("mousemove", str(SIZE[0] - 1), str(SIZE[1] - 1))
        yield display, server.pid
        display.close()
    finally:
        server.terminate()
        server.wait()


class Grid:
    """Where the cells of a terminal stand on a display.

    Args:
        display: Whose pixels it is about.
        box: Left, top, right and bottom of all cells, the last two not belonging to them.
        size: Columns and rows.
    """

    def __init__(
        self, display: Display, box: tuple[int, int, int, int], size: tuple[int, int]
    ) -> None:
        left, top, right, bottom = box
        self.columns, self.rows = size
        self.width, more = divmod(right - left, self.columns)
        self.height, most = divmod(bottom - top, self.rows)
        assert (more, most) == (0, 0), f"cells of no whole size: {box}"
        self._left, self._top, self._stride = left, top, display.stride
        self._display = display

    def resized(self, columns: int, rows: int) -> Grid:
        """The same place with more or fewer cells."""
        right, bottom = self._left + columns * self.width, self._top + rows * self.height
        return Grid(self._display, (self._left, self._top, right, bottom), (columns, rows))

    def row(self, pixels: Pixels, y: int) -> list[bytes]:
        """The lines of pixels of one row of cells."""
        begin = (self._top + y * self.height) * self._stride + self._left * _BYTES
        wide = self.columns * self.width * _BYTES
        starts = range(begin, begin + self.height * self._stride, self._stride)
        return [pixels[start : start + wide] for start in starts]

    def differing(self, one: Pixels, other: Pixels, y: int) -> set[int]:
        """The columns of a row in which two pictures differ."""
        wide = self.width * _BYTES
        found: set[int] = set()
        for a, b in zip(self.row(one, y), self.row(other, y), strict=True):
            if a != b:
                cuts = ((x, x * wide) for x in range(self.columns) if x not in found)
                found |= {x for x, at in cuts if a[at : at + wide] != b[at : at + wide]}
        return found

    def keeps_ink(self, one: Pixels, other: Pixels, x: int, y: int) -> bool:
        """Whether all that is drawn in a cell of one picture is drawn in the other too.

        Where a sign is larger than its cells, emulators let it reach into those beside it: what
        stands there is still to be read.
        """
        wide = self.width * _BYTES
        cell = slice(x * wide, (x + 1) * wide)
        lines = [
            (a[cell], b[cell]) for a, b in zip(self.row(one, y), self.row(other, y), strict=True)
        ]
        pairs = [
            (a[at : at + _BYTES], b[at : at + _BYTES])
            for a, b in lines
            for at in range(0, wide, _BYTES)
        ]
        ground, _ = Counter(a for a, _ in pairs).most_common(1)[0]
        return all(a in (ground, b) for a, b in pairs)


def box_of_change(display: Display, one: Pixels, other: Pixels) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of what differs between two pictures."""
    stride = display.stride
    rows = [
        y
        for y in range(len(one) // stride)
        if one[y * stride : (y + 1) * stride] != other[y * stride : (y + 1) * stride]
    ]
    assert rows, "nothing differs"
    middle = rows[len(rows) // 2] * stride
    a, b = one[middle : middle + stride], other[middle : middle + stride]
    columns = [
        x
        for x in range(stride // _BYTES)
        if a[x * _BYTES : (x + 1) * _BYTES] != b[x * _BYTES : (x + 1) * _BYTES]
    ]
    return columns[0], rows[0], columns[-1] + 1, rows[-1] + 1
