"""Textual's driver, with a mouse that can be let go and taken while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.drivers.linux_driver import LinuxDriver

if TYPE_CHECKING:
    from textual.app import App

_MODES = (1000, 1002, 1003, 1015, 1006, 1016)


class TerminalDriver(LinuxDriver):
    """Draws on stderr and reads stdin; what it tells the terminal of the mouse can change."""

    @property
    def has_mouse(self) -> bool:
        """Whether the terminal reports its mouse."""
        return self._mouse

    def use_mouse(self, wanted: bool) -> None:
        """Take the mouse, or let it go: then the terminal selects text with it.

        Args:
            wanted: Whether it is to be reported, from now on and after every stop.
        """
        self._forget_mouse()
        self._mouse = wanted
        self._enable_mouse_support()
        if self._mouse_pixels:
            self._enable_mouse_pixels()

    def _enable_mouse_support(self) -> None:
        if not self._mouse or not _is_quiet(self._app):
            super()._enable_mouse_support()
            return
        # Without 1003: each cell the mouse passes would be sent up the link, and painted.
        for mode in (1000, 1002, 1015, 1006):
            self.write(f"\x1b[?{mode}h")
        self.flush()

    def _disable_mouse_support(self) -> None:
        if self._mouse:
            self._forget_mouse()

    def _forget_mouse(self) -> None:
        if self._mouse:
            self.write("".join(f"\x1b[?{mode}l" for mode in _MODES))
            self.flush()


def _is_quiet(app: App[object]) -> bool:
    look = getattr(app, "look", None)
    return look is not None and look.quiet
