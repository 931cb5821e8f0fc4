"""Functions that load the settings of the UI, and run one of its apps until the app ends."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockterm.config import Options, Settings, load_settings
from lockterm.config.profile import PRESETS
from lockterm.errors import ConfigError

if TYPE_CHECKING:
    from textual.app import App, ReturnType

    from lockterm.api.client import FirstPage
    from lockterm.app import LocktermApp
    from lockterm.config import Look
    from lockterm.config.profiles import Profiles
    from lockterm.paths import Paths
    from lockterm.terminal.signals import SignalGuard


def load_ui_settings(config_file: Path, options: Options) -> Settings:
    """Return the effective settings, after checking the end dates that forms offer.

    The package ``lockterm.config`` does not check these dates, because it cannot parse dates.

    Raises:
        ConfigError: If a setting is wrong; the message names the value and the setting.
    """
    settings = load_settings(config_file, options, os.environ)
    if settings.profile is not None and settings.profile.presets != PRESETS:
        from lockterm.domain.date_input import find_error  # few people configure it

        for text in settings.profile.presets:
            if error := find_error(text):
                raise ConfigError(
                    f"{settings.origins['presets']}: presets contains {text!r}. {error}"
                )
    return settings


def run_profile(
    settings: Settings,
    paths: Paths,
    guard: SignalGuard,
    profiles: Profiles | None = None,
    before: LocktermApp | None = None,
    first: FirstPage | None = None,
) -> LocktermApp:
    """Run the app that uses a profile.

    Args:
        settings: The settings of the session, including the profile.
        paths: The paths of lockterm's files.
        guard: The handler of signals.
        profiles: The profiles that the user can switch to; None in the demo.
        before: The app of the previous profile, if the user has switched profiles. The new app
            keeps the look and the messages of that app.
        first: The first page of the lock to open, if it was already requested; otherwise None.

    Returns:
        The app after it has ended. Its ``goes_on`` contains the settings of the next app, or None
        to quit.
    """
    from lockterm.app import LocktermApp

    assert settings.profile is not None
    look = before.look if before is not None else settings.look
    app = LocktermApp(
        settings.profile,
        paths,
        look=look,
        keymap=settings.keymap,
        open_lock=settings.open_lock,
        is_last=settings.is_last,
        profiles=profiles,
        first=first,
    )
    if before is not None:
        app.notices.log = before.notices.log
    run_app(app, look, guard)
    return app


def run_app(app: App[ReturnType], look: Look, guard: SignalGuard) -> ReturnType | None:
    """Run an app and return its result; None if the app ended without a result."""
    # At its end, asyncio.run would wait for look-ups of host names, which can take very long.
    loop = asyncio.new_event_loop()
    try:
        with guard.watching(app):
            return app.run(mouse=look.mouse, loop=loop)
    finally:
        close_loop(loop)


def close_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel the remaining tasks of an event loop, and close the loop."""

    async def end() -> None:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await loop.shutdown_asyncgens()

    try:
        loop.run_until_complete(end())
    finally:
        loop.close()


def exit_code(app: App[Any], guard: SignalGuard) -> int:
    """Return the exit code of an app that has ended: 128 + n for signal n, 1 for a bug, or 0."""
    return guard.exit_code or app.return_code or 0
