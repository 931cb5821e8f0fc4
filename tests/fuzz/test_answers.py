"""100,000 wrong answers through the client's readers: an error of lockterm's, or a record."""

from __future__ import annotations

import json
import time
import traceback
import tracemalloc
from collections import Counter
from collections.abc import Callable
from datetime import UTC
from random import Random
from typing import Any

import pytest

from lockterm.api.answer import BodyReader, clock_offset_s
from lockterm.api.envelope import (
    open_answer,
    read_many,
    read_one,
    read_page,
    read_remote,
    read_result,
)
from lockterm.api.transport import Answer, Transport
from lockterm.domain.dates import Clock
from lockterm.domain.remotes import Remote
from lockterm.domain.text.validity import describe_validity
from lockterm.domain.voices import Language, VoicePack
from lockterm.errors import LocktermError, MalformedAnswerError, RefusedError
from lockterm.service.running import RunningService
from tests.api.conftest import Settings
from tests.conftest import NOW_MS
from tests.fuzz.genuine import recorded, small
from tests.fuzz.mutations import HOSTILE, SECRET, Fuzzed, Mutator, without_limit
from tests.fuzz.size import ANSWERS, SEED

pytestmark = pytest.mark.long


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
    reader = BodyReader("gzip" if fuzzed.packed else "")
    for start in range(0, len(fuzzed.body), 10_000):
        reader.feed(fuzzed.body[start : start + 10_000])
    reader.finish()
    clock_offset_s(fuzzed.headers, 0.0)
    answer = Answer(fuzzed.status, fuzzed.headers, bytes(reader.body), reader.flaw, quote)
    value = READERS[call](open_answer(answer))
    # What is done with it next: kept in the store and the cache, and put into words.
    page = getattr(value, "remotes", None)
    for record in page if page is not None else value if isinstance(value, list) else [value]:
        if isinstance(record, (Remote, VoicePack, Language)):
            json.dumps(record.raw, allow_nan=False).encode()
            json.dumps([record.odd, record.extras], ensure_ascii=False).encode()
        if isinstance(record, Remote):
            describe_validity(record, NOW_MS, UTC)
    return value


def test_wrong_answers(service: RunningService) -> None:
    documents = [
        (call, small(document))
        for call, answers in recorded(service.base_url).items()
        for document in answers
    ]
    quote = Transport(Settings("http://x", headers={"X-Key": SECRET}), Clock()).quote
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
            assert isinstance(error, (MalformedAnswerError, RefusedError)), repr(error)
            description = error.description if isinstance(error, RefusedError) else ""
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
    # The chance is worth something only if both ways out are taken often.
    assert min(ended["read"], ended["MalformedAnswerError"], ended["RefusedError"]) > ANSWERS / 20


def test_things_without_a_limit(service: RunningService) -> None:
    """Each costs memory in proportion to its bytes, and no error repeats it."""
    quote = Transport(Settings("http://x", headers={"X-Key": SECRET}), Clock()).quote
    chance, ended = Random(SEED), Counter[str]()
    documents = [
        (call, what, document)
        for call, answers in recorded(service.base_url).items()
        for what, document in without_limit(small(answers[0], 1))
        if chance.random() < 0.1
    ]
    tracemalloc.start()
    try:
        for call, what, document in documents:
            body = document.encode()
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            try:
                understood(call, Fuzzed(200, body, {}, False, what), quote)
                ended["read"] += 1
            except (MalformedAnswerError, RefusedError) as error:
                ended["refused"] += 1
                description = error.description if isinstance(error, RefusedError) else ""
                for text in (error.title, error.message, error.hint, description):
                    assert len(text) < 600, (call, what)
            took = tracemalloc.get_traced_memory()[1] - before
            assert took < 64 * 1024 * 1024 + 20 * len(body), (call, what, took)
    finally:
        tracemalloc.stop()
    print(f"\n{len(documents):,} things without a limit: {dict(ended)}")
    assert ended["read"] and ended["refused"]
