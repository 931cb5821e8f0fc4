"""Voice packs, languages and timbres (sections 2.4 to 2.7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import Field

from lockterm.models.reading import Int, Record


class VoicePack(Record):
    """A pack of a lock: an entry of ``voice/list`` (2.4); with the last three, its detail (2.5)."""

    name: str | None = None
    label: str | None = None
    updated_at: Int | None = None
    timbre_pack_url: str | None = Field(None, alias="timbrePackUrl")
    file_size: Int | None = Field(None, alias="fileSize")
    file_md5: str | None = Field(None, alias="fileMd5")


class Timbre(Record):
    """A voice of a language (2.6). ``is_female`` may be absent: then the voice is unstated."""

    is_female: Int | None = Field(None, alias="isFemale")
    timbre: str | None = None
    name: str | None = None
    timbre_pack_url: str | None = Field(None, alias="timbrePackUrl")


class Language(Record):
    """A language entry of the full pack list (2.6)."""

    lang: str | None = None
    timbres: tuple[Timbre, ...] = ()

    @classmethod
    def read(cls, raw: Mapping[str, Any], **parts: Any) -> Self:
        """Read a language; timbres that are no objects are left out, odd ones kept."""
        timbres = raw.get("timbres")
        if isinstance(timbres, list):
            objects = (item for item in timbres if isinstance(item, Mapping))
            parts["timbres"] = tuple(Timbre.read(item) for item in objects)
        return super().read(raw, **parts)
