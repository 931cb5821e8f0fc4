"""The voice packs there are: three models of two vendors, nine languages.

A pack is one timbre of one language of one model. Its name in ``voice/list`` is language and
timbre, as in ``de-DE-anna``.
"""

from __future__ import annotations

from dataclasses import dataclass

_DAY_MS = 86_400_000
_FIRST_UPDATE_MS = 1_726_480_800_000
"""2024-09-16T10:00Z, when the oldest pack was made."""


@dataclass(frozen=True, slots=True)
class Pack:
    """One voice pack."""

    vendor: str
    model: str
    lang: str
    """A locale code, and one that no standard knows."""
    timbre: str
    """Identifier within the language."""
    timbre_name: str
    """What a person calls the timbre."""
    is_female: int | None
    """1 female, 0 male; None where the vendor does not say."""
    label: str
    """What a person calls the pack."""
    updated_ms: int

    @property
    def name(self) -> str:
        """Its name in the short list."""
        return f"{self.lang}-{self.timbre}"

    @property
    def path(self) -> str:
        """Where the service serves its file."""
        return f"/packs/{self.vendor}/{self.model}/{self.name}.wav".lower()


@dataclass(frozen=True, slots=True)
class Model:
    """One model of one vendor."""

    vendor: str
    name: str
    packs: tuple[Pack, ...]

    def pack(self, name: str) -> Pack | None:
        """The pack with this name, or None."""
        return next((pack for pack in self.packs if pack.name == name), None)

    def has_voice(self, lang: str, timbre: str) -> bool:
        """Whether a lock of this model can speak so."""
        return any((pack.lang, pack.timbre) == (lang, timbre) for pack in self.packs)


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


def _model(position: int, vendor: str, model: str, languages: tuple[str, ...]) -> Model:
    packs: list[Pack] = []
    for lang, language, timbres in _VOICES:
        if lang not in languages:
            continue
        for timbre, timbre_name, is_female in timbres:
            updated_ms = _FIRST_UPDATE_MS + (61 * position + 17 * len(packs)) * _DAY_MS
            label = f"{language} · {timbre_name}"
            packs.append(
                Pack(vendor, model, lang, timbre, timbre_name, is_female, label, updated_ms)
            )
    return Model(vendor, model, tuple(packs))


MODELS: dict[tuple[str, str], Model] = {
    (vendor, model): _model(position, vendor, model, languages)
    for position, (vendor, model, languages) in enumerate(_MODELS)
}
"""Every model by vendor and model name; the first one stands in for locks in no table."""

PACKS_BY_PATH = {pack.path: pack for model in MODELS.values() for pack in model.packs}
