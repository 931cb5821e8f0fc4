"""Every screen with names of nine kinds, on real emulators, compared pixel by pixel.

What is held: a value other than the name itself is right on every terminal, whatever that thinks
of the width or the direction of a name; and what stands there is what would be drawn anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from lockterm.service.running import RunningService
from lockterm.terminal.widths import GUARD
from tests.matrix.emulators import display as displays
from tests.matrix.emulators.display import Pixels
from tests.matrix.emulators.emulators import EMULATORS, Emulator
from tests.matrix.emulators.lock import LOCK, NUMBERS, REAL, fill, now_ms, rename
from tests.matrix.emulators.names import LETTERS, PLAIN
from tests.matrix.emulators.steps import brief, whole
from tests.matrix.emulators.window import Window, opened
from tests.matrix.job import Step
from tests.programs import require
from tests.terminal.pty_session import LOCKTERM

_FREE = rf"{PLAIN} *|[{LETTERS}](?=[│╭╰|+])|updated .*"
"""What may differ: a name with the blank cells behind it, what a dialog leaves of one, and how old
the page is."""
_ASKED = re.compile(rb"\x1b\[H\xc3\xa1\xc3\xa4\x1b\[0?6n")
"""Whether a terminal takes UTF-8 is asked with a letter of it; once it has told, all is drawn anew
behind an end of a string."""
_NUMBER = re.compile(r"\b(?:A-\d{4}|\d{5})\b")
_TRIES = 4
"""A screen that changes by itself while it is compared is compared again."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What was seen of a step."""

    picture: Pixels
    lines: list[str]
    """With the blank cells at their ends."""

    @property
    def free(self) -> list[set[int]]:
        """The columns of what may differ, of each row; of a screen with plain names."""
        return [
            {x for found in re.finditer(_FREE, line) for x in range(*found.span())}
            for line in self.lines
        ]


def seen(window: Window, picture: Pixels) -> Shown:
    """A picture, and the text in it."""
    return Shown(picture, [line.ljust(window.grid.columns) for line in window.replica.lines])


def close_to(free: Sequence[set[int]], y: int) -> set[int]:
    """Cells of a row that touch what may differ."""
    return {x + by for row in free[max(y - 1, 0) : y + 2] for x in row for by in (-1, 0, 1)}


def as_redrawn(window: Window, step: Step) -> tuple[Shown, Shown]:
    """A step, as it came and as all was wiped away and drawn again."""
    came = seen(window, window.take(step))
    for _ in range(_TRIES):
        redrawn = seen(window, window.clear_and_redraw())
        if came.picture == redrawn.picture or came.lines == redrawn.lines:
            break
        came = redrawn  # it has changed by itself
    return came, redrawn


def left_behind(
    window: Window, came: Shown, redrawn: Shown, plain: Shown | None
) -> dict[int, list[int]]:
    """Row by row the columns that are others once all is drawn again.

    Args:
        window: Where.
        came: Before that.
        redrawn: After.
        plain: The same with plain names, where what is in and close to a name may look otherwise,
            as long as it is to be read.
    """
    if came.picture == redrawn.picture:
        return {}
    found = {}
    for y in range(window.grid.rows):
        free = close_to(plain.free, y) if plain else set()
        if at := window.grid.differing(came.picture, redrawn.picture, y) - free:
            found[y] = sorted(at)
    return found if found or plain else {-1: []}  # beside the cells


def misplaced(window: Window, seen: Shown, plain: Shown, varies: bool) -> Iterator[str]:
    """What stands beside the names, and is not what stands beside plain ones.

    Args:
        window: Where.
        seen: With the names.
        plain: With plain ones.
        varies: Whether a name that a dialog cuts may draw over the line beside it.
    """
    free = plain.free
    if varies:
        for at, line in zip(free, plain.lines, strict=True):
            at |= {x for x in close_to([at], 0) if line[x : x + 1] in ("│", "╰", "|", "+")}
    for y in range(window.grid.rows):
        near = close_to(free, y)  # a guard before a name is a blank of another font
        wrong = [
            x
            for x in sorted(window.grid.differing(plain.picture, seen.picture, y) - free[y])
            if (x not in near and seen.lines[y][x : x + 1] != GUARD)
            or not window.grid.keeps_ink(plain.picture, seen.picture, x, y)
        ]
        if wrong:
            lines = f"{seen.lines[y]}\n  {plain.lines[y]}"
            yield f"row {y}: columns {wrong[0]} to {wrong[-1]} beside a name\n  {lines}"


def values_are_right(lines: Sequence[str], page: int) -> bool:
    """Whether each remote of a page has its number beside it, in the order of the list."""
    found = (_NUMBER.search(line) for line in lines[2:22])
    return [one[0] for one in found if one] == NUMBERS[(page - 1) * 20 :][:20]


def all_of_it(emulator: Emulator, service: RunningService, place: Path) -> Iterator[str]:
    """Problems on one emulator."""
    steps = brief(NUMBERS) if emulator.is_brief else whole(NUMBERS)
    command = [*LOCKTERM, "--base-url", service.base_url, "--lock", str(LOCK)]
    (place / "display").mkdir()
    with displays.running(place / "display") as (display, server):
        plain: dict[str, Shown] = {}
        if emulator.is_utf8:
            with opened(emulator, display, server, command, place / "plain") as window:
                for step in steps:
                    plain[step.name] = seen(window, window.take(step))
            assert values_are_right(plain["start"].lines, 1)
            assert values_are_right(plain["next page"].lines, 2)
        rename(service, REAL)
        with opened(emulator, display, server, command, place / "real") as window:
            first = None
            for step in steps:
                came, redrawn = as_redrawn(window, step)
                first = first or came
                other = plain.get(step.name)
                varying = other if emulator.varies_names else None
                if places := left_behind(window, came, redrawn, varying):
                    yield f"{step.name}: others after ctrl+l: {places}"
                if other:
                    for one in [came] if came.picture == redrawn.picture else [came, redrawn]:
                        for where in misplaced(window, one, other, emulator.varies_names):
                            yield f"{step.name}, {where}"
            if not emulator.is_utf8:
                sent = _ASKED.sub(b"", window.replica.raw).rpartition(b"\x1b\\")[2]
                if beyond := sorted({byte for byte in sent if byte > 0x7E}):
                    yield f"not ASCII: {bytes(beyond)!r}"
                if first and not values_are_right(first.lines, 1):
                    yield "the numbers are not those of the service"


@pytest.mark.long
@pytest.mark.parametrize("emulator", EMULATORS, ids=[emulator.name for emulator in EMULATORS])
def test_every_screen(
    emulator: Emulator, running_service: Callable[..., RunningService], tmp_path: Path
) -> None:
    """Only a name's own cells may differ from those of a plain name; nothing is left behind.

    On a terminal that knows ASCII alone names are written in other words, and widths with them:
    there it is held that nothing else is sent.
    """
    require(emulator.package, emulator.package, found=emulator.is_there)
    for program, package in (("Xvfb", "xvfb"), ("xdotool", "xdotool")):
        require(program, package)
    service = running_service(sample_data=False, clock=now_ms)  # no clock is to be warned of
    fill(service, emulator.ambiguous)
    problems = list(all_of_it(emulator, service, tmp_path))
    assert not problems, "\n".join(problems)
