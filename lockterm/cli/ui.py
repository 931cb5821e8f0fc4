"""The command ``lockterm`` without a subcommand, which runs the UI and switches profiles."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from lockterm.api.client import FirstPage
from lockterm.cli.exit_codes import NO_SERVICE
from lockterm.cli.logfile import log_to
from lockterm.cli.running import exit_code, load_ui_settings, run_app, run_profile
from lockterm.config import Options
from lockterm.config.preferences import Preferences
from lockterm.config.profile import USUAL_SIZE
from lockterm.config.profiles import Profiles
from lockterm.errors import ConfigError
from lockterm.paths import Paths
from lockterm.terminal import startup
from lockterm.terminal.signals import SignalGuard, require_terminal, terminal_size

if TYPE_CHECKING:
    from lockterm.app import LocktermApp
    from lockterm.config import Settings


def run_ui(
    options: Options,
    profile: str | None = None,
) -> int:
    """Run the terminal UI until the user quits.

    Args:
        options: The options of the command.
        profile: The name of the profile to start with; None to use the options and the
            configuration.

    Returns:
        The exit code: 0, 128 + n for signal n, or 1 for a bug.

    Raises:
        ConfigError: If a setting is wrong.
        NoTerminalError: If there is no usable terminal.
    """
    startup.begin()
    paths = Paths.standard()
    chosen = replace(options, profile=profile) if profile else options
    settings = load_ui_settings(paths.config_file, chosen)
    require_terminal(os.environ)
    profiles = Profiles(paths.config_file, options, os.environ)
    if settings.profile is None:
        return _run_first_start(options, settings, paths, profiles)
    with SignalGuard(paths.log_file) as guard:
        return _run_profiles(settings, paths, guard, profiles, options.log_level)


def _run_first_start(options: Options, settings: Settings, paths: Paths, profiles: Profiles) -> int:
    """Let the user set up a first service or try the demo, run the UI, and return the exit code."""
    from lockterm.app.first_run_app import FirstRunApp

    handler = log_to(paths.log_file, options.log_level)
    with SignalGuard(paths.log_file) as guard:
        app = FirstRunApp(profiles, Preferences(paths.choices), settings.look, settings.keymap)
        chosen = run_app(app, settings.look, guard)
    logging.getLogger("lockterm").removeHandler(handler)
    if code := exit_code(app, guard):
        return code
    if chosen is None:
        raise ConfigError(
            NO_SERVICE,
            hint=(
                "Run `lockterm demo`, or connect to a service: lockterm --base-url"
                " https://locks.example.com"
            ),
        )
    if chosen.profile is not None:
        return run_ui(options, chosen.profile)
    from lockterm.cli.demo import run_demo

    return run_demo(options)


def _run_profiles(
    settings: Settings,
    paths: Paths,
    guard: SignalGuard,
    profiles: Profiles,
    log_level: str | None,
) -> int:
    """Run the app, and then a new app each time the user switches to another profile.

    Returns:
        The exit code of the last app.
    """
    secrets: set[str] = set()
    before: LocktermApp | None = None
    settings = _add_last_lock(settings, paths)
    first = _request_first_page(settings)

    while True:
        assert settings.profile is not None
        secrets.update(settings.profile.headers.values())
        handler = log_to(paths.log_file, log_level, secrets=secrets)
        app = run_profile(settings, paths, guard, profiles, before, first)
        logging.getLogger("lockterm").removeHandler(handler)
        handler.close()
        if guard.exit_code or app.goes_on is None:
            return exit_code(app, guard)
        settings, before, first = _add_last_lock(app.goes_on, paths), app, None


def _add_last_lock(settings: Settings, paths: Paths) -> Settings:
    """Return the settings with the last opened lock, if the profile has ``open_last``.

    A lock that the settings already contain stays.
    """
    profile = settings.profile
    if profile is None or not profile.open_last or settings.open_lock is not None:
        return settings
    from lockterm.store.lock_book import last_lock

    return replace(settings, open_lock=last_lock(paths.database, profile.name), is_last=True)


def _request_first_page(settings: Settings) -> FirstPage | None:
    """Request the first page of the lock that the UI will show, before the UI starts.

    Returns:
        The request; None if the UI will show the lock book.
    """
    if settings.profile is None or settings.open_lock is None:
        return None
    size = terminal_size()
    first = FirstPage(settings.profile, settings.open_lock, size or USUAL_SIZE)
    first.ask()
    return first
