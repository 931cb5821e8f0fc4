"""Every row of the fault table as things that the proxy can do to one call."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from enum import Enum, auto
from typing import Any

from tests.api.fault_server import http
from tests.faults.proxy import Exchange, FaultProxy, Play


class Kind(Enum):
    """What the fault table says about a fault."""

    NOT_SENT = auto()
    """Nothing left; any call may be tried again."""
    UNTRUSTED = auto()
    """Nothing left, and trying again does not help."""
    UNKNOWN = auto()
    """It may have been applied; only reads are tried again."""
    REFUSED = auto()
    """The service said no; nothing is tried again."""
    LIMITED = auto()
    """Refused for a moment; only reads are tried again."""
    FINE = auto()
    """A success, however odd."""
    ODD_DATA = auto()
    """A success where no data is needed, else malformed."""


@dataclass(frozen=True)
class Fault:
    """One thing that can go wrong with one call."""

    name: str
    kind: Kind
    play: Play | None = None
    """What to do about the request; None where it never gets that far."""
    applied: bool = False
    """Whether the service had the request."""
    endless: bool = False
    """Whether only the client's deadline ends it."""
    at_accept: bool = False
    """Whether it strikes before the request is read."""
    on_proxy: Callable[[FaultProxy], Any] | None = None
    """What to do to the proxy before the connection is made."""
    tls: str = ""
    """The kind of TLS trouble; see ``site``."""


# --- pieces ----------------------------------------------------------------------------------


async def reset(exchange: Exchange) -> None:
    exchange.reset()


async def close(exchange: Exchange) -> None:
    pass


async def applied_unheard(exchange: Exchange) -> None:
    """The service does it, and its answer is lost."""
    await exchange.apply()
    exchange.reset()


async def stalled(exchange: Exchange) -> None:
    """The request is still on its way when its connection breaks."""
    exchange.proxy.held.append(exchange)
    exchange.reset()


async def silence(exchange: Exchange) -> None:
    await exchange.reader.read()


async def plain_text(exchange: Exchange) -> None:
    await exchange.reader.read(1)
    await exchange.send(http("no TLS here", 400))


def part(share: Callable[[bytes], int], then: Play) -> Play:
    """The beginning of the good answer, up to a place in it, and then something else."""

    async def play(exchange: Exchange) -> None:
        good = exchange.good_bytes()
        await exchange.send(good[: share(good)])
        await asyncio.sleep(0.01)  # a reset may overtake and drop what was just sent
        await then(exchange)

    return play


def in_status_line(good: bytes) -> int:
    return 7


def in_headers(good: bytes) -> int:
    return good.index(b"Content-") + 8


def after_headers(good: bytes) -> int:
    return good.index(b"\r\n\r\n") + 4


def in_body(good: bytes) -> int:
    return len(good) - 5


async def drip(exchange: Exchange) -> None:
    """A byte now and then, for ever: no single read of it times out."""
    while True:
        await exchange.send(b"x")
        await asyncio.sleep(0.02)


async def hints(exchange: Exchange) -> None:
    while True:
        await exchange.send(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 20)
        await asyncio.sleep(0.01)


def says(data: bytes) -> Play:
    async def play(exchange: Exchange) -> None:
        await exchange.send(data)

    return play


def answers(body: bytes | str, status: int = 200, *headers: str) -> Play:
    return says(http(body, status, *headers))


def turned(turn: Callable[[Any], Any], status: int = 200, *headers: str) -> Play:
    """The good answer's JSON with something changed, as text, bytes or JSON."""

    async def play(exchange: Exchange) -> None:
        value = turn(exchange.good())
        body = value if isinstance(value, (bytes, str)) else json.dumps(value)
        await exchange.send(http(body, status, "Content-Type: application/json", *headers))

    return play


def packed(turn: Callable[[bytes], bytes] = lambda body: body, encoding: str = "gzip") -> Play:
    def pack(good: Any) -> bytes:
        return turn(gzip.compress(json.dumps(good).encode(), 1))

    return turned(pack, 200, f"Content-Encoding: {encoding}")


def text(turn: Callable[[str], str | bytes]) -> Play:
    return turned(lambda good: turn(json.dumps(good)))


def with_(**members: Any) -> Play:
    return turned(lambda good: without_code(good) | members)


def without_code(good: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in good.items() if key not in ("errcode", "errorCode")}


def respelled(good: dict[str, Any]) -> dict[str, Any]:
    names = {"errcode": "errorCode", "errmsg": "errorMsg"}
    names |= {new: old for old, new in names.items()}
    return {names.get(key, key): value for key, value in good.items()}


def data_is(data: Any) -> Play:
    return turned(lambda good: good | {"data": data})


def other_kind(good: dict[str, Any]) -> dict[str, Any]:
    data = good.get("data")
    return good | {"data": {"list": 7} if isinstance(data, list) else [data]}


def then(first: Play, second: Play) -> Play:
    async def play(exchange: Exchange) -> None:
        await first(exchange)
        await second(exchange)

    return play


def refusal(code: object = 7, name: str = "errcode") -> str:
    return json.dumps({name: code, "errmsg": "said", "errorMsg": "said", "description": "why"})


HTML = "<html><body>Bad Gateway \x1b[31m\u202e<p>" + "x" * 300
_HUGE = b" " * (8 << 20) + b" "
_BOMB = gzip.compress(b" " * (40 << 20), 6)

# --- the table -------------------------------------------------------------------------------

BROKEN_OFF: dict[str, Play] = {
    "reset before the answer": reset,
    "closed before the answer": close,
    "reset in the status line": part(in_status_line, reset),
    "reset in the headers": part(in_headers, reset),
    "closed in the headers": part(in_headers, close),
    "reset after the headers": part(after_headers, reset),
    "reset in the body": part(in_body, reset),
    "closed in the body": part(in_body, close),
    "chunks without an end": says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{"),
    "not HTTP": says(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "101": says(b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
    "endless header": says(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n"),
}
ENDLESS: dict[str, Play] = {
    "silence": silence,
    "silence in the headers": part(in_headers, silence),
    "silence in the body": part(in_body, silence),
    "slow drip in the headers": then(says(b"HTTP/1.1 200 OK\r\nX: "), drip),
    "slow drip in the body": then(says(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"), drip),
    "hints for ever": hints,
}
MALFORMED: dict[str, Play] = {
    "truncated JSON": text(lambda good: good[:-7]),
    "empty body": answers(""),
    "204": says(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "HTML of a proxy": answers(HTML),
    "HTML with 502": answers(HTML, 502),
    "HTML with 504": answers(HTML, 504),
    "huge body": answers(_HUGE),
    "gzip bomb": answers(_BOMB, 200, "Content-Encoding: gzip"),
    "gzip cut short": packed(lambda body: body[:-9]),
    "gzip that is none": turned(lambda good: good, 200, "Content-Encoding: gzip"),
    "packing not asked for": packed(encoding="br"),
    "bad UTF-8": text(lambda good: good.encode().replace(b'"err', b'"\xff":1,"err', 1)),
    "UTF-16": text(lambda good: good.encode("utf-16")),
    "NaN": turned(lambda good: good | {"more": float("nan")}),
    "infinite number": text(lambda good: good[:-1] + ',"more":1e999}'),
    "deep nesting": text(lambda good: good[:-1] + ',"more":' + "[" * 5000 + "]" * 5000 + "}"),
    "fairly deep nesting": text(lambda good: good[:-1] + ',"more":' + "[" * 80 + "]" * 80 + "}"),
    "very many objects": turned(lambda good: good | {"more": [{}] * 200_000}),
    "5,000-digit number": text(lambda good: good[:-1] + ',"more":' + "9" * 5000 + "}"),
    "duplicate keys": text(lambda good: good[:-1] + ',"description":""}'),
    "two JSON values": text(lambda good: good + good),
    "an array around it": turned(lambda good: [good]),
    "code absent": with_(),
    "code null": with_(errcode=None),
    "code true": with_(errcode=True),
    "code false": with_(errcode=False),
    "code 0.0": with_(errcode=0.0),
    "code in words": with_(errcode="zero"),
    "code in other digits": with_(errcode="٠"),
    "codes that disagree": with_(errcode=0, errorCode=1),
    "codes that disagree, the other way": with_(errcode=1, errorCode=0),
    "one code null": with_(errcode=0, errorCode=None),
    "300 with an envelope": turned(lambda good: good, 300),
    "301": answers("", 301, "Location: /elsewhere"),
    "302 with an envelope": turned(lambda good: good, 302, "Location: http://127.0.0.1:1/"),
    "302 to nowhere": turned(lambda good: good, 302, "Location: http://[::/\x7f"),
    "304": says(b"HTTP/1.1 304 Not Modified\r\n\r\n"),
    "307": answers("", 307, "Location: /elsewhere"),
    "408": answers(refusal(), 408),
    "500 with an envelope": answers(refusal(), 500),
    "500 with an envelope of success": turned(lambda good: good, 500),
    "500 without an envelope": answers("", 500),
    "503 with an envelope": answers(refusal(), 503, "Retry-After: 1"),
    "503 without an envelope": answers("", 503),
    "404 with an envelope of success": turned(lambda good: good, 404),
}
REFUSED: dict[str, Play] = {
    "code 7": answers(refusal()),
    "code 7 as text": answers(refusal("7")),
    "negative code": answers(refusal(-9)),
    "code in the other spelling": answers(refusal(7, "errorCode")),
    "code in both spellings": answers('{"errcode":7,"errorCode":"7"}'),
    "400 with an envelope": answers(refusal(), 400),
    "401 with HTML": answers(HTML, 401),
    "401 with an envelope": answers(refusal(), 401),
    "403": answers(refusal(), 403),
    "403 that is too large": answers(_HUGE, 403),
    "404 with HTML": answers(HTML, 404),
    "404 with an envelope": answers(refusal(), 404),
    "409": answers(refusal(), 409),
    "413": answers(HTML, 413),
    "422": answers(refusal(), 422),
    "429 for an hour": answers(refusal(), 429, "Retry-After: 3600"),
}
LIMITED: dict[str, Play] = {
    "429 without Retry-After": answers(refusal(), 429),
    "429 for no time": answers("", 429, "Retry-After: 0"),
    "429 until a moment that is past": answers(
        "", 429, "Date: Mon, 01 Jan 2035 00:00:00 GMT", "Retry-After: Mon, 01 Jan 2035 00:00:00 GMT"
    ),
}


async def byte_by_byte(exchange: Exchange) -> None:
    for byte in exchange.good_bytes():
        await exchange.send(bytes([byte]))


WRONG_CLOCK = "clock off by ten minutes"


async def wrong_date(exchange: Exchange) -> None:
    date = formatdate(time.time() + 600, usegmt=True)
    await exchange.send(http(json.dumps(exchange.good()), 200, f"Date: {date}"))


async def chunked(exchange: Exchange) -> None:
    body = json.dumps(exchange.good()).encode()
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    await exchange.send(head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))


async def one_byte_a_chunk(exchange: Exchange) -> None:
    body = json.dumps(exchange.good()).encode()
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
    await exchange.send(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%b0\r\n\r\n" % chunks
    )


FINE: dict[str, Play] = {
    "one byte a chunk": one_byte_a_chunk,
    "a member of 4 MiB": turned(lambda good: good | {"more": "x" * (4 << 20)}),
    "a member of 90,000 numbers": turned(lambda good: good | {"more": [0] * 90_000}),
    "a message of 2 MiB": turned(lambda good: good | {"errmsg": "x" * (2 << 20)}),
    "code as digits": turned(lambda good: without_code(good) | {"errcode": "0"}),
    "the other spelling": turned(respelled),
    "both spellings": turned(lambda good: good | {"errcode": 0, "errorCode": "0"}),
    "members that nobody knows": turned(lambda good: good | {"more": {"a": [None, 1.5]}}),
    "gzip": packed(),
    "chunks": chunked,
    "byte by byte": byte_by_byte,
    WRONG_CLOCK: wrong_date,
}
ODD_DATA: dict[str, Play] = {
    "data absent": turned(lambda good: {k: v for k, v in good.items() if k != "data"}),
    "data null": data_is(None),
    "data a text": data_is("fine"),
    "data a number": data_is(5),
    "data of the other kind": turned(other_kind),
}


def _before_body(play: Play) -> Play:
    async def strike(exchange: Exchange) -> None:
        await play(exchange)

    strike.before_body = True  # type: ignore[attr-defined]
    return strike


def _applied(play: Play) -> Play:
    async def apply(exchange: Exchange) -> None:
        await exchange.apply()
        await play(exchange)

    return apply


def catalogue() -> list[Fault]:
    """All faults, each with and without the request having been applied where both can be."""
    faults = [
        Fault("connection refused", Kind.NOT_SENT, on_proxy=FaultProxy.refuse),
        Fault("no such name", Kind.NOT_SENT),
        Fault("no connection in time", Kind.NOT_SENT, on_proxy=FaultProxy.clog, endless=True),
        Fault("TLS: certificate of nobody known", Kind.UNTRUSTED, tls="stranger"),
        Fault("TLS: plain text answers", Kind.UNTRUSTED, tls="plain"),
        Fault("TLS: reset in the handshake", Kind.NOT_SENT, tls="reset"),
        Fault("TLS: silence in the handshake", Kind.NOT_SENT, tls="silence", endless=True),
        Fault("reset on connecting", Kind.UNKNOWN, reset, at_accept=True),
        Fault("closed on connecting (stale)", Kind.UNKNOWN, close, at_accept=True),
        Fault("never read", Kind.UNKNOWN, silence, at_accept=True, endless=True),
        Fault("reset before the body", Kind.UNKNOWN, _before_body(reset)),
        Fault("closed before the body", Kind.UNKNOWN, _before_body(close)),
    ]
    for group, endless in ((BROKEN_OFF | MALFORMED, False), (ENDLESS, True)):
        for name, play in group.items():
            faults.append(Fault(name, Kind.UNKNOWN, play, endless=endless))
            faults.append(
                Fault(f"{name}, applied", Kind.UNKNOWN, _applied(play), True, endless=endless)
            )
    faults += [Fault(name, Kind.REFUSED, play) for name, play in REFUSED.items()]
    faults += [Fault(name, Kind.LIMITED, play) for name, play in LIMITED.items()]
    faults += [Fault(name, Kind.FINE, _applied(play), True) for name, play in FINE.items()]
    faults += [Fault(name, Kind.ODD_DATA, _applied(play), True) for name, play in ODD_DATA.items()]
    return faults
