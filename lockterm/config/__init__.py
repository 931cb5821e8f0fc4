"""Settings: profiles in a TOML file, the environment, the command line; and where each came from.

``load_settings`` is the way in. Order: option, environment, profile in the file, default. An
unknown or wrong setting raises a ``ConfigError`` that names the place, the key, and a right value.
"""

from __future__ import annotations

from lockterm.config.look import Look
from lockterm.config.profile import Profile
from lockterm.config.settings import Options, Settings, load_settings

__all__ = ["Look", "Options", "Profile", "Settings", "load_settings"]
