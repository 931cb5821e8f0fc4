"""The 12 calls of the contract as a person causes them: through ``Operations``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import NewRemote, RemoteChanges
from lockterm.operations import Operations
from lockterm.service.packs import PACKS

(VENDOR, MODEL), FIRST_PACKS = next(iter(PACKS.items()))
PACK = FIRST_PACKS[0]


@dataclass(frozen=True)
class Scene:
    """What the calls are about."""

    lock_id: int
    remote: Remote
    """As it was read before."""


Do = Callable[[Operations, Scene], Awaitable[Any]]


def new_remote(lock_id: int, name: str = "New fob", number: str = "N-900") -> NewRemote:
    return NewRemote(
        lock_id=lock_id,
        remote_name=name,
        remote_number=number,
        remote_type=4,
        add_type=1,
        start_ms=1_795_000_000_000,
        end_ms=1_805_000_000_000,
        week_day=[5, 1],
        remote_user_no=12,
        extra_data={"dept": "Sécurité"},
    )


def id_of(remote: Remote) -> int:
    return remote.id


CALLS: dict[str, Do] = {
    "add": lambda ops, scene: ops.writes.add_remote(new_remote(scene.lock_id)),
    "checkRemoteName": lambda ops, scene: ops.remotes.is_name_free(scene.lock_id, "New fob"),
    "list": lambda ops, scene: ops.remotes.page(scene.lock_id, 1, 20),
    "update": lambda ops, scene: ops.writes.update_remote(
        scene.lock_id,
        id_of(scene.remote),
        RemoteChanges(remote_name="Renamed", is_coerced=1),
        scene.remote,
    ),
    "detail": lambda ops, scene: ops.remotes.detail(id_of(scene.remote)),
    "delete": lambda ops, scene: ops.writes.delete_remote(scene.lock_id, scene.remote),
    "clear": lambda ops, scene: ops.writes.clear_remotes(scene.lock_id, 3),
    "updateRemoteUserNo": lambda ops, scene: ops.writes.set_user_no(
        scene.lock_id, scene.remote, 77
    ),
    "voice/list": lambda ops, scene: ops.voices.packs(scene.lock_id),
    "voice/packs": lambda ops, scene: ops.voices.languages(VENDOR, MODEL),
    "voice/detail": lambda ops, scene: ops.voices.pack(scene.lock_id, PACK.name),
    "updateLockSetting": lambda ops, scene: ops.writes.set_voice(
        Lock(scene.lock_id), VoiceChoice(PACK.lang, PACK.timbre)
    ),
}
"""In the order of the contract's section 4."""

FIRST_READ: dict[str, str] = {
    "add": "checkRemoteName",
    "clear": "list",
    **dict.fromkeys(("update", "delete", "updateRemoteUserNo"), "detail"),
}
"""The read that a write begins with."""
