"""httpx without what lockterm has no use for, and with what its first request would import.

``import httpx`` also imports httpx's command line wherever click, rich and pygments are installed,
as they are beside Textual: a hundred modules for nothing; and the tables of idna, 0.4 MiB for hosts
whose names are not ASCII. What a first connection imports, it imports in the event loop, where keys
would wait for it: it is imported here, in the thread that imports this. Import httpx and httpcore
from here alone.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

_COMMAND_LINE, _IDNA = "httpx._main", "idna"
_OF_A_CONNECTION = "anyio._backends._asyncio"


class _Later(ModuleType):
    """A module that is imported when something of it is used."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


if "httpx" in sys.modules:
    import httpx
else:
    sys.modules[_COMMAND_LINE] = None  # type: ignore[assignment]  # makes its import fail, as meant
    if is_later := _IDNA not in sys.modules:
        sys.modules[_IDNA] = _Later(_IDNA)
    try:
        import httpx
    finally:
        del sys.modules[_COMMAND_LINE]
        if is_later:
            del sys.modules[_IDNA]  # httpx has it; whoever else imports it gets the module

import httpcore  # noqa: E402

with suppress(ImportError):
    import_module(_OF_A_CONNECTION)

# httpcore asks for it some five times an exchange, and a module that is not there is looked for on
# the disk each time: a tenth of all that reading a hundred locks takes.
try:
    import_module("sniffio")
except ImportError:
    sys.modules["sniffio"] = None  # type: ignore[assignment]  # so that its import fails at once

__all__ = ["httpcore", "httpx"]
