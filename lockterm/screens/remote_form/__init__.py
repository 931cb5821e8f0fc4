"""The form for a remote: its fields, the confirmation dialogs, and saving."""

from lockterm.screens.remote_form.screen import RemoteForm, RemoteSaved

__all__ = ["RemoteForm", "RemoteSaved"]
