"""The connection for the first request, begun before the configuration is read.

Reading that takes longer than a plain look at its lines. They need not be understood: nothing is
sent before the settings are known, and where these lead elsewhere the connection is closed unused.
A start waits for this module, so it imports little.
"""

from __future__ import annotations

import os

from lockterm.address import plain_address
from lockterm.own_files import read_trusted

TYPE_CHECKING = False  # as in typing, which takes longer to import than this
if TYPE_CHECKING:
    from collections.abc import Mapping

    from lockterm.api.pending_connection import PendingConnection

_MOST = 64 * 1024
"""A longer configuration is left to who reads it whole."""


def connect_early(
    words: Mapping[str, str | bool] | None, environ: Mapping[str, str]
) -> PendingConnection | None:
    """Begin to connect where a lock is to be opened straight away.

    Args:
        words: What was typed; see :func:`lockterm.cli.plain.plain_words`.
        environ: The environment.

    Returns:
        A connection to the service that it most likely is; None: none is made.
    """
    if words is None or not (os.isatty(0) and os.isatty(2)):
        return None

    def given(setting: str) -> str:
        return str(words.get(setting) or environ.get(f"LOCKTERM_{setting.upper()}") or "")

    if not given("lock"):
        return None
    url = given("base_url") or _configured(_config_lines(environ), given("profile"))
    plain = plain_address(url.rstrip("/"))
    if plain is None:
        return None
    from lockterm.api.pending_connection import PendingConnection

    return PendingConnection(*plain[1:3])


def _config_lines(environ: Mapping[str, str]) -> str:
    """The configuration's lines, where it stands on most machines and others cannot write it."""
    root = environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(root):  # such a place does not count, as everywhere
        root = os.path.join(environ.get("HOME") or os.sep, ".config")
    return read_trusted(os.path.join(root, "lockterm", "config.toml"), _MOST).decode(
        "utf-8-sig", "replace"
    )


def _configured(text: str, profile: str) -> str:
    """The base URL of a profile in the lines of a configuration; empty: none is told plainly.

    Args:
        text: The lines.
        profile: Its name; empty: the one of ``default_profile``, or the only one.
    """
    table, urls = "", dict[str, str]()
    for line in text.splitlines():
        key, _, value = line.partition("=")
        quoted = value.strip().split('"')
        if line.startswith("["):
            table = line.split("#")[0].strip()
        elif len(quoted) > 2 and not quoted[0] and "\\" not in value:
            if key.strip() == "base_url":
                urls[table] = quoted[1]
            elif key.strip() == "default_profile" and not table:
                profile = profile or quoted[1]
    if profile:
        return urls.get(f"[profiles.{profile}]", "")
    return next(iter(urls.values())) if len(urls) == 1 else ""
