"""The conversion of the ``data`` of an envelope to the records of the contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from lockterm.api.answer import Answer
from lockterm.api.envelope import open_answer
from lockterm.domain.reading import Record, is_number
from lockterm.domain.remotes import Remote, RemotePage
from lockterm.errors import MalformedAnswerError

R = TypeVar("R", bound=Record)


def page_of(answer: Answer, page_no: int, page_size: int, lock_id: int) -> RemotePage:
    """Return the page of a lock's remotes (contract 4.3) that an answer contains.

    Raises:
        MalformedAnswerError: The answer shows neither success nor refusal, or does not contain a
            list of this lock.
        RefusedError: The service refused the call.
    """
    page = read_page(open_answer(answer), page_no, page_size, lock_id)
    return replace(page, answer_bytes=len(answer.body))


def read_page(data: Any, page_no: int, page_size: int, lock_id: int | None = None) -> RemotePage:
    """Return a page of remotes (contract 4.3) from the data of an answer.

    The page has the counts that the service reported. A missing or impossible count is computed:
    the page number and the page size from the request, and the totals from the records. A computed
    total is the smallest possible one.

    Raises:
        MalformedAnswerError: ``data`` is not an object, its ``list`` is not an array, or the list
            belongs to another lock.
    """
    items = _object(data).get("list")
    if not isinstance(items, list):
        raise MalformedAnswerError("The answer has no list of remotes.")
    remotes = tuple(Remote.read(item) for item in items if isinstance(item, Mapping))
    lock_ids = {remote.lock_id for remote in remotes} - {None, 0}
    if lock_id is not None and lock_ids and lock_id not in lock_ids:
        raise MalformedAnswerError(
            f"The answer contains the list of another lock, not of lock {lock_id}."
        )

    minimums = {"pageNo": 1, "pageSize": 1, "pages": 0, "total": 0}
    counts = {name: _count(data.get(name), minimum) for name, minimum in minimums.items()}
    size = counts["pageSize"] or max(page_size, 1)
    number = counts["pageNo"] or max(page_no, 1)
    total, pages = counts["total"], counts["pages"]
    if total is None:
        to_here = (number - 1) * size + len(items) if items else 0
        total = max(to_here, (pages - 1) * size + 1 if pages else 0)
    if pages is None:
        # If the total is missing, another page may follow a full page.
        open_end = counts["total"] is None and len(items) >= size
        pages = number + 1 if open_end else -(-total // size)
    return RemotePage(
        raw=data,
        odd={name: data.get(name) for name, count in counts.items() if count is None},
        remotes=remotes,
        page_no=number,
        page_size=size,
        pages=pages,
        total=total,
        unreadable=len(items) - len(remotes),
    )


def read_remote(data: Any, remote_id: int) -> Remote:
    """Return a remote with its details (contract 4.5) from the data of an answer.

    If ``data`` has no ID, the remote gets the requested one.

    Raises:
        MalformedAnswerError: ``data`` is not an object, or has the ID of another remote. Without
            this error, a later change could affect that remote by mistake.
    """
    received_id = _object(data).get("id")
    remote = Remote.read(data if received_id is not None else {**data, "id": remote_id})
    if remote.id != remote_id:
        about = remote.id if remote.id is not None else "something without a usable ID"
        raise MalformedAnswerError(f"The answer is about {about}, not about remote {remote_id}.")
    return remote


def read_one(data: Any, kind: type[R]) -> R:
    """Return the data of an answer as a record, such as a voice pack.

    Args:
        data: The payload of the answer.
        kind: The class of the record.

    Raises:
        MalformedAnswerError: ``data`` is not an object.
    """
    return kind.read(_object(data))


def read_many(data: Any, kind: type[R]) -> list[R]:
    """Return the data of an answer as a list of records. Entries that are not objects are left out.

    Raises:
        MalformedAnswerError: ``data`` is not an array.
    """
    if not isinstance(data, list):
        raise MalformedAnswerError("The field 'data' of the answer is not a list.")
    return [kind.read(item) for item in data if isinstance(item, Mapping)]


def read_result(data: Any, name: str) -> int | None:
    """Return a number from the data of an answer to a write, such as the ID of a new remote.

    Args:
        data: The payload of the answer.
        name: The name of the field with the number.

    Returns:
        The number; None if the answer has no such number, or an invalid one.
    """
    return _count(data.get(name), 0) if isinstance(data, dict) else None


def _object(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise MalformedAnswerError("The field 'data' of the answer is not an object.")
    return data


def _count(value: Any, minimum: int) -> int | None:
    return value if is_number(value) and value >= minimum else None
