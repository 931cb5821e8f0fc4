"""The screen of a lock's voice: the available voices, the packs, and their download."""

from lockterm.screens.voice.screen import VoiceScreen

__all__ = ["VoiceScreen"]
