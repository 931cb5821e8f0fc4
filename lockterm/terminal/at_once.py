"""The last frame, shown before the configuration is read, where the start is like the last one.

A start waits for this module, so it imports little.
"""

from __future__ import annotations

import os

from lockterm.store.frame_file import frames_in
from lockterm.terminal.replay import terminal_size

TYPE_CHECKING = False  # as in typing, which takes longer to import than this
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lockterm.api.pending_connection import PendingConnection
    from lockterm.terminal.frame import Frame
    from lockterm.terminal.kept_cells import AsNew
    from lockterm.terminal.replay import Replay
    from lockterm.terminal.start_key import StartKey
    from lockterm.terminal.widths import Cell


def show_at_once(
    replay: Replay, start: StartKey, environ: Mapping[str, str], now_ms: int
) -> PendingConnection | None:
    """Show the frame that was kept by a session that began as this one does, if there is one.

    Args:
        replay: Shows it.
        start: This start.
        environ: The environment.
        now_ms: The time of this machine.

    Returns:
        A connection to the service of that session, which must be this one's; None: none is made.
    """
    size = terminal_size()
    if size is None or not (os.isatty(0) and os.isatty(2)):
        return None
    for content in frames_in(cache_of(environ)):
        found = frame_of(content, start, size, now_ms)
        if found is not None:
            frame, rows, as_new, service = found
            replay.show(frame, rows, as_new)
            return _connected(service) if service is not None else None
    return None


def _connected(service: tuple[str, int]) -> PendingConnection:
    """A connection to host and port; the frame does not wait for what is imported for it."""
    from lockterm.api.pending_connection import PendingConnection

    return PendingConnection(*service)


def cache_of(environ: Mapping[str, str]) -> str:
    """Where frames are kept on most machines; elsewhere nothing is found."""
    root = environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(root):  # such a place does not count, as everywhere
        root = os.path.join(environ.get("HOME") or os.sep, ".cache")
    return os.path.join(root, "lockterm")


def frame_of(
    content: bytes, start: StartKey, size: tuple[int, int], now_ms: int
) -> tuple[Frame, list[list[Cell]], AsNew | None, tuple[str, int] | None] | None:
    """A kept frame and its rows, marked as old.

    Args:
        content: What is in its file.
        start: The start at which it is to be shown.
        size: Columns and rows of the terminal.
        now_ms: The time of this machine.

    Returns:
        A frame of which nothing is known yet, what is to stand there, what turns that into the
        live one, and host and port of the service; None where it is none for this start.
    """
    from lockterm.terminal.frame import Frame
    from lockterm.terminal.kept_cells import OLDEST_MS, cursor_of, old_rows, row_as_new
    from lockterm.terminal.quick_json import loads

    try:
        told = loads(content)
        at_ms = told["at_ms"]
        if type(at_ms) is not int or not 0 <= now_ms - at_ms <= OLDEST_MS or not told["start"]:
            return None
        about = start.about(told["start"])
        if about is None:
            return None
        rows = old_rows(told, size, now_ms - at_ms, utf8=about["utf8"] is True)
        frame = Frame(guarded=True, fills=about["fills"] is True)
        frame.joined = about["joined"] is True
        frame.cursor = cursor_of(told, size)
        if rows is None:
            return None
        return frame, rows, row_as_new(told, now_ms), _service_of(about)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):  # it is damaged
        return None


def _service_of(about: Mapping[str, Any]) -> tuple[str, int] | None:
    """Host and port of the service; None where it was not asked early either."""
    if about["service"] is None:
        return None
    host, port = about["service"]
    return (host, port) if isinstance(host, str) and isinstance(port, int) else None
