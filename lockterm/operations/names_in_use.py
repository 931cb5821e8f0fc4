"""The names and numbers in use on a lock, to propose and check new ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lockterm.domain.typed_remote import NamesInUse
from lockterm.errors import ListTooLargeError, ServiceError
from lockterm.operations.list_walk import UNASKED, WalkBudget

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote
    from lockterm.operations.facade import Operations


async def read_names_in_use(
    operations: Operations,
    lock_id: int,
    known: Iterable[Remote] = (),
    total: int | None = None,
    *,
    own_id: int | None = None,
) -> NamesInUse:
    """Return the names and numbers in use on a lock, from its complete list if possible.

    The list is read with the limits of automatic readings, ``list_walk.UNASKED``. If it cannot be
    read completely, ``NamesInUse.words`` is a warning about this.

    Args:
        operations: The operations of the profile.
        lock_id: The ID of the lock.
        known: Remotes that are already known, because the list may lack the newest ones.
        total: The number of remotes on the lock; None if unknown.
        own_id: The ID of the remote that gets a new name, so that its own name is free; None for a
            new remote.
    """
    remotes = operations.remotes
    known = [*known, *remotes.at_hand(lock_id)]
    found: list[Remote] = []
    walk = remotes.walk(lock_id, WalkBudget(lock_id, UNASKED), ahead=True)
    try:
        async for step in walk:
            if step.is_first:
                found.clear()
            found += step.new
            total = step.total
    except ServiceError as error:
        # A second reading would reach the same limit.
        is_read = isinstance(error, ListTooLargeError)
        known += await operations.kept_lists.remotes(lock_id)  # it may be old, but it helps
        some = [*known, *found]
        taken = NamesInUse(_others(some, own_id), total, is_read=is_read)
        taken.words = (
            taken.words
            or "The list was not read completely, so another remote may have this number."
        )
        return taken
    finally:
        await walk.aclose()
    return NamesInUse(_others([*known, *found], own_id), is_read=True)


def _others(remotes: Iterable[Remote], own_id: int | None) -> list[Remote]:
    return [one for one in remotes if own_id is None or one.id != own_id]
