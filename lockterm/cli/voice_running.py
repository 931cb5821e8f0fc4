"""``voice packs``, ``list``, ``show`` and ``set``."""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from lockterm import moments
from lockterm.cli.asking import agree, require_someone
from lockterm.cli.door import Door
from lockterm.cli.ending import DONE, FAILED, Misused, tell
from lockterm.cli.options import Form, How
from lockterm.cli.outcome import Change, carry_out
from lockterm.cli.output import put, put_csv, put_fields, put_json, put_table
from lockterm.cli.remote_reading import lock_json
from lockterm.cli.which_lock import find_lock, lock_words
from lockterm.config import Options
from lockterm.models.locks import Lock, VoiceChoice
from lockterm.text import clean

if TYPE_CHECKING:
    from lockterm.models.voices import Language, VoicePack

PACK_COLUMNS = ("name", "label", "updated_at", "timbrePackUrl", "fileSize", "fileMd5", "updated")
TIMBRE_COLUMNS = ("lang", "timbre", "name", "isFemale", "timbrePackUrl")
"""The CSV's columns: the contract's fields as they came (2.4 to 2.6), and a time for people."""
_SEX = {0: "male", 1: "female"}


def run_packs(options: Options, typed_lock: str, form: Form) -> int:
    """Print the voice packs of a lock (4.9)."""
    with Door(options) as door:
        lock = find_lock(door, typed_lock)
        packs = door.run(door.operations.voice_packs(lock.lock_id))
        zone = door.operations.zone(lock)
    if form is Form.JSON:
        put_json({"lock": lock_json(lock), "packs": [pack.raw for pack in packs]})
    elif form is Form.CSV:
        put_csv(PACK_COLUMNS, [_row(pack, zone) for pack in packs])
    else:
        rows = [(_text(p, "name"), _text(p, "label"), _updated(p, zone)) for p in packs]
        put_table(("Name", "Label", "Updated"), rows)
        put(f"{lock_words(lock)}: {len(packs)} voice pack{'' if len(packs) == 1 else 's'}")
    return DONE


def run_show(options: Options, typed_lock: str, name: str, form: Form) -> int:
    """Print the detail of a voice pack (4.11)."""
    with Door(options) as door:
        lock = find_lock(door, typed_lock)
        pack = door.run(door.operations.voice_pack(lock.lock_id, name))
        zone = door.operations.zone(lock)
    if form is Form.JSON:
        put_json({"lock": lock_json(lock), "pack": pack.raw})
    elif form is Form.CSV:
        put_csv(PACK_COLUMNS, [_row(pack, zone)])
    else:
        size = f"{pack.file_size:,} bytes" if pack.file_size is not None else "-"
        put_fields(
            [
                ("Name", _text(pack, "name")),
                ("Label", _text(pack, "label")),
                ("Updated", _updated(pack, zone)),
                ("URL", _text(pack, "timbrePackUrl")),
                ("Size", clean(pack.odd.get("fileSize", size))),
                ("MD5", _text(pack, "fileMd5")),
            ]
        )
    return DONE


def run_list(
    options: Options, typed_lock: str, vendor: str | None, model: str | None, form: Form
) -> int:
    """Print the languages and timbres that there are for a lock's model (4.10)."""
    with Door(options) as door:
        lock = find_lock(door, typed_lock)
        vendor, model = vendor or lock.vendor, model or lock.model
        if not vendor or not model:
            raise Misused(
                f"The lock book does not say which model {lock_words(lock)} is: nothing was asked.",
                hint="Give --vendor and --model.",
            )
        languages = door.run(door.operations.languages(vendor, model))
    rows = [
        {**timbre.raw, "lang": language.raw.get("lang")}
        for language in languages
        for timbre in language.timbres
    ]
    if form is Form.JSON:
        raw = [language.raw for language in languages]
        put_json({"lock": lock_json(lock), "vendor": vendor, "model": model, "languages": raw})
    elif form is Form.CSV:
        put_csv(TIMBRE_COLUMNS, rows)
    else:
        now = lock.voice
        cells = [
            (
                row.get("lang", "-"),
                row.get("timbre", "-"),
                row.get("name", "-"),
                _SEX.get(row["isFemale"], row["isFemale"])
                if isinstance(row.get("isFemale"), int)
                else "not stated",
                "last set from here"
                if now and (now.lang, now.timbre) == (row.get("lang"), row.get("timbre"))
                else "",
            )
            for row in rows
        ]
        put_table(("Language", "Timbre", "Name", "Voice", ""), cells)
        put(f"{clean(vendor)} {clean(model)}: {len(languages)} languages, {len(rows)} timbres")
    return DONE


def run_set(options: Options, typed_lock: str, lang: str, timbre: str, how: How) -> int:
    """Let a lock speak with a timbre (4.12)."""
    with Door(options, dry_run=how.dry_run) as door:
        door.require_writable()
        lock = find_lock(door, typed_lock)
        if not lang.strip() or not timbre.strip():
            raise Misused("LANG and TIMBRE are needed; nothing was sent.")
        if not how.dry_run and not _is_wanted(door, lock, lang, timbre, yes=how.yes):
            tell("Nothing was sent.")
            return FAILED
        voice = f"{clean(lang, 40)} {clean(timbre, 40)}"
        words = f"The voice of {lock_words(lock)} was set to {voice}."
        change = Change(lock, "updateLockSetting", lambda _: words, as_json=how.as_json)
        work = door.operations.set_voice(lock, VoiceChoice(lang, timbre))
        return carry_out(door, change, work)


def _is_wanted(door: Door, lock: Lock, lang: str, timbre: str, *, yes: bool) -> bool:
    """Whether the voice is one of the model's, or wanted although it is not known to be."""
    if not lock.vendor or not lock.model:
        tell("note: the lock book does not say which model it is: the voice is sent unchecked.")
        return True
    if _has(door.run(door.operations.languages(lock.vendor, lock.model)), lang, timbre):
        return True
    model = f"{clean(lock.vendor, 40)} {clean(lock.model, 40)}"
    tell(f"note: {model} has no timbre {clean(timbre, 40)} of {clean(lang, 40)}.")
    require_someone(yes, "Setting it all the same")
    return agree(f"Set the voice of {lock_words(lock)} all the same?", yes=yes)


def _has(languages: list[Language], lang: str, timbre: str) -> bool:
    return any(
        language.lang == lang and any(one.timbre == timbre for one in language.timbres)
        for language in languages
    )


def _row(pack: VoicePack, zone: tzinfo) -> dict[str, Any]:
    at = moments.local(moments.as_ms(pack.updated_at), zone) if pack.updated_at else None
    return {**pack.raw, "updated": at.isoformat(timespec="seconds") if at else ""}


def _text(pack: VoicePack, name: str) -> str:
    value = pack.raw.get(name)
    return "-" if value is None else clean(value)


def _updated(pack: VoicePack, zone: tzinfo) -> str:
    if pack.updated_at is None:
        return clean(pack.odd.get("updated_at", "-"))
    return moments.stamp(moments.as_ms(pack.updated_at), zone)
