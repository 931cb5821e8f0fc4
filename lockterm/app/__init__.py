"""The Textual applications: lockterm itself, and the one of a first run."""

from lockterm.app.lockterm_app import LocktermApp

__all__ = ["LocktermApp"]
