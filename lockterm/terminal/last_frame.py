"""The last frame of a lock's remotes: kept when lockterm ends, and shown when it starts again.

A start waits for this module, so it imports neither Textual nor Rich; where the start is like the
last one, it is shown by :mod:`lockterm.terminal.at_once` before this one is imported.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lockterm import __version__
from lockterm.config.look import multiplexer
from lockterm.config.preferences import Preferences
from lockterm.terminal.frame import Frame, frame_for
from lockterm.terminal.kept_cells import OLDEST_MS, are_styles, cursor_of, old_rows, packed
from lockterm.terminal.widths import Cell

if TYPE_CHECKING:
    from lockterm.config import Look, Settings
    from lockterm.paths import Paths
    from lockterm.store.frame_file import FrameFile
    from lockterm.terminal.start_key import StartKey

_MINUTE_MS = 60_000

_OF_TERMINAL = ("TERM", "COLORTERM", "NO_COLOR")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a screen shows that is worth keeping."""

    lock_id: int
    """Whose remotes they are."""
    at_ms: int
    """When they were read, by this machine's clock."""
    foot: tuple[int, int, int]
    """Where its age is told: row, first column, width."""
    answer: tuple[int, int] | None = None
    """Length and CRC-32 of what the service sent, where a start that is sent the same looks so all
    in all; None where it does not, since a person has moved, or time has passed."""
    says_so_at: Callable[[int], bool] = lambda _: False
    """Whether the rows say the same at another time."""


def _same_ms(shown: Shown) -> int:
    """For how long its rows say the same, in milliseconds; not all of it, but half at the least."""
    same_ms, longer_ms = 0, _MINUTE_MS
    while longer_ms <= OLDEST_MS and shown.says_so_at(shown.at_ms + longer_ms):
        same_ms, longer_ms = longer_ms, 2 * longer_ms
    return same_ms


def _is_whole(rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether a frame is drawn, all of it."""
    return are_styles({codes for row in rows for _, codes in row})


class LastFrame:
    """The last frame of a profile.

    Args:
        file: Where it is kept.
        settings: Those of the session; with a profile.
        environ: The environment.
        start: The start whose settings they are; None: a profile that was switched to.
        paths: Where lockterm keeps its files; with a start.
    """

    def __init__(
        self,
        file: FrameFile,
        settings: Settings,
        environ: Mapping[str, str],
        start: StartKey | None = None,
        paths: Paths | None = None,
    ) -> None:
        self._start = start
        self._paths = paths
        self.file = file
        self.settings = settings
        self._environ = environ
        self._noted: tuple[list[list[Cell]], tuple[int, int], Shown, int] | None = None

    def found(
        self, lock_id: int, size: tuple[int, int], choices: Preferences, now_ms: int
    ) -> tuple[Frame, list[list[Cell]]] | None:
        """What to show at a start, marked as old.

        Args:
            lock_id: The lock that is opened.
            size: Columns and rows of the terminal.
            choices: What was chosen in earlier sessions.
            now_ms: The time of this machine.

        Returns:
            A frame of which nothing is known yet, and what is to stand there; None where none is
            kept that looks as that of this start would.
        """
        if not (content := self.file.read()):
            return None
        try:
            told = json.loads(content)
            if type(told["at_ms"]) is not int:
                return None
            age_ms = now_ms - told["at_ms"]
            if told["owner"] != self.file.owner or age_ms > OLDEST_MS:
                self.file.drop()
                return None
            if age_ms < 0 or told["key"] != self._key(lock_id, size, choices):
                return None
            frame = frame_for(self.settings.look)
            frame.cursor = cursor_of(told, size)
            rows = old_rows(told, size, age_ms, utf8=self.settings.look.utf8)
            return None if rows is None else (frame, rows)
        except (ValueError, TypeError, LookupError, RecursionError):  # it is damaged
            return None

    def note(self, frame: Frame, shown: Shown, look: Look) -> None:
        """Take note of what stands on the terminal, to be kept later.

        Args:
            frame: All of it.
            shown: What it is.
            look: How it was drawn; another look than that of the start is not kept.
        """
        if look != self.settings.look:
            return
        rows, drops = frame.rows, self.file.drops
        if shown.answer is not None and not _is_whole(rows):
            shown = replace(shown, answer=None)
        if self._noted is not None and shown.answer is None:
            before, _, noted, at_drops = self._noted
            is_same = (noted.lock_id, noted.at_ms, at_drops) == (shown.lock_id, shown.at_ms, drops)
            if is_same and noted.answer and [*map(len, before)] == [*map(len, rows)]:
                return  # the live frame of the next start will look as this page did when it came
        self._noted = rows, frame.cursor, shown, drops

    def keep(self, choices: Preferences) -> None:
        """Write what was noted last, unless all that was read had to be dropped since.

        Args:
            choices: What was chosen until now.
        """
        if self._noted is None:
            return
        rows, cursor, shown, at_drops = self._noted
        if at_drops != self.file.drops or not _is_whole(rows):
            return
        told = {
            "owner": self.file.owner,
            "key": self._key(shown.lock_id, (len(rows[0]), len(rows)), choices),
            "at_ms": shown.at_ms,
            "foot": shown.foot,
            "cursor": cursor,
            "same": shown.answer and [*shown.answer, shown.at_ms + _same_ms(shown)],
            "rows": [packed(row) for row in rows],
            "start": self._noted_start(shown.lock_id, choices),
        }
        text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
        self.file.write(text.encode("utf-8", "surrogatepass"))

    def _noted_start(self, lock_id: int, choices: Preferences) -> dict[str, Any] | None:
        """The start of this session, if one like it will show this lock, as it looks now, first."""
        start, paths, settings = self._start, self._paths, self.settings
        if start is None or paths is None or settings.profile is None:
            return None
        files = [paths.choices]
        if settings.is_last or settings.open_lock is None:
            files += [paths.database, paths.database.with_name(f"{paths.database.name}-wal")]
        from lockterm.api.first_page import address_of

        look, plain = settings.look, address_of(settings.profile)
        about = {
            **{"fills": look.fills, "joined": look.copy == "plain", "utf8": look.utf8},
            "service": plain and plain[1:3],
        }
        if self._opens(paths) != lock_id:
            return None
        noted = start.noted(files, settings.variables, about)
        # Another session may have changed them, which this one has not seen.
        return noted if Preferences(paths.choices).all == choices.all else None

    def _opens(self, paths: Paths) -> int | None:
        """The lock on which a start with these settings opens now; None: the lock book."""
        settings, profile = self.settings, self.settings.profile
        if settings.open_lock is not None and not settings.is_last:
            return settings.open_lock
        if profile is None or not profile.open_last:
            return None
        from lockterm.store.last_lock import last_lock

        return last_lock(paths.database, profile.name)

    def _key(self, lock_id: int, size: tuple[int, int], choices: Preferences) -> str:
        """All that decides how the first live frame looks, but for what the service says."""
        settings, environ = self.settings, self._environ
        return json.dumps(
            [
                *(__version__, lock_id, *size),
                *(environ.get(name) for name in _OF_TERMINAL),
                *(multiplexer(environ), repr(settings.look), repr(settings.profile)),
                *(settings.keymap, choices.all),
            ],
            sort_keys=True,
        )
