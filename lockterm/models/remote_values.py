"""What a person wants a remote to be. Free of pydantic: the form needs it at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote


@dataclass(frozen=True, slots=True)
class RemoteValues:
    """What a person wants a remote to be: the fields of table 4.1, those of 4.4 among them."""

    remote_name: str = ""
    remote_number: str = ""
    remote_type: int | None = None
    """None, or a number that the contract does not list: as the service sent it."""
    start_ms: int | None = None
    """Milliseconds; without meaning for a permanent remote."""
    end_ms: int | None = None
    """Milliseconds; without meaning for a permanent remote."""
    week_day: tuple[int, ...] = ()
    """Without meaning for what is not recurring."""
    add_type: int | None = None
    mac: str | None = None
    electric_quantity: int | None = None
    firmware_info: Mapping[str, Any] | None = None
    remote_user_no: int | None = None
    business_id: int | None = None
    remote_right: int | None = None
    is_coerced: int | None = None
    extra_data: Mapping[str, Any] | None = None


def values_of(remote: Remote) -> RemoteValues:
    """What a remote is now, as the values a person starts from."""
    return RemoteValues(
        remote_name=remote.remote_name or "",
        remote_number=remote.remote_number or "",
        remote_type=remote.remote_type,
        start_ms=remote.start_ms,
        end_ms=remote.end_ms,
        week_day=tuple(remote.week_day or ()),
        add_type=remote.add_type,
        mac=remote.mac,
        electric_quantity=remote.electric_quantity,
        firmware_info=remote.firmware_info,
        remote_user_no=remote.remote_user_no,
        business_id=remote.business_id,
        remote_right=remote.remote_right,
        is_coerced=remote.is_coerced,
        extra_data=remote.extra_data,
    )
