"""The account of a profile, and checks of whether a change was sent to that account."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from lockterm.operations.refusals import OtherAccount, OtherService
from lockterm.store.accounts import Accounts, digest_credentials, is_unnamed

if TYPE_CHECKING:
    from lockterm.config import Profile
    from lockterm.domain.operation import Operation
    from lockterm.domain.remotes import Remote
    from lockterm.store.database import Database
    from lockterm.store.journal import Journal


class ProfileAccount:
    """The account of a profile. Methods that use the disk raise ``StoreError`` if the store fails.

    Args:
        profile: The profile and its current service.
        database: The local store.
        journal: The journal, which receives the account.
    """

    def __init__(self, profile: Profile, database: Database, journal: Journal) -> None:
        self._profile = profile
        self._database = database
        self._journal = journal

    @cached_property
    def credentials(self) -> str:
        """A digest of the profile's credentials."""
        return digest_credentials(self._profile)

    @cached_property
    def _accounts(self) -> Accounts:
        return Accounts(self._database, self._journal, self._profile, self.credentials)

    @property
    def name(self) -> str:
        """The account's name; empty until it is looked up."""
        return self._journal.account.name

    @property
    def has_earlier(self) -> bool:
        """Whether the profile earlier had other credentials, perhaps of the same account."""
        return bool(self._journal.account.earlier)

    def look_up(self) -> None:
        """Find the account by the changes sent earlier; repeated calls do nothing."""
        if not self.name:
            self._journal.account = self._accounts.current()

    def note_same(self, credentials: str) -> None:
        """Note a person's statement that earlier credentials belong to the profile's account."""
        earlier = self._accounts.of_credentials(credentials)
        if earlier is not None and earlier in self._journal.account.earlier:
            self._journal.account = self._accounts.merge(self._journal.account, earlier)

    def recognize(self, lock_id: int, remotes: Sequence[Remote]) -> bool:
        """Return whether a list shows a known remote of an account with earlier credentials.

        If so, the current credentials belong to that account, and its operations become this
        account's.
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
        """Return the account's unconfirmed operations that profiles of other names have sent."""
        return self._accounts.left_by_others(self.name)

    def is_sent_here(self, operation: Operation) -> bool:
        """Return whether an operation was sent to the current service of the profile.

        If the profile names an account, an operation of another named account does not count.
        """
        is_here = operation.service in ("", self._profile.base_url)
        return is_here and not self._is_of_other_name(operation)

    def _is_of_other_name(self, operation: Operation) -> bool:
        account = operation.account
        if not self._profile.account or account in (None, self._profile.account):
            return False
        return not is_unnamed(account)

    def require_sent_here(self, operation: Operation) -> None:
        """Check that reading back would ask the same service.

        Raises:
            OtherService: The service is another one, where the same IDs mean other remotes.
            OtherAccount: The account is another one, where the same applies.
        """
        if self._is_of_other_name(operation):
            raise OtherAccount(operation)
        if not self.is_sent_here(operation):
            raise OtherService(operation, self._profile.name, self._profile.base_url)

    def require(self, operation: Operation) -> None:
        """Check that sending again or restoring would reach the same service and account.

        Raises:
            OtherService: The change was sent to another service.
            OtherAccount: The change may have been sent to another account.
        """
        self.require_sent_here(operation)
        self.look_up()
        if operation.account not in (None, self.name):
            raise OtherAccount(operation)
