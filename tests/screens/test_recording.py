"""The tour of the README: every frame of it is shown, one after the other, and it is small."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from tests.recording import FILE, MOST_BYTES, STEPS

SVG = "{http://www.w3.org/2000/svg}"


def test_the_tour_shows_every_frame_whole() -> None:
    text = FILE.read_text("utf-8")
    picture = ET.fromstring(text)
    frames = [one for one in picture.iter(f"{SVG}g") if one.get("class") == "f"]
    known = {one.get("id") for one in picture.iter(f"{SVG}g")}
    assert len(frames) == len(STEPS), "take it anew: python -m tests.recording"
    for frame, (_, _, words, _) in zip(frames, STEPS, strict=True):
        assert [one.text for one in frame.iter(f"{SVG}text")] == [words]
        assert {str(one.get("href"))[1:] for one in frame.iter(f"{SVG}use")} <= known
    spans = re.findall(
        r"@keyframes k\d+{0%{[^}]*}(?:(.*?)%{.*?visible})?(?:(.*?)%{.*hidden})?}", text
    )
    assert [begin for begin, _ in spans[1:]] == [end for _, end in spans[:-1]]
    assert len(spans) == len({*spans}) == len(STEPS), "one behind the other"
    assert len(text.encode()) <= MOST_BYTES
