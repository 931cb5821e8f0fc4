"""Trying a profile before it is written: what came of asking its service, in words."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lockterm.config import values
from lockterm.domain.safe_text import clean
from lockterm.errors import ConfigError, LocktermError, Unreachable, Untrusted
from lockterm.operations.connection import CLOCK_TOLERANCE_S
from lockterm.operations.probe import ServiceAnswers, ask, look_at_certificate

if TYPE_CHECKING:
    from lockterm.config import Profile
    from lockterm.config.file import ConfigFile
    from lockterm.config.profiles import Profiles
TIMEOUT_S = 10.0
"""How long an attempt may take, in seconds: somebody waits in front of it."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of trying a profile; safe to show."""

    works: bool
    """Whether the service can be used with it."""
    words: str
    """What was seen; or what happened, what it means and what to do."""


async def try_profile(
    profiles: Profiles, file: ConfigFile, name: str, filed: Mapping[str, Any]
) -> Tried:
    """Ask the service of a profile that need not be in the file; nothing is changed by it."""
    trial = replace(file, profiles={name: filed}, default_profile=None)
    try:
        profile = profiles.resolve(trial, name).profile
        assert profile is not None
        profile = replace(profile, timeout_s=min(profile.timeout_s, TIMEOUT_S))
        answers = await ask(profile)
    except ConfigError as error:  # of a file that is not written yet, its place says nothing
        return _failed(error, error.message.removeprefix(f"{file.path}: "))
    except LocktermError as error:
        is_out_of_reach = isinstance(error, Unreachable) and not isinstance(error, Untrusted)
        hint = "Check the network and the base URL, then try again." if is_out_of_reach else ""
        return _failed(error, error.meaning, hint)
    if denial := answers.denial:
        hint = denial.hint or "See that base URL, header and variable are the right ones."
        return _failed(denial, denial.meaning, hint)
    words = [
        f"{profile.host} answers as it should, in {answers.first_ms:.0f} ms.",
        await _secrecy(profile),
        _clocks(answers),
    ]
    return Tried(True, " ".join(words))


def _failed(error: LocktermError, message: str, hint: str = "") -> Tried:
    stop = "" if message.endswith((".", "?", "!")) else "."
    parts = (f"{error.title}: {message}{stop}", hint or error.hint)
    return Tried(False, " ".join(clean(part, 400) for part in parts if part))


async def _secrecy(profile: Profile) -> str:
    if not profile.base_url.startswith("https:"):
        warning = values.base_url(profile.base_url)[1]
        return "NOTHING IS ENCRYPTED: use https." if warning else "It is on this machine."
    try:
        seen = await asyncio.to_thread(look_at_certificate, profile)
    except (LocktermError, OSError, ValueError):
        return "Its certificate is trusted."  # the call before was made with it
    return f"Its certificate is trusted, {seen.tls}, and lasts until {seen.until}."


def _clocks(answers: ServiceAnswers) -> str:
    offset_s = answers.offset_s
    if offset_s is None:
        return "It does not report its time."
    if abs(offset_s) <= CLOCK_TOLERANCE_S:
        return f"The clocks agree within {abs(offset_s) + 1:.0f} s."
    side = "behind" if offset_s > 0 else "ahead of"
    return (
        f"This machine's clock is {abs(offset_s):.0f} s {side} the service's: set it, or dates will"
        " be wrong."
    )
