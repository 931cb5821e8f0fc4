"""Names of nine kinds, and the same in letters that every terminal knows."""

from __future__ import annotations

from rich.cells import split_graphemes

from lockterm.domain.safe_text import clean
from lockterm.terminal.widths import is_ambiguous

NAMES: tuple[str, ...] = (
    # Latin with accents, of which many are two cells wide for some
    *("Renée Müller", "Łukasz Żółć", "José Álvarez"),
    *("Ирина Петрова", "Семён Ђорђе"),  # Cyrillic
    *("张伟 王芳", "佐藤 花子"),  # CJK
    *("דוד כהן", "שרה לוי"),  # Hebrew
    *("محمد علي", "لا إله"),  # Arabic
    *("สมชาย ใจดี", "กำนันปู่"),  # Thai
    *("प्रिया क्षत्रिय", "தமிழ்ச்செல்வி"),  # Indic
    *("👩🏽‍🚒 Kim", "🇩🇪🇫🇷 Gate", "👨‍👩‍👧‍👦 Family"),  # flags and joined
    *("Z̴̡̛a͗l̶g̷o̸", "a̐éö̲ Ω±①★"),  # zalgo, and signs
)
"""As many as stand on a page."""

LETTERS = "qzjx"
"""No word of lockterm has two of them side by side."""
PLAIN = rf"[{LETTERS}]{{2,}}(?: ?[{LETTERS}]+)*(?:[…~]|\.\.)?"
"""What a plain name looks like on a screen, also where it was shortened."""


def numbers(count: int) -> list[str]:
    """Remote numbers: with a letter, and with digits alone, which go with the writing around."""
    return [f"A-{2000 + 37 * at}" if at % 2 else str(27010 + 37 * at) for at in range(count)]


def plain(name: str, place: int, ambiguous: int) -> str:
    """A name as wide as another for lockterm, in ASCII, with spaces where that has them.

    Args:
        name: The other.
        place: Up to 64 have different ones.
        ambiguous: How many cells the terminal takes for á and the like.
    """
    shown = clean(name)
    code = iter(LETTERS[place >> shift & 3] for shift in (0, 2, 4))
    letters = []
    for start, end, width in split_graphemes(shown)[0]:
        sign = shown[start:end]
        if is_ambiguous(sign):
            width = max(width, ambiguous)
        letters += [" " if sign == " " else next(code, LETTERS[0]) for _ in range(width)]
    return "".join(letters)
