"""The accounts of each service, identified by their credentials.

The journal stores the account and a digest of the credentials with each change. Therefore the
journal shows to which account the credentials of a profile belong. Cached answers belong to the
owner of the credentials.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lockterm.domain.operation import IN_FLIGHT, RECORDED, UNCONFIRMED, Operation, OperationState
from lockterm.store.database import Database, fetch
from lockterm.store.journal_rows import WHOLE, Account, operation_of, quoted

if TYPE_CHECKING:
    from lockterm.config import Profile
    from lockterm.domain.remotes import Remote
    from lockterm.store.journal import Journal

_SHOWN = 8
"""Number of digits of the credentials' digest in a generated account name."""

_UNNAMED = re.compile(rf".+-[0-9a-f]{{{_SHOWN}}}", re.DOTALL)

_IDENTITY = ("id", "remoteNumber", "createTime")

_NEWEST = "seq > (SELECT ifnull(max(seq), 0) - 10000 FROM operations)"
"""The SQL condition that limits a search to the newest 10,000 changes, because a long journal has
hundreds of thousands of changes."""

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
    return _digest_headers(profile, identity) if profile.headers else identity


def digest_credentials(profile: Profile) -> str:
    """Return a digest of the headers of a profile, salted with the base URL of the profile."""
    return _digest_headers(profile, profile.base_url)


def _digest_headers(profile: Profile, salt: str) -> str:
    """Return a digest of the headers of a profile. Different salts give different digests."""
    headers = json.dumps(sorted((name.lower(), text) for name, text in profile.headers.items()))
    return hashlib.pbkdf2_hmac("sha256", headers.encode(), salt.encode(), _ROUNDS).hex()


def is_unnamed(account: str) -> bool:
    """Return whether the name of an account was generated from its credentials."""
    return _UNNAMED.fullmatch(account) is not None


class ProfileAccount(Account):
    """The account of a profile at its service, which the journal shows.

    ``name`` is empty before :meth:`look_up`. Methods that use the store raise ``StoreError`` if it
    cannot be used.

    Args:
        profile: The profile, with its present service.
        database: The local store.
        journal: The journal of the profile, which can move operations to another account name.
    """

    def __init__(self, profile: Profile, database: Database, journal: Journal) -> None:
        super().__init__()
        self._profile = profile
        self._database = database
        self._journal = journal

    @cached_property
    def credentials(self) -> str:
        """A digest of the credentials in the profile."""
        return digest_credentials(self._profile)

    def look_up(self) -> None:
        """Find the account of the profile in the journal. Later calls do nothing.

        If the profile names no account, ``name`` becomes the account that last used the same
        credentials. If no change in the journal used these credentials, ``name`` is generated.
        """
        if self.name:
            return
        profile, service = self._profile, self._profile.base_url
        name = profile.account or f"{profile.name}-{self.credentials[:_SHOWN]}"
        if profile.account:
            self._take_over()
        else:
            name = self._of_credentials(self.credentials) or name
        with self._database.reading() as connection:
            open_states = quoted(sorted(UNCONFIRMED | IN_FLIGHT))
            rows = fetch(
                connection,
                "SELECT DISTINCT account FROM operations WHERE service = ? AND profile = ?"
                f" AND account <> ? AND ({_NEWEST} OR state IN ({open_states}))",
                [service, profile.name, name],
            )
        earlier = [str(row[0]) for row in rows]
        if profile.account:  # an account that the user named differently is another account
            earlier = [one for one in earlier if is_unnamed(one)]
        self.earlier, self.name = tuple(earlier), name

    def note_same(self, credentials: str) -> None:
        """Store the user's statement that earlier credentials belong to the present account.

        Args:
            credentials: The digest of the earlier credentials.
        """
        earlier = self._of_credentials(credentials)
        if earlier is not None and earlier in self.earlier:
            self._join(earlier)

    def recognize(self, lock_id: int, remotes: Sequence[Remote]) -> bool:
        """Return whether a list of remotes shows that this account is the same as an earlier one.

        The accounts are the same if the list contains a remote that the earlier account had. If
        so, the earlier account gets the operations of both accounts.

        Args:
            lock_id: The lock that the remotes belong to.
            remotes: The remotes, as the service lists them.
        """
        shown = {remote.id: remote.raw for remote in remotes if remote.id is not None}
        for earlier in self.earlier:
            for record in self._known(earlier, lock_id):
                now = shown.get(record["id"])
                if now is not None and all(record[name] == now.get(name) for name in record):
                    self._join(earlier)
                    return True
        return False

    def is_sent_here(self, operation: Operation) -> bool:
        """Return whether an operation was sent to the present service and account of the profile.

        An unknown service or account, or an account with a generated name, counts as the present
        one.
        """
        is_here = operation.service in ("", self._profile.base_url)
        return is_here and not self.is_of_other_name(operation)

    def is_of_other_name(self, operation: Operation) -> bool:
        """Return whether the accounts of the profile and an operation have different names.

        The result is false if one of the names is unknown or was generated.
        """
        account = operation.account
        if not self._profile.account or account in (None, self._profile.account):
            return False
        return not is_unnamed(account)

    def left_by_others(self) -> list[Operation]:
        """Return the account's unconfirmed operations that profiles with other names sent."""
        states = quoted(sorted(UNCONFIRMED - {OperationState.DAMAGED}))
        with self._database.reading() as connection:
            rows = fetch(
                connection,
                f"{WHOLE} WHERE state IN ({states}) AND service = ? AND account = ?"
                " AND profile <> ? ORDER BY seq",
                [self._profile.base_url, self.name, self._profile.name],
            )
        return [operation_of(row) for row in rows]

    def _take_over(self) -> None:
        """Move operations from generated names of the account to the name in the profile."""
        service, profile = self._profile.base_url, self._profile
        with self._database.reading() as connection:
            rows = fetch(
                connection,
                f"SELECT DISTINCT account FROM operations WHERE {_NEWEST} AND service = ?"
                " AND profile = ? AND credentials = ? AND account <> ?",
                [service, profile.name, self.credentials, profile.account],
            )
        for unnamed in [str(row[0]) for row in rows if is_unnamed(str(row[0]))]:
            self._journal.move_account(unnamed, profile.account)

    def _join(self, earlier: str) -> None:
        """Join two accounts that are the same account before and after a change of credentials.

        The earlier account then has the operations of both accounts.

        Args:
            earlier: The name of the earlier account.
        """
        self._journal.move_account(self.name, earlier)
        self.earlier = tuple(one for one in self.earlier if one != earlier)
        self.name = earlier

    def _known(self, account: str, lock_id: int) -> Iterator[Mapping[str, Any]]:
        """Yield the remotes of a lock that the account has sent or received, the newest first.

        The journal's newest 200 changes of the account on this lock are searched.

        Yields:
            Each remote's ID, number and, if known, creation time, by the contract's names.
        """
        with self._database.reading() as connection:
            rows = fetch(
                connection,
                f"{WHOLE} WHERE {_NEWEST} AND service = ? AND account = ? AND lock_id = ?"
                " ORDER BY seq DESC LIMIT 200",
                [self._profile.base_url, account, lock_id],
            )
        for operation in map(operation_of, rows):
            records = [*operation.before, *(operation.others or ())]
            if operation.call == "add" and operation.state in RECORDED:
                records.append({**operation.body, "id": operation.remote_id})
            for record in records:
                if isinstance(record.get("id"), int) and record.get("remoteNumber"):
                    yield {name: record[name] for name in _IDENTITY if name in record}

    def _of_credentials(self, credentials: str) -> str | None:
        """Return the name of the account that last used the given credentials; None if unknown."""
        with self._database.reading() as connection:
            rows = fetch(
                connection,
                f"SELECT account FROM operations WHERE {_NEWEST} AND service = ?"
                " AND credentials = ? AND account IS NOT NULL ORDER BY seq DESC LIMIT 1",
                [self._profile.base_url, credentials],
            )
        return str(rows[0][0]) if rows else None
