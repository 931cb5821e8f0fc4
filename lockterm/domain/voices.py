"""Voice packs, languages and timbres (sections 2.4 to 2.7)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from lockterm.domain.reading import Record, number, part, text
from lockterm.record import record


@record(kw_only=True)
class VoicePack(Record):
    """A pack of a lock: an entry of ``voice/list`` (2.4); with the last three, its detail (2.5)."""

    name: str | None = text("name")
    label: str | None = text("label")
    updated_at: int | None = number("updated_at")
    timbre_pack_url: str | None = text("timbrePackUrl")
    file_size: int | None = number("fileSize")
    file_md5: str | None = text("fileMd5")


@record(kw_only=True)
class Timbre(Record):
    """A voice of a language (2.6). ``is_female`` may be absent: then the voice is unstated."""

    is_female: int | None = number("isFemale")
    timbre: str | None = text("timbre")
    name: str | None = text("name")
    timbre_pack_url: str | None = text("timbrePackUrl")


@record(kw_only=True)
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


def has_voice(languages: Iterable[Language], lang: str, timbre: str) -> bool:
    """Whether a voice is among those of a model."""
    return any(
        (one.lang, voice.timbre) == (lang, timbre) for one in languages for voice in one.timbres
    )


def joined(lists: Iterable[Sequence[Language]]) -> list[Language]:
    """The voices of several models in one list, each once: as the first that has it tells it."""
    found: dict[str | None, Language] = {}
    known: dict[str | None, dict[str | None, Timbre]] = {}
    for languages in lists:
        for one in languages:
            found.setdefault(one.lang, one)
            timbres = known.setdefault(one.lang, {})
            for timbre in one.timbres:
                timbres.setdefault(timbre.timbre, timbre)
    return [replace(one, timbres=(*known[lang].values(),)) for lang, one in found.items()]


@record
class PackSource:
    """Where a voice pack is fetched from, and what was told about it (2.5, 2.6)."""

    url: str
    """``timbrePackUrl``."""
    size: int | None = None
    """``fileSize`` in bytes; None where the service told none, as for the timbres of a language."""
    md5: str = ""
    """``fileMd5``; empty where the service told none."""

    @property
    def file_name(self) -> str:
        """A name of our own for its file, the same for the same pack."""
        facts = f"{self.url}\n{self.size}\n{self.md5.lower()}"
        return hashlib.sha256(facts.encode("utf-8", "surrogatepass")).hexdigest()[:32] + ".pack"

    @property
    def assurance(self) -> str:
        """What a fetched file was checked against, in words that promise no more than that."""
        found = "This finds damage on the way, not forgery."
        if self.size is not None and self.md5:
            return f"Size and MD5 are those the service told. {found}"
        if self.md5:
            return f"The MD5 is the one the service told. {found}"
        if self.size is not None:
            return f"The size is the one the service told; it told no MD5. {found}"
        return "The service told neither size nor MD5: nothing could be checked."
