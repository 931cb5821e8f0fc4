"""Sends one change for a command, and reports its result as carefully as the UI.

If no answer comes, lockterm verifies the change for up to :data:`TIMEOUT_S` seconds, by reading
from the service. A change counts as recorded only if the service confirmed it, or if the data read
from the service proves it; see :mod:`lockterm.operations.proof`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from lockterm.cli.exit_codes import DONE, UNKNOWN, format_error, notify
from lockterm.cli.output import are_terminals, put, put_json
from lockterm.cli.session import RequestNotSentError, Session
from lockterm.domain.locks import Lock
from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.safe_text import clean
from lockterm.errors import LocktermError, ResultUnknownError, ServiceError
from lockterm.keymap.hints import settling
from lockterm.operations.refusals import PendingChangeError

TIMEOUT_S = 90.0
"""The maximum time for which a change is verified, in seconds.

This is enough for most changes. The service's answers may show data that is 60 s old, and lockterm
needs 15 s more to verify that a remote is missing.
"""

_NEXT = "Resolve the change before you send it again."
_SETTLE = "In lockterm's UI,"
"""The start of a sentence that shows the user which keys resolve a change."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change that a command sends, and the texts for reporting its result."""

    lock: Lock
    call: str
    """The name of the call in the contract."""
    done: str | Callable[[Any], str]
    """The result as a sentence, or a function that makes the sentence from the service's answer."""
    as_json: bool
    _: KW_ONLY
    details: Sequence[str] = ()
    """Lines to print besides the result, such as the dates as lockterm understood them."""
    remote_id: int | None = None
    """The ID of the remote to change. None for an add, whose ID is in the answer, and for changes
    of a lock."""


def send_change(session: Session, change: Change, work: Coroutine[Any, Any, Any]) -> int:
    """Send a change and print its result, or print its request in a dry run.

    Args:
        session: The session that sends the change.
        change: The description of the change.
        work: The coroutine that sends the change and returns the service's answer.

    Returns:
        The exit code ``DONE``, or ``UNKNOWN`` if the change is unconfirmed.

    Raises:
        LocktermError: If the change was refused or not sent.
    """
    try:
        answer = session.run(work)
    except RequestNotSentError as rehearsed:
        _show_request(session, rehearsed, change)
        return DONE
    except PendingChangeError as error:
        error.hint = f"{_SETTLE} {settling()}"
        raise
    except ResultUnknownError as error:
        return _verify(session, change, error)
    _report_done(change, OperationState.CONFIRMED, answer)
    return DONE


def report_unchanged(change: Change, sentence: str) -> int:
    """Print that there is nothing to send, and return the exit code."""
    if change.as_json:
        put_json(_result(change, "unchanged", message=sentence))
    else:
        put(sentence)
    return DONE


def _show_request(session: Session, rehearsed: RequestNotSentError, change: Change) -> None:
    write = rehearsed.write
    encoding = "json" if write.always_json else session.profile.body
    if change.as_json:
        put_json(
            {
                "dryRun": True,
                "method": "POST",
                "url": f"{session.profile.base_url}{write.path}",
                "path": write.path,
                "encoding": encoding,
                "body": write.body,
            }
        )
        return
    put(f"POST {session.profile.base_url}{write.path}")
    text = json.dumps(write.body, indent=2, ensure_ascii=False)
    put(text if text.replace("\n", "").isprintable() else json.dumps(write.body, indent=2))
    put("")
    for line in change.details:
        put(line)
    if encoding == "form":
        put("The profile sends the body as form fields.")
    put("Nothing was sent.")


def _verify(session: Session, change: Change, error: ResultUnknownError) -> int:
    operation: Operation | None = None
    text = ""
    try:
        operation = session.run(_find_own_operation(session, change.lock.lock_id))
        if operation is not None:
            if are_terminals(sys.stderr):
                notify(
                    f"no answer came. lockterm verifies the change for up to {TIMEOUT_S:g} s ..."
                )
            work = session.operations.watch.until_proven(operation, TIMEOUT_S)
            operation = session.run(work)
            text = f"Verification: {operation.message}"
    except ServiceError as failure:
        text = f"The change could not be verified: {format_error(failure)}"
    except LocktermError as failure:
        text = format_error(failure)
    if operation is not None and operation.state is OperationState.CONFIRMED_BY_READING:
        added_id = operation.remote_id if change.call == "add" else None
        _report_done(change, operation.state, added_id)
        return DONE
    if change.as_json:
        state = operation.state if operation else OperationState.UNKNOWN
        found = operation.candidates if operation else ()
        put_json(_result(change, "unknown", state=state, message=text, candidates=found))
    else:
        for line in change.details:
            put(line)
    parts = (f"{error.title}: {clean(error.message)}", clean(text), _NEXT, _SETTLE, settling())
    notify(" ".join(filter(None, parts)))
    return UNKNOWN


async def _find_own_operation(session: Session, lock_id: int) -> Operation | None:
    """Return the last unconfirmed operation of this command on a lock; None if there is none."""
    own = session.operations.journal.session.id
    mine = [
        one
        for one in await session.operations.journal.list_unconfirmed(lock_id)
        if one.session == own
    ]
    return mine[-1] if mine else None


def _report_done(change: Change, state: OperationState, answer: Any) -> None:
    seen = (
        ""
        if state is OperationState.CONFIRMED
        else "no answer came, but the service shows the change"
    )
    if change.as_json:
        put_json(_result(change, "recorded", state=state, answer=answer, message=seen))
        return
    done = change.done if isinstance(change.done, str) else change.done(answer)
    put(f"{done} Recorded by the service{': ' if seen else ''}{seen}.")
    for line in change.details:
        put(line)


def _result(
    change: Change,
    outcome: str,
    *,
    state: OperationState | None = None,
    answer: Any = None,
    message: str = "",
    candidates: Sequence[int] = (),
) -> dict[str, Any]:
    """Return the JSON output for a change, as docs/reference/json.md describes it."""
    is_add = change.call == "add"
    return {
        "outcome": outcome,
        "state": None if state is None else state.value,
        "call": change.call,
        "lockId": change.lock.lock_id,
        "remoteId": answer if is_add else change.remote_id,
        "deletedCount": answer if change.call == "clear" else None,
        "candidates": list(candidates),
        "message": message,
    }
