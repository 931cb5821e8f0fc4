"""The values that the remote form offers for a new remote like an existing one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from lockterm.domain.locks import Lock
from lockterm.domain.remotes import Remote
from lockterm.domain.series import NamesInUse, next_like
from lockterm.domain.typed_remote import typed_like
from lockterm.operations.taken import read_names_in_use

if TYPE_CHECKING:
    from lockterm.operations import Operations


async def values_like(
    remote: Remote,
    operations: Operations,
    lock: Lock,
    known: Iterable[Remote],
    total: int | None,
) -> tuple[Mapping[str, str], NamesInUse]:
    """Return the initial values of the form for a new remote, and the names and numbers in use.

    The values are those of an existing remote, with the next free name and number.

    Args:
        remote: The existing remote.
        operations: Gives access to the service and the store.
        lock: The lock of the existing and the new remote.
        known: The remotes of the lock that are already loaded.
        total: Number of remotes of the lock; None if it is not known.
    """
    typed = typed_like(remote, operations.zone(lock))
    taken = await read_names_in_use(operations.remotes, lock.lock_id, known, total)
    return next_like(typed, taken), taken
