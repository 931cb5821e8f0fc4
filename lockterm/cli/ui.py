"""``lockterm``: the terminal UI on a profile, and on another one after a switch."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lockterm import startup
from lockterm.config import Options, load_settings
from lockterm.config.profiles import Profiles
from lockterm.logfile import log_to
from lockterm.paths import Paths
from lockterm.terminal import SignalGuard, cure_input, require_terminal

if TYPE_CHECKING:
    from textual.app import App, ReturnType

    from lockterm.app import LocktermApp
    from lockterm.config import Look, Settings


def run_ui(options: Options, profile: str | None = None) -> int:
    """Show the UI until it is left.

    Args:
        options: What was typed.
        profile: Begin with this one, as was just chosen; None: as options and file say.

    Returns:
        The exit code: 0, that of a signal, or 1 for a bug.

    Raises:
        ConfigError: A setting is wrong.
        NoTerminal: Here is nothing to draw on.
    """
    startup.begin()
    paths = Paths.standard()
    chosen = replace(options, profile=profile) if profile else options
    settings = load_settings(paths.config_file, chosen, os.environ)
    require_terminal(os.environ)
    profiles = Profiles(paths.config_file, options, os.environ)
    if settings.profile is None:
        from lockterm.cli.first_run import run_first

        return run_first(options, settings, paths, profiles)
    with SignalGuard(paths.log_file) as guard:
        return _run_profiles(settings, paths, guard, profiles, options.log_level)


def _run_profiles(
    settings: Settings, paths: Paths, guard: SignalGuard, profiles: Profiles, log_level: str | None
) -> int:
    """One app after another: each on a profile, until one ends without naming the next."""
    secrets: set[str] = set()
    before: LocktermApp | None = None
    while True:
        assert settings.profile is not None
        secrets.update(settings.profile.headers.values())
        handler = log_to(paths.log_file, log_level, secrets=secrets)
        app = show(settings, paths, guard, profiles, before)
        logging.getLogger("lockterm").removeHandler(handler)
        handler.close()
        if guard.exit_code or app.goes_on is None:
            return exit_code(app, guard)
        settings, before = app.goes_on, app


def show(
    settings: Settings,
    paths: Paths,
    guard: SignalGuard,
    profiles: Profiles | None = None,
    before: LocktermApp | None = None,
) -> LocktermApp:
    """Run the app on a profile to its end.

    Args:
        settings: With a profile.
        paths: Where lockterm keeps its files.
        guard: Watches for signals.
        profiles: Those that can be switched to; None in the demo.
        before: The app that was switched from: its look and its messages are taken over.

    Returns:
        The app, which knows what is to follow.
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
        profiles=profiles,
    )
    if before is not None:
        app.messages.extend(before.messages)
    run_app(app, look, guard)
    return app


def run_app(app: App[ReturnType], look: Look, guard: SignalGuard) -> ReturnType | None:
    """Run any app of lockterm to its end; returns what it ended with."""
    import asyncio

    cure_input()
    # A loop of our own: asyncio.run would wait at its end for look-ups of names that hang.
    loop = asyncio.new_event_loop()
    try:
        with guard.watching(app):
            return app.run(mouse=look.mouse, loop=loop)
    finally:
        loop.close()


def exit_code(app: App[Any], guard: SignalGuard) -> int:
    """That of a signal, 1 for a bug, or 0."""
    return guard.exit_code or app.return_code or 0
