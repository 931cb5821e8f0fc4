"""Bluetooth remotes as the service returns them (sections 2.3, 4.3, 4.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import Field

from lockterm.models.reading import Int, Record


class LockInfo(Record):
    """The lock a remote belongs to, as ``detail`` tells it (2.3)."""

    lock_id: Int | None = Field(None, alias="lockId")
    lock_name: str | None = Field(None, alias="lockName")
    lock_alias: str | None = Field(None, alias="lockAlias")


class Remote(Record):
    """A bluetooth remote (2.3). Every field may be missing; types and flags are kept as numbers.

    The last six before ``lock_info`` are accepted on creation but not returned in list items; they
    are here for a service that returns them in ``detail``.
    """

    id: Int | None = None
    lock_id: Int | None = Field(None, alias="lockId")
    remote_name: str | None = Field(None, alias="remoteName")
    remote_number: str | None = Field(None, alias="remoteNumber")
    remote_type: Int | None = Field(None, alias="remoteType")
    remote_type_name: str | None = Field(None, alias="remoteTypeName")
    add_type: Int | None = Field(None, alias="addType")
    add_type_name: str | None = Field(None, alias="addTypeName")
    start_ms: Int | None = Field(None, alias="startDate")
    end_ms: Int | None = Field(None, alias="endDate")
    week_day: list[Int] | None = Field(None, alias="weekDay")
    is_coerced: Int | None = Field(None, alias="isCoerced")
    extra_data: dict[str, Any] | None = Field(None, alias="extraData")
    status: Int | None = None
    status_name: str | None = Field(None, alias="statusName")
    api_user_id: Int | None = Field(None, alias="apiUserId")
    create_time: Int | None = Field(None, alias="createTime")
    update_time: Int | None = Field(None, alias="updateTime")
    mac: str | None = None
    electric_quantity: Int | None = Field(None, alias="electricQuantity")
    firmware_info: dict[str, Any] | None = Field(None, alias="firmwareInfo")
    remote_user_no: Int | None = Field(None, alias="remoteUserNo")
    business_id: Int | None = Field(None, alias="businessId")
    remote_right: Int | None = Field(None, alias="remoteRight")
    lock_info: LockInfo | None = Field(None, alias="lockInfo")

    @classmethod
    def read(cls, raw: Mapping[str, Any], **parts: Any) -> Self:
        """Read a remote; a ``lockInfo`` that is an object is read leniently too."""
        info = raw.get("lockInfo")
        if isinstance(info, Mapping):
            parts["lockInfo"] = LockInfo.read(info)
        return super().read(raw, **parts)


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
