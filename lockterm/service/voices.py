"""The four operations of the service on voices (contract 4.9 to 4.12)."""

from __future__ import annotations

from .answers import Code, RequestRefusedError
from .calls import Call, Parameters, SiteLock
from .packs import PACKS, Pack, facts_of


def list_packs(call: Call) -> object:
    """Return summaries of the voice packs of a lock's model (contract 4.9)."""
    return [_short(pack) for pack in _lock(call).packs]


def full_packs(call: Call) -> object:
    """Return the languages of a lock model with their timbres (contract 4.10)."""
    vendor, model = call.given.text("vendor"), call.given.text("model")
    packs = PACKS.get((vendor, model))
    if packs is None:
        raise RequestRefusedError(
            Code.UNKNOWN_MODEL, "There are no voice packs for this vendor and model."
        )
    languages: dict[str, list[object]] = {}
    for pack in packs:
        timbre: dict[str, object] = {
            "timbre": pack.timbre,
            "name": pack.timbre_name,
            "timbrePackUrl": call.base_url + pack.path,
        }
        if pack.is_female is not None:
            timbre["isFemale"] = pack.is_female
        languages.setdefault(pack.lang, []).append(timbre)
    return [{"lang": lang, "timbres": timbres} for lang, timbres in languages.items()]


def pack_detail(call: Call) -> object:
    """Return a voice pack of a lock with its file's URL, size and MD5 (contract 4.11)."""
    name = call.given.text("name")
    pack = next((pack for pack in _lock(call).packs if pack.name == name), None)
    if pack is None:
        raise RequestRefusedError(Code.UNKNOWN_PACK, "The lock has no voice pack of this name.")
    size, md5 = facts_of(pack)
    url = call.base_url + pack.path
    return {**_short(pack), "timbrePackUrl": url, "fileSize": size, "fileMd5": md5}


def set_voice(call: Call) -> object:
    """Set the voice of a lock (contract 4.12)."""
    lock_id = call.given.integer("lockId")
    voice = Parameters(call.given.json_object("currentVoiceTimbre"), as_text=False)
    lang, timbre = voice.text("lang"), voice.text("timbre")
    with call.site.database.writing(lock_id) as db:
        packs = call.site.lock(db, lock_id).packs
        if (lang, timbre) not in {(pack.lang, pack.timbre) for pack in packs}:
            raise RequestRefusedError(
                Code.UNKNOWN_VOICE, "The lock's packs do not have this language and timbre."
            )
        db.execute(
            "INSERT INTO voice_setting VALUES (?, ?, ?, ?) ON CONFLICT (lock_id) DO UPDATE SET"
            " lang = excluded.lang, timbre = excluded.timbre, updated_ms = excluded.updated_ms",
            (lock_id, lang, timbre, call.site.clock()),
        )
    return None


def _lock(call: Call) -> SiteLock:
    lock_id = call.given.integer("lockId")
    with call.site.database.reading() as db:
        return call.site.lock(db, lock_id)


def _short(pack: Pack) -> dict[str, object]:
    return {"name": pack.name, "label": pack.label, "updated_at": pack.updated_ms}
