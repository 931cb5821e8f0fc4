"""httpx without its command line.

``import httpx`` also imports httpx's command line wherever click, rich and pygments are installed,
as they are beside Textual: a hundred modules for nothing. Import httpx from here alone.
"""

from __future__ import annotations

import sys
from importlib import import_module

_COMMAND_LINE = "httpx._main"

if "httpx" in sys.modules:
    import httpx
else:
    sys.modules[_COMMAND_LINE] = None  # type: ignore[assignment]  # makes its import fail, as meant
    try:
        import httpx
    finally:
        del sys.modules[_COMMAND_LINE]

# httpcore asks for it some five times an exchange, and a module that is not there is looked for on
# the disk each time: a tenth of all that reading a hundred locks takes.
try:
    import_module("sniffio")
except ImportError:
    sys.modules["sniffio"] = None  # type: ignore[assignment]  # so that its import fails at once

__all__ = ["httpx"]
