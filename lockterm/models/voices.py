"""Voice packs, languages and timbres (sections 2.4 to 2.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from lockterm.models.reading import Record, number, part, text


@dataclass(frozen=True, kw_only=True)
class VoicePack(Record):
    """A pack of a lock: an entry of ``voice/list`` (2.4); with the last three, its detail (2.5)."""

    name: str | None = text("name")
    label: str | None = text("label")
    updated_at: int | None = number("updated_at")
    timbre_pack_url: str | None = text("timbrePackUrl")
    file_size: int | None = number("fileSize")
    file_md5: str | None = text("fileMd5")


@dataclass(frozen=True, kw_only=True)
class Timbre(Record):
    """A voice of a language (2.6). ``is_female`` may be absent: then the voice is unstated."""

    is_female: int | None = number("isFemale")
    timbre: str | None = text("timbre")
    name: str | None = text("name")
    timbre_pack_url: str | None = text("timbrePackUrl")


@dataclass(frozen=True, kw_only=True)
class Language(Record):
    """A language entry of the full pack list (2.6)."""

    lang: str | None = text("lang")
    timbres: tuple[Timbre, ...] = part("timbres", ())

    @classmethod
    def read(cls, raw: Mapping[str, Any], **parts: Any) -> Self:
        """Read a language; timbres that are no objects are left out, odd ones kept."""
        timbres = raw.get("timbres")
        if isinstance(timbres, list):
            objects = (item for item in timbres if isinstance(item, Mapping))
            parts["timbres"] = tuple(Timbre.read(item) for item in objects)
        return super().read(raw, **parts)
