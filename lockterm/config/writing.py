"""Writing profiles into the configuration file: whole or not at all, and over nobody's change."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lockterm.config.editing import Profiles, edited
from lockterm.config.file import ConfigFile, parse_config
from lockterm.errors import ConfigError, StoreError
from lockterm.paths import make_directory, write_private

NOTHING_WRITTEN = "Nothing was written."


def write_config(seen: ConfigFile, default: str | None, profiles: Profiles) -> ConfigFile:
    """Write profiles, and which of them is the default.

    The file is replaced whole or not at all, for this user alone (0600, its directory 0700).

    Args:
        seen: The configuration as it was read; the file must still be the same.
        default: The name of the default profile, or None.
        profiles: All profiles as they are to be, raw.

    Returns:
        The configuration as it is now.

    Raises:
        ConfigError: The file was changed meanwhile, is another user's, or cannot be written; it is
            as it was.
    """
    path = seen.path
    source = edited(seen.source, default, profiles)
    if source is None:
        raise ConfigError(
            f"{path} is written in a way that lockterm cannot change without disturbing it."
            f" {NOTHING_WRITTEN}",
            hint="Change it in an editor.",
        )
    data = source.encode()
    written = parse_config(path, data)
    try:
        make_directory(path.parent)
        with _alone_in(path.parent):
            _require_unchanged(seen)
            write_private(path, data)
    except StoreError as error:
        raise ConfigError(
            f"{error.message} {NOTHING_WRITTEN}",
            hint="Make it writable, or point XDG_CONFIG_HOME at a place that is.",
        ) from error
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror or error}. {NOTHING_WRITTEN}",
            hint="See that its directory is yours, writable and not full.",
        ) from error
    return written


@contextmanager
def _alone_in(directory: Path) -> Iterator[None]:
    """Keep other sessions of lockterm from writing in a directory at the same moment."""
    import fcntl

    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _require_unchanged(seen: ConfigFile) -> None:
    path = seen.path
    try:
        about = path.stat()
        now: bytes | None = path.read_bytes() if stat.S_ISREG(about.st_mode) else b"\0"
    except FileNotFoundError:
        now = None
    if now is not None and about.st_uid != os.geteuid():
        raise ConfigError(
            f"{path} belongs to another user. {NOTHING_WRITTEN}",
            hint="Make a copy of your own.",
        )
    if (now or b"") != seen.source.encode() or (now is None and seen.source):
        raise ConfigError(
            f"{path} was changed meanwhile, by another session or in an editor. {NOTHING_WRITTEN}",
            hint="Save again to write into the changed file.",
        )
