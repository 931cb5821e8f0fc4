"""The commands ``remotes add``, ``update``, ``delete``, ``clear`` and ``user-number``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from typing import Any

import click

from lockterm.cli.exit_codes import UsageError, notify
from lockterm.cli.manual import CHANGING, list_examples
from lockterm.cli.options import (
    Command,
    WholeNumber,
    WriteOptions,
    cancel,
    changes,
    confirm,
    confirm_by_typing,
    lock_argument,
    remote_argument,
    require_answer,
)
from lockterm.cli.send_change import Change, report_unchanged, send_change
from lockterm.cli.session import Session, format_lock, open_lock, read_remote
from lockterm.config import Options
from lockterm.domain import rules
from lockterm.domain.locks import Lock
from lockterm.domain.names import is_same_name
from lockterm.domain.reading import Field, Kind
from lockterm.domain.remotes import ADDED, FIELDS, UPDATED, Remote, RemoteType, choices, word
from lockterm.domain.safe_text import clean
from lockterm.domain.table_columns import shown_twice
from lockterm.domain.text.remote import (
    describe_backup,
    describe_beyond_backup,
    find_differences,
    format_name,
    format_remote,
)
from lockterm.domain.text.service import describe_clock_doubt
from lockterm.domain.text.validity import describe_validity
from lockterm.domain.typed_remote import TypedRemote, read_typed, shown_fields, typed_of
from lockterm.errors import NameTakenError
from lockterm.operations.names_in_use import read_names_in_use

_METAVARS = {Kind.NUMBER: "INT", Kind.DATE: "TIME", Kind.WEEKDAYS: "DAYS", Kind.OBJECT: "JSON"}
_SEND_IT = "Send the change anyway?"


def takes_fields(fields: Sequence[Field], *, adding: bool) -> Callable[[Command], Command]:
    """Return a decorator that adds an option for each field of a remote to a command.

    The command gets the typed text of each option, or None, as an argument named like the field in
    the contract.

    Args:
        fields: The fields to add options for.
        adding: Whether the command adds a remote. If so, the help shows the default values.
    """

    def decorate(command: Command) -> Command:
        for field in reversed(fields):
            command = _option(field, _default_of(field) if adding else "unchanged")(command)
        return command

    return decorate


def _default_of(field: Field) -> str:
    """Return the default value of a field of a new remote, as the help shows it."""
    if field.constants is not None and field.first:
        words = choices(field.constants)
        return next(word for word, number in words.items() if str(number) == field.first)
    return field.first or ("required" if field.required else "none")


def _option(field: Field, default: str) -> Callable[[Command], Command]:
    names = (field.name, f"--{field.option}")
    shown = default if default == "required" else f"default: {default}"
    about = f"{field.about} [{shown}]"
    if field.constants is None:
        return click.option(*names, metavar=_METAVARS.get(field.kind, "TEXT"), help=about)
    words = choices(field.constants)

    def number(context: click.Context, option: click.Parameter, typed: str | None) -> Any:
        return None if typed is None else str(words[typed])

    return click.option(*names, type=click.Choice(list(words)), callback=number, help=about)


def read_options(
    given: Mapping[str, str], zone: tzinfo, now_ms: int, before: Remote | None = None
) -> TypedRemote:
    """Check the options for a remote's fields, and return the remote that they describe.

    Args:
        given: The typed text of each option, by contract field.
        zone: The lock's time zone.
        now_ms: The current time in milliseconds since the epoch.
        before: The remote to update; None to add one.

    Raises:
        UsageError: If an option is wrong. The message contains a reason for each wrong option.
    """
    initial = typed_of(None, zone) if before is None else {}
    reading = read_typed({**initial, **given}, zone, now_ms, before)
    reasons = dict(reading.errors)
    for name, moments in reading.choices.items():
        reasons[name] = shown_twice(moments, zone)
    kind = reading.values.remote_type
    if "remoteType" not in reasons:
        shown = shown_fields(kind, adding=before is None)
        for name in given.keys() - set(shown):
            reasons[name] = (
                f"This option does not apply to a {word(RemoteType, kind)} remote. Leave it out."
            )
    if reasons:
        said = [
            f"--{field.option}: {reasons[field.name]}" for field in ADDED if field.name in reasons
        ]
        raise UsageError(f"Nothing was sent. {' '.join(said)}")
    return reading


def describe_resolved(
    reading: TypedRemote, given: Mapping[str, str], zone: tzinfo, *, adding: bool
) -> list[str]:
    """Return lines that show how lockterm understood the typed dates and weekdays."""
    shown = shown_fields(reading.values.remote_type, adding=adding)
    lines = [
        f"{FIELDS[name].label}: {clean(note)}"
        for name in shown
        if (note := reading.notes.get(name)) and (adding or name in given)
        if FIELDS[name].kind is not Kind.OBJECT  # the note of an object is only its size
    ]
    if lines and "endDate" in shown:
        lines.insert(0, f"Times are in the time zone {clean(zone)}.")
    return lines


_TIMES = """\
\b
Dates are in the time zone of the lock's entry in the lock book, or of
the profile. lockterm shows dates with their offset. You can type:
  2026-12-01 09:00   1 Dec 2026 9:00   2026-12-01 09:00 +01:00
  now   today 18:00   tomorrow noon   next fri 6pm   eom   eoy
  +6h   +30d   2 weeks   +6mo 18:00   +1mo eom
A day without a time starts at 00:00 and ends at the end of the day.
An end such as +30d counts from the remote's current end. If the remote
has no end or has expired, +30d counts from now, or from a later start.
Weekdays: mon-fri   mo,we   1-5   weekend   daily
"""


_ADD_HELP = f"""\
{_TIMES}
\b
Examples:
  lockterm remotes add 1001 --name Anna --number A-1 --type permanent
  lockterm remotes add "Main gate" --name Crew --number A-2 \\
      --type recurring --start now --end "2026-12-31 18:00" --days mon-fri

The command asks before it sends unusual values: an end in the past, no weekdays, more than 1 KB of
extra data, or dates while the clocks disagree. --yes sends them.

{CHANGING}"""


@click.command(epilog=_ADD_HELP)
@lock_argument
@takes_fields(ADDED, adding=True)
@changes
def add(options: Options, typed_lock: str, how: WriteOptions, **fields: str | None) -> int:
    """Add a remote to a lock."""
    given = {name: text for name, text in fields.items() if text is not None}
    with open_lock(options, typed_lock, how) as (session, lock):
        zone = session.operations.zone(lock)
        reading = read_options(given, zone, session.operations.now_ms())
        request = rules.new_remote(lock.lock_id, reading.values)
        _require_free_name(session, lock, request.remote_name)
        if (
            session.operations.connection.doubts_clock
        ):  # relative dates count from the service's clock
            reading = read_options(given, zone, session.operations.now_ms())
            request = rules.new_remote(lock.lock_id, reading.values)
        warned = _find_warnings(session, reading, None)
        warned |= _find_taken(session, lock, request.remote_name, request.remote_number)
        if not _confirm_warnings(warned, yes=how.yes):
            return cancel()
        who = format_name(request.remote_name, request.remote_number)

        def done(remote_id: Any) -> str:
            known = f" as remote {remote_id}" if remote_id is not None else ""
            return f"{who} was added to {format_lock(lock)}{known}."

        details = describe_resolved(reading, given, zone, adding=True)
        change = Change(lock, "add", done, how.as_json, details=details)
        return send_change(session, change, session.operations.writes.add_remote(request))


_UPDATE_HELP = f"""\
The command reads the remote first, also with --dry-run, and sends only the fields that differ.
Type, start, end and weekdays are sent together.

{_TIMES}
\b
Examples:
  lockterm remotes update 1001 48213 --end +30d
  lockterm remotes update 1001 48213 --type permanent --name "Anna W."

{CHANGING}"""


@click.command(epilog=_UPDATE_HELP)
@lock_argument
@remote_argument
@takes_fields(UPDATED, adding=False)
@changes
def update(
    options: Options, typed_lock: str, remote_id: int, how: WriteOptions, **fields: str | None
) -> int:
    """Change a remote."""
    given = {name: text for name, text in fields.items() if text is not None}
    if not given:
        raise click.UsageError("Give an option to change, such as --end +30d")
    with open_lock(options, typed_lock, how) as (session, lock):
        before = read_remote(session, lock, remote_id)
        zone = session.operations.zone(lock)
        reading = read_options(given, zone, session.operations.now_ms(), before)
        after = rules.effective(before, reading.values)
        found = [str(one) for one in find_differences(before, after, zone)]
        details = [*found, *describe_resolved(reading, given, zone, adding=False)]
        if rules.opens_again(before, after, session.operations.now_ms(), zone):
            details.insert(0, rules.OPENS_AGAIN)
        who = f"{format_remote(before)} on {format_lock(lock)}"
        done = f"{who} was changed."
        change = Change(lock, "update", done, how.as_json, details=details, remote_id=remote_id)
        if not found:
            return report_unchanged(change, f"{who} is already up to date. Nothing was sent.")
        warned = _find_warnings(session, reading, before)
        if not is_same_name(after.remote_name, before.remote_name):
            _require_free_name(session, lock, after.remote_name or "")
            warned |= _find_taken(session, lock, after.remote_name or "", own_id=before.id)
        question = "Shorten access?" if reading.shortens else _SEND_IT
        if not _confirm_warnings(warned, yes=how.yes, question=question):
            return cancel()
        wanted = rules.changes(before, reading.values)
        work = session.operations.writes.update_remote(
            lock.lock_id, remote_id, wanted, before, just_read=how.yes or not warned
        )
        return send_change(session, change, work)


_DELETE_HELP = f"""\
The command reads the remote first and shows its name, number and lock in the prompt. Without
a terminal, the command needs --yes. It keeps a backup. To restore the remote, press H in the UI.

\b
Examples:
  lockterm remotes delete "Main gate" 48213
  lockterm remotes delete 1001 48213 --yes --json

{CHANGING}"""


@click.command(epilog=_DELETE_HELP)
@lock_argument
@remote_argument
@changes
def delete(options: Options, typed_lock: str, remote_id: int, how: WriteOptions) -> int:
    """Delete a remote, after a prompt."""
    with open_lock(options, typed_lock, how) as (session, lock):
        require_answer(how.yes, "Deleting a remote")
        before = _read_before(session, lock, remote_id)
        if not how.yes:
            now_ms = session.operations.now_ms()
            lost = describe_backup(before.raw)
            valid = describe_validity(before, now_ms, session.operations.zone(lock))
            notify(f"{format_remote(before)}: {clean(valid.words)}; {valid.word}. {lost}")
        if not confirm(f"Delete {format_remote(before)} from {format_lock(lock)}?", yes=how.yes):
            return cancel()
        done = f"{format_remote(before)} was deleted from {format_lock(lock)}."
        change = Change(lock, "delete", done, how.as_json, remote_id=remote_id)
        work = session.operations.writes.delete_remote(lock.lock_id, before, just_read=how.yes)
        return send_change(session, change, work)


_CLEAR_HELP = f"""\
The command counts the remotes first and asks you to type the ID or the name of the lock. Without a
terminal, it needs --yes. It keeps a backup. To restore the remotes, press H in the UI.

\b
Examples:
  lockterm remotes clear "Main gate" --dry-run
  lockterm remotes clear 1001 --yes

{CHANGING}"""


@click.command(epilog=_CLEAR_HELP)
@lock_argument
@changes
def clear(options: Options, typed_lock: str, how: WriteOptions) -> int:
    """Delete all remotes of a lock, after a prompt."""
    with open_lock(options, typed_lock, how) as (session, lock):
        count: int | None = None

        def done(deleted: Any) -> str:
            number = count if deleted is None else deleted
            remotes = "1 remote was" if number == 1 else f"{number:,} remotes were"
            more = describe_beyond_backup(deleted, count or 0)
            return f"{remotes} deleted from {format_lock(lock)}. {more}".strip()

        change = Change(lock, "clear", done, how.as_json)
        if not how.dry_run:
            require_answer(how.yes, "Clearing a lock")
            seen = session.run(session.operations.remotes.page(lock.lock_id, 1, 1, fresh=True))
            count = seen.value.least
            if not count:
                return report_unchanged(
                    change, f"{format_lock(lock)} has no remotes. Nothing was sent."
                )
            if not how.yes:
                first = next(iter(seen.value.remotes), None)
                lost = describe_backup(first.raw if first else {}, many=True)
                notify(f"all of these remotes will stop opening this lock. {lost}")
            remotes = "the only remote" if count == 1 else f"all {count:,} remotes"
            question = (
                f"To delete {remotes} of {format_lock(lock)}, type the ID or the name of the lock"
            )
            if not confirm_by_typing(question, (str(lock.lock_id), lock.name), yes=how.yes):
                return cancel()
        work = session.operations.writes.clear_remotes(lock.lock_id, count)
        return send_change(session, change, work)


@click.command(
    epilog=list_examples(
        CHANGING,
        'lockterm remotes user-number "Main gate" 48213 12',
        "lockterm remotes user-number 1001 48213 12 --dry-run",
    )
)
@lock_argument
@remote_argument
@click.argument("number", metavar="NUMBER", type=WholeNumber(-(2**63)))
@changes
def user_number(
    options: Options, typed_lock: str, remote_id: int, number: int, how: WriteOptions
) -> int:
    """Set the user number of a remote.

    The service cannot report the number that is set.
    """
    with open_lock(options, typed_lock, how) as (session, lock):
        before = _read_before(session, lock, remote_id)
        done = f"{format_remote(before)} on {format_lock(lock)} now has user number {number}."
        change = Change(lock, "updateRemoteUserNo", done, how.as_json, remote_id=remote_id)
        work = session.operations.writes.set_user_no(lock.lock_id, before, number, just_read=True)
        return send_change(session, change, work)


def _read_before(session: Session, lock: Lock, remote_id: int) -> Remote:
    """Return a remote as the service reports it; in a dry run, the remote has only its IDs."""
    if session.dry_run:
        return Remote.read({"id": remote_id, "lockId": lock.lock_id})
    return read_remote(session, lock, remote_id)


def _require_free_name(session: Session, lock: Lock, name: str) -> None:
    """Check that a remote name is free on a lock, except in a dry run.

    The service's answer also shows whether this machine's clock agrees with the service's clock.

    Raises:
        NameTakenError: If another remote has the name; nothing was sent.
    """
    if not session.dry_run and not session.run(
        session.operations.remotes.is_name_free(lock.lock_id, name)
    ):
        words = f"{format_lock(lock)} already has a remote named {name}. Nothing was sent."
        raise NameTakenError(words, hint="Choose another name.")


def _find_warnings(session: Session, reading: TypedRemote, before: Remote | None) -> dict[str, str]:
    """Return warnings by contract field, for values that are allowed but unusual."""
    found = dict(reading.warnings)
    for name, words in reading.shortens.items():
        found[name] = " ".join(filter(None, (words, found.get(name))))
    connection = session.operations.connection
    if rules.sends_dates(before, reading.values) and connection.doubts_clock:
        found["startDate"] = describe_clock_doubt(connection.clock_offset_s or 0)
    return found


def _find_taken(
    session: Session, lock: Lock, name: str, number: str = "", own_id: int | None = None
) -> dict[str, str]:
    """Return sentences about other remotes of a lock with the same or a similar name or number.

    The keys of the result are the contract fields ``remoteName`` and ``remoteNumber``. A key is
    missing if no remote has such a name or number. In a dry run, the result is empty.

    Args:
        session: The session that reads the lock.
        lock: The lock.
        name: The name to look for.
        number: The number to look for; may be empty.
        own_id: The ID of the remote to leave out, because it is the one to change; None for an add.
    """
    if session.dry_run:
        return {}
    read = read_names_in_use(session.operations, lock.lock_id, own_id=own_id)
    taken = session.run(read)
    if taken.words:
        notify(f"note: {taken.words}")
    found = {
        "remoteName": taken.describe_name(name),
        "remoteNumber": taken.describe_number(number),
    }
    return {field: words for field, words in found.items() if words}


def _confirm_warnings(found: Mapping[str, str], *, yes: bool, question: str = _SEND_IT) -> bool:
    """Print warnings, ask whether to send the change anyway, and return the answer.

    If there are no warnings, return True without asking.

    Raises:
        UsageError: If ``--yes`` was not given and there is no terminal for the prompt.
    """
    if not found:
        return True
    for name, words in found.items():
        notify(f"note: --{FIELDS[name].option}: {words}")
    require_answer(yes, "Sending the change anyway")
    return confirm(question, yes=yes)
