"""``lockterm``: the terminal UI on a profile."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lockterm import startup
from lockterm.config import Options, load_settings
from lockterm.errors import ConfigError
from lockterm.logfile import log_to
from lockterm.paths import Paths
from lockterm.terminal import SignalGuard, cure_input, require_terminal

if TYPE_CHECKING:
    from lockterm.config import Profile, Settings

NO_SERVICE = "lockterm knows no service yet."


def run_ui(options: Options) -> int:
    """Show the UI until it is left.

    Returns:
        The exit code.

    Raises:
        ConfigError: A setting is wrong.
        NoTerminal: Here is nothing to draw on.
    """
    startup.begin()
    paths = Paths.standard()
    settings = load_settings(paths.config_file, options, os.environ)
    require_terminal(os.environ)
    if settings.profile is None:
        return _first_run(options, paths)
    secrets = settings.profile.headers.values()
    log_to(paths.log_file, options.log_level, secrets=secrets)
    with SignalGuard(paths.log_file) as guard:
        return show(settings.profile, settings, paths, guard)


def show(profile: Profile, settings: Settings, paths: Paths, guard: SignalGuard) -> int:
    """Run the app to its end.

    Returns:
        The exit code: 0, that of a signal, or 1 for a bug.
    """
    import asyncio

    from lockterm.app import LocktermApp

    cure_input()
    app = LocktermApp(profile, paths, look=settings.look, open_lock=settings.open_lock)
    # A loop of our own: asyncio.run would wait at its end for look-ups of names that hang.
    loop = asyncio.new_event_loop()
    try:
        with guard.watching(app):
            app.run(mouse=settings.look.mouse, loop=loop)
    finally:
        loop.close()
    return guard.exit_code or app.return_code or 0


def _first_run(options: Options, paths: Paths) -> int:
    from dataclasses import replace

    from lockterm.cli.first_run import DEMO, ask

    answer = ask(paths.config_file)
    if answer is None:
        raise ConfigError(
            NO_SERVICE,
            hint="Try `lockterm demo`, or give one: lockterm --base-url https://locks.example.com",
        )
    if answer == DEMO:
        from lockterm.cli.demo import run_demo

        return run_demo(options)
    return run_ui(replace(options, base_url=answer))
