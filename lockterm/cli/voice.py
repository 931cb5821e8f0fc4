"""The ``lockterm voice`` commands, which list packs and timbres, and set the voice of a lock."""

from __future__ import annotations

import os
import shutil
from datetime import tzinfo
from pathlib import Path
from typing import Any

import click

from lockterm.cli.exit_codes import DONE, UsageError, notify
from lockterm.cli.manual import CHANGING, EXPORT_CODES, LOCK, READING, list_examples
from lockterm.cli.options import (
    FILE_PATH,
    Format,
    WriteOptions,
    asks_service,
    cancel,
    changes,
    confirm,
    json_option,
    lock_argument,
    reads,
    require_answer,
)
from lockterm.cli.output import ignore_missing_reader, put, put_csv, put_fields, put_json, put_table
from lockterm.cli.send_change import Change, send_change
from lockterm.cli.session import Session, format_lock, lock_json, open_lock
from lockterm.config import Options
from lockterm.domain import dates
from lockterm.domain.callbacks import ignore
from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count, format_size
from lockterm.domain.voices import VoicePack, name_pack, pack_source
from lockterm.errors import StoreError, describe_os_error
from lockterm.safe_files import OpenLocation

_PACK_COLUMNS = (*VoicePack.fields(), "updated")
_TIMBRE_COLUMNS = ("lang", "timbre", "name", "isFemale", "timbrePackUrl")
"""The columns of the CSV output: fields of the contract (2.4 to 2.6).

Packs also have the column ``updated`` with the time of the last change in a readable format.
"""
_SEX = {0: "male", 1: "female"}


_VOICE_HELP = f"""\
{LOCK}
\b
Examples:
  lockterm voice list "Main gate"
  lockterm voice set "Main gate" de-DE anna
  lockterm voice packs 1001 --csv > packs.csv

{CHANGING}"""


@click.group(no_args_is_help=False, epilog=_VOICE_HELP)
def voice() -> None:
    """List voice packs and timbres, and set the voice of a lock."""


@voice.command(
    epilog=list_examples(
        READING, 'lockterm voice packs "Main gate"', "lockterm voice packs 1001 --csv > packs.csv"
    )
)
@lock_argument
@reads
def packs(options: Options, typed_lock: str, form: Format) -> int:
    """List the voice packs of a lock.

    The command uses the call voice/list (4.9).
    """
    with open_lock(options, typed_lock) as (session, lock):
        packs = session.run(session.operations.voices.packs(lock.lock_id))
        zone = session.operations.zone(lock)
    if form is Format.JSON:
        put_json({"lock": lock_json(lock), "packs": [pack.raw for pack in packs]})
    elif form is Format.CSV:
        put_csv(_PACK_COLUMNS, [_to_row(pack, zone) for pack in packs])
    else:
        rows = [(_text(p, "name"), _text(p, "label"), _format_update(p, zone)) for p in packs]
        put_table(("Name", "Label", "Updated"), rows)
        put(f"{format_lock(lock)}: {format_count(len(packs), 'voice pack')}")
    return DONE


@voice.command(
    "list",
    epilog=list_examples(
        READING,
        'lockterm voice list "Main gate"',
        "lockterm voice list 1001 --vendor nordriegel --model NR-450",
    ),
)
@lock_argument
@click.option("--vendor", metavar="TEXT", help="Vendor of the lock. [default: from the lock book]")
@click.option("--model", metavar="TEXT", help="Model of the lock. [default: from the lock book]")
@reads
def list_timbres(
    options: Options, typed_lock: str, vendor: str | None, model: str | None, form: Format
) -> int:
    """List the languages and timbres of a lock.

    The command uses the call voice/packs (4.10), which lists them for a vendor and a model.
    """
    with open_lock(options, typed_lock) as (session, lock):
        vendor, model = vendor or lock.vendor, model or lock.model
        if not vendor or not model:
            raise UsageError(
                f"The lock book contains no model for {format_lock(lock)}. Nothing was sent.",
                hint="Add --vendor and --model.",
            )
        languages = session.run(session.operations.voices.languages(vendor, model))
    rows = [
        {**timbre.raw, "lang": language.raw.get("lang")}
        for language in languages
        for timbre in language.timbres
    ]
    if form is Format.JSON:
        raw = [language.raw for language in languages]
        put_json({"lock": lock_json(lock), "vendor": vendor, "model": model, "languages": raw})
    elif form is Format.CSV:
        put_csv(_TIMBRE_COLUMNS, rows)
    else:
        mark = lock.voice_since(session.operations.zone(lock), session.operations.machine_ms())
        cells = [_timbre_cells(row, lock.voice, mark) for row in rows]
        put_table(("Language", "Timbre", "Name", "Voice", ""), cells)
        put(f"{clean(vendor)} {clean(model)}: {len(languages)} languages, {len(rows)} timbres")
    return DONE


@voice.command(
    epilog=list_examples(
        READING,
        'lockterm voice show "Main gate" de-DE-anna',
        "lockterm voice show 1001 de-DE-anna --json",
    )
)
@lock_argument
@click.argument("name", metavar="PACK")
@reads
def show(options: Options, typed_lock: str, name: str, form: Format) -> int:
    """Show URL, size and MD5 of a voice pack.

    PACK is the name of the pack, as lockterm voice packs lists it.
    """
    with open_lock(options, typed_lock) as (session, lock):
        pack = session.run(session.operations.voices.pack(lock.lock_id, name))
        zone = session.operations.zone(lock)
    if form is Format.JSON:
        put_json({"lock": lock_json(lock), "pack": pack.raw})
    elif form is Format.CSV:
        put_csv(_PACK_COLUMNS, [_to_row(pack, zone)])
    else:
        size = format_size(pack.file_size) if pack.file_size is not None else "-"
        put_fields(
            [
                ("Name", _text(pack, "name")),
                ("Label", _text(pack, "label")),
                ("Updated", _format_update(pack, zone)),
                ("URL", _text(pack, "timbrePackUrl")),
                ("Size", clean(pack.odd.get("fileSize", size))),
                ("MD5", _text(pack, "fileMd5")),
            ]
        )
    return DONE


_FETCH_HELP = f"""\
If the service returns size and MD5, the command checks the file against them. It does not unpack
the file. It resumes an interrupted download. If the file is on another server than the service, the
command asks first, and sends no header to that server.

\b
Examples:
  lockterm voice fetch "Main gate" de-DE-anna
  lockterm voice fetch 1001 de-DE-anna --output anna.pack --yes

--json prints file, bytes, md5 (null if the service returned none), and pack as the service sent it.

{EXPORT_CODES}"""


@voice.command(epilog=_FETCH_HELP)
@lock_argument
@click.argument("name", metavar="PACK")
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    type=FILE_PATH,
    help="Write to this new file. [default: a file in the data directory]",
)
@click.option("--yes", "-y", is_flag=True, help="Download from another server without a prompt.")
@json_option
@asks_service
def fetch(
    options: Options, typed_lock: str, name: str, output: Path | None, yes: bool, as_json: bool
) -> int:
    """Download a voice pack.

    PACK is the name of the pack, as lockterm voice packs lists it.
    """
    ignore_missing_reader()
    if output is not None and os.path.lexists(output):
        raise UsageError(f"{clean(output, 200)} already exists. Nothing was fetched.")
    with open_lock(options, typed_lock) as (session, lock):
        voices = session.operations.voices
        pack = session.run(voices.pack(lock.lock_id, name))
        named, listed = (*lock.file_name_parts, *name_pack("", (), pack)), None
        if pack.file_size is None or not pack.file_md5 or not pack.timbre_pack_url:
            listed = session.run(voices.listed(lock.lock_id, name))
        url = pack.timbre_pack_url or (listed.timbre_pack_url if listed else "") or ""
        source = pack_source(url, named, (pack, listed))
        server = session.run(voices.server_of(source))
        if server and not _confirm_server(session, name, server, yes=yes):
            return cancel()
        file = session.run(voices.fetch(source, ignore, server))
    if output is not None:
        copy_pack(file, output)
        file = output
    size = file.stat().st_size
    if as_json:
        record = {"file": str(file), "bytes": size, "md5": source.md5 or None, "pack": pack.raw}
        put_json({"lock": lock_json(lock), **record})
    else:
        put(f"{format_size(size)} in {clean(file)}")
        put(f"{source.assurance} The pack was not unpacked or played.")
    return DONE


@voice.command(
    "set",
    epilog=list_examples(
        CHANGING,
        'lockterm voice set "Main gate" de-DE anna',
        "lockterm voice set 1001 de-DE anna --yes --json",
    ),
)
@lock_argument
@click.argument("lang", metavar="LANG")
@click.argument("timbre", metavar="TIMBRE")
@changes
def set_voice(options: Options, typed_lock: str, lang: str, timbre: str, how: WriteOptions) -> int:
    """Set the voice of a lock.

    LANG and TIMBRE are as lockterm voice list shows them. The service cannot report the voice that
    is set.
    """
    with open_lock(options, typed_lock, how) as (session, lock):
        if not lang.strip() or not timbre.strip():
            raise UsageError("LANG and TIMBRE are required. Nothing was sent.")
        if not how.dry_run and not _confirm_voice(session, lock, lang, timbre, yes=how.yes):
            return cancel()
        done = f"The voice of {format_lock(lock)} was set to {clean(lang, 40)} {clean(timbre, 40)}."
        change = Change(lock, "updateLockSetting", done, how.as_json)
        work = session.operations.writes.set_voice(lock, VoiceChoice(lang, timbre))
        return send_change(session, change, work)


def _confirm_server(session: Session, name: str, server: str, *, yes: bool) -> bool:
    """Ask whether to download a pack from a server other than the service; return the answer."""
    notify(
        f"note: {clean(session.profile.host, 80)} refers to {server}, which is another"
        " server. lockterm sends no header to it."
    )
    require_answer(yes, "Fetching from another server")
    return confirm(f"Fetch the voice pack {clean(name, 60)} from {server}?", yes=yes)


def copy_pack(file: Path, output: Path) -> None:
    """Copy a voice pack to a new file.

    If this fails, remove the partial copy.

    Raises:
        StoreError: If the new file already exists, or it cannot be written.
    """
    try:
        with file.open("rb") as source, OpenLocation(output, follow=False) as place:
            made = place.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            try:
                with os.fdopen(made, "wb") as target:
                    shutil.copyfileobj(source, target)
            except BaseException:
                os.unlink(place.name, dir_fd=place.directory)
                raise
    except OSError as error:
        raise StoreError(
            f"{output} cannot be written: {describe_os_error(error)}.",
            hint=f"The pack is in {file}.",
        ) from error


def _timbre_cells(row: dict[str, Any], now: VoiceChoice | None, mark: str) -> tuple[object, ...]:
    """Return the cells of a timbre in the table of voices.

    Args:
        row: The timbre as the service sent it, with its language.
        now: The voice that lockterm last set for the lock; None if unknown.
        mark: The text in the last column that marks the voice ``now``.
    """
    lang, timbre, sex = row.get("lang"), row.get("timbre"), row.get("isFemale")
    return (
        row.get("lang", "-"),
        row.get("timbre", "-"),
        row.get("name", "-"),
        _SEX.get(sex, sex) if isinstance(sex, int) else "not stated",
        mark if now and (now.lang, now.timbre) == (lang, timbre) else "",
    )


def _confirm_voice(session: Session, lock: Lock, lang: str, timbre: str, *, yes: bool) -> bool:
    """Return whether to set a voice; ask the user if the model of the lock has no such voice.

    If the lock book does not contain the model, the result is True.

    Raises:
        UsageError: If ``--yes`` was not given and there is no terminal for the prompt.
    """
    if not lock.vendor or not lock.model:
        notify(
            "note: the lock book contains no model for this lock, so the voice is sent unchecked."
        )
        return True
    for language in session.run(session.operations.voices.languages(lock.vendor, lock.model)):
        if language.lang == lang and any(one.timbre == timbre for one in language.timbres):
            return True
    model = f"{clean(lock.vendor, 40)} {clean(lock.model, 40)}"
    notify(f"note: {model} has no timbre {clean(timbre, 40)} of {clean(lang, 40)}.")
    require_answer(yes, "Setting the voice anyway")
    return confirm(f"Set the voice of {format_lock(lock)} anyway?", yes=yes)


def _to_row(pack: VoicePack, zone: tzinfo) -> dict[str, Any]:
    at_ms = dates.as_ms(pack.updated_at) if pack.updated_at else None
    return {**pack.raw, "updated": dates.to_iso(at_ms, zone)}


def _text(pack: VoicePack, name: str) -> str:
    value = pack.raw.get(name)
    return "-" if value is None else clean(value)


def _format_update(pack: VoicePack, zone: tzinfo) -> str:
    if pack.updated_at is None:
        return clean(pack.odd.get("updated_at", "-"))
    return dates.stamp(dates.as_ms(pack.updated_at), zone)
