"""What goes wrong with the service while keys are pressed: the heavy, the slow and the many."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable
from typing import Any

from tests.faults import catalogue
from tests.faults.catalogue import answers
from tests.faults.proxy import Exchange, Play
from tests.fuzz.size import FULL

MB = 1 << 20


def page(records: list[dict[str, Any]], **more: Any) -> str:
    """A page of remotes in its envelope."""
    counted = {"pageNo": 1, "pageSize": 20, "pages": 7, "total": 137}
    return json.dumps({"errcode": 0, "errmsg": "", "data": {"list": records} | counted} | more)


def record(number: int, **more: Any) -> dict[str, Any]:
    """A remote with every field of a list item."""
    return {
        "id": number,
        "lockId": 1001,
        "remoteName": f"Remote {number}",
        "remoteNumber": f"R-{number}",
        "remoteType": 4,
        "addType": 1,
        "startDate": 1_795_000_000_000,
        "endDate": 1_895_000_000_000,
        "weekDay": [1, 2, 3],
        "isCoerced": 0,
        "status": 1,
    } | more


async def endless(exchange: Exchange) -> None:
    """As much as the line takes, until the client has had enough."""
    await exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        await exchange.send(b"10000\r\n" + b" " * 65536 + b"\r\n")


async def tiny_chunks(exchange: Exchange) -> None:
    """One byte in each chunk, as fast as the line takes them."""
    await exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        await exchange.send(b"1\r\n \r\n" * 500)
        await asyncio.sleep(0)


def _full(size: int, unit: bytes, start: bytes, end: bytes) -> bytes:
    return start + unit * ((size - len(start) - len(end)) // len(unit)) + end


HEAVY: dict[str, Callable[[], Play]] = {
    "an endless body": lambda: endless,
    "one byte a chunk": lambda: tiny_chunks,
    "8 MiB in one string": lambda: answers(_full(8 * MB, b"x", b'{"errcode":0,"data":"', b'"}')),
    "8 MiB refusing": lambda: answers(_full(8 * MB, b"x ", b'{"errcode":7,"errmsg":"', b'"}')),
    "8 MiB of halves of pairs": lambda: answers(
        _full(8 * MB, b"\\ud800", b'{"errcode":0,"data":"', b'"}')
    ),
    "8 MiB of HTML": lambda: answers(_full(8 * MB, b"<p> \x1b[31m", b"<html>", b""), 502),
    "8 MiB of brackets": lambda: answers(b"[" * (8 * MB)),
    "8 MiB of digits": lambda: answers(_full(8 * MB, b"9", b'{"errcode":', b"}")),
    "a bomb of 1 GB": lambda: answers(_bomb(), 200, "Content-Encoding: gzip"),
    "90,000 parts": lambda: answers(
        _full(8 * MB, b"[0],", b'{"errcode":0,"data":[', b"0]}")[:180_000]
    ),
    "a page of 200 with all they can hold": lambda: answers(
        page([record(n, extraData={f"k{i}": "v" * 20 for i in range(200)}) for n in range(200)])
    ),
    "a page of 5,000": lambda: answers(page([record(number) for number in range(5000)])),
    "a page of 30,000 nothings": lambda: answers(page([{}] * 30_000)),
    "a page of names of 30 kB": lambda: answers(
        page([record(n, remoteName="長é\u202e" * 5000) for n in range(20)])
    ),
}
"""Name -> what makes the answer to each ``list``; made when it is wanted, for its size."""


def _bomb() -> bytes:
    block = gzip.compress(b" " * (64 * MB), 1)
    return block * 16


FEW = (
    *("HTML of a proxy", "huge body", "gzip bomb", "gzip cut short", "bad UTF-8", "deep nesting"),
    *("5,000-digit number", "code absent", "302 with an envelope", "500 without an envelope"),
)


def light() -> dict[str, Play]:
    """The faults of the table: what breaks off, what never ends, and some or all bad answers."""
    malformed = catalogue.MALFORMED
    if not FULL:
        malformed = {name: malformed[name] for name in FEW}
    return catalogue.BROKEN_OFF | catalogue.ENDLESS | malformed
