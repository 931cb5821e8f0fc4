"""Making genuine answers wrong: in their JSON, in their bytes, in their HTTP. Seeded."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any

SECRET = "hunter22-secret"
"""A header's value in the profile: no message may repeat it, whatever the answer says."""

STRINGS = (
    "",
    "[@click=app.quit]x[/]",
    "[/]",
    "[bold]",
    "$name {name} %s %n",
    "\x1b]0;x\x07",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b[2J\x1b[6n\x1b[?1049l",
    "\x9b31m\x9d0;x\x9c\x90",
    "\x00\x08\x7f\r\n\t\x0b\x85",
    "\u202eevil\u2066\u2069\u061c",
    "\u200b\u200e\ufeff\u00ad\u2028\u2029",
    "\ud800",
    "\udfff\ud800 half",
    "\U000e0041\U0001f3f4\U000e007f",
    "e" + "\u0301" * 60,
    "長" * 500,
    "x" * 5000,
    "👩\u200d🚒\u200d👩",
    "\uffff\ufdd0\ue000\U0010ffff",
    "\U000e0fff\ufff0\u2065a\ufe0e\U000e0001",
    SECRET,
    "0",
    "-3",
    "١٢",
    "2026-11-20",
    "null",
    "/api/../..",
    "https://u:p@x/\x1b",
)
NUMBERS = (
    *(0, -1, 1, 2, 3, 4, 7, 200, -3, 255, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1),
    *(10**99, 1.5, -0.0, 1e308, 5e-324, 253402300800000, -62135596800001, 8.64e15),
)
OTHERS: tuple[Any, ...] = (None, True, False, [], {}, [[]], [None] * 50, {"": {"": []}})
KEYS = (
    *("errcode", "errorCode", "errmsg", "errorMsg", "description", "data", "list", "total"),
    *("pages", "pageNo", "pageSize", "id", "remoteId", "lockInfo", "timbres", "extraData"),
    *("__raw__", "__odd__", "raw", "odd", "self", "model_config", "start_ms", "__class__"),
)
STATUSES = (*[200] * 30, 201, 204, 301, 302, 304, 400, 401, 403, 404, 408, 409, 418, 429, 500, 503)
LITERALS = (
    b"NaN",
    b"-Infinity",
    b"1e400",
    b"9" * 5000,
    b"0." + b"1" * 400,
    b'"\xff"',
    b'"\\ud800"',
)
HEADERS = (
    ("retry-after", ("0", "9" * 50, "9" * 5000, "-1", "x", "Fri, 31 Dec 9999 23:59:59 GMT", "")),
    (
        "date",
        ("Fri, 20 Nov 2026 08:00:00 GMT", "Thu, 01 Jan 1970", "x", "0", "-" * 100, "9" * 5000),
    ),
    ("location", ("https://x/\x1b", "//u:p@y?token=1", "", "\u202e")),
    ("age", ("0", "x", "100")),
)

MANY = 60_000
WITHOUT_LIMIT: Mapping[str, Any] = {
    "a string": "x" * 20 * MANY,
    "a string of wide characters": "長" * 5 * MANY,
    "a string of marks": "e" + "\u0301" * 5 * MANY,
    "a string of lines": "\n" * 5 * MANY,
    "a list of numbers": [1] * MANY,
    "a list of strings": ["x"] * MANY,
    "a list of objects": [{}] * (MANY // 2),
    "a list of records": [{"id": number, "lang": "x"} for number in range(MANY // 4)],
    "an object of names": {str(number): number for number in range(MANY)},
    "an object with a long name": {"x" * 20 * MANY: 1},
    "a depth": json.loads("[" * 60 + "]" * 60),
    "a number": 10**99,
}
"""What belongs nowhere, as much of it as fits: one answer has at most 8 MiB and 100,000 parts."""


def without_limit(document: str) -> Iterator[tuple[str, str]]:
    """A JSON text with each of them in each of its places: what it is and where, and the text."""
    for place in range(len(_places(json.loads(document)))):
        for what, value in WITHOUT_LIMIT.items():
            wrong = json.loads(document)
            holder, key = _places(wrong)[place]
            holder[key] = value
            yield f"{what} for {key!r}", json.dumps(wrong, ensure_ascii=False)


HOSTILE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2060-\u206f\u3164\ufe00-\ufe0e\uffa0"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\ud800-\udfff"
    "\U000e0000-\U000e0fff]"
)
"""What must not be shown: controls, bidi, zero width without a use, halves of pairs, tags."""


@dataclass(frozen=True)
class Fuzzed:
    """An answer gone wrong."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    packed: bool
    """Whether the body is gzip, or says so."""
    step: str
    """What was done to it, for a failure's report."""


@dataclass
class Mutator:
    """Makes answers wrong.

    Args:
        seed: Of all chance in it.
        bytes_share: How often the bytes are hurt too, or are nothing but bytes.
    """

    seed: int
    bytes_share: float = 0.25
    random: Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)

    def fuzzed(self, document: str) -> Fuzzed:
        """A wrong one of this JSON text."""
        chance = self.random
        value = json.loads(document)
        steps = []
        for _ in range(chance.choice((0, 1, 1, 1, 2, 3, 6))):
            step = chance.choice(_OF_JSON)
            steps.append(step.__name__)
            value = step(self, value)
        body = json.dumps(value, ensure_ascii=chance.random() < 0.7).encode(
            "utf-8", "surrogatepass"
        )
        if chance.random() < self.bytes_share:
            step = chance.choice(_OF_BYTES)
            steps.append(step.__name__)
            body = step(self, body)
        packed = chance.random() < self.bytes_share / 4
        if packed and chance.random() < 0.8:
            body = gzip.compress(body, 1)
            if chance.random() < 0.4:
                body = _flip(self, body)
        headers = {name: chance.choice(values) for name, values in HEADERS if chance.random() < 0.2}
        return Fuzzed(chance.choice(STATUSES), body, headers, packed, " ".join(steps))

    def value(self) -> Any:
        """Something that belongs nowhere."""
        chance = self.random
        kind = chance.randrange(5)
        if kind < 2:
            return chance.choice(STRINGS)
        if kind == 2:
            return chance.choice(NUMBERS)
        if kind == 3:
            return deepcopy(chance.choice(OTHERS))
        return {chance.choice(KEYS): chance.choice(STRINGS), chance.choice(STRINGS): [1]}


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every container of a document with each of its keys."""
    places: list[tuple[Any, Any]] = []
    todo = [value] if isinstance(value, (dict, list)) else []
    while todo:
        item = todo.pop()
        pairs = item.items() if isinstance(item, dict) else enumerate(item)
        for key, inner in pairs:
            places.append((item, key))
            if isinstance(inner, (dict, list)):
                todo.append(inner)
    return places


def _at(mutator: Mutator, value: Any) -> tuple[Any, Any]:
    places = _places(value)
    return mutator.random.choice(places) if places else ({"": 0}, "")


def _replace(mutator: Mutator, value: Any) -> Any:
    holder, key = _at(mutator, value)
    holder[key] = mutator.value()
    return value


def _text(mutator: Mutator, value: Any) -> Any:
    texts = [(holder, key) for holder, key in _places(value) if isinstance(holder[key], str)]
    for holder, key in mutator.random.sample(texts, min(len(texts), 8)):
        holder[key] = mutator.random.choice(STRINGS)
    return value


def _remove(mutator: Mutator, value: Any) -> Any:
    holder, key = _at(mutator, value)
    del holder[key]
    return value


def _add(mutator: Mutator, value: Any) -> Any:
    holder, _ = _at(mutator, value)
    if isinstance(holder, dict):
        holder[mutator.random.choice(KEYS + STRINGS)] = mutator.value()
    else:
        holder.insert(mutator.random.randrange(len(holder) + 1), mutator.value())
    return value


def _double(mutator: Mutator, value: Any) -> Any:
    holder, key = _at(mutator, value)
    if isinstance(holder, list):
        holder.extend([holder[key]] * mutator.random.choice((1, 1, 20)))
    return value


def _rename(mutator: Mutator, value: Any) -> Any:
    holder, key = _at(mutator, value)
    if isinstance(holder, dict):
        holder[mutator.random.choice(KEYS + STRINGS)] = holder.pop(key)
    return value


def _swap(mutator: Mutator, value: Any) -> Any:
    (one, first), (two, second) = _at(mutator, value), _at(mutator, value)
    moved = json.dumps(two[second]), json.dumps(one[first])  # copies: nothing may hold itself
    one[first] = json.loads(moved[0])
    if isinstance(two, dict) or second < len(two):
        two[second] = json.loads(moved[1])
    return value


def _nest(mutator: Mutator, value: Any) -> Any:
    holder, key = _at(mutator, value)
    for _ in range(mutator.random.choice((1, 5, 15, 70))):
        holder[key] = {"x": holder[key]} if mutator.random.random() < 0.5 else [holder[key]]
    return value


def _code(mutator: Mutator, value: Any) -> Any:
    if isinstance(value, dict):
        value[mutator.random.choice(("errcode", "errorCode"))] = mutator.random.choice(
            (0, "0", -3, "-3", 1, True, False, None, 0.0, "", "x", 2**64, [0], -999, "00")
        )
    return value


def _top(mutator: Mutator, value: Any) -> Any:
    return mutator.random.choice((mutator.value(), [value], {"data": value}, value))


def _flip(mutator: Mutator, body: bytes) -> bytes:
    hurt = bytearray(body)
    for _ in range(mutator.random.choice((1, 1, 3, 30))):
        if hurt:
            hurt[mutator.random.randrange(len(hurt))] = mutator.random.randrange(256)
    return bytes(hurt)


def _cut(mutator: Mutator, body: bytes) -> bytes:
    return body[: mutator.random.randrange(len(body) + 1)]


def _insert(mutator: Mutator, body: bytes) -> bytes:
    at = mutator.random.randrange(len(body) + 1)
    more = mutator.random.choice((*LITERALS, mutator.random.randbytes(5), b"\x1b[2J", b"}{", b'",'))
    return body[:at] + more + body[at:]


def _literal(mutator: Mutator, body: bytes) -> bytes:
    """In the place of a number."""
    numbers = list(re.finditer(rb"(?<=[:\[,] )-?[0-9]+", body))
    if not numbers:
        return body
    number = mutator.random.choice(numbers)
    return body[: number.start()] + mutator.random.choice(LITERALS) + body[number.end() :]


def _twice(mutator: Mutator, body: bytes) -> bytes:
    """The same key twice."""
    return body.replace(b'"errcode"', b'"errcode": 1, "errcode"').replace(
        b'"id"', b'"id":1,"id"', 1
    )


def _noise(mutator: Mutator, body: bytes) -> bytes:
    return mutator.random.randbytes(mutator.random.choice((0, 1, 20, 300)))


def _deep(mutator: Mutator, body: bytes) -> bytes:
    return mutator.random.choice((b"[", b'{"a":', b'{"errcode":0,"data":[')) * 20_000


def _page(mutator: Mutator, body: bytes) -> bytes:
    page = b"<html><title>\x1b]0;x\x07Login %s</title>\xe2\x80\xae" % SECRET.encode()
    return page + mutator.random.choice((b"", body, b"</html>"))


def _long(mutator: Mutator, body: bytes) -> bytes:
    return body + mutator.random.choice((b" ", b"\n", b"0", b"\x00")) * 30_000


def _coded(mutator: Mutator, body: bytes) -> bytes:
    text = body.decode("utf-8", "replace")
    return text.encode(mutator.random.choice(("utf-16", "utf-8-sig", "utf-32", "utf-7")))


_OF_JSON: tuple[Callable[[Mutator, Any], Any], ...] = (
    *(_replace, _replace, _replace, _text, _text, _remove, _add, _add, _double, _rename),
    *(_swap, _nest, _code, _top),
)
_OF_BYTES: tuple[Callable[[Mutator, bytes], bytes], ...] = (
    *(_flip, _flip, _flip, _cut, _cut, _insert, _insert, _literal, _literal, _twice, _noise),
    *(_deep, _page, _long, _coded),
)
