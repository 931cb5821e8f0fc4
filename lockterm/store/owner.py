"""The account of a profile, and a digest that identifies the owner of cached answers."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lockterm.config import Profile


@dataclass(frozen=True, slots=True)
class Account:
    """The account that a profile uses."""

    name: str
    earlier: tuple[str, ...] = ()
    """The names of accounts that the same profile used with other credentials. Each may be this
    account before a rotation of its credentials, or a different account."""


_ROUNDS = 5000
"""Number of rounds of the digest. The rounds take a few milliseconds, so that guessing credentials
is slow."""


def owner_of(profile: Profile) -> str:
    """Return a text that identifies the owner of a profile's cached answers.

    The text is a salted digest of the headers. Therefore the user of one token cannot see answers
    for another token on the same machine. Without headers, the text is the base URL, the profile
    name and the account as JSON.
    """
    account = [profile.account] if profile.account else []
    identity = json.dumps([profile.base_url, profile.name, *account])
    if not profile.headers:
        return identity
    headers = json.dumps(sorted((name.lower(), text) for name, text in profile.headers.items()))
    return digest_of(headers, identity)


def digest_of(secret: str, of: str) -> str:
    """Return a digest of a secret.

    Args:
        secret: The secret.
        of: The salt, such as the base URL. Equal secrets with different salts have different
            digests.
    """
    return hashlib.pbkdf2_hmac("sha256", secret.encode(), of.encode(), _ROUNDS).hex()
