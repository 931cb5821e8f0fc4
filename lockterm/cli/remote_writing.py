"""``remotes add``, ``update``, ``delete``, ``clear`` and ``user-number``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockterm.cli.asking import agree, agree_by_typing, require_someone
from lockterm.cli.door import Door
from lockterm.cli.ending import FAILED, tell
from lockterm.cli.options import How
from lockterm.cli.outcome import Change, carry_out, unchanged
from lockterm.cli.remote_reading import read_remote, remote_words
from lockterm.cli.remote_typing import accept_warnings, read_options, resolved
from lockterm.cli.which_lock import find_lock, lock_words
from lockterm.comparison import differences
from lockterm.config import Options
from lockterm.errors import NameTaken
from lockterm.models.locks import Lock
from lockterm.models.remote_values import values_of
from lockterm.rules import changes, effective, new_remote
from lockterm.text import clean
from lockterm.validity import validity

_LOST = (
    "A backup of what the service tells is kept here; a remote that is restored from it has a new"
    " id, and lacks what the service does not tell."
)
_NOT_SENT = "Nothing was sent."


def run_add(options: Options, typed_lock: str, given: Mapping[str, str], how: How) -> int:
    """Add a remote (4.1)."""
    with Door(options, dry_run=how.dry_run) as door:
        door.require_writable()
        lock = find_lock(door, typed_lock)
        zone = door.operations.zone(lock)
        reading = read_options(given, zone, door.operations.now_ms())
        request = new_remote(lock.lock_id, reading.values)
        _require_free_name(door, lock, request.remote_name)
        if not accept_warnings(door, reading, None, yes=how.yes):
            return _let_be()
        who = f"{clean(request.remote_name, 60)} ({clean(request.remote_number, 30)})"

        def done(remote_id: Any) -> str:
            known = f" as remote {remote_id}" if remote_id is not None else ""
            return f"{who} was added to {lock_words(lock)}{known}."

        details = resolved(reading, given, zone, adding=True)
        change = Change(lock, "add", done, details, as_json=how.as_json)
        return carry_out(door, change, door.operations.add_remote(request))


def run_update(
    options: Options, typed_lock: str, remote_id: int, given: Mapping[str, str], how: How
) -> int:
    """Change a remote (4.4), as it is now: its detail is read first."""
    with Door(options, dry_run=how.dry_run) as door:
        door.require_writable()
        lock = find_lock(door, typed_lock)
        before = read_remote(door, lock, remote_id)
        zone = door.operations.zone(lock)
        reading = read_options(given, zone, door.operations.now_ms(), before)
        after = effective(before, reading.values)
        found = [str(one) for one in differences(values_of(before), after, zone)]
        details = [*found, *resolved(reading, given, zone, adding=False)]
        who = f"{remote_words(before)} on {lock_words(lock)}"
        change = Change(
            lock, "update", lambda _: f"{who} was changed.", details, remote_id, how.as_json
        )
        if not found:
            return unchanged(change, f"{who} is so already: nothing was sent.")
        if after.remote_name != before.remote_name:
            _require_free_name(door, lock, after.remote_name)
        if not accept_warnings(door, reading, before, yes=how.yes):
            return _let_be()
        wanted = changes(before, reading.values)
        work = door.operations.update_remote(lock.lock_id, remote_id, wanted, before)
        return carry_out(door, change, work)


def run_delete(options: Options, typed_lock: str, remote_id: int, how: How) -> int:
    """Delete a remote (4.6), after reading it and asking."""
    with Door(options, dry_run=how.dry_run) as door:
        door.require_writable()
        lock = find_lock(door, typed_lock)
        if how.dry_run:
            before = _unread(lock, remote_id)
        else:
            require_someone(how.yes, "Deleting a remote")
            before = read_remote(door, lock, remote_id)
            if not how.yes:
                now_ms = door.operations.now_ms()
                valid = validity(before, now_ms, door.operations.zone(lock))
                tell(f"{remote_words(before)}: {clean(valid.words)}; {valid.state}. {_LOST}")
            question = f"Delete {remote_words(before)} from {lock_words(lock)}?"
            if not agree(question, yes=how.yes):
                return _let_be()
        who = f"{remote_words(before)} was deleted from {lock_words(lock)}."
        change = Change(lock, "delete", lambda _: who, (), remote_id, how.as_json)
        return carry_out(door, change, door.operations.delete_remote(lock.lock_id, before))


def run_clear(options: Options, typed_lock: str, how: How) -> int:
    """Delete all remotes of a lock (4.7), after counting them and asking."""
    with Door(options, dry_run=how.dry_run) as door:
        door.require_writable()
        lock = find_lock(door, typed_lock)
        count: int | None = None

        def done(deleted: Any) -> str:
            told = count if deleted is None else deleted
            remotes = "1 remote was" if told == 1 else f"{told:,} remotes were"
            return f"{remotes} deleted from {lock_words(lock)}."

        change = Change(lock, "clear", done, as_json=how.as_json)
        if not how.dry_run:
            require_someone(how.yes, "Clearing a lock")
            seen = door.run(door.operations.page(lock.lock_id, 1, 1, fresh=True))
            count = seen.value.total
            if not count:
                return unchanged(change, f"{lock_words(lock)} has no remotes: nothing was sent.")
            if not how.yes:
                tell(f"every one of them stops opening this lock. {_LOST}")
            remotes = "the only remote" if count == 1 else f"all {count:,} remotes"
            question = f"To delete {remotes} of {lock_words(lock)}, type its id or its name"
            if not agree_by_typing(question, (str(lock.lock_id), lock.name), yes=how.yes):
                return _let_be()
        return carry_out(door, change, door.operations.clear_remotes(lock.lock_id, count))


def run_user_number(
    options: Options, typed_lock: str, remote_id: int, number: int, how: How
) -> int:
    """Set the user number of a remote (4.8), after reading the remote."""
    with Door(options, dry_run=how.dry_run) as door:
        door.require_writable()
        lock = find_lock(door, typed_lock)
        is_rehearsal = how.dry_run
        before = _unread(lock, remote_id) if is_rehearsal else read_remote(door, lock, remote_id)
        who = f"{remote_words(before)} on {lock_words(lock)}"
        change = Change(
            lock,
            "updateRemoteUserNo",
            lambda _: f"{who} has user number {number} now.",
            (),
            remote_id,
            how.as_json,
        )
        return carry_out(door, change, door.operations.set_user_no(lock.lock_id, before, number))


def _require_free_name(door: Door, lock: Lock, name: str) -> None:
    """Ask whether a name is free; the first answer also tells how far the clocks are apart.

    Raises:
        NameTaken: It is not; nothing was sent.
    """
    if not door.run(door.operations.is_name_free(lock.lock_id, name)):
        words = f"{lock_words(lock)} has a remote named {name} already; nothing was sent."
        raise NameTaken(words, code=-3, hint="Choose another name.")


def _unread(lock: Lock, remote_id: int) -> Any:
    """A remote of which only the id is known: all that a rehearsal needs."""
    from lockterm.models.remotes import Remote

    return Remote.read({"id": remote_id, "lockId": lock.lock_id})


def _let_be() -> int:
    tell(_NOT_SENT)
    return FAILED
