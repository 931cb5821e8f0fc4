"""Voice packs, languages and timbres (sections 2.4 to 2.7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from lockterm.models.reading import Record


class VoicePack(Record):
    """A pack of a lock: an entry of ``voice/list`` (2.4); with the last three, its detail (2.5)."""

    name: str | None = None
    label: str | None = None
    updated_at: int | None = None
    timbre_pack_url: str | None = Field(None, alias="timbrePackUrl")
    file_size: int | None = Field(None, alias="fileSize")
    file_md5: str | None = Field(None, alias="fileMd5")


class Timbre(Record):
    """A voice of a language (2.6). ``is_female`` may be absent: then the voice is unstated."""

    is_female: int | None = Field(None, alias="isFemale")
    timbre: str | None = None
    name: str | None = None
    timbre_pack_url: str | None = Field(None, alias="timbrePackUrl")


class Language(Record):
    """A language entry of the full pack list (2.6)."""

    lang: str | None = None
    timbres: tuple[Timbre, ...] = ()

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Language:
        """Read a language; timbres that are no objects are left out, odd ones kept."""
        timbres = raw.get("timbres")
        items = timbres if isinstance(timbres, list) else []
        read = tuple(Timbre.read(item) for item in items if isinstance(item, Mapping))
        return super().read({**raw, "timbres": read})
