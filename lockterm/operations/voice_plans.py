"""Plans that set the voice on many locks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lockterm.domain.bulk import voice_each
from lockterm.domain.text.amount import format_count
from lockterm.errors import ServiceError
from lockterm.operations.everywhere import AT_ONCE
from lockterm.operations.planner import PlanDraft, draft_plan

if TYPE_CHECKING:
    from lockterm.domain.locks import Lock, VoiceChoice
    from lockterm.domain.voices import Language
    from lockterm.operations.facade import Operations


async def read_voices(
    operations: Operations, locks: Sequence[Lock]
) -> dict[tuple[str, str], Sequence[Language] | ServiceError]:
    """Read the languages and voices of the models that some locks have, in parallel.

    Args:
        operations: The operations of the profile.
        locks: The locks; locks without a vendor or a model are left out.

    Returns:
        A mapping of (vendor, model) to the languages of the model, or to the error that prevented
        reading them.
    """
    places = asyncio.Semaphore(AT_ONCE)

    async def read(vendor: str, model: str) -> Sequence[Language] | ServiceError:
        async with places:
            try:
                return await operations.voices.languages(vendor, model)
            except ServiceError as error:
                return error

    models = [*dict.fromkeys((one.vendor, one.model) for one in locks if one.vendor and one.model)]
    results = await asyncio.gather(*(read(*model) for model in models))
    return dict(zip(models, results, strict=True))


async def plan_voices(
    operations: Operations, locks: Sequence[Lock], voice: VoiceChoice
) -> PlanDraft:
    """Return a plan that sets the voice on each lock whose model has this voice.

    Args:
        operations: The operations of the profile.
        locks: The entries of the locks in the lock book.
        voice: The voice to set.
    """
    planned = voice_each(locks, voice, await read_voices(operations, locks))
    title = f"voice {voice.lang} {voice.timbre}: {format_count(len(locks), 'lock')}"
    return draft_plan(operations, title, planned)
