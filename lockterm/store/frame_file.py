"""The file of a profile's last frame: whose it is, and who may have written it.

It imports little, since a start waits for it, and does not know what is in the file.
"""

from __future__ import annotations

import os

from lockterm.own_files import read_trusted

TYPE_CHECKING = False  # as in typing, which takes longer to import than this
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lockterm.config import Profile

_NAME = "frame-"
_MOST_FILES = 16
"""So many profiles are looked through for the one of a start."""

MOST_BYTES = 256 * 1024
"""Bytes of a frame that is kept; one of 80x24 has some 6,000."""

_ROUNDS = 5000
"""Of the digest that stands for the credentials: some ms, so that weak ones are not guessed."""


class FrameFile:
    """One file a profile, for this user alone. It never raises: it only helps.

    Args:
        directory: Where it is.
        profile: Whose frame it is: its name, its base URL and its headers.
    """

    def __init__(self, directory: Path, profile: Profile) -> None:
        from binascii import crc32

        self._path = directory / f"{_NAME}{crc32(profile.name.encode()):08x}.json"
        self._profile = profile
        self._owner = ""
        self.drops = 0
        """How often it was dropped: what was noted before is not to be kept."""

    @property
    def owner(self) -> str:
        """Whose it is; see :func:`owner_of`."""
        self._owner = self._owner or owner_of(self._profile)
        return self._owner

    def read(self) -> bytes:
        """What is in it; nothing where there is none, or others may have written it."""
        return read_trusted(self._path, MOST_BYTES)

    def write(self, content: bytes) -> None:
        """Keep a frame in place of the one before, whole or not at all."""
        if len(content) > MOST_BYTES:
            self.drop()
            return
        from contextlib import suppress

        from lockterm.errors import StoreError
        from lockterm.paths import make_directory, write_whole

        with suppress(OSError, StoreError):
            make_directory(self._path.parent)
            write_whole(self._path, content)

    def drop(self) -> None:
        """Keep it no longer."""
        from contextlib import suppress

        self.drops += 1
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def owner_of(profile: Profile) -> str:
    """Whose answers they are that a profile reads; its credentials cannot be read from it.

    What a service shows to one bearer of a token is not for the next one on the same machine.
    """
    import json

    account = [profile.account] if profile.account else []
    of = json.dumps([profile.base_url, profile.name, *account])
    if not profile.headers:
        return of
    told = json.dumps(sorted((name.lower(), text) for name, text in profile.headers.items()))
    return digest_of(told, of)


def digest_of(secret: str, of: str) -> str:
    """What stands for a secret, and does not tell it.

    Args:
        secret: The secret.
        of: Whose it is: another one's is told by something else.
    """
    import hashlib

    return hashlib.pbkdf2_hmac("sha256", secret.encode(), of.encode(), _ROUNDS).hex()


def frames_in(directory: str) -> Iterator[bytes]:
    """What is in the frames of all profiles.

    Args:
        directory: Where they are; it need not exist.
    """
    try:
        names = [name for name in os.listdir(directory) if name.startswith(_NAME)]
    except OSError:
        return
    for name in names[:_MOST_FILES]:
        yield read_trusted(os.path.join(directory, name), MOST_BYTES)
