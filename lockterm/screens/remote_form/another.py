"""The initial values of the remote form for a new remote that is like an existing remote."""

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
    """Return the form's initial values for a copy of ``remote``, and the values in use.

    The initial values are those of ``remote``, but with the next free name and number. The values
    in use are the names and numbers of the lock's remotes.

    Args:
        remote: The existing remote.
        operations: The operations on the service and the local store.
        lock: The lock of both remotes.
        known: The remotes of the lock that are already loaded.
        total: The number of remotes of the lock; None if it is unknown.
    """
    typed = typed_like(remote, operations.zone(lock))
    taken = await read_names_in_use(operations.remotes, lock.lock_id, known, total)
    return next_like(typed, taken), taken
