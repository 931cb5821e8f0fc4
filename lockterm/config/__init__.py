"""Settings from the command line, the environment and a TOML file, with their origins.

``load_settings`` is the entry point. An option overrides the environment, which overrides the
profile in the file, which overrides the default. An unknown or wrong setting raises a
``ConfigError``. The error contains the key, a valid value, and either the file and line or the
option.
"""

from __future__ import annotations

from lockterm.config.look import Look
from lockterm.config.profile import Profile
from lockterm.config.settings import Options, Settings, load_settings

__all__ = ["Look", "Options", "Profile", "Settings", "load_settings"]
