"""Delays work, such as garbage collection, until the first frame or the first page is shown."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_SWITCH_S = 0.0005
"""Seconds after which a thread lets other threads run.

With Python's default of 5 ms, each frame came 2 ms later, because the writing thread waited for the
UI thread.
"""

_WORTH_IT = 2
"""Minimum number of collections of the middle generation that justify a full collection."""

_waiting: list[Callable[[], None]] = []


def begin() -> None:
    """Prepare the process for a fast start.

    Open missing standard streams, set the thread switch interval, and pause the garbage collector,
    which would take a tenth of the startup time.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # a connection or the store must not get this number and then the output
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    gc.disable()
    sys.setswitchinterval(_SWITCH_S)


def after_first_frame(action: Callable[[], None]) -> None:
    """Run an action in the UI thread after the first frame is shown."""
    _waiting.append(action)


def first_frame_shown() -> None:
    """Run the actions that wait for the first frame; call this when the frame is shown."""
    while _waiting:
        _waiting.pop(0)()


def finish() -> None:
    """Resume garbage collection; call this when the start of lockterm is complete.

    Imported objects live as long as the process. Therefore, the function freezes these objects.
    This keeps later collections short, so that no key waits for a collection.
    """
    gc.freeze()
    gc.enable()


def collect() -> None:
    """Collect all garbage if there is enough of it; call this while no key is waiting."""
    if gc.get_count()[2] >= _WORTH_IT:
        gc.collect()


def is_finished() -> bool:
    """Return whether the start of lockterm is complete, so that garbage is collected again."""
    return gc.isenabled()
