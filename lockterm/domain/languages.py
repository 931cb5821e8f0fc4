"""Names of languages, from the Unicode CLDR.

The CLDR library and its data take tens of milliseconds to load, so call these functions in a
thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from babel.core import Locale, UnknownLocaleError

_LONGEST = 40
"""Maximum length of a language code in characters. lockterm finds no names for longer codes."""


@dataclass(frozen=True, slots=True)
class LanguageName:
    """The names of a language, in English and in the language itself."""

    english: str
    """The name in English: ``German``."""
    own: str
    """The name in the language itself: ``Deutsch``; empty if the CLDR does not have it."""
    english_full: str
    """The English name with script and region: ``German (Germany)``."""
    own_full: str
    """The name with script and region in the language itself: ``Deutsch (Deutschland)``; may be
    empty."""


@lru_cache(maxsize=1000)
def name_of(code: str) -> LanguageName | None:
    """Return the names of the language with a code such as ``de-DE`` or ``zh_Hant``, or None.

    None means that the CLDR does not know the code, or that the code is malformed.
    """
    english = Locale("en")
    code = code.strip().replace("_", "-")
    if not code.isascii() or not 2 <= len(code) <= _LONGEST:
        return None
    try:
        locale = Locale.parse(code, sep="-")
    except (UnknownLocaleError, ValueError):
        name = english.languages.get(code.partition("-")[0].lower())
        return LanguageName(name, "", name, "") if name else None
    name = locale.get_language_name(english)
    if not name:
        return None
    return LanguageName(
        english=name,
        own=locale.get_language_name(locale) or "",
        english_full=locale.get_display_name(english) or name,
        own_full=locale.get_display_name(locale) or "",
    )
