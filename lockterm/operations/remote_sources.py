"""The pages of a lock's list and the details of its remotes: how they are asked for and kept."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING, Any

from lockterm.domain.names import is_same_name
from lockterm.domain.remotes import Remote, RemotePage
from lockterm.errors import LocktermError, ServiceError
from lockterm.operations.cached_reads import Source

if TYPE_CHECKING:
    from lockterm.api.client import LockService
    from lockterm.api.place import Place
    from lockterm.domain.remotes import Remote, RemotePage

COUNTS = ("page_no", "page_size", "pages", "total", "unreadable")
"""What is kept of a page beside its remotes."""


def page_source(
    lock_id: int,
    page_no: int,
    page_size: int,
    before: LocktermError | None = None,
    place: Place | None = None,
) -> Source[RemotePage]:
    """A page of a lock's list.

    Args:
        lock_id: The lock.
        page_no: Which page, from 1.
        page_size: Remotes on a page.
        before: Why the same request has failed just now; it is the first answer.
        place: See :meth:`LockService.list_remotes`.
    """
    # Whoever asks again, because that one failed, asks the service, and holds no place.
    once = iter([(before, place)])

    async def ask(service: LockService) -> RemotePage:
        first, at = next(once, (None, None))
        if first is not None:
            raise first
        return await service.list_remotes(lock_id, page_no, page_size, at)

    def dump(page: RemotePage) -> Any:
        counts: dict[str, Any] = {name: getattr(page, name) for name in COUNTS}
        return counts | {"remotes": [remote.raw for remote in page.remotes]}

    def load(raw: Any) -> RemotePage:
        remotes = tuple(Remote.read(one) for one in raw.pop("remotes"))
        return RemotePage(remotes=remotes, **raw)

    return Source(
        f"page {lock_id} {page_no} {page_size}",
        ask=ask,
        dump=dump,
        load=load,
    )


def detail_source(remote_id: int) -> Source[Remote]:
    """The detail of a remote."""

    def load(raw: Any) -> Remote:
        return Remote.read(raw)

    return Source(
        f"remote {remote_id}",
        ask=lambda service: service.remote_detail(remote_id=remote_id),
        dump=lambda remote: remote.raw,
        load=load,
    )


async def has_name(listed: Awaitable[Iterable[Remote]], name: str) -> bool:
    """Return whether a list, if it can be read, has a remote of a name."""
    try:
        return any(is_same_name(remote.remote_name, name) for remote in await listed)
    except ServiceError:
        return False
