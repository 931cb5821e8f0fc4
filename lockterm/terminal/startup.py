"""What has to wait until the first frame is on the screen, or the first page."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_SWITCH_S = 0.0005
"""So long, in seconds, one thread keeps the others waiting. With Python's 5 ms a picture that was
made came 2 ms later: the thread that writes it waited behind what the UI did next."""

_WORTH_IT = 2
"""So many collections of what is young after which all is looked through while no key comes."""

_waiting: list[Callable[[], None]] = []


def begin() -> None:
    """Collect no garbage meanwhile, which takes a tenth of the start; let threads take turns."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # else a connection or the store gets its number, and what is printed
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    gc.disable()
    sys.setswitchinterval(_SWITCH_S)


def after_first_frame(action: Callable[[], None]) -> None:
    """Have something done once the first frame is shown, in the thread of the UI."""
    _waiting.append(action)


def first_frame_shown() -> None:
    """The first frame is on the screen: do what had to wait."""
    while _waiting:
        _waiting.pop(0)()


def over() -> None:
    """The first page is there, most often: collect garbage again.

    What was imported lives as long as the process, so it is set aside: no later collection walks
    through it, and no key waits for one that does.
    """
    gc.freeze()
    gc.enable()


def collect() -> None:
    """Look through all that was made since, where there is enough of it: no key waits now."""
    if gc.get_count()[2] >= _WORTH_IT:
        gc.collect()


def is_over() -> bool:
    """Whether nothing of the start is waited for any more."""
    return gc.isenabled()
