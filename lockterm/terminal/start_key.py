"""Whether a start is like an earlier one, told before its configuration is read.

All that decides what lockterm shows first, but for what the service says, follows from what was
typed, from the environment and from some files. Where these are as they were, so are the profile,
its credentials, the look and the theme. A start waits for this module, so it imports little.
"""

from __future__ import annotations

import os
import time

from lockterm import __version__
from lockterm.store.frame_file import digest_of

TYPE_CHECKING = False  # as in typing, which takes longer to import than this
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

VARIABLES = (
    *("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"),
    *("TERM", "COLORTERM", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG", "TZ"),
    *("PYTHONIOENCODING", "PYTHONUTF8"),
    *("LOCKTERM_BASE_URL", "LOCKTERM_PROFILE", "LOCKTERM_LOCK"),
    *("LOCKTERM_READ_ONLY", "LOCKTERM_QUIET"),
)
"""Their values are kept as they are: none that may hold a secret is among them."""
_SET_OR_NOT = ("TMUX", "STY", "SSH_CONNECTION")
"""Of these it counts whether they are set: their values are others in each terminal."""

_ZONES = ("/etc/localtime", "/etc/timezone", "/var/db/timezone/localtime")
"""The zone of this machine."""

_COERCED = ("C.UTF-8", "C.utf8", "UTF-8")
"""What Python may have put into ``LC_CTYPE`` by itself, which the environment does not tell."""

SETTLED_NS = 2_000_000_000
"""A file that was changed so shortly before it was read may have been changed once more since, and
have the same times: some file systems count in seconds."""


class StartKey:
    """One start; made before anything is read.

    Args:
        arguments: What was typed.
        environ: The environment.
        now_ns: The time of this machine.
    """

    def __init__(
        self, arguments: Sequence[str], environ: Mapping[str, str], now_ns: int | None = None
    ) -> None:
        self._environ = environ
        self._begun_ns = time.time_ns() if now_ns is None else now_ns
        self._told = ascii([
            *(__version__, [*arguments]),
            {name: environ.get(name) for name in VARIABLES},
            [bool(environ.get(name)) for name in _SET_OR_NOT],
        ])  # fmt: skip
        self._read: dict[str, Any] = {}

    def watch(self, *files: str | os.PathLike[str]) -> None:
        """Tell of files that are about to be read; they need not exist."""
        self._read.update((os.fspath(file), _as_it_is(file)) for file in files)

    def noted(
        self,
        more: Iterable[str | os.PathLike[str]],
        secrets: Iterable[str],
        about: Mapping[str, Any],
    ) -> dict[str, Any] | None:
        """The start, so that a later one can be compared with it.

        Args:
            more: Files whose present content counts as well.
            secrets: The variables of the environment that hold credentials.
            about: What is to be known of it then.

        Returns:
            What JSON can keep, and no secret can be read in; None where a later start could not be
            compared.
        """
        if not self._environ.get("LC_ALL") and self._environ.get("LC_CTYPE") in _COERCED:
            return None
        secrets = [*secrets]
        if not {*secrets}.isdisjoint(VARIABLES):
            return None
        if any(max(one[-2:]) > self._begun_ns - SETTLED_NS for one in self._read.values() if one):
            return None
        files = self._read | {os.fspath(file): _as_it_is(file) for file in (*more, *_ZONES)}
        return {
            **{"told": self._told, "files": files, "about": about},
            **{"secrets": secrets, "digest": self._digest(secrets)},
        }

    def about(self, before: Any) -> Any:
        """What is known of a start that was noted; None where this one is not like it.

        Raises:
            ValueError, TypeError, LookupError: It is none.
        """
        if before["told"] != self._told:
            return None
        if any(_as_it_is(file) != as_it_was for file, as_it_was in before["files"].items()):
            return None
        return before["about"] if before["digest"] == self._digest(before["secrets"]) else None

    def _digest(self, secrets: Sequence[str]) -> str:
        if not secrets:
            return ""
        return digest_of(ascii([self._environ.get(name) for name in secrets]), self._told)


def _as_it_is(file: str | os.PathLike[str]) -> list[int] | None:
    """What changes with a file's content, and where another file is put in its place."""
    try:
        now = os.stat(file)
    except OSError:
        return None
    return [now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns]
