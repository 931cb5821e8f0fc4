"""Exports of the history and of remotes: CSV for a spreadsheet, JSON with every detail."""

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
from lockterm.domain.constants import CALL_NAMES
from lockterm.domain.operation import Operation
from lockterm.domain.remotes import UNLISTED
from lockterm.domain.safe_text import clean, without_secrets
from lockterm.domain.table_columns import ACTION, LOCK, NAMES, REMOTE, SETTABLE, cell_of, guarded
from lockterm.domain.table_file import FORMAT, VERSION
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.operation import STATE_NAMES, describe_change
from lockterm.errors import StoreError, describe_os_error
from lockterm.operations.planner import ReadLock
from lockterm.paths import make_directory, write_new, write_whole
from lockterm.safe_files import Place

FORMULA_STARTS = "=+-@\t\r\n＝＋－＠"
"""Characters that a spreadsheet may treat as the start of a formula or a row."""

_FORMULA = re.compile(r'(^|[;\t\n\r\v\f])([\s"]*)(?=[=+\-@＝＋－＠])')
"""The places where a formula could begin. A spreadsheet that splits at ``;`` or tab, as many
European versions do, ignores the quotes around such text and sees a cell after each separator."""

TOLD = ("When", "What", "Lock", "Remote", "Details", "Result", "Note")
"""The columns of the CSV file, which is for people. The JSON file contains everything."""

_NAMES = 100
"""Limit of the number in the names of export files from the same second."""

_JSON_HEAD = re.compile(rb'\s*\{\s*"format"\s*:\s*"%s"' % FORMAT.encode())
_MOST_HEAD = 4096
"""Number of bytes of a file that are read to identify the file."""


def export_history(
    operations: Sequence[Operation],
    directory: Path,
    zone: tzinfo,
    now_ms: int,
    zones: Mapping[int, tzinfo],
) -> tuple[Path, Path]:
    """Write operations to a CSV and a JSON file that only this user can read.

    Args:
        operations: The operations, in the order of the files.
        directory: The directory, which is created if it does not exist.
        zone: The time zone for times that people read.
        now_ms: The time for the file names, which show the time in UTC.
        zones: Lock ID -> the time zone of its remotes; ``zone`` applies to other locks.

    Returns:
        The CSV file and the JSON file. Existing files are not touched.

    Raises:
        StoreError: The files cannot be written; no part of them remains.
    """
    contents = {
        ".csv": history_as_csv(operations, zone, zones),
        ".json": history_as_json(operations, zone),
    }
    return export_files("history", contents[".csv"], contents[".json"], directory, now_ms)


def export_files(
    what: str,
    as_csv: bytes,
    other: bytes,
    directory: Path,
    now_ms: int,
    *,
    ending: str = ".json",
) -> tuple[Path, Path]:
    """Write content to a CSV file and to another file that only this user can read.

    Args:
        what: The beginning of the file names.
        as_csv: The content of the CSV file.
        other: The content of the other file.
        directory: The directory, which is created if it does not exist.
        now_ms: The time for the file names, which show the time in UTC.
        ending: The end of the other file's name.

    Returns:
        The CSV file and the other file. Existing files are not touched.

    Raises:
        StoreError: The files cannot be written; no part of them remains.
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
    """Return rows as an RFC 4180 table; possible formulas get a leading quote."""
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
    """Return operations as an RFC 4180 table; possible formulas get a leading quote."""
    rows = (told(one, zone, zones.get(one.lock_id, zone)) for one in operations)
    return rows_as_csv(TOLD, rows).encode("utf-8", "backslashreplace")


def told(operation: Operation, zone: tzinfo, lock_zone: tzinfo) -> dict[str, Any]:
    """Return an operation as a row for people: column -> text.

    Args:
        operation: The operation.
        zone: The time zone for the time of the operation.
        lock_zone: The time zone for the times of the remote.
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
    """Return the operations as a JSON array, escaped to ASCII."""
    records = [_record(operation, zone) for operation in operations]
    return (json.dumps(records, indent=1) + "\n").encode()


def _record(operation: Operation, zone: tzinfo) -> dict[str, Any]:
    at = dates.local(operation.prepared_ms, zone)
    time = at.isoformat(timespec="milliseconds") if at is not None else ""
    return {"time": time, **asdict(operation)}


def cell(value: Any) -> str | int:
    """Return a value for a cell of a CSV file; a possible formula gets a leading quote.

    The quote is added at the start, and after each ``;``, tab and line end.
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
    """Return all remotes of locks as the service sent them, as JSON with one remote per line.

    Args:
        read: Locks that were read whole.
        base_url: The base URL of the service.
        now_ms: The current time, in milliseconds since the epoch.
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
            "timezone": one.lock.zone or dates.zone_name(one.zone),
        }
        named = json.dumps(lock).removesuffix("}")
        remotes = ",\n".join(json.dumps(remote.raw) for remote in one.remotes)
        locks.append(f'{named}, "remotes": [\n{remotes}\n]}}')
    parts = ["{", *lines, '"locks": [', ",\n".join(locks), "]", "}"]
    return ("\n".join(parts) + "\n").encode()


def remotes_as_csv(read: Sequence[ReadLock]) -> bytes:
    """Return the remotes of locks as a CSV table for people; no cell is a formula.

    A field that no list returns has a column only if a remote has it.
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
    """Return whether a file with this content may be replaced: an export, or an empty file.

    Args:
        content: The file's content, or its beginning.
    """
    head = content.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
    columns = head.decode("ascii", "replace").strip().split(",")
    is_table = columns[:2] == [LOCK, REMOTE] and set(columns) <= set(NAMES)
    return not content or is_table or bool(_JSON_HEAD.match(content))


def may_replace(path: Path, is_ours: Callable[[bytes], bool] = is_export) -> bool:
    """Return whether the file at a path can be replaced without loss.

    Args:
        path: The file, which need not exist.
        is_ours: A function that returns whether a file with this beginning may be replaced.

    Raises:
        StoreError: The file cannot be read or is not a regular file.
    """
    try:
        with Place(path) as place:
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
    """Write a file whole or not at all, readable by this user only; replace an existing file.

    Args:
        path: The file.
        content: Its new content.
        may_replace: A function that returns whether a file with this content may be replaced; None
            allows any.

    Raises:
        StoreError: The file cannot be written, and the existing one is unchanged.
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
