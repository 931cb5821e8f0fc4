"""Whose answers are kept on this machine, without showing the credentials."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lockterm.config import Profile

_ROUNDS = 5000
"""Of the digest that stands for the credentials: some ms, so that weak ones are not guessed."""


def owner_of(profile: Profile) -> str:
    """Whose answers they are that a profile reads; its credentials cannot be read from it.

    What a service shows to one bearer of a token is not for the next one on the same machine.
    """
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
    return hashlib.pbkdf2_hmac("sha256", secret.encode(), of.encode(), _ROUNDS).hex()
