"""The keys of the voice screen: the one list behind key line, help and palette."""

from __future__ import annotations

from textual.binding import Binding, BindingType

KEYS: list[BindingType] = [
    # In the order in which the key line gives them room.
    Binding(
        "enter,s",
        "set_voice",
        "set voice",
        id="voice.set",
        tooltip="Let the lock speak with the timbre under the cursor",
    ),
    Binding("slash", "find", "find", id="voice.find", tooltip="Type to find"),
    Binding(
        "y",
        "copy_url",
        "copy URL",
        id="voice.copy_url",
        tooltip="Copy the URL of the pack under the cursor",
    ),
    Binding(
        "m",
        "copy_md5",
        "copy MD5",
        show=False,
        id="voice.copy_md5",
        tooltip="Copy the MD5 of the pack under the cursor",
    ),
    Binding(
        "D",
        "fetch_pack",
        "fetch pack",
        id="voice.fetch",
        tooltip="Fetch the pack under the cursor to this machine, or resume fetching it",
    ),
    Binding(
        "e",
        "vendor_model",
        "vendor, model",
        show=False,
        id="voice.vendor_model",
        tooltip="Say which vendor and model the lock is: that decides which voices there are",
    ),
    Binding("r", "refresh", "refresh", id="voice.refresh", tooltip="Read everything again"),
    Binding("escape", "back", "back", id="voice.back", tooltip="Go back"),
]
