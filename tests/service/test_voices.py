"""The four operations on voices (sections 4.9 to 4.12) and the packs' files."""

from __future__ import annotations

import hashlib
import io
import wave

from tests.conftest import NOW_MS
from tests.service.conftest import SETTING, VOICE, Caller

MODELS = [("nordriegel", "NR-450"), ("nordriegel", "NR-200"), ("lumenlock", "L7")]


def test_short_list_and_detail_of_every_pack(api: Caller) -> None:
    seen = set()
    for lock_id in (1001, 1002, 1003):
        for entry in api.done(f"{VOICE}list", lockId=lock_id):
            assert {name: type(value) for name, value in entry.items()} == {
                "name": str,
                "label": str,
                "updated_at": int,
            }
            detail = api.done(f"{VOICE}detail", lockId=lock_id, name=entry["name"])
            facts = {name: detail.pop(name) for name in ("timbrePackUrl", "fileSize", "fileMd5")}
            assert detail == entry
            assert facts["timbrePackUrl"].startswith(f"{api.service.base_url}/packs/")
            content = api.http.get(facts["timbrePackUrl"]).content
            assert facts["fileSize"] == len(content)
            assert facts["fileMd5"] == hashlib.md5(content).hexdigest()
            assert 200_000 < len(content) < 2_100_000
            with wave.open(io.BytesIO(content)) as sound:
                assert sound.getframerate() == 16_000
            seen.add(facts["fileMd5"])
    assert len(seen) == 16 + 7 + 8, "each pack is a file of its own"


def test_full_lists(api: Caller) -> None:
    languages, sexes = set(), set()
    for vendor, model in MODELS:
        entries = api.done(f"{VOICE}packs", vendor=vendor, model=model)
        assert len({entry["lang"] for entry in entries}) == len(entries)
        for entry in entries:
            assert set(entry) == {"lang", "timbres"}
            languages.add(entry["lang"])
            for timbre in entry["timbres"]:
                assert set(timbre) - {"isFemale"} == {"timbre", "name", "timbrePackUrl"}
                sexes.add(timbre.get("isFemale"))
                assert api.http.head(timbre["timbrePackUrl"]).status_code == 200
    assert len(languages) == 9
    assert sexes == {0, 1, None}


def test_setting_a_voice_stores_it(api: Caller) -> None:
    for lang, timbre in (("en-US", "grace"), ("zz-FACTORY", "chime")):
        voice = {"lang": lang, "timbre": timbre}
        assert api.post(SETTING, lockId=1001, currentVoiceTimbre=voice) == {
            "errorCode": 0,
            "errorMsg": "no error",
            "description": "",
            "status": 200,
            "statusText": "OK",
            "content": "",
        }
        with api.service.app.state.site.database.reading() as db:
            stored = db.execute("SELECT * FROM voice_setting").fetchall()
        assert [*map(tuple, stored)] == [(1001, lang, timbre, NOW_MS)]
    voice = {"lang": "es-ES", "timbre": "lucia"}
    assert api.refused(SETTING, lockId=1002, currentVoiceTimbre=voice) == -9, "of another model"
    api.done(SETTING, lockId=1001, currentVoiceTimbre=voice)
    form = {"lockId": "1001", "currentVoiceTimbre": '{"lang":"de-DE","timbre":"anna"}'}
    assert api.request("POST", SETTING, data=form).status_code == 415, "it is always JSON"


def test_ranges_of_a_file(api: Caller) -> None:
    path = "/packs/nordriegel/nr-450/de-de-anna.wav"
    pack = api.http.get(path)
    size, etag = len(pack.content), pack.headers["etag"]
    for header, span in (
        ("bytes=0-0", (0, 1)),
        ("bytes=100-", (100, None)),
        ("bytes=-5", (-5, None)),
        ("bytes=5-99999999", (5, None)),
        ("bytes=-99999999", (0, None)),
    ):
        for condition in ({}, {"If-Range": etag}):
            part = api.http.get(path, headers={"Range": header, **condition})
            assert (part.status_code, part.content) == (206, pack.content[slice(*span)])
            first = span[0] % size
            end = first + len(part.content) - 1
            assert part.headers["content-range"] == f"bytes {first}-{end}/{size}"
            assert part.headers["etag"] == etag
        whole = api.http.get(path, headers={"Range": header, "If-Range": '"another"'})
        assert (whole.status_code, whole.content) == (200, pack.content)
    for header in ("bytes=0-1,5-6", "bytes=x", "bytes=-", "bytes=9-1", "lines=0-1"):
        whole = api.http.get(path, headers={"Range": header})
        assert (whole.status_code, whole.content) == (200, pack.content)
    for header in (f"bytes={size}-", "bytes=-0"):
        beyond = api.request("GET", path, headers={"Range": header})
        assert beyond.status_code == 416
        assert beyond.headers["content-range"] == f"bytes */{size}"
    head = api.http.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(size)
    same = api.http.get(path, headers={"If-None-Match": f'W/"x", {etag}'})
    assert (same.status_code, same.content) == (304, b"")


def test_no_other_file_is_served(api: Caller) -> None:
    for path in ("", "x.wav", "../app.py", "%2e%2e/%2e%2e/etc/passwd", "%00"):
        assert api.request("GET", f"/packs/{path}").status_code == 404
