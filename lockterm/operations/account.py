"""The account of a profile, and its comparison with the account of an earlier change."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from lockterm.operations.refusals import OtherAccountError, OtherServiceError
from lockterm.store.accounts import Accounts, digest_credentials, is_unnamed

if TYPE_CHECKING:
    from lockterm.config import Profile
    from lockterm.domain.operation import Operation
    from lockterm.domain.remotes import Remote
    from lockterm.store.database import Database
    from lockterm.store.journal import Journal


class ProfileAccount:
    """The account of a profile at its service. Methods that use the store raise ``StoreError``.

    Args:
        profile: The profile, with its present service.
        database: The local store.
        journal: The journal, whose ``account`` attribute this class sets.
    """

    def __init__(self, profile: Profile, database: Database, journal: Journal) -> None:
        self._profile = profile
        self._database = database
        self._journal = journal

    @cached_property
    def credentials(self) -> str:
        """A digest of the credentials in the profile."""
        return digest_credentials(self._profile)

    @cached_property
    def _accounts(self) -> Accounts:
        return Accounts(self._database, self._journal, self._profile, self.credentials)

    @property
    def name(self) -> str:
        """The name of the account; empty before :meth:`look_up`."""
        return self._journal.account.name

    @property
    def has_earlier(self) -> bool:
        """Whether the profile had other credentials before, maybe for the same account."""
        return bool(self._journal.account.earlier)

    def look_up(self) -> None:
        """Find the account of the profile in the journal. Later calls do nothing."""
        if not self.name:
            self._journal.account = self._accounts.current()

    def note_same(self, credentials: str) -> None:
        """Store the user's statement that earlier credentials belong to the present account.

        Args:
            credentials: The digest of the earlier credentials.
        """
        earlier = self._accounts.of_credentials(credentials)
        if earlier is not None and earlier in self._journal.account.earlier:
            self._journal.account = self._accounts.merge(self._journal.account, earlier)

    def recognize(self, lock_id: int, remotes: Sequence[Remote]) -> bool:
        """Return whether a list of remotes shows that this account is the same as an earlier one.

        The accounts are the same if the list contains a remote that the earlier account had. If
        so, the operations of both accounts are joined.
        """
        shown = {remote.id: remote.raw for remote in remotes if remote.id is not None}
        for earlier in self._journal.account.earlier:
            for record in self._accounts.known(earlier, lock_id):
                now = shown.get(record["id"])
                if now is not None and all(record[name] == now.get(name) for name in record):
                    self._journal.account = self._accounts.merge(self._journal.account, earlier)
                    return True
        return False

    def left_by_others(self) -> list[Operation]:
        """Return unconfirmed operations on this account from profiles with other names."""
        return self._accounts.left_by_others(self.name)

    def is_sent_here(self, operation: Operation) -> bool:
        """Return whether an operation was sent to the present service of the profile.

        The result is also false if the accounts of the profile and the operation are known and
        differ.
        """
        is_here = operation.service in ("", self._profile.base_url)
        return is_here and not self._is_of_other_name(operation)

    def _is_of_other_name(self, operation: Operation) -> bool:
        account = operation.account
        if not self._profile.account or account in (None, self._profile.account):
            return False
        return not is_unnamed(account)

    def require_sent_here(self, operation: Operation) -> None:
        """Check that the profile still has the service and account that received an operation.

        Raises:
            OtherServiceError: The operation was sent to another service, where the same ID means
                another remote.
            OtherAccountError: The operation was sent to another account, where the same ID means
                another remote.
        """
        if self._is_of_other_name(operation):
            raise OtherAccountError(operation)
        if not self.is_sent_here(operation):
            raise OtherServiceError(operation, self._profile.name, self._profile.base_url)

    def require(self, operation: Operation) -> None:
        """Check that a change to repeat was sent to the present service and account of the profile.

        Raises:
            OtherServiceError: The change was sent to another service.
            OtherAccountError: The change may have been sent to another account.
        """
        self.require_sent_here(operation)
        self.look_up()
        if operation.account not in (None, self.name):
            raise OtherAccountError(operation)
