"""A window with the terminal of GNOME in it: VTE has no program of its own.

Run by the system's Python, which has the bindings: ``vte_window.py AMBIGUOUS FONT COMMAND...``.
"""

from __future__ import annotations

import sys

import gi  # type: ignore[import-not-found, import-untyped, unused-ignore]

gi.require_version("Gtk", "3.0")
gi.require_version("Vte", "2.91")
from gi.repository import GLib, Gtk, Pango, Vte  # type: ignore[import-not-found, import-untyped, unused-ignore] # noqa: E402

window, terminal = Gtk.Window(), Vte.Terminal()
terminal.set_size(80, 24)
terminal.set_cjk_ambiguous_width(int(sys.argv[1]))
terminal.set_font(Pango.FontDescription(sys.argv[2]))
terminal.set_cursor_blink_mode(Vte.CursorBlinkMode.OFF)
terminal.connect("child-exited", lambda *_: Gtk.main_quit())
command = sys.argv[3:]
terminal.spawn_async(
    Vte.PtyFlags.DEFAULT, None, command, None, GLib.SpawnFlags.DEFAULT, None, None, -1, None, None
)
window.add(terminal)
window.show_all()
window.move(0, 0)
Gtk.main()
