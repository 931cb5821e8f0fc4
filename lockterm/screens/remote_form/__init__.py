"""The form for a remote: its fields, what is asked before it is sent, and the way to an answer."""

from lockterm.screens.remote_form.screen import RemoteForm, RemoteSaved

__all__ = ["RemoteForm", "RemoteSaved"]
