"""httpx without its command line.

``import httpx`` also imports httpx's command line wherever click, rich and pygments are installed,
as they are beside Textual: a hundred modules for nothing. Import httpx from here alone.
"""

from __future__ import annotations

import sys

_COMMAND_LINE = "httpx._main"

if "httpx" in sys.modules:
    import httpx
else:
    sys.modules[_COMMAND_LINE] = None  # type: ignore[assignment]  # makes its import fail, as meant
    try:
        import httpx
    finally:
        del sys.modules[_COMMAND_LINE]

__all__ = ["httpx"]
