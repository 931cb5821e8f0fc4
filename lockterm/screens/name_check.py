"""Asking the service whether the name typed into the remote form is free (4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockterm.errors import LocktermError
from lockterm.screens.remote_fields import RemoteFields
from lockterm.text import clean

if TYPE_CHECKING:
    from lockterm.operations import Operations

TAKEN = "This lock already has a remote of that name."
_FREE = "The name is free."


async def ask_about_name(fields: RemoteFields, operations: Operations, lock_id: int) -> None:
    """Learn whether the typed name is free, unless that is known or it is the remote's own.

    The answer is kept with the name it was asked for: a late one says nothing about another. When
    the service cannot be asked, that is said and holds nothing up: it checks the name once more
    when it is sent.
    """
    name = fields.reading.values.remote_name
    key = ("remoteName", name)
    own = fields.before.remote_name if fields.before else None
    wrong = fields.reading.errors.get("remoteName")
    if not name or name == own or fields.remarks.get(key) == _FREE:
        return
    if wrong and wrong != fields.objections.get(key):
        return
    fields.remarks[key] = "Asking whether the name is free ..."
    fields.read_now()
    try:
        is_free = await operations.is_name_free(lock_id, name)
    except LocktermError as error:
        reason = clean(f"{error.title}: {error.message}", 160)
        fields.remarks[key] = f"Not known whether the name is free. {reason}"
    else:
        fields.objections.pop(key, None)
        if is_free:
            fields.remarks[key] = _FREE
        else:
            fields.objections[key] = TAKEN
    if fields.is_attached:
        fields.read_now()
