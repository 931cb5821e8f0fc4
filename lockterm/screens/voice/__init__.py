"""The screen of a lock's voice: the available voices, and the packs with their download."""

from lockterm.screens.voice.screen import VoiceScreen

__all__ = ["VoiceScreen"]
