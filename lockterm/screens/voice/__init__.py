"""The voice of a lock: the choices, their packs, and the download of a pack."""

from lockterm.screens.voice.screen import VoiceScreen

__all__ = ["VoiceScreen"]
