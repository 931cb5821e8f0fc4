"""Sending a change and telling what became of it, with the certainties that the UI has.

What has no answer is read back until there is a proof, for :data:`TIMEOUT_S` at the most. Recorded
is only what the service said or what is proven; see :mod:`lockterm.operations.proof`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from lockterm.cli.exit_codes import DONE, UNKNOWN, sentence_of, tell
from lockterm.cli.output import put, put_json
from lockterm.cli.session import Rehearsed, Session
from lockterm.domain.locks import Lock
from lockterm.domain.operation import Operation, State
from lockterm.domain.safe_text import clean
from lockterm.errors import LocktermError, OutcomeUnknown, ServiceError
from lockterm.keymap.hints import settling
from lockterm.operations.refusals import PendingChangeError

TIMEOUT_S = 90.0
"""How long a command reads back what had no answer. Answers may be 60 s old, and 15 s more tell
that something was not missing for a moment only: most outcomes are proven within it."""

_NEXT = "Settle it before you send it again."
_SETTLE = "In lockterm's UI,"
"""Goes on with the keys."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change that is about to be sent, and how to tell of it."""

    lock: Lock
    call: str
    """The contract's name of the call."""
    done: str | Callable[[Any], str]
    """What was done, as a sentence; or what makes it from the answer."""
    as_json: bool
    _: KW_ONLY
    details: Sequence[str] = ()
    """What was understood, line by line: the resolved times."""
    remote_id: int | None = None
    """The remote it is about; for an add, it is the answer."""


def carry_out(session: Session, change: Change, work: Coroutine[Any, Any, Any]) -> int:
    """Send a change, or show its request where it is only rehearsed.

    Returns:
        The exit code: done, or unknown.

    Raises:
        LocktermError: It was refused, or not sent.
    """
    try:
        answer = session.run(work)
    except Rehearsed as rehearsed:
        _show_request(session, rehearsed, change)
        return DONE
    except PendingChangeError as error:
        error.hint = f"{_SETTLE} {settling()}"
        raise
    except OutcomeUnknown as error:
        return _read_back(session, change, error)
    _tell_done(change, State.CONFIRMED, answer)
    return DONE


def unchanged(change: Change, sentence: str) -> int:
    """Tell that there is nothing to send, because it is so already."""
    if change.as_json:
        put_json(_result(change, "unchanged", message=sentence))
    else:
        put(sentence)
    return DONE


def _show_request(session: Session, rehearsed: Rehearsed, change: Change) -> None:
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
        put("The profile has it sent as form fields.")
    put("Nothing was sent.")


def _read_back(session: Session, change: Change, error: OutcomeUnknown) -> int:
    operation: Operation | None = None
    words = ""
    try:
        operation = session.run(_mine(session, change.lock.lock_id))
        if operation is not None:
            if sys.stderr is not None and sys.stderr.isatty():
                tell(f"no answer came; reading it back, for {TIMEOUT_S:g} s at the most ...")
            work = session.operations.watch.until_proven(operation, TIMEOUT_S)
            operation = session.run(work)
            words = f"Read back: {operation.message}"
    except ServiceError as failure:
        words = f"It could not be read back: {sentence_of(failure)}"
    except LocktermError as failure:
        words = sentence_of(failure)
    if operation is not None and operation.state is State.CONFIRMED_BY_READING:
        added_id = operation.remote_id if change.call == "add" else None
        _tell_done(change, operation.state, added_id)
        return DONE
    if change.as_json:
        state = operation.state if operation else State.UNKNOWN
        found = operation.candidates if operation else ()
        put_json(_result(change, "unknown", state=state, message=words, candidates=found))
    else:
        for line in change.details:
            put(line)
    said = (f"{error.title}: {clean(error.message)}", clean(words), _NEXT, _SETTLE, settling())
    tell(" ".join(filter(None, said)))
    return UNKNOWN


async def _mine(session: Session, lock_id: int) -> Operation | None:
    """The change that this command has sent; it sends only one."""
    own = session.operations.journal.session.id
    mine = [
        one for one in await session.operations.journal.unsettled(lock_id) if one.session == own
    ]
    return mine[-1] if mine else None


def _tell_done(change: Change, state: State, answer: Any) -> None:
    seen = "" if state is State.CONFIRMED else "no answer came, but reading it back shows it"
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
    state: State | None = None,
    answer: Any = None,
    message: str = "",
    candidates: Sequence[int] = (),
) -> dict[str, Any]:
    """What ``--json`` prints of a change; docs/reference/json.md describes it."""
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
