"""Voice packs, languages and timbres (contract 2.4 to 2.7)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from lockterm.domain.reading import Record, number, part, text


@dataclass(frozen=True, slots=True, kw_only=True)
class VoicePack(Record):
    """A voice pack of a lock: an entry of ``voice/list``, or its details (contract 2.4, 2.5)."""

    name: str | None = text("name")
    label: str | None = text("label")
    updated_at: int | None = number("updated_at")
    timbre_pack_url: str | None = text("timbrePackUrl")
    file_size: int | None = number("fileSize")
    file_md5: str | None = text("fileMd5")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timbre(Record):
    """A voice of a language (contract 2.6). A service may omit ``is_female``.

    The contract does not define size and MD5 here, but lockterm uses them if a service sends them.
    """

    is_female: int | None = number("isFemale")
    timbre: str | None = text("timbre")
    name: str | None = text("name")
    timbre_pack_url: str | None = text("timbrePackUrl")
    file_size: int | None = number("fileSize")
    file_md5: str | None = text("fileMd5")


@dataclass(frozen=True, slots=True, kw_only=True)
class Language(Record):
    """A language with its voices, in the list of all packs for a model (contract 2.6)."""

    lang: str | None = text("lang")
    timbres: tuple[Timbre, ...] = part("timbres", ())

    @classmethod
    def read_parts(cls, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Return the timbres that are JSON objects, as records under the key ``timbres``.

        The result is empty if there is no list of timbres.
        """
        timbres = raw.get("timbres")
        if not isinstance(timbres, list):
            return {}
        objects = (item for item in timbres if isinstance(item, Mapping))
        return {"timbres": tuple(Timbre.read(item) for item in objects)}


def has_voice(languages: Iterable[Language], lang: str, timbre: str) -> bool:
    """Return whether the languages of a lock model include a voice."""
    return any(
        (one.lang, voice.timbre) == (lang, timbre) for one in languages for voice in one.timbres
    )


def name_pack(
    url: str, languages: Iterable[Language], pack: VoicePack | None = None
) -> tuple[str, ...]:
    """Return the parts of a pack's name: the language and the timbre of the voice at a URL.

    If no voice has the URL, the only part is the name of ``pack``, or an empty text if it is None.
    """
    for one in languages:
        for voice in one.timbres:
            if url and voice.timbre_pack_url == url:
                return one.lang or "", voice.timbre or voice.name or ""
    return ((pack.name or "") if pack else "",)


MOST_ALIKE = 5
"""Maximum number of packs with the timbre in their names that :func:`find_listed_pack` checks."""


def find_listed_pack(
    voice: Timbre,
    lang: str | None,
    packs: Sequence[VoicePack],
    details: Mapping[str, VoicePack],
) -> int | None:
    """Return the index of the listed pack that contains a voice; None if no pack does.

    A voice belongs to the pack with the same address, but a list of packs may lack the addresses.
    In that case, the result is the first pack that has the timbre in its name and is not known to
    have another address.

    Args:
        voice: The voice.
        lang: The language code of the voice. Packs whose names contain the code come first.
        packs: The listed packs of the lock.
        details: Maps the name of a pack to its details, for the packs whose details lockterm has
            read.
    """
    alike = []
    timbre, language = (voice.timbre or "").casefold(), (lang or "").casefold()
    for place, pack in enumerate(packs):
        name = pack.name or ""
        url = details.get(name, pack).timbre_pack_url
        if url and url == voice.timbre_pack_url:
            return place
        if timbre and timbre in name.casefold():
            alike.append((language not in name.casefold(), place, bool(url)))
    for _, place, has_other_url in sorted(alike)[:MOST_ALIKE]:
        if not has_other_url:
            return place
    return None


def joined(lists: Iterable[Sequence[Language]]) -> list[Language]:
    """Return the languages of several lock models, each with all its voices and no duplicates.

    If several models have the same voice, the voice of the first model is used.
    """
    by_code: dict[str | None, Language] = {}
    known: dict[str | None, dict[str | None, Timbre]] = {}
    for languages in lists:
        for one in languages:
            by_code.setdefault(one.lang, one)
            timbres = known.setdefault(one.lang, {})
            for timbre in one.timbres:
                timbres.setdefault(timbre.timbre, timbre)
    return [replace(one, timbres=(*known[lang].values(),)) for lang, one in by_code.items()]


def pack_source(
    url: str, named: tuple[str, ...], told: Iterable[VoicePack | Timbre | None]
) -> PackSource:
    """Return the source of a pack, with the first size and the first MD5 that were reported.

    Args:
        url: The address of the pack.
        named: The parts of the file name; see :class:`PackSource`.
        told: The list entries and details about the pack; None entries are ignored.
    """
    known = [one for one in told if one is not None]
    size = next((one.file_size for one in known if one.file_size is not None), None)
    md5 = next((one.file_md5 for one in known if one.file_md5), "")
    return PackSource(url, size, md5, named)


_ENDING = re.compile(r"\.([a-z0-9]{1,5})(?:[?#]|$)")
_ENDINGS = frozenset({
    *("aac", "amr", "flac", "m4a", "mp3", "ogg", "opus", "pcm", "wav"),
    *("7z", "bin", "bz2", "dat", "gz", "pack", "tar", "tgz", "xz", "zip"),
})  # fmt: skip
"""The allowed file endings: those of sounds and archives. A desktop might execute files with other
endings."""
_NO_WORD = re.compile(r"[^A-Za-z0-9]+")
_PART = 24
"""Maximum length of each part of a file name (lock, language and timbre), in characters."""


class PackSource(NamedTuple):
    """The source of a voice pack, with the reported size and MD5 (contract 2.5 and 2.6)."""

    url: str
    """The address of the pack (``timbrePackUrl``)."""
    size: int | None = None
    """The size in bytes (``fileSize``); None if the service reported no size, for example for the
    timbres of a language."""
    md5: str = ""
    """The MD5 (``fileMd5``); empty if the service reported no MD5."""
    named: tuple[str, ...] = ()
    """The parts of the file name: the lock, the language and the timbre."""

    @property
    def file_name(self) -> str:
        """The file name, such as ``Main-gate_1001_de-DE_anna_3f2a91c03f2a91c0.wav``.

        A pack has the same file name on every download for a lock. The last part is a digest of
        address, size and MD5, so that no download resumes the file of another pack. The ending is
        that of the address if it is the ending of a sound or an archive, otherwise ``.pack``.
        """
        facts = f"{self.url}\n{self.size}\n{self.md5.lower()}"
        mark = hashlib.sha256(facts.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        parts = (_NO_WORD.sub("-", part)[:_PART].strip("-") for part in self.named)
        match = _ENDING.search(self.url.rpartition("/")[2].lower())
        ending = match[1] if match and match[1] in _ENDINGS else "pack"
        return f"{'_'.join([*filter(None, parts), mark])}.{ending}"

    @property
    def assurance(self) -> str:
        """Sentences that describe which checks a downloaded file has passed."""
        limits = "These checks detect transmission errors, not forgery."
        if self.size is not None and self.md5:
            return f"Size and MD5 match. {limits}"
        if self.md5:
            return f"The MD5 matches. {limits}"
        if self.size is not None:
            return f"The size matches. The service reported no MD5. {limits}"
        return "The service reported neither size nor MD5, so nothing was checked."
