"""Bluetooth remotes as the service returns them (sections 2.3, 4.3, 4.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from lockterm.models.reading import Record, mapping, number, numbers, part, text


@dataclass(frozen=True, kw_only=True)
class LockInfo(Record):
    """The lock a remote belongs to, as ``detail`` tells it (2.3)."""

    lock_id: int | None = number("lockId")
    lock_name: str | None = text("lockName")
    lock_alias: str | None = text("lockAlias")


@dataclass(frozen=True, kw_only=True)
class Remote(Record):
    """A bluetooth remote (2.3). Every field may be missing; types and flags are kept as numbers.

    The last six before ``lock_info`` are accepted on creation but not returned in list items; they
    are here for a service that returns them in ``detail``.
    """

    id: int | None = number("id")
    lock_id: int | None = number("lockId")
    remote_name: str | None = text("remoteName")
    remote_number: str | None = text("remoteNumber")
    remote_type: int | None = number("remoteType")
    remote_type_name: str | None = text("remoteTypeName")
    add_type: int | None = number("addType")
    add_type_name: str | None = text("addTypeName")
    start_ms: int | None = number("startDate")
    end_ms: int | None = number("endDate")
    week_day: list[int] | None = numbers("weekDay")
    is_coerced: int | None = number("isCoerced")
    extra_data: dict[str, Any] | None = mapping("extraData")
    status: int | None = number("status")
    status_name: str | None = text("statusName")
    api_user_id: int | None = number("apiUserId")
    create_time: int | None = number("createTime")
    update_time: int | None = number("updateTime")
    mac: str | None = text("mac")
    electric_quantity: int | None = number("electricQuantity")
    firmware_info: dict[str, Any] | None = mapping("firmwareInfo")
    remote_user_no: int | None = number("remoteUserNo")
    business_id: int | None = number("businessId")
    remote_right: int | None = number("remoteRight")
    lock_info: LockInfo | None = part("lockInfo")

    @classmethod
    def read(cls, raw: Mapping[str, Any], **parts: Any) -> Self:
        """Read a remote; a ``lockInfo`` that is an object is read leniently too."""
        info = raw.get("lockInfo")
        if isinstance(info, Mapping):
            parts["lockInfo"] = LockInfo.read(info)
        return super().read(raw, **parts)

    def other_lock(self, lock_id: int) -> int | None:
        """The lock that it says it belongs to, where that is another one; else None."""
        told = (self.lock_id, self.lock_info.lock_id if self.lock_info else None)
        return next((other for other in told if other not in (None, lock_id)), None)


@dataclass(frozen=True, kw_only=True)
class RemotePage(Record):
    """One page of a lock's remotes (4.3), as the service counted it.

    What the service did not count, or not with a number that makes sense, is worked out from the
    rest; ``odd`` then has the contract's name of it.
    """

    remotes: tuple[Remote, ...] = ()
    page_no: int
    page_size: int
    pages: int
    total: int
    unreadable: int = 0
    """List items that were no JSON objects, so that nothing of them can be shown."""
