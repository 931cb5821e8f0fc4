"""The form for a remote: its fields, its questions before sending, and its saving."""

from lockterm.screens.remote_form.screen import RemoteForm, RemoteSaved

__all__ = ["RemoteForm", "RemoteSaved"]
