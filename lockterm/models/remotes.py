"""Bluetooth remotes as the service returns them (sections 2.3, 4.3, 4.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from lockterm.models.reading import Record


class LockInfo(Record):
    """The lock a remote belongs to, as ``detail`` tells it (2.3)."""

    lock_id: int | None = Field(None, alias="lockId")
    lock_name: str | None = Field(None, alias="lockName")
    lock_alias: str | None = Field(None, alias="lockAlias")


class Remote(Record):
    """A bluetooth remote (2.3). Every field may be missing; types and flags are kept as numbers.

    The last six before ``lock_info`` are accepted on creation but not returned in list items; they
    are here for a service that returns them in ``detail``.
    """

    id: int | None = None
    lock_id: int | None = Field(None, alias="lockId")
    remote_name: str | None = Field(None, alias="remoteName")
    remote_number: str | None = Field(None, alias="remoteNumber")
    remote_type: int | None = Field(None, alias="remoteType")
    remote_type_name: str | None = Field(None, alias="remoteTypeName")
    add_type: int | None = Field(None, alias="addType")
    add_type_name: str | None = Field(None, alias="addTypeName")
    start_ms: int | None = Field(None, alias="startDate")
    end_ms: int | None = Field(None, alias="endDate")
    week_day: list[int] | None = Field(None, alias="weekDay")
    is_coerced: int | None = Field(None, alias="isCoerced")
    extra_data: dict[str, Any] | None = Field(None, alias="extraData")
    status: int | None = None
    status_name: str | None = Field(None, alias="statusName")
    api_user_id: int | None = Field(None, alias="apiUserId")
    create_time: int | None = Field(None, alias="createTime")
    update_time: int | None = Field(None, alias="updateTime")
    mac: str | None = None
    electric_quantity: int | None = Field(None, alias="electricQuantity")
    firmware_info: dict[str, Any] | None = Field(None, alias="firmwareInfo")
    remote_user_no: int | None = Field(None, alias="remoteUserNo")
    business_id: int | None = Field(None, alias="businessId")
    remote_right: int | None = Field(None, alias="remoteRight")
    lock_info: LockInfo | None = Field(None, alias="lockInfo")

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Remote:
        """Read a remote; a ``lockInfo`` that is an object is read leniently too."""
        info = raw.get("lockInfo")
        if isinstance(info, Mapping):
            raw = {**raw, "lockInfo": LockInfo.read(info)}
        return super().read(raw)


class RemotePage(Record):
    """One page of a lock's remotes (4.3), as the service counted it."""

    remotes: tuple[Remote, ...] = ()
    page_no: int
    page_size: int
    pages: int
    total: int
    unreadable: int = 0
    """List items that were no JSON objects, so that nothing of them can be shown."""
