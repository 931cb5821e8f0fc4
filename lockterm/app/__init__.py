"""The Textual apps of lockterm: one that uses a profile, and one for the first run."""

from lockterm.app.lockterm_app import LocktermApp

__all__ = ["LocktermApp"]
