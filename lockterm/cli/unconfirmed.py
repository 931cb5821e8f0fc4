"""The ``lockterm unconfirmed`` commands, which list, verify and resolve unconfirmed changes."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from lockterm.cli.exit_codes import DONE, FAILED, UNKNOWN, UsageError, format_error, notify
from lockterm.cli.manual import CHANGING, list_examples, list_exit_codes
from lockterm.cli.options import (
    asks_service,
    cancel,
    confirm,
    confirm_by_typing,
    json_option,
    require_answer,
    yes_option,
)
from lockterm.cli.output import ignore_missing_reader, put, put_json, put_table
from lockterm.cli.send_change import TIMEOUT_S
from lockterm.cli.session import Session, format_lock
from lockterm.config import Options
from lockterm.domain import dates
from lockterm.domain.glyphs import quoted
from lockterm.domain.operation import (
    HELD_CALLS,
    RECORDED,
    WITHOUT_EFFECT,
    Operation,
    OperationState,
)
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.operation import (
    STATE_NAMES,
    ask_to_adopt,
    describe_change,
    format_operation,
    format_voice,
)
from lockterm.domain.text.remote import format_remote
from lockterm.errors import LocktermError, ResultUnknownError

SHORT_ID = 8
"""The number of characters of an operation's ID that commands print.

Commands accept any beginning of an ID that is unique.
"""


_UNCONFIRMED_HELP = f"""\
\b
Examples:
  lockterm unconfirmed list
  lockterm unconfirmed check
  lockterm unconfirmed accept 3f2a91c0 1176

ID is the beginning of an ID, as list shows it.

list --json and check --json print outcomes: a list of id, state, call, lockId, lockName, remoteId,
remoteName, sent and readBack (ms), candidates and message. The other commands print one object of
this kind.

{CHANGING}"""


@click.group(no_args_is_help=False, epilog=_UNCONFIRMED_HELP)
def unconfirmed() -> None:
    """List, check and resolve unconfirmed changes."""


_UNCONFIRMED_CODES = list_exit_codes(
    5,
    _0="no change is unconfirmed",
    _1="the store cannot be used",
    _4="a change is unconfirmed",
)


@unconfirmed.command(
    "list",
    epilog=list_examples(
        _UNCONFIRMED_CODES, "lockterm unconfirmed list", "lockterm unconfirmed list --json"
    ),
)
@json_option
@asks_service
def list_changes(options: Options, as_json: bool) -> int:
    """List unconfirmed changes.

    The command does not ask the service.
    """
    with Session(options) as session:
        unconfirmed = _list_unconfirmed(session)
        unconfirmed += session.run(session.operations.journal.left_by_others())
        _print(session, unconfirmed, as_json)
    return UNKNOWN if unconfirmed else DONE


@unconfirmed.command(
    epilog=list_examples(
        _UNCONFIRMED_CODES,
        "lockterm unconfirmed check",
        "lockterm unconfirmed check 3f2a91c0 --json",
    )
)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@json_option
@asks_service
def check(options: Options, ids: tuple[str, ...], as_json: bool) -> int:
    """Verify unconfirmed changes for up to 90 s.

    The command reads the changes with these IDs back from the service; without IDs, all changes.
    """
    ignore_missing_reader()
    with Session(options) as session:
        unconfirmed = _list_unconfirmed(session)
        wanted = [_find_operation(unconfirmed, one) for one in dict.fromkeys(ids)] or unconfirmed
        read = session.run(_verify(session, wanted))
        _print(session, read, as_json)
    return UNKNOWN if any(one.is_unconfirmed for one in read) else DONE


_DECIDING_CODES = list_exit_codes(5, _1="you did not agree, or the store cannot be used")


@unconfirmed.command(epilog=list_examples(_DECIDING_CODES, "lockterm unconfirmed dismiss 3f2a91c0"))
@click.argument("operation_id", metavar="ID")
@yes_option
@json_option
@asks_service
def dismiss(options: Options, operation_id: str, yes: bool, as_json: bool) -> int:
    """Dismiss an unconfirmed change, after a prompt.

    The change may still have taken effect. It stays in the history, and no longer blocks other
    changes.
    """
    ignore_missing_reader()
    with Session(options) as session:
        operation = _find_operation(_list_unconfirmed(session), operation_id)
        require_answer(yes, "Dismissing a change")
        name = operation.remote_name or operation.lock_name or operation.id[:SHORT_ID]
        title = clean(format_operation(operation), 80)
        if not yes:
            notify(f"{title}: {STATE_NAMES[operation.state]}. {clean(operation.message)}")
        question = f"The change may still take effect. To dismiss it, type {clean(name, 60)}"
        if not confirm_by_typing(question, (name, clean(name, 60)), yes=yes):
            return cancel()
        resolved = session.run(session.operations.resolution.give_up(operation))
    if as_json:
        put_json(_to_json(resolved))
    else:
        put(f"{title}: {STATE_NAMES[resolved.state]}.")
    return DONE if resolved.state is OperationState.GIVEN_UP else FAILED


@unconfirmed.command(
    epilog=list_examples(
        _DECIDING_CODES, "lockterm unconfirmed adopt", "lockterm unconfirmed adopt --yes"
    )
)
@yes_option
@asks_service
def adopt(options: Options, yes: bool) -> int:
    """Take over the unconfirmed changes of a renamed profile.

    The command takes over what other profiles with the same URL and account left unconfirmed.
    """
    ignore_missing_reader()
    with Session(options) as session:
        left = session.run(session.operations.journal.left_by_others())
        if not left:
            put("No other profile has left an unconfirmed change.")
            return DONE
        require_answer(yes, "Adopting")
        if not yes:
            _print(session, left, as_json=False)
        if not confirm(ask_to_adopt(left), yes=yes):
            return cancel()
        session.run(session.operations.journal.adopt(left))
    put(f"Adopted {format_count(len(left), 'change')}.")
    return DONE


@unconfirmed.command(
    epilog=list_examples(CHANGING, "lockterm unconfirmed accept 3f2a91c0 1176 --yes")
)
@click.argument("operation_id", metavar="ID")
@click.argument("remote_id", metavar="[REMOTE]", type=int, required=False)
@yes_option
@json_option
@asks_service
def accept(
    options: Options, operation_id: str, remote_id: int | None, yes: bool, as_json: bool
) -> int:
    """Confirm which remote an unconfirmed add created.

    The command reads the lock first. REMOTE is needed if several remotes could be the added one.
    """
    ignore_missing_reader()
    with Session(options) as session:
        operation = _find_operation(_list_unconfirmed(session), operation_id)
        title = clean(format_operation(operation), 80)
        if operation.call != "add":
            raise UsageError(f"{title}: only an added remote can be accepted.")
        require_answer(yes, "Accepting a remote")
        operation = session.run(session.operations.watch.check(operation))
        if not operation.is_unconfirmed:
            return _print_one(operation, as_json=as_json)
        found = operation.candidates
        if remote_id is None and len(found) == 1:
            remote_id = found[0]
        if remote_id not in found:
            could = f"could be {', '.join(map(str, found))}" if found else "is not on the lock"
            raise UsageError(
                f"{title}: the remote {could}. {clean(operation.message)} Nothing was changed."
            )
        remote_text = _describe_remote(session, remote_id)
        if not confirm(f"{clean(operation.message)} Accept {remote_text}?", yes=yes):
            return cancel()
        bound = session.run(session.operations.resolution.bind(operation, remote_id))
    return _print_one(bound, as_json=as_json)


@unconfirmed.command(
    epilog=list_examples(CHANGING, "lockterm unconfirmed send-again 3f2a91c0 --yes")
)
@click.argument("operation_id", metavar="ID")
@yes_option
@json_option
@asks_service
def send_again(options: Options, operation_id: str, yes: bool, as_json: bool) -> int:
    """Send an unconfirmed change again, after verifying it.

    The first request may still take effect. For a clear, the command deletes only the remotes that
    are left.
    """
    with Session(options, writes=True) as session:
        operations = session.operations
        operation = _find_operation(_list_unconfirmed(session), operation_id)
        require_answer(yes, "Sending a change again")
        operation = session.run(operations.watch.until_proven(operation, TIMEOUT_S))
        if not operation.is_unconfirmed:
            return _print_one(operation, as_json=as_json)
        title = clean(format_operation(operation), 80)
        if operation.state is OperationState.UNKNOWN and operation.call in HELD_CALLS:
            notify(
                f"{title}: a later check may still confirm the change."
                f" {clean(operation.message)} Nothing was sent."
            )
            return UNKNOWN
        for line in session.run(_describe_resend(session, operation)):
            notify(line)
        word = "delete" if operation.call in ("clear", "delete") else "send"
        if not confirm_by_typing(f"To {word} it, type {word}", (word,), yes=yes):
            return cancel()
        try:
            session.run(operations.resolution.send_again(operation))
        except ResultUnknownError as error:
            notify(format_error(error))
        again = session.run(_find_resent(session, operation))
    return _print_one(again, as_json=as_json)


async def _describe_resend(session: Session, operation: Operation) -> list[str]:
    """Return lines that describe the request to send again, and its possible effects."""
    lock = await session.operations.locks.find(operation.lock_id)
    title, where = clean(format_operation(operation), 80), format_lock(lock)
    if operation.call == "clear":
        ids = ", ".join(map(str, operation.candidates))
        return [f"{title} on {where}: the remaining remotes will be deleted one by one: {ids}."]
    details = describe_change(operation, session.operations.zone(lock))
    lines = [f"{title} on {where}: {STATE_NAMES[operation.state]}. {clean(operation.message)}"]
    lines.append(f"will be sent again: {operation.call} {details}".rstrip())
    if operation.call == "add":
        lines.append("If the first request takes effect too, the lock will have two such remotes.")
    sent = await session.operations.journal.voices(operation.lock_id)
    if operation.call == "updateLockSetting" and sent and sent[-1].id != operation.id:
        lines.append(f"This will replace a voice that was set later: {format_voice(sent[-1])}.")
    return lines


async def _find_resent(session: Session, operation: Operation) -> Operation:
    """Return the operation that sent the change of an earlier operation again.

    If there is none, the function returns the earlier operation. This is always so for a clear,
    because lockterm never sends a clear again.
    """
    journal = session.operations.journal
    if operation.call == "clear":
        return await journal.find(operation.id) or operation
    again = [one for one in await journal.linked(operation) if one.again_of == operation.id]
    if not again:
        return operation
    return (await _verify(session, [again[-1]]))[0] if again[-1].is_unconfirmed else again[-1]


def _describe_remote(session: Session, remote_id: int) -> str:
    remote = session.run(session.operations.remotes.detail_or_gone(remote_id))
    return f"remote {remote_id}" if remote is None else f"{format_remote(remote)} (ID {remote_id})"


def _print_one(operation: Operation, *, as_json: bool) -> int:
    """Print the state of a change and return the exit code for this state."""
    if as_json:
        put_json(_to_json(operation))
    else:
        which = f" as remote {operation.remote_id}" if operation.remote_id else ""
        which = which if operation.call == "add" and operation.state in RECORDED else ""
        put(f"{clean(format_operation(operation), 80)}: {STATE_NAMES[operation.state]}{which}.")
        if operation.is_unconfirmed:
            notify(clean(operation.message))
    if operation.is_unconfirmed:
        return UNKNOWN
    return FAILED if operation.state in WITHOUT_EFFECT else DONE


async def _verify(session: Session, operations: list[Operation]) -> list[Operation]:
    """Verify operations in parallel, and return all of them, each in its new state.

    If an operation cannot be verified, report the reason on stderr.
    """

    async def read(operation: Operation) -> Operation:
        try:
            return await session.operations.watch.until_proven(operation, TIMEOUT_S)
        except LocktermError as error:
            notify(f"{clean(format_operation(operation), 80)}: {format_error(error)}")
            return await session.operations.journal.find(operation.id) or operation

    return await asyncio.gather(*map(read, operations))


def _list_unconfirmed(session: Session) -> list[Operation]:
    """Return the unconfirmed operations of the session's profile."""
    return session.run(session.operations.journal.list_unconfirmed())


def _find_operation(unconfirmed: list[Operation], typed: str) -> Operation:
    """Return the unconfirmed operation whose ID starts with the typed text.

    Raises:
        UsageError: If no operation or several operations match.
    """
    found = [one for one in unconfirmed if typed and one.id.startswith(typed.strip().lower())]
    if len(found) == 1:
        return found[0]
    which = "Several unconfirmed changes have" if found else "No unconfirmed change has"
    raise UsageError(
        f"{which} an ID that starts with {quoted(clean(typed, 40))}.",
        hint="Run: lockterm unconfirmed list",
    )


def _print(session: Session, operations: list[Operation], as_json: bool) -> None:
    if as_json:
        put_json({"outcomes": [_to_json(one) for one in operations]})
        return
    zone = session.profile.zone
    rows = [
        (
            one.id[:SHORT_ID],
            dates.stamp(one.sent_ms or one.prepared_ms, zone),
            clean(format_operation(one), 60),
            clean(one.lock_name, 40),
            STATE_NAMES[one.state],
            _describe_reason(one, session.profile.name),
        )
        for one in operations
    ]
    if rows:
        put_table(("ID", "Sent", "What", "Lock", "Result", "Why"), rows)
    left = sum(one.is_unconfirmed for one in operations)
    put(f"{format_count(left, 'change')} {'is' if left == 1 else 'are'} unconfirmed.")


def _describe_reason(operation: Operation, profile: str) -> str:
    if operation.profile == profile:
        return operation.message
    text = f"Sent with the profile {quoted(clean(operation.profile, 40))}."
    text += " To take it over, run: lockterm unconfirmed adopt."
    return f"{text} {operation.message}"


def _to_json(operation: Operation) -> dict[str, Any]:
    """Return the main fields of an operation as values for JSON."""
    return {
        "id": operation.id,
        "state": operation.state.value,
        "call": operation.call,
        "lockId": operation.lock_id,
        "lockName": operation.lock_name,
        "remoteId": operation.remote_id,
        "remoteName": operation.remote_name,
        "sent": operation.sent_ms,
        "readBack": operation.read_ms,
        "candidates": list(operation.candidates),
        "message": operation.message,
    }
