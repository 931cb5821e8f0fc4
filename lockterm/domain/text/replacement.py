"""Texts about the replacement of a key fob."""

from __future__ import annotations

from collections.abc import Iterable

from lockterm.domain.reading import Field
from lockterm.domain.remotes import FIELDS, UNLISTED, Remote
from lockterm.domain.safe_text import clean
from lockterm.domain.text.remote import UNNAMED, format_remote_name

_MAC = FIELDS["mac"]

ADD_FIRST = (
    "lockterm adds the new fob first. It deletes the old fob only after the service has recorded"
    " the new one."
)
"""The order of the steps if the service accepts two remotes of one name on a lock."""


def format_replacement_title(remote: Remote, number: str) -> str:
    """Return the title of the plan: ``replace the fob of Anna: A-1 with B-2``."""
    name = format_remote_name(remote, UNNAMED).encode("utf-8", "backslashreplace").decode()
    return f"replace the fob of {name}: {clean(remote.remote_number, 30)} with {clean(number, 30)}"


def describe_order(remote: Remote, *, adds_first: bool) -> str:
    """Return sentences about the order of the two steps, and about a failure between them.

    Args:
        remote: The remote whose fob is replaced.
        adds_first: Whether the new fob is added before the old one is deleted.
    """
    if adds_first:
        return ADD_FIRST
    name = format_remote_name(remote, UNNAMED)
    return (
        "The lock cannot have two remotes of one name, so the old fob stops working first. If the"
        f" add then fails, {name} has no working fob until you retry the add or undo the run."
    )


def describe_not_copied(unknown: Iterable[Field], *, has_mac: bool) -> list[str]:
    """Return sentences about the fields that the new fob does not get.

    Args:
        unknown: The fields whose values lockterm does not know, because no list returns them.
        has_mac: Whether the new fob gets a MAC address.
    """
    device = [
        field.called for field in UNLISTED if field.of_device and not (has_mac and field is _MAC)
    ]
    said = [f"Not copied, because each fob has its own: {', '.join(device)}."]
    if names := [field.called for field in unknown if not field.of_device]:
        said.append(f"Not copied, because the service does not return it: {', '.join(names)}.")
    return said
