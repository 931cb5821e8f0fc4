"""100,000 wrong answers through the client's readers: an error of lockterm's, or a record."""

from __future__ import annotations

import json
import time
import traceback
from collections import Counter
from collections.abc import Callable
from datetime import UTC
from typing import Any

from lockterm.api.envelope import open_answer
from lockterm.api.headers import clock_offset_s
from lockterm.api.payloads import read_many, read_one, read_page, read_remote, read_result
from lockterm.api.transport import Answer, Transport
from lockterm.api.unpacking import Unpacker
from lockterm.errors import LocktermError, MalformedAnswer, Refused
from lockterm.models.remotes import Remote
from lockterm.models.voices import Language, VoicePack
from lockterm.service.running import RunningService
from lockterm.validity import validity
from tests.api.conftest import Settings
from tests.conftest import NOW_MS
from tests.fuzz.genuine import recorded, small
from tests.fuzz.mutations import HOSTILE, SECRET, Fuzzed, Mutator
from tests.fuzz.size import ANSWERS, SEED

LONGEST_S = 2.0
"""No answer of at most 30 kB takes longer, on however busy a machine."""

READERS: dict[str, Callable[[Any], Any]] = {
    "bluetooth-remote/list": lambda data: read_page(data, 1, 20),
    "bluetooth-remote/detail": lambda data: read_remote(data, 1),
    "checkRemoteName": lambda data: None,
    "voice/list": lambda data: read_many(data, VoicePack),
    "voice/packs": lambda data: read_many(data, Language),
    "voice/detail": lambda data: read_one(data, VoicePack),
    "add": lambda data: read_result(data, "remoteId"),
    "clear": lambda data: read_result(data, "deletedCount"),
}


def understood(call: str, fuzzed: Fuzzed, quote: Callable[[str | bytes], str]) -> Any:
    """What the client makes of an answer, from its packed bytes on."""
    unpacker = Unpacker("gzip" if fuzzed.packed else "")
    for start in range(0, len(fuzzed.body), 10_000):
        unpacker.feed(fuzzed.body[start : start + 10_000])
    unpacker.finish()
    clock_offset_s(fuzzed.headers, 0.0)
    answer = Answer(fuzzed.status, fuzzed.headers, bytes(unpacker.body), unpacker.flaw, quote)
    value = READERS[call](open_answer(answer))
    # What is done with it next: kept in the store and the cache, and put into words.
    page = getattr(value, "remotes", None)
    for record in page if page is not None else value if isinstance(value, list) else [value]:
        if isinstance(record, (Remote, VoicePack, Language)):
            json.dumps(record.raw, allow_nan=False).encode()
            json.dumps([record.odd, record.extras], ensure_ascii=False).encode()
        if isinstance(record, Remote):
            validity(record, NOW_MS, UTC)
    return value


def test_wrong_answers(service: RunningService) -> None:
    documents = [
        (call, small(document))
        for call, answers in recorded(service.base_url).items()
        for document in answers
    ]
    quote = Transport(Settings("http://x", headers={"X-Key": SECRET}))._quote
    mutator = Mutator(SEED)
    ended: Counter[str] = Counter()
    began_s = time.perf_counter()
    longest_s = 0.0
    for number in range(ANSWERS):
        call, document = documents[number % len(documents)]
        fuzzed = mutator.fuzzed(document)
        start_s = time.perf_counter()
        try:
            understood(call, fuzzed, quote)
        except LocktermError as error:
            ended[type(error).__name__] += 1
            assert isinstance(error, (MalformedAnswer, Refused)), repr(error)
            description = error.description if isinstance(error, Refused) else ""
            for text in (error.title, error.message, error.hint, description):
                assert not HOSTILE.search(text), (number, call, fuzzed, text)
                assert SECRET not in text, (number, call, fuzzed, text)
                assert len(text) < 600, (number, call, fuzzed)
            assert error.message
        except Exception:
            traceback.print_exc()
            raise AssertionError(f"answer {number}, {call}, {fuzzed}") from None
        else:
            ended["read"] += 1
            assert 200 <= fuzzed.status < 300
        longest_s = max(longest_s, time.perf_counter() - start_s)
    took_s = time.perf_counter() - began_s
    print(
        f"\n{ANSWERS:,} wrong answers in {took_s:.1f} s (seed {SEED}), the longest"
        f" {longest_s * 1000:.0f} ms: {dict(ended)}"
    )
    assert longest_s < LONGEST_S
    # The chance is worth something only if both ways out are taken often.
    assert min(ended["read"], ended["MalformedAnswer"], ended["Refused"]) > ANSWERS / 20
