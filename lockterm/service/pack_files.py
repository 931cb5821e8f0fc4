"""The bytes of the voice packs: little WAV files, made when they are first asked for.

A pack is a melody of its own in triangle waves, repeated to its length, in whole numbers
throughout, so that its bytes and their MD5 are the same everywhere and always.
"""

from __future__ import annotations

import hashlib
import io
import wave
from array import array
from functools import cache, lru_cache

from .catalogue import Pack

_RATE = 16_000
_NOTE_SAMPLES = _RATE // 4
_NOTES = 8
_LOUDEST = 9_000
_PERIODS = (61, 54, 48, 46, 41, 36, 32, 30)
"""Samples per wave: an octave from middle C."""


@lru_cache(maxsize=6)
def content_of(pack: Pack) -> bytes:
    """The pack's file, between 0.3 and 2 MB."""
    digest = hashlib.sha256(pack.path.encode()).digest()
    melody = array("h")
    for step in digest[:_NOTES]:
        melody.extend(_note(_PERIODS[step % len(_PERIODS)]))
    repeats = 5 + digest[_NOTES] % 26
    # Cut at a length of its own, so that sizes are not multiples of each other.
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
    """Size in bytes and MD5 in hexadecimal of the pack's file."""
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
