"""The accounts of each service, identified by their credentials.

The journal stores the account and a digest of the credentials with each change. Therefore the
journal shows to which account the credentials of a profile belong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lockterm.domain.operation import IN_FLIGHT, RECORDED, UNCONFIRMED, Operation, OperationState
from lockterm.store.database import Database, fetch
from lockterm.store.journal_rows import WHOLE, operation_of, quoted
from lockterm.store.owner import Account, digest_of

if TYPE_CHECKING:
    from lockterm.config import Profile
    from lockterm.store.journal import Journal

_SHOWN = 8
"""Number of digits of the credentials' digest in a generated account name."""

_UNNAMED = re.compile(rf".+-[0-9a-f]{{{_SHOWN}}}", re.DOTALL)

_IDENTITY = ("id", "remoteNumber", "createTime")

_NEWEST = "seq > (SELECT ifnull(max(seq), 0) - 10000 FROM operations)"
"""The SQL condition that limits a search to the newest 10,000 changes, because a long journal has
hundreds of thousands of changes."""


def digest_credentials(profile: Profile) -> str:
    """Return a digest of the headers of a profile, salted with the base URL of the profile."""
    headers = sorted((name.lower(), text) for name, text in profile.headers.items())
    return digest_of(json.dumps(headers), profile.base_url)


def is_unnamed(account: str) -> bool:
    """Return whether the name of an account was generated from its credentials."""
    return _UNNAMED.fullmatch(account) is not None


class Accounts:
    """The accounts of a profile. Every method raises ``StoreError`` if the store cannot be used.

    Args:
        database: The local store.
        journal: The journal of the profile.
        profile: The profile.
        credentials: The digest from :func:`digest_credentials`.
    """

    def __init__(
        self, database: Database, journal: Journal, profile: Profile, credentials: str
    ) -> None:
        self._database = database
        self._journal = journal
        self._profile = profile
        self._credentials = credentials

    def current(self) -> Account:
        """Return the account of the profile, with the accounts that the profile used before.

        If the profile names no account, the result is the account that last used the same
        credentials. If no change in the journal used these credentials, the name of the account is
        generated.
        """
        profile, service = self._profile, self._profile.base_url
        name = profile.account or f"{profile.name}-{self._credentials[:_SHOWN]}"
        if profile.account:
            self._take_over()
        else:
            name = self.of_credentials(self._credentials) or name
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
        return Account(name, tuple(earlier))

    def _take_over(self) -> None:
        """Move operations from generated names of the account to the name in the profile."""
        service, profile = self._profile.base_url, self._profile
        with self._database.reading() as connection:
            rows = fetch(
                connection,
                f"SELECT DISTINCT account FROM operations WHERE {_NEWEST} AND service = ?"
                " AND profile = ? AND credentials = ? AND account <> ?",
                [service, profile.name, self._credentials, profile.account],
            )
        for unnamed in [str(row[0]) for row in rows if is_unnamed(str(row[0]))]:
            self._journal.move_account(unnamed, profile.account)

    def merge(self, account: Account, earlier: str) -> Account:
        """Join two accounts that are the same account before and after a change of credentials.

        Args:
            account: The account with the new credentials.
            earlier: The name of the earlier account.

        Returns:
            The earlier account, which now has the operations of both accounts.
        """
        self._journal.move_account(account.name, earlier)
        left = tuple(one for one in account.earlier if one != earlier)
        return Account(earlier, left)

    def left_by_others(self, account: str) -> list[Operation]:
        """Return the account's unconfirmed operations that profiles with other names sent."""
        states = quoted(sorted(UNCONFIRMED - {OperationState.DAMAGED}))
        with self._database.reading() as connection:
            rows = fetch(
                connection,
                f"{WHOLE} WHERE state IN ({states}) AND service = ? AND account = ?"
                " AND profile <> ? ORDER BY seq",
                [self._profile.base_url, account, self._profile.name],
            )
        return [operation_of(row) for row in rows]

    def known(self, account: str, lock_id: int) -> Iterator[Mapping[str, Any]]:
        """Yield the remotes of a lock that the account has sent or received, the newest first.

        The journal's newest 200 changes of the account on this lock are searched.

        Yields:
            The ID and number of each remote, and its creation time if known.
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

    def of_credentials(self, credentials: str) -> str | None:
        """Return the name of the account that last used the given credentials; None if unknown."""
        with self._database.reading() as connection:
            rows = fetch(
                connection,
                f"SELECT account FROM operations WHERE {_NEWEST} AND service = ?"
                " AND credentials = ? AND account IS NOT NULL ORDER BY seq DESC LIMIT 1",
                [self._profile.base_url, credentials],
            )
        return str(rows[0][0]) if rows else None
