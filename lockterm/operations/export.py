"""Exports of the history and of remotes: CSV for spreadsheets, and JSON with all details."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any

from lockterm.domain import dates
from lockterm.domain.operation import Operation
from lockterm.domain.remotes import CALL_NAMES, UNLISTED
from lockterm.domain.safe_text import clean, without_secrets
from lockterm.domain.table_columns import ACTION, LOCK, NAMES, REMOTE, SETTABLE, cell_of, guarded
from lockterm.domain.table_file import FORMAT, VERSION
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.operation import STATE_NAMES, describe_change
from lockterm.errors import StoreError, describe_os_error
from lockterm.operations.planner import ReadLock
from lockterm.paths import make_directory, write_new, write_whole
from lockterm.safe_files import OpenLocation

FORMULA_STARTS = "=+-@\t\r\n＝＋－＠"
"""Characters at which a spreadsheet may begin a formula or a row."""

_FORMULA = re.compile(r'(^|[;\t\n\r\v\f])([\s"]*)(?=[=+\-@＝＋－＠])')
"""Matches positions where a formula could begin, also within a quoted cell.

Many European spreadsheets split at ``;`` or tab. They do not recognize a quote after a comma, so a
new cell begins after each ``;`` or tab within a quoted cell.
"""

TOLD = ("When", "What", "Lock", "Remote", "Details", "Result", "Note")
"""The columns of the CSV file of the history. The JSON file has more data."""

_NAMES = 100
"""Maximum number of exports from the same second in a directory, plus one. A number at the end of
the file name distinguishes them."""

_JSON_HEAD = re.compile(rb'\s*\{\s*"format"\s*:\s*"%s"' % FORMAT.encode())
_MOST_HEAD = 4096
"""Number of bytes that :func:`may_replace` reads from the beginning of a file."""


def export_history(
    operations: Sequence[Operation],
    directory: Path,
    zone: tzinfo,
    now_ms: int,
    zones: Mapping[int, tzinfo],
) -> tuple[Path, Path]:
    """Write operations to a CSV file and a JSON file that only this user can read.

    Args:
        operations: The operations, in the order in which they are written.
        directory: The directory, which is created if it does not exist.
        zone: The time zone for the times of the operations.
        now_ms: The present time, in milliseconds. The file names contain it, in UTC.
        zones: Maps lock IDs to the time zones for dates of remotes; other locks use ``zone``.

    Returns:
        The paths of the CSV and the JSON file. Existing files stay unchanged.

    Raises:
        StoreError: The files cannot be written. No part of them remains.
    """
    as_csv = history_as_csv(operations, zone, zones)
    as_json = history_as_json(operations, zone)
    return export_files("history", as_csv, as_json, directory, now_ms)


def export_files(
    what: str,
    as_csv: bytes,
    other: bytes,
    directory: Path,
    now_ms: int,
    *,
    ending: str = ".json",
) -> tuple[Path, Path]:
    """Write a CSV file and a second file that only this user can read.

    Args:
        what: The beginning of the file names, such as ``history``.
        as_csv: The content of the CSV file.
        other: The content of the second file.
        directory: The directory, which is created if it does not exist.
        now_ms: The present time, in milliseconds. The file names contain it, in UTC.
        ending: The ending of the second file's name.

    Returns:
        The paths of the CSV file and the second file. Existing files stay unchanged.

    Raises:
        StoreError: The files cannot be written. No part of them remains.
    """
    make_directory(directory)
    at = dates.local(now_ms, UTC)
    stem = f"{what}-{at:%Y%m%d-%H%M%SZ}" if at is not None else f"{what}-{now_ms}"
    contents = {".csv": as_csv, ending: other}
    for number in range(1, _NAMES):
        name = stem if number == 1 else f"{stem}-{number}"
        paths = {end: directory / f"{name}{end}" for end in contents}
        if any(os.path.lexists(path) for path in paths.values()):
            continue
        written: list[Path] = []
        try:
            for end, path in paths.items():
                write_new(path, contents[end])
                written.append(path)
        except FileExistsError:  # another session was faster
            _remove(written)
            continue
        except OSError as error:
            _remove(written)
            raise StoreError(
                f"The {what} cannot be written to {directory}: {describe_os_error(error)}.",
                hint="Check that the directory is yours, writable and not full.",
            ) from error
        return paths[".csv"], paths[ending]
    raise StoreError(f"There are too many exports of this second in {directory}.")


def rows_as_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as a CSV table (RFC 4180), with a quote before each possible formula.

    Args:
        columns: The column titles, which are also the keys of the cells in ``rows``.
        rows: The rows. A missing cell is empty.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        first, *others = (row.get(name) for name in columns)
        if isinstance(first, int) and first < 0:  # a program that splits at ";" sees a formula
            first = str(first)
        writer.writerow([cell(first), *map(cell, others)])
    return text.getvalue()


def history_as_csv(
    operations: Iterable[Operation], zone: tzinfo, zones: Mapping[int, tzinfo]
) -> bytes:
    """Return operations as a CSV table. For the arguments, see :func:`export_history`."""
    rows = (told(one, zone, zones.get(one.lock_id, zone)) for one in operations)
    return rows_as_csv(TOLD, rows).encode("utf-8", "backslashreplace")


def told(operation: Operation, zone: tzinfo, lock_zone: tzinfo) -> dict[str, Any]:
    """Return the cells of an operation in the CSV file of the history, by column.

    Args:
        operation: The operation.
        zone: The time zone for the time of the operation.
        lock_zone: The time zone for the dates of the remote.
    """
    what = CALL_NAMES.get(operation.call, operation.call)
    remote = operation.remote_name
    if operation.call == "clear":
        remote = format_count(len(operation.before), "remote")
    elif not remote and operation.remote_id is not None:
        remote = f"remote {operation.remote_id}"
    return {
        "When": dates.stamp(operation.prepared_ms, zone),
        "What": what if operation.restores is None else "restore",
        "Lock": operation.lock_name or f"lock {operation.lock_id}",
        "Remote": remote,
        "Details": describe_change(operation, lock_zone),
        "Result": STATE_NAMES[operation.state],
        "Note": operation.message,
    }


def history_as_json(operations: Iterable[Operation], zone: tzinfo) -> bytes:
    """Return operations with all details as a JSON array, in ASCII.

    Args:
        operations: The operations, in the order of the array.
        zone: The time zone for the key ``time``, which is added to each operation.
    """
    records = [_record(operation, zone) for operation in operations]
    return (json.dumps(records, indent=1) + "\n").encode()


def _record(operation: Operation, zone: tzinfo) -> dict[str, Any]:
    at = dates.local(operation.prepared_ms, zone)
    time = at.isoformat(timespec="milliseconds") if at is not None else ""
    return {"time": time, **asdict(operation)}


def cell(value: Any) -> str | int:
    """Return a value for a cell of a CSV file, with a quote before each possible formula.

    A formula can begin at the start, and after each ``;``, tab and line end.
    """
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = _FORMULA.sub(r"\1\2'", text)
    return f"'{text}" if text.startswith(tuple(FORMULA_STARTS)) else text


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


# --- the remotes of locks ------------------------------------------------------------------------


def remotes_as_json(read: Sequence[ReadLock], base_url: str, now_ms: int) -> bytes:
    """Return the remotes of locks as a JSON export, with one remote per line.

    Each remote has the fields that the service sent, unchanged.

    Args:
        read: The locks, which were read completely.
        base_url: The base URL of the service.
        now_ms: The present time, in milliseconds since the epoch.
    """
    at = dates.local(now_ms, UTC)
    head = {
        "format": FORMAT,
        "version": VERSION,
        "exported": at.isoformat(timespec="seconds") if at else "",
        "service": without_secrets(base_url),
    }
    lines = [f"{json.dumps(name)}: {json.dumps(value)}," for name, value in head.items()]
    locks = []
    for one in read:
        lock = {
            "lockId": one.lock.lock_id,
            "name": one.lock.name,
            "timezone": one.lock.zone or str(one.zone),
        }
        named = json.dumps(lock).removesuffix("}")
        remotes = ",\n".join(json.dumps(remote.raw) for remote in one.remotes)
        locks.append(f'{named}, "remotes": [\n{remotes}\n]}}')
    parts = ["{", *lines, '"locks": [', ",\n".join(locks), "]", "}"]
    return ("\n".join(parts) + "\n").encode()


def remotes_as_csv(read: Sequence[ReadLock]) -> bytes:
    """Return the remotes of locks as a CSV table, in which no cell can be a formula.

    A hidden field has a column only if at least one remote has a value for it.
    """
    hidden = {
        field.name
        for field in UNLISTED
        if all(
            field.of(remote) is None and field.name not in remote.odd
            for one in read
            for remote in one.remotes
        )
    }
    columns = [name for name in NAMES if name != ACTION and name not in hidden]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    for one in read:
        for remote in one.remotes:
            cells: dict[str, object] = {LOCK: one.lock.lock_id, REMOTE: remote.id}
            for name in columns[2:]:
                field = SETTABLE[name]
                cells[name] = guarded(cell_of(field, remote, one.zone))
            writer.writerow([cells[name] for name in columns])
    return text.getvalue().encode()


def is_export(content: bytes) -> bool:
    """Return whether a file may be replaced, because it is empty or an export of lockterm.

    Args:
        content: The file's content, or its beginning.
    """
    head = content.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
    columns = head.decode("ascii", "replace").strip().split(",")
    is_table = columns[:2] == [LOCK, REMOTE] and set(columns) <= set(NAMES)
    return not content or is_table or bool(_JSON_HEAD.match(content))


def may_replace(path: Path, is_ours: Callable[[bytes], bool] = is_export) -> bool:
    """Return whether lockterm may write a file to a path; true if there is no file yet.

    Args:
        path: The path.
        is_ours: A function that takes the beginning of an existing file, and returns whether the
            file may be replaced.

    Raises:
        StoreError: The file cannot be read or is not a regular file.
    """
    try:
        with OpenLocation(path) as place:
            descriptor = place.open(os.O_RDONLY)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # reading a pipe would wait
                raise _irreplaceable(path)
            return is_ours(os.read(descriptor, _MOST_HEAD))
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return True
    except OSError as error:
        raise StoreError(f"{clean(path)} cannot be read: {describe_os_error(error)}.") from None


def write_file(
    path: Path, content: bytes, *, may_replace: Callable[[bytes], bool] | None = None
) -> None:
    """Write a file that only this user can read. After an error, no part of the new file remains.

    Args:
        path: The path of the file.
        content: The new content of the file.
        may_replace: A function that takes the content of an existing file, and returns whether the
            file may be replaced; None to replace any file.

    Raises:
        StoreError: The file cannot be written. An existing file is unchanged.
    """
    try:
        write_whole(path, content, may_replace=may_replace)
    except FileExistsError:
        raise _irreplaceable(path) from None
    except OSError as error:
        raise StoreError(
            f"{clean(path)} cannot be written: {describe_os_error(error)}.",
            hint="Check that the directory exists, is yours, writable and not full.",
        ) from None


def _irreplaceable(path: Path) -> StoreError:
    return StoreError(
        f"{clean(path)} is not a file that can be replaced. Nothing was written.",
        hint="Name another file.",
    )
