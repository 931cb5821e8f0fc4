"""The voice of a lock: what there is to choose from, its packs, fetching one."""

from lockterm.screens.voice.screen import VoiceScreen

__all__ = ["VoiceScreen"]
