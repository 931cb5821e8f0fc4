"""The calls that change data, as records that the journal saves before lockterm sends them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from lockterm.domain.requests import NewRemote, RemoteChanges

_REMOTE = "/api/v1/bluetooth-remote"


class Write(NamedTuple):
    """One call that changes something at the service."""

    call: str
    """The contract's name of the call: the last part of its path."""
    path: str
    """The path below the base URL."""
    body: Mapping[str, Any]
    """The parameters under the contract's names, ready for JSON."""

    @property
    def result(self) -> str:
        """The name of the answer's field with the numeric result of the call; empty if none."""
        return {"add": "remoteId", "clear": "deletedCount"}.get(self.call, "")

    @property
    def always_json(self) -> bool:
        """Whether the body is sent as JSON even if the profile sends other bodies as forms."""
        return self.call == "updateLockSetting"


def add_remote(request: NewRemote) -> Write:
    """Return the write that adds a remote (contract 4.1); its result is the remote's ID."""
    return Write("add", f"{_REMOTE}/add", request.body())


def update_remote(lock_id: int, remote_id: int, changes: RemoteChanges) -> Write:
    """Return the write that changes the given fields of a remote (contract 4.4)."""
    body = {"lockId": lock_id, "remoteId": remote_id, **changes.body()}
    return Write("update", f"{_REMOTE}/update", body)


def delete_remote(remote_id: int) -> Write:
    """Return the write that deletes a remote (contract 4.6)."""
    return Write("delete", f"{_REMOTE}/delete", {"remoteId": remote_id})


def clear_remotes(lock_id: int) -> Write:
    """Return the write that deletes every remote of a lock (contract 4.7).

    Its result is the number of deleted remotes.
    """
    return Write("clear", f"{_REMOTE}/clear", {"lockId": lock_id})


def update_remote_user_no(lock_id: int, remote_id: int, remote_user_no: int) -> Write:
    """Return the write that sets the user number of a remote (contract 4.8)."""
    body = {"lockId": lock_id, "remoteId": remote_id, "remoteUserNo": remote_user_no}
    return Write("updateRemoteUserNo", f"{_REMOTE}/updateRemoteUserNo", body)


def set_voice(lock_id: int, lang: str, timbre: str) -> Write:
    """Return the write that sets the language and timbre of a lock's voice (contract 4.12)."""
    body = {"lockId": lock_id, "currentVoiceTimbre": {"lang": lang, "timbre": timbre}}
    path = "/api/v1/lockSetting/updateLockSetting"
    return Write("updateLockSetting", path, body)
