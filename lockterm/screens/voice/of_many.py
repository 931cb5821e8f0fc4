"""Which of many locks have which voice, as the service tells it model by model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.safe_text import clean
from lockterm.domain.voices import joined
from lockterm.errors import ServiceError
from lockterm.operations.cached_reads import Fetched
from lockterm.operations.voice_plans import read_voices

if TYPE_CHECKING:
    from lockterm.domain.voices import Language
    from lockterm.operations import Operations

_Model = tuple[str, str]
"""Vendor and model."""

_NAMED = 20
"""So many locks are named, at the most: there is one line for them."""


class OfMany:
    """The voices of many locks.

    Args:
        operations: What reads.
        locks: The locks, as the lock book has them.
    """

    def __init__(self, operations: Operations, locks: Sequence[Lock]) -> None:
        self.locks = locks
        self._operations = operations
        self._has: Mapping[_Model, frozenset[tuple[str | None, str | None]]] = {}
        """The voices of each model whose list is known."""
        self._count = Counter((lock.vendor, lock.model) for lock in locks)
        """How many locks are of a model."""

    async def read(self) -> list[Language]:
        """Read the list of each lock, side by side; voices that only some have are among them.

        Raises:
            ServiceError: None of them could be read.
        """
        told = await read_voices(self._operations, self.locks)
        lists = {model: one for model, one in told.items() if not isinstance(one, ServiceError)}
        for error in told.values():
            if not lists and isinstance(error, ServiceError):
                raise error
        return self._note(lists)

    async def kept(self) -> Fetched[list[Language]] | None:
        """What was read of them before; None: not of all."""
        cached: dict[_Model, Fetched[list[Language]]] = {}
        for model in self._count:
            if (seen := await self._operations.voices.cached_languages(*model)) is None:
                return None  # what is not known would look like a voice they lack
            cached[model] = seen
        oldest = min(cached.values(), key=lambda seen: seen.at_ms)
        return replace(oldest, value=self._note({one: seen.value for one, seen in cached.items()}))

    def _note(self, lists: Mapping[_Model, Sequence[Language]]) -> list[Language]:
        self._has = {
            model: frozenset(
                (one.lang, timbre.timbre) for one in languages for timbre in one.timbres
            )
            for model, languages in lists.items()
        }
        return joined(lists.values())

    def without(self, voice: VoiceChoice | None) -> list[Lock]:
        """The locks that cannot get a voice, so far as is known; None: those with no known list."""
        left = []
        for lock in self.locks:
            has = self._has.get((lock.vendor, lock.model))
            if has is None or (voice is not None and (voice.lang, voice.timbre) not in has):
                left.append(lock)
        return left

    def held(self, voice: VoiceChoice | None) -> str:
        """``3 of 5 locks``: how many have a voice; empty: all whose list is known."""
        if voice is None:
            return ""
        lacking = [one for one, has in self._has.items() if (voice.lang, voice.timbre) not in has]
        if not lacking:
            return ""
        count = sum(self._count[one] for one in self._has if one not in lacking)
        return f"{count:,} of {len(self.locks):,} locks"

    def first_of_all(self, languages: Iterable[Language]) -> VoiceChoice | None:
        """The first voice that all have whose list is known; None: there is none."""
        for language in languages:
            for timbre in language.timbres:
                choice = VoiceChoice(language.lang or "", timbre.timbre or "")
                if choice.lang and choice.timbre and not self.held(choice):
                    return choice
        return None

    def words(self, voice: VoiceChoice | None) -> str:
        """Which of them have a voice, and which are left out, by name."""
        left, total = self.without(voice), len(self.locks)
        names = ", ".join(clean(lock.title, 40) for lock in left[:_NAMED])
        if voice is None:
            return f"Not read, or no vendor and model: {names}." if left else ""
        if not left:
            return "It has it." if total == 1 else f"All {total:,} marked locks have it."
        return f"{total - len(left):,} of {total:,} marked locks have it. Left out: {names}."
