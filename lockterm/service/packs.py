"""The voice packs of three models in nine languages, and the download of their files.

A pack is one timbre of one language of one model. The pack's name in ``voice/list`` is its language
and timbre, as in ``de-DE-anna``. Its file is a small WAV with a melody in triangle waves. All
computations use whole numbers, so the file's bytes and MD5 are the same on every machine.

Downloads can be resumed (RFC 9110, sections 13 and 14). A request for several ranges or an invalid
range gets the whole file, as the RFC allows. The ETag is the MD5 of the file. It is strong, as
If-Range requires.
"""

from __future__ import annotations

import hashlib
import io
import re
import wave
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import formatdate
from functools import cache, lru_cache

from starlette.requests import Request
from starlette.responses import Response

from .answers import Code, RequestRefusedError

_DAY_MS = 86_400_000
_FIRST_UPDATE_MS = 1_726_480_800_000
"""The date of the oldest pack, 2024-09-16T10:00Z, in milliseconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Pack:
    """A voice pack: one timbre of one language for one lock model."""

    vendor: str
    model: str
    lang: str
    """The code of the language: a locale code, or a code outside the standard."""
    timbre: str
    """Identifier of the timbre within the language."""
    timbre_name: str
    """The name of the timbre that people see."""
    is_female: int | None
    """1 for female, 0 for male; None if the vendor does not state it."""
    label: str
    """The name of the pack that people see."""
    updated_ms: int

    @property
    def name(self) -> str:
        return f"{self.lang}-{self.timbre}"

    @property
    def path(self) -> str:
        """The path of the pack's file on the service."""
        return f"/packs/{self.vendor}/{self.model}/{self.name}.wav".lower()


_VOICES: tuple[tuple[str, str, tuple[tuple[str, str, int | None], ...]], ...] = (
    (
        "zh-CN",
        "简体中文",
        (("xiaoyan", "小燕", 1), ("zhiming", "志明", 0), ("tongtong", "童童", 1)),
    ),
    ("en-US", "English (US)", (("grace", "Grace", 1), ("walter", "Walter", 0))),
    ("de-DE", "Deutsch", (("anna", "Anna", 1), ("jonas", "Jonas", 0))),
    ("fr-FR", "Français", (("elodie", "Élodie", 1), ("marc", "Marc", 0))),
    ("es-ES", "Español", (("lucia", "Lucía", 1), ("diego", "Diego", 0))),
    ("pt-BR", "Português (Brasil)", (("camila", "Camila", 1),)),
    ("ar-SA", "العربية", (("layla", "ليلى", 1), ("omar", "عمر", 0))),
    ("ja-JP", "日本語", (("haruka", "はるか", 1),)),
    ("zz-FACTORY", "Factory tones", (("chime", "Chime", None),)),
)

_MODELS = (
    (
        "nordriegel",
        "NR-450",
        ("zh-CN", "en-US", "de-DE", "fr-FR", "es-ES", "pt-BR", "ar-SA", "ja-JP", "zz-FACTORY"),
    ),
    ("nordriegel", "NR-200", ("en-US", "de-DE", "fr-FR", "zz-FACTORY")),
    ("lumenlock", "L7", ("zh-CN", "en-US", "ja-JP", "ar-SA")),
)


def _packs(position: int, vendor: str, model: str, languages: tuple[str, ...]) -> Iterator[Pack]:
    updated_ms = _FIRST_UPDATE_MS + 61 * position * _DAY_MS
    for lang, language, timbres in _VOICES:
        for timbre, name, is_female in timbres if lang in languages else ():
            label = f"{language} · {name}"
            yield Pack(vendor, model, lang, timbre, name, is_female, label, updated_ms)
            updated_ms += 17 * _DAY_MS


PACKS: dict[tuple[str, str], tuple[Pack, ...]] = {
    (vendor, model): tuple(_packs(position, vendor, model, languages))
    for position, (vendor, model, languages) in enumerate(_MODELS)
}
"""Maps the vendor and model of a lock to the voice packs of the model.

A lock of an unknown model has the voice packs of the first model.
"""

PACKS_BY_PATH = {pack.path: pack for packs in PACKS.values() for pack in packs}

_RATE = 16_000
_NOTE_SAMPLES = _RATE // 4
_NOTES = 8
_LOUDEST = 9_000
_PERIODS = (61, 54, 48, 46, 41, 36, 32, 30)
"""The number of samples in one wave, for each note of an octave from middle C."""


@lru_cache(maxsize=6)
def content_of(pack: Pack) -> bytes:
    """Return the content of a pack's file, which has between 0.3 and 2 MB."""
    digest = hashlib.sha256(pack.path.encode()).digest()
    melody = array("h")
    for step in digest[:_NOTES]:
        melody.extend(_note(_PERIODS[step % len(_PERIODS)]))
    repeats = 5 + digest[_NOTES] % 26
    # Cut a few samples, so that sizes are not multiples of each other.
    samples = (melody * repeats)[: -(1 + digest[_NOTES + 1])]
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(_RATE)
        sound.writeframes(samples.tobytes())
    return file.getvalue()


@cache
def facts_of(pack: Pack) -> tuple[int, str]:
    """Return the size in bytes and the hexadecimal MD5 of a pack's file."""
    content = content_of(pack)
    return len(content), hashlib.md5(content, usedforsecurity=False).hexdigest()


@cache
def _note(period: int) -> array[int]:
    half = period // 2
    wave_form = [abs(sample % period - half) * 2 - half for sample in range(_NOTE_SAMPLES)]
    return array(
        "h",
        [
            height * _LOUDEST * (_NOTE_SAMPLES - sample) // (half * _NOTE_SAMPLES)
            for sample, height in enumerate(wave_form)
        ],
    )


_ONE_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


def download(request: Request) -> Response:
    """Return the answer to a GET or HEAD request for a pack's file."""
    pack = PACKS_BY_PATH.get(request.scope["path"])
    if pack is None:
        raise RequestRefusedError(Code.NOT_FOUND, "No such voice pack.")
    size, md5 = facts_of(pack)
    etag, modified = f'"{md5}"', formatdate(pack.updated_ms / 1000, usegmt=True)
    headers = {"ETag": etag, "Last-Modified": modified, "Accept-Ranges": "bytes"}
    if _names(request.headers.get("if-none-match", ""), etag):
        return Response(status_code=304, headers=headers)
    condition = request.headers.get("if-range")
    span = None
    if request.method == "GET" and condition in (None, etag, modified):
        span = _span(request.headers.get("range", ""), size)
    content = content_of(pack)
    if span is None:
        return Response(content, headers=headers, media_type="audio/wav")
    first, end = span
    headers["Content-Range"] = f"bytes {first}-{end - 1}/{size}"
    return Response(content[first:end], 206, headers, "audio/wav")


def _names(if_none_match: str, etag: str) -> bool:
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return etag in tags or tags == ["*"]


def _span(header: str, size: int) -> tuple[int, int] | None:
    """Return the requested byte range, end exclusive; None for the whole file.

    Raises:
        RequestRefusedError: If the range begins after the end of the file.
    """
    match = _ONE_RANGE.fullmatch(header.strip())
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        span = max(0, size - int(last)), size
    else:
        span = int(first), min(size, int(last) + 1 if last else size)
        if last and int(last) < int(first):
            return None
    if span[0] >= span[1]:
        raise RequestRefusedError(Code.BAD_RANGE, headers={"Content-Range": f"bytes */{size}"})
    return span
