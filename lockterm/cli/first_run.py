"""What is asked where no service is known yet."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from lockterm.errors import ConfigError

if TYPE_CHECKING:
    from lockterm.config import Options, Settings
    from lockterm.config.profiles import Profiles
    from lockterm.paths import Paths

NO_SERVICE = "lockterm knows no service yet."


def run_first(options: Options, settings: Settings, paths: Paths, profiles: Profiles) -> int:
    """Ask, and go on with the demo or on the new profile.

    Returns:
        The exit code.

    Raises:
        ConfigError: Neither was chosen; or the new profile cannot be used as it is.
    """
    from lockterm.choices import Choices
    from lockterm.cli.ui import run_app, run_ui
    from lockterm.first_run_app import FirstRunApp
    from lockterm.logfile import log_to
    from lockterm.terminal import SignalGuard

    handler = log_to(paths.log_file, options.log_level)
    with SignalGuard(paths.log_file) as guard:
        app = FirstRunApp(profiles, Choices(paths.choices), settings.look, settings.keymap)
        chosen = run_app(app, settings.look, guard)
    logging.getLogger("lockterm").removeHandler(handler)
    if code := guard.exit_code or app.return_code:
        return code
    if chosen is None:
        raise ConfigError(
            NO_SERVICE,
            hint="Try `lockterm demo`, or give one: lockterm --base-url https://locks.example.com",
        )
    if chosen.profile is not None:
        return run_ui(options, chosen.profile)
    from lockterm.cli.demo import run_demo

    return run_demo(options)
