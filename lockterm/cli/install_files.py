"""Files that other programs look for, put where these do."""

from __future__ import annotations

import shlex
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from platformdirs.unix import Unix

from lockterm.cli.output import put
from lockterm.errors import LocktermError, describe_os_error
from lockterm.paths import needing_home, write_whole
from lockterm.safe_files import read_regular

MARK = "Written by lockterm, which writes over it"
"""Stands in each of them: without it, a file is somebody else's."""

_XDG = Unix()
"""The places of this user as man and the shells have them on every system."""

_MOST_BYTES = 1 << 20
"""A file of more is none of ours."""


def user_data_path() -> Path:
    """Return ``$XDG_DATA_HOME`` or what stands for it. Raises as ``needing_home``."""
    with needing_home():
        return _XDG.user_data_path


def user_config_path() -> Path:
    """Return ``$XDG_CONFIG_HOME`` or what stands for it. Raises as ``needing_home``."""
    with needing_home():
        return _XDG.user_config_path


def place(files: Mapping[Path, bytes], mode: int = 0o666, *, former: Iterable[Path] = ()) -> None:
    """Write files, with what is missing of their directories; over nothing that is not ours.

    Args:
        files: The content of each; the mark may be in a gzip file.
        mode: Who may read and write them, less what the umask takes.
        former: Where an earlier version put them: ours are removed.

    Raises:
        LocktermError: Something else is there, and nothing was written; or one cannot be written,
            and those before it are.
    """
    done, former = 0, tuple(former)
    try:
        for file in (*files, *former):
            if not _is_free(file):
                raise LocktermError(
                    f"{file} is there, and lockterm has not written it. Nothing was changed.",
                    hint="Move it away if it is not needed, then try again.",
                )
        for file, content in files.items():
            write_whole(file, content, mode, may_replace=_is_ours, follow=False, make=0o777)
            done += 1
        for file in former:
            file.unlink(missing_ok=True)
    except OSError as error:
        before = f"{done} of {len(files)} files were" if done else "Nothing was"
        raise LocktermError(
            f"{file} cannot be written: {describe_os_error(error)}. {before} written.",
            hint="See that its directory is one, yours, writable and not full; then try again.",
        ) from error


def tell_undo(file: Path, *patterns: str) -> None:
    """Say how to take back what was written: a file, and what beside it is like the patterns."""
    words = (
        shlex.quote(str(file)),
        *(f"{shlex.quote(str(file.parent))}/{like}" for like in patterns),
    )
    put(f"To undo: rm {' '.join(words)}")


def _is_free(file: Path) -> bool:
    """Whether nothing is there, or what was written from here.

    Raises:
        OSError: That cannot be seen.
    """
    if file.is_symlink():  # pipx links to the pages that it has installed, which are its own
        return False
    try:
        return _is_ours(read_regular(file, _MOST_BYTES))
    except FileNotFoundError:
        return True
    except ValueError:
        return False


def _is_ours(content: bytes) -> bool:
    if content.startswith(b"\x1f\x8b"):
        try:
            content = zlib.decompressobj(wbits=31).decompress(content, _MOST_BYTES)
        except zlib.error:
            return False
    return MARK.encode() in content
