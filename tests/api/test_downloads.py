"""Fetching packs: from the real service, and from a server that does it badly."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import os
import random
import re
import socket
import ssl
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import psutil
import pytest

from lockterm.api import downloads, partial_file
from lockterm.api.downloads import download
from lockterm.api.pack_address import addresses_of, checked_url, other_server
from lockterm.api.partial_file import PartialFile
from lockterm.config.values import origin_of
from lockterm.domain.voices import PackSource, Timbre, VoicePack, pack_source
from lockterm.errors import (
    ConfigError,
    LocktermError,
    MalformedAnswerError,
    NoAnswerError,
    RefusedError,
    StoreError,
    UnreachableError,
    UntrustedServerError,
)
from lockterm.service.packs import PACKS_BY_PATH, content_of, facts_of
from tests.api.conftest import Settings
from tests.api.fault_server import FaultServer, Script, answers, http, says
from tests.certs import CERTS
from tests.servers import Line

PACK = random.Random(1).randbytes(300_000)
MD5 = hashlib.md5(PACK).hexdigest()
HALF = 130_000
ETAG = 'ETag: "v1"'
WHOLE = answers(PACK, 200, ETAG)
BROKEN = answers(PACK[:HALF], 200, ETAG, length=len(PACK))
"""The first half, and the connection ends."""


def rest(start: int = HALF, *headers: str, told: int | None = None, body: bytes | None = None):
    """A 206 with the end of the pack; ``told`` lies about where it starts."""
    span = f"Content-Range: bytes {start if told is None else told}-{len(PACK) - 1}/{len(PACK)}"
    return answers(PACK[start:] if body is None else body, 206, span, *(headers or (ETAG,)))


def agreed_for(source: PackSource, base_url: str) -> str:
    """What a person agrees to who lets a pack be fetched."""
    return other_server(checked_url(source.url, base_url), base_url)


class Fetching:
    """Fetches the pack from the server of faults into a folder."""

    def __init__(self, faults: FaultServer, folder: Path) -> None:
        self.faults, self.folder = faults, folder
        self.seen: list[tuple[int, int | None]] = []
        self.source = PackSource(f"{faults.base_url}/p/pack.bin?v=1", len(PACK), MD5)
        self.nothing_told = PackSource(self.source.url)

    async def __call__(self, source: PackSource | None = None, **settings: object) -> Path:
        profile = Settings(self.faults.base_url, **settings)  # type: ignore[arg-type]
        progress = lambda have, total: self.seen.append((have, total))  # noqa: E731
        source = source or self.source
        agreed = ""
        with contextlib.suppress(MalformedAnswerError):  # to be raised by the download
            agreed = agreed_for(source, self.faults.base_url)
        return await download(profile, source, self.folder, progress, agreed=agreed)

    async def fails(self, kind: type[LocktermError], match: str, *source: PackSource) -> None:
        with pytest.raises(kind, match=match) as caught:
            await self(*source)
        assert type(caught.value) is kind
        assert self.finals == []

    async def broken(self) -> None:
        """Fetch half of it."""
        self.faults.play(BROKEN)
        await self.fails(NoAnswerError, "The bytes received so far are kept")
        assert self.partial.read_bytes() == PACK[:HALF]
        self.faults.asked.clear()

    @property
    def files(self) -> list[str]:
        return sorted(path.suffix for path in self.folder.iterdir())

    @property
    def finals(self) -> list[Path]:
        found = self.folder.iterdir() if self.folder.exists() else ()
        return [path for path in found if path.suffix not in (".partial", ".etag")]

    @property
    def partial(self) -> Path:
        (partial,) = self.folder.glob("*.partial")
        return partial

    def ranges(self) -> list[str | None]:
        return [asked.headers.get("range") for asked in self.faults.asked]


@pytest.fixture
def fetch(faults: FaultServer, tmp_path: Path) -> Fetching:
    return Fetching(faults, tmp_path / "data" / "packs")


# --- from the real service -------------------------------------------------------------------


@pytest.mark.long
async def test_every_pack_of_the_service(service, tmp_path):
    for path, pack in PACKS_BY_PATH.items():
        source = PackSource(service.base_url + path, *facts_of(pack))
        file = await download(Settings(service.base_url), source, tmp_path, lambda *_: None)
        assert file.read_bytes() == content_of(pack)
    assert len(list(tmp_path.iterdir())) == len(PACKS_BY_PATH)


async def test_resuming_from_the_real_service(service, fetch):
    path, pack = next(iter(PACKS_BY_PATH.items()))
    content, (size, md5) = content_of(pack), facts_of(pack)
    source = PackSource(service.base_url + path, size, md5)
    fetch.folder.mkdir(parents=True)
    partial = (fetch.folder / source.file_name).with_suffix(".partial")
    for etag, resumed in ((f'"{md5}"', True), ('"another"', False)):
        partial.write_bytes(content[:-1000])
        partial.with_suffix(".etag").write_text(etag)
        fetch.seen.clear()
        file = await fetch(source)
        assert file.read_bytes() == content
        assert (fetch.seen[0][0] > size - 1000) == resumed
        assert fetch.files == [".wav"]
        file.unlink()


# --- interrupted -----------------------------------------------------------------------------


async def test_a_broken_download_is_resumed_where_it_broke(fetch, faults):
    await fetch.broken()
    faults.play(rest())
    fetch.seen.clear()
    file = await fetch()
    assert file.read_bytes() == PACK
    (asked,) = faults.asked
    assert (asked.headers["range"], asked.headers["if-range"]) == (f"bytes={HALF}-", '"v1"')
    assert min(fetch.seen)[0] > HALF and fetch.seen[-1] == (len(PACK), len(PACK))
    assert fetch.files == [".bin"]


async def test_it_can_break_many_times(fetch, faults):
    """Also where the size is not told: that of the whole file is in the Content-Range."""
    for source in (fetch.source, fetch.nothing_told):
        faults.play(answers(PACK[:50_000], 200, ETAG, length=len(PACK)))
        for end in range(100_000, len(PACK), 50_000):
            await fetch.fails(NoAnswerError, "kept", source)
            span = f"Content-Range: bytes {end - 50_000}-{len(PACK) - 1}/{len(PACK)}"
            length = len(PACK) - end + 50_000
            faults.play(
                answers(PACK[end - 50_000 : end], 206, span, length=length)
            )  # its ETag stays
        await fetch.fails(NoAnswerError, "kept", source)
        faults.play(rest(250_000))
        file = await fetch(source)
        assert file.read_bytes() == PACK
        assert fetch.seen[-1] == (len(PACK), len(PACK))
        file.unlink()


@pytest.mark.parametrize(
    ("name", "scripts", "requests"),
    [
        ("range ignored", [WHOLE], 1),
        ("another etag", [answers(PACK, 200, 'ETag: "v2"')], 1),
        ("206 of another etag", [rest(HALF, 'ETag: "v2"'), WHOLE], 2),
        ("206 of another start", [rest(HALF, told=HALF - 1), WHOLE], 2),
        ("206 without a range", [answers(PACK[HALF:], 206, ETAG), WHOLE], 2),
        (
            "206 of many parts",
            [answers(b"--x", 206, "Content-Type: multipart/byteranges"), WHOLE],
            2,
        ),
        ("416", [answers("", 416, f"Content-Range: bytes */{HALF - 1}"), WHOLE], 2),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_cannot_be_continued_begins_again(fetch, faults, name, scripts, requests):
    for source in (fetch.source, fetch.nothing_told):
        faults.play(BROKEN)
        await fetch.fails(NoAnswerError, "kept", source)
        faults.asked.clear()
        faults.play(*scripts)
        file = await fetch(source)
        assert file.read_bytes() == PACK
        assert fetch.ranges() == [f"bytes={HALF}-", None][:requests]
        assert fetch.files == [".bin"]
        file.unlink()


async def test_resume_uses_the_etag_of_the_last_fetch(fetch, faults):
    await fetch.broken()
    faults.play(answers(PACK[:HALF], 200, 'ETag: "v2"', length=len(PACK)))
    await fetch.fails(NoAnswerError, "kept")
    faults.play(rest(HALF, 'ETag: "v2"'))
    assert (await fetch()).read_bytes() == PACK
    assert faults.asked[-1].headers["if-range"] == '"v2"'


@pytest.mark.parametrize("etag", ["", 'ETag: W/"v1"', "ETag: v1", 'ETag: "' + "v" * 300 + '"'])
async def test_without_a_strong_etag_nothing_is_resumed(fetch, faults, etag):
    faults.play(answers(PACK[:HALF], 200, *filter(None, [etag]), length=len(PACK)))
    await fetch.fails(NoAnswerError, "cannot resume a download")
    assert fetch.files == []
    faults.play(WHOLE)
    assert (await fetch()).read_bytes() == PACK
    assert fetch.ranges() == [None, None]


@pytest.mark.parametrize(
    "status", [301, 302, 303, 307, 308, 401, 403, 404, 408, 429, 500, 502, 503, 204, 304]
)
async def test_an_error_or_a_redirect_costs_nothing_of_what_is_there(fetch, faults, status):
    await fetch.broken()
    elsewhere = [f"Location: {faults.base_url}/elsewhere"] * (300 <= status < 309)
    faults.play(answers("" if status in (204, 304) else "<html>", status, *elsewhere), WHOLE)
    await fetch.fails(RefusedError, f"HTTP {status} instead of a pack")
    assert len(faults.asked) == 1, "redirects are not followed"
    faults.play(rest())
    assert (await fetch()).read_bytes() == PACK


async def test_nothing_is_asked_for_where_all_is_there(fetch, faults):
    """It ended between the last byte and the check."""
    await fetch.broken()
    fetch.partial.write_bytes(PACK)
    file = await fetch()
    assert faults.asked == [] and file.read_bytes() == PACK
    assert await fetch() == file and faults.asked == []


@pytest.mark.parametrize("inside", ["head", "body", "silence"])
async def test_download_is_interrupted_when_it_stalls_or_trickles(
    fetch, faults, monkeypatch, inside
):
    """Each comes long before the line counts as silent; all of them would take days."""
    monkeypatch.setattr(downloads, "STALL_S", 1.0 if inside != "silence" else 0.3)

    async def drip(line: Line) -> None:
        whole = http(PACK, 200, ETAG)
        start = 20 if inside == "head" else whole.index(b"\r\n\r\n") + 4 + HALF
        await line.send(whole[:start])
        if inside == "silence":
            await asyncio.sleep(60)
        for at in range(start, len(whole)):
            await line.send(whole[at : at + 1])
            await asyncio.sleep(0.1)

    faults.play(drip)
    async with asyncio.timeout(60):
        await fetch.fails(NoAnswerError, r"Almost no data arrived for [01] s")
    assert fetch.files == ([] if inside == "head" else [".etag", ".partial"])
    if inside == "silence":
        assert fetch.partial.read_bytes() == PACK[:HALF]


PORTAL = b"<html>log in</html>"
WEB_PAGES = ("text/html; charset=utf-8", "Application/XHTML+xml")
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "portal",
    [
        answers(PORTAL),
        answers(PORTAL, 200, "Content-Type: text/html; charset=utf-8"),
        answers(PORTAL * 10_000, 200, "Content-Type: text/html"),
        answers(PORTAL, 200, 'ETag: "portal"'),
        says(CHUNKED + b"13\r\n" + PORTAL + b"\r\n0\r\n\r\n"),
        answers(PORTAL, 200, length=len(PACK)),
        answers(b""),
        answers(b"x" * 200_000),
    ],
)
async def test_a_portals_page_costs_nothing_of_what_is_there(fetch, faults, portal):
    await fetch.broken()
    faults.play(portal)
    with pytest.raises((MalformedAnswerError, NoAnswerError)):
        await fetch()
    assert fetch.partial.read_bytes() == PACK[:HALF]
    faults.play(rest())
    faults.asked.clear()
    assert (await fetch()).read_bytes() == PACK
    assert fetch.ranges() == [f"bytes={HALF}-"]


@pytest.mark.parametrize(
    ("status", "header", "words"),
    [
        *((200, f"Content-Type: {one}", "a web page") for one in WEB_PAGES),
        *(
            (200, f"Content-Encoding: {one}", "compressed the file")
            for one in ("gzip", "br", "deflate, gzip", "x")
        ),
        *(
            (206, f"Content-Range: {one}", "a different part")
            for one in ("bytes 5-9/10", "bytes 0-", "bytes */10", "", "b" * 5000)
        ),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_download_is_refused_when_its_headers_are_not_of_a_pack(
    fetch, faults, status: int, header: str, words: str
):
    faults.play(answers(PACK, status, header))
    await fetch.fails(MalformedAnswerError, words, fetch.nothing_told)
    assert fetch.files == [] and faults.asked[0].headers["accept-encoding"] == "identity"


async def test_a_small_pack_may_take_the_place_of_what_is_there(fetch, faults):
    """It has another ETag and is whole within the first bytes."""
    small = PACK[:200]
    md5 = hashlib.md5(small).hexdigest()
    for source in (PackSource(fetch.source.url, 200, md5), fetch.nothing_told):
        faults.play(answers(small[:100], 200, ETAG, length=200))
        await fetch.fails(NoAnswerError, "kept", source)
        faults.play(answers(small, 200, 'ETag: "v2"'))
        file = await fetch(source)
        assert file.read_bytes() == small
        file.unlink()


async def test_cancelling_keeps_what_came_down_to_the_last_byte(fetch, faults):
    sent = asyncio.Event()

    async def drip(line: Line) -> None:
        await line.send(http(b"", 200, ETAG, length=len(PACK)))
        for start in range(0, 1000, 100):
            await line.send(PACK[start : start + 100])
        sent.set()
        await asyncio.sleep(60)

    faults.play(drip)
    task = asyncio.ensure_future(fetch())
    await sent.wait()
    while not fetch.seen or fetch.seen[-1][0] < 1000:
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert fetch.partial.read_bytes() == PACK[:1000]
    faults.play(rest(1000))
    assert (await fetch()).read_bytes() == PACK


async def test_cancelling_at_any_moment(fetch, faults):
    """However it is cut, what is kept is the beginning of the pack, and goes on from there."""
    chance = random.Random(3)
    faults.play(WHOLE)
    cut = 0
    for _ in range(60):
        task = asyncio.ensure_future(fetch())
        for _ in range(chance.randrange(60)):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()  # while it waits for the disk: as the end of a dialog does
        try:
            (await task).unlink()
        except asyncio.CancelledError:
            cut += 1
        if fetch.folder.exists():
            for partial in fetch.folder.glob("*.partial"):
                assert PACK.startswith(partial.read_bytes())
            for final in fetch.finals:  # cancelled when it was whole
                assert final.read_bytes() == PACK
                final.unlink()
    assert cut > 20


# --- not what was told -----------------------------------------------------------------------


async def test_wrong_bytes_are_deleted_and_said(fetch, faults):
    for wrong in (False, True):
        if wrong:  # at the beginning of a resumed one
            await fetch.broken()
            fetch.partial.write_bytes(b"x" * HALF)
        faults.play(rest() if wrong else answers(PACK[:-1] + b"x", 200, ETAG))
        await fetch.fails(MalformedAnswerError, "MD5 mismatch.* deleted")
        assert fetch.files == []
    faults.play(WHOLE)
    file = await fetch(PackSource(fetch.source.url, len(PACK), f" {MD5.upper()}\n"))
    assert file.read_bytes() == PACK, "an MD5 in capitals is one"
    assert fetch.ranges() == [f"bytes={HALF}-", None]


@pytest.mark.parametrize("size", [None, len(PACK) - 1, 0, -1, downloads.MOST_BYTES + 1, 10**60])
async def test_download_is_refused_when_it_is_longer_than_reported_or_possible(
    fetch, faults, monkeypatch, size
):
    monkeypatch.setattr(downloads, "MOST_BYTES", len(PACK) - 1)
    faults.play(WHOLE)
    is_possible = size is None or 0 <= size < len(PACK)
    words = (
        "more than .* bytes. The file was deleted" if is_possible else "reports that the pack has"
    )
    await fetch.fails(MalformedAnswerError, words, PackSource(fetch.source.url, size))
    assert fetch.finals == [] and len(faults.asked) == is_possible
    assert not is_possible or fetch.files == []


async def test_download_is_kept_when_it_is_shorter_than_reported(fetch, faults):
    faults.play(says(b'HTTP/1.1 200 OK\r\nETag: "v1"\r\n\r\n' + PACK[:HALF]))
    await fetch.fails(NoAnswerError, f"ended after {HALF:,}")
    assert fetch.seen[-1] == (HALF, len(PACK))
    fetch.partial.unlink()
    faults.play(answers(PACK[:-1], 200, ETAG))
    await fetch.fails(
        NoAnswerError, "ended after 299,999 of 300,000 bytes. The bytes received so far are kept"
    )
    # And again: it asks for the last byte, and begins anew when there is none.
    faults.play(answers("", 416), answers(PACK[:-1], 200, ETAG))
    await fetch.fails(NoAnswerError, "ended after 299,999")
    assert fetch.ranges() == [None, None, f"bytes={len(PACK) - 1}-", None]


async def test_assurance_says_what_was_checked(fetch, faults):
    faults.play(answers(PACK, 200), answers(PACK[:HALF], 200))
    file = await fetch(fetch.nothing_told)
    assert file.read_bytes() == PACK
    assert "nothing was checked" in fetch.nothing_told.assurance
    # A file that was never checked does not stand in for the pack of today.
    assert (await fetch(fetch.nothing_told)).read_bytes() == PACK[:HALF]
    for told in (("", 5, MD5), ("", 5), ("", None, MD5)):
        words = PackSource(*told).assurance
        assert "not forgery" in words and ("and MD5 match" in words) == (told == ("", 5, MD5))
    assert "no MD5" in PackSource("", 5).assurance


@pytest.mark.parametrize(
    "script",
    [
        says(b""),
        says(b"\0" * 100),
        says(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"),
        says(b"HTTP/1.1 99999 ?\r\n\r\n"),
        says(b"HTTP/1.1 200 OK\r\n", *[b"X: " + b"x" * 5000 + b"\r\n"] * 1000),
    ],
)
async def test_download_fails_when_the_answer_is_not_http(fetch, faults, script: Script):
    faults.play(script)
    await fetch.fails(NoAnswerError, "The connection broke")
    assert fetch.files == []


# --- where to, and with what -----------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://packs.example/p.wav",
        "http://127.0.0.1.example/p.wav",
        "http://127.0.0.1\\.example/p.wav",
        "http://127.0.0.1@packs.example/p.wav",
        "https://user:secret@packs.example/p.wav",
        "https://@packs.example/p.wav",
        "ftp://127.0.0.1/p.wav",
        "file:///etc/passwd",
        "//packs.example/p.wav",
        "/p.wav",
        "https:///p.wav",
        "https://packs.example:0/p.wav",
        "https://packs.example:99999/p.wav",
        "https://packs.example:x/p.wav",
        "https://[::1/p.wav",
        "https://packs.example/\r\nX-Header: y",
        "https://packs.example/ p.wav",
        " https://packs.example/p.wav",
        "https://päcks.example/p.wav",
        "https://xn--a/p.wav",
        "https://packs.example/\u202egpj",
        "https://" + "a" * 70_000,
        "https://packs.example/" + "a" * 70_000,
        "",
    ],
    ids=lambda url: repr(url[:30]),
)
async def test_addresses_that_are_not_called(fetch, faults, url):
    try:
        await fetch(PackSource(url, 5, MD5))
    except MalformedAnswerError as error:
        assert "not an address for fetching a pack" in error.message
        assert len(error.message) < 250 and error.message.isprintable()
    except UnreachableError as error:  # https to a host that there is not
        assert url == "https://xn--a/p.wav", error.message
    assert faults.asked == [] and fetch.finals == []


async def test_another_server_needs_a_persons_word(fetch, faults):
    async with FaultServer().running() as other:
        source = PackSource(f"{other.base_url}/p", len(PACK), MD5)
        with pytest.raises(MalformedAnswerError, match=rf"from 127.0.0.1:{other.port}, which you"):
            await download(Settings(faults.base_url), source, fetch.folder, lambda *_: None)
        assert other.asked == []
    assert origin_of("http://Locks.Example:80/x") == origin_of("http://locks.example")
    assert checked_url("http://locks.example:80/p", "http://locks.example/prefix")
    assert origin_of("http://locks.example") != origin_of("https://locks.example")
    url = "https://user:hunter2@packs.example/p.wav?sig=hunter2#hunter2"
    with pytest.raises(MalformedAnswerError) as caught:
        await fetch(PackSource(url))
    assert "https://packs.example/p.wav is not an address" in caught.value.message


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0.0.0.0"),
        *("169.254.169.254", "[fe80::1]", "[64:ff9b::a9fe:a9fe]", "10.0.0.1", "192.168.1.1"),
        *("172.16.0.1", "100.64.0.1", "[fd00::1]", "[2002:7f00:1::]", "224.0.0.1"),
    ],
)
async def test_a_service_elsewhere_leads_to_no_private_address(fetch, host):
    """Told before anything is connected to; an own pack of such a service is fetched."""
    service = "https://locks.example"
    source = PackSource(f"https://{host}/p.wav")
    settings = Settings(service)
    agreed = agreed_for(source, service)
    with pytest.raises(MalformedAnswerError, match="not a public address"):
        await download(settings, source, fetch.folder, lambda *_: None, agreed=agreed)
    assert await addresses_of(httpx.URL(source.url), source.url) == [host.strip("[]")]
    with pytest.raises(MalformedAnswerError, match="not an address for fetching"):
        checked_url(f"http://{host}/p.wav", service)
    for public in ("8.8.8.8", "[2606:4700::1111]", "[64:ff9b::808:808]"):
        url = httpx.URL(f"https://{public}/p.wav")
        assert await addresses_of(url, service) == [public.strip("[]")]


async def test_it_is_the_checked_address_that_is_connected_to(fetch, faults, monkeypatch):
    """A name that resolves to another address the second time leads nowhere else."""
    loop = asyncio.get_running_loop()
    real, asked = loop.getaddrinfo, []

    async def once(host: str, port: int, **options: object) -> object:
        asked.append(host)
        there = "127.0.0.1" if len(asked) == 1 else "127.0.0.2"
        return await real(there, port, type=socket.SOCK_STREAM)

    async with FaultServer().running() as other:
        other.play(WHOLE)
        monkeypatch.setattr(loop, "getaddrinfo", once)
        file = await fetch(PackSource(f"http://localhost:{other.port}/p", len(PACK), MD5))
        assert file.read_bytes() == PACK
        assert other.asked[0].headers["host"] == f"localhost:{other.port}"
    assert asked == ["localhost"]


async def test_headers_go_to_the_profiles_own_service_alone(fetch, faults, tmp_path):
    secret = {"Authorization": "Bearer hunter22"}
    faults.play(WHOLE)
    await fetch(headers=secret)
    assert faults.asked[0].headers["authorization"] == "Bearer hunter22"
    async with FaultServer().running() as other:
        for host in ("127.0.0.1", "localhost"):
            other.play(WHOLE)
            await fetch(PackSource(f"http://{host}:{other.port}/p"), headers=secret)
        for asked in other.asked:
            assert "authorization" not in asked.headers and "hunter22" not in str(asked)
        assert len(other.asked) == 2
    # The same machine by another name is another origin.
    faults.play(WHOLE)
    await fetch(PackSource(f"http://localhost:{faults.port}/p"), headers=secret)
    assert "authorization" not in faults.asked[-1].headers


async def test_download_fails_when_the_port_is_closed_or_a_header_is_wrong(fetch):
    async with FaultServer().running() as other:
        gone = other.base_url
    with pytest.raises(UnreachableError, match="refused the connection"):
        await fetch(PackSource(f"{gone}/p"))
    assert fetch.files == []
    with pytest.raises(ConfigError):
        await fetch(headers={"X": "a\nb"})


async def test_tls_of_a_stranger(fetch):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(CERTS / "server.pem", CERTS / "server.key")
    async with FaultServer(tls=tls).running() as other:
        other.play(WHOLE)
        source = PackSource(f"{other.base_url}/p", len(PACK), MD5)
        with pytest.raises(UntrustedServerError):
            await fetch(source)
        file = await fetch(source, ca_file=str(CERTS / "ca.pem"))
        assert file.read_bytes() == PACK


# --- on the disk -----------------------------------------------------------------------------


async def test_files_are_for_this_user_alone(fetch, faults):
    before = os.umask(0)
    try:
        await fetch.broken()
        for path in (fetch.folder, fetch.folder.parent):
            assert stat.S_IMODE(path.stat().st_mode) == 0o700
        for path in fetch.folder.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        fetch.partial.chmod(0o666)
        faults.play(rest())
        assert stat.S_IMODE((await fetch()).stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_pack_source_takes_the_first_size_and_md5_that_is_known_and_a_name_of_our_own():
    detail = VoicePack(timbre_pack_url="u", file_size=None, file_md5=MD5)
    timbre = Timbre.read({"timbrePackUrl": "u", "fileSize": 7, "fileMd5": "0" * 32})
    source = pack_source("u", ("a",), (None, detail, timbre))
    assert source == PackSource("u", 7, MD5, ("a",))
    assert pack_source("u", (), ()) == PackSource("u")
    hostile = ("../..\0", "", "\ud800門", "-a/b\x1b[2J" * 99, "...")
    name = PackSource("https://x/../../etc/passwd\0", 5, "../..", hostile).file_name
    assert re.fullmatch(r"a-b-2J-a-b-2J-a-b-2J-a_[0-9a-f]{16}\.pack", name)
    named = PackSource("https://x/", named=("Main gate", "1001", "de-DE", "anna")).file_name
    assert re.fullmatch(r"Main-gate_1001_de-DE_anna_[0-9a-f]{16}\.pack", named)
    assert PackSource("https://x/\ud800").file_name != PackSource("https://x/").file_name


def test_pack_source_keeps_the_ending_of_the_address_when_it_is_a_sound_or_an_archive():
    for path, ending in (
        ("anna.wav", "wav"),
        ("ANNA.ZIP?token=1.exe/..", "pack"),
        ("ANNA.ZIP?v=2#part", "zip"),
        ("anna.tar.gz", "gz"),
        *((f"anna{other}", "pack") for other in ("", ".desktop", ".sh", ".partial")),
        (".wav/", "pack"),
    ):
        assert PackSource(f"https://x/packs/{path}").file_name.rpartition(".")[2] == ending, path


@pytest.mark.parametrize(
    ("suffix", "what"),
    # A hard link in the place of the whole file is not among them: that is what was fetched before.
    [(".partial", "hard link"), (".etag", "hard link")]
    + [
        (suffix, what)
        for suffix in (".partial", ".pack", ".etag")
        for what in ("link", "dangling link", "pipe")
    ],
)
async def test_what_was_planted_is_not_written_through(fetch, faults, tmp_path, suffix, what):
    victim = tmp_path / "victim"
    victim.write_bytes(b'"v1"')
    fetch.folder.mkdir(parents=True)
    planted = (fetch.folder / fetch.source.file_name).with_suffix(suffix)
    plant: dict[str, Callable[[], object]] = {
        "link": lambda: planted.symlink_to(victim),
        "dangling link": lambda: planted.symlink_to(tmp_path / "nothing"),
        "hard link": lambda: os.link(victim, planted),
        "pipe": lambda: os.mkfifo(planted),
    }
    plant[what]()
    faults.play(BROKEN, WHOLE)
    with pytest.raises(NoAnswerError):
        await fetch()
    assert (await fetch()).read_bytes() == PACK
    assert victim.read_bytes() == b'"v1"' and not (tmp_path / "nothing").exists()
    final = fetch.folder / fetch.source.file_name
    assert stat.S_ISREG(final.lstat().st_mode) and final.stat().st_nlink == 1


async def test_resume_sends_no_etag_when_its_note_is_damaged(fetch, faults):
    await fetch.broken()
    for note in (b'"v1"\r\nX-Header: y', b"v1", b"", b"\xff", b'"' + b"v" * 500 + b'"'):
        fetch.partial.with_suffix(".etag").write_bytes(note)
        faults.play(BROKEN)
        await fetch.fails(NoAnswerError, "kept")
    assert set(fetch.ranges()) == {None}


async def test_a_folder_that_cannot_be_written(fetch, faults, tmp_path):
    fetch.folder = tmp_path / "file"
    fetch.folder.write_text("")
    with pytest.raises(StoreError, match="cannot be made"):
        await fetch()
    fetch.folder = tmp_path / "packs"
    (fetch.folder / fetch.source.file_name).with_suffix(".partial").mkdir(parents=True)
    with pytest.raises(StoreError, match=r"cannot be written to .*: [A-Z][a-z ]+\."):
        await fetch()
    assert faults.asked == []


FULL = """
import asyncio, resource, sys
from pathlib import Path
from lockterm.api.downloads import download
from lockterm.errors import StoreError
from lockterm.domain.voices import PackSource, Timbre, VoicePack, pack_source
from tests.api.conftest import Settings
base, folder, size, md5 = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_FSIZE, (100_001, 100_001))
source = PackSource(base + "/p/pack.bin?v=1", int(size), md5)
try:
    asyncio.run(download(Settings(base), source, Path(folder), lambda *_: None))
except StoreError as error:
    print(error.message, error.hint)
"""


async def test_a_full_disk_keeps_what_fitted(fetch, faults):
    faults.play(WHOLE)
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", FULL, faults.base_url, fetch.folder, str(len(PACK)), MD5),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    words = (await child.communicate())[0].decode()
    assert "The pack cannot be written" in words and "not full" in words
    assert fetch.partial.read_bytes() == PACK[:100_001]
    faults.play(rest(100_001))
    assert (await fetch()).read_bytes() == PACK


async def test_a_disk_that_takes_less_at_a_time(fetch, faults, monkeypatch):
    write = os.write
    monkeypatch.setattr(partial_file.os, "write", lambda file, data: write(file, data[:1000]))
    faults.play(WHOLE)
    assert (await fetch(fetch.nothing_told)).read_bytes() == PACK


def test_a_file_that_goes_between_opening_and_holding_it(tmp_path, monkeypatch):
    """Another session finishes its download, or throws it away."""
    flock, path = fcntl.flock, tmp_path / "x.partial"

    def late(file: int, how: int) -> None:
        monkeypatch.setattr(partial_file.fcntl, "flock", flock)
        path.rename(tmp_path / "x.pack")
        flock(file, how)

    for there in (True, False):
        if there:
            path.write_bytes(PACK)
        monkeypatch.setattr(partial_file.fcntl, "flock", late)
        partial = PartialFile(path)
        partial.open()
        partial.note_validator('"v1"')
        partial.append(b"new")
        partial.close()
        assert path.read_bytes() == b"new"
        assert (tmp_path / "x.pack").read_bytes() == (PACK if there else b"")
        path.unlink()


async def test_two_sessions_fetching_the_same_pack(fetch, faults):
    """The second is told, and harms nothing, whatever the first is just doing."""
    go_on, arrived = asyncio.Event(), asyncio.Event()

    async def held(line: Line) -> None:
        arrived.set()
        await line.send(http(PACK[:HALF], 200, length=len(PACK)))  # no ETag: not resumable
        await go_on.wait()
        await line.send(PACK[HALF:])

    faults.play(held)
    first = asyncio.ensure_future(fetch())
    await arrived.wait()
    for _ in range(20):  # while it connects, and while bytes arrive
        await fetch.fails(StoreError, "Another lockterm is already fetching")
        await asyncio.sleep(0.002)
    go_on.set()
    assert (await first).read_bytes() == PACK
    assert len(faults.asked) == 1 and fetch.files == [".bin"]


async def test_many_sessions_end_and_begin_over_each_other(fetch, faults):
    faults.play(*[BROKEN, WHOLE] * 50)
    whole = 0

    async def session(number: int) -> None:
        nonlocal whole
        chance = random.Random(number)
        for _ in range(20):
            try:
                file = await fetch()
            except StoreError as error:
                assert "Another lockterm" in error.message
            except NoAnswerError:
                pass
            else:
                whole += 1
                with contextlib.suppress(FileNotFoundError):  # another session deleted it
                    assert file.read_bytes() == PACK
                if chance.random() < 0.7:
                    file.unlink(missing_ok=True)
            await asyncio.sleep(chance.random() / 200)

    await asyncio.gather(*(session(number) for number in range(6)))
    assert whole  # how many depends on how busy the machine is


@pytest.mark.parametrize("kind", ["hard link", "pipe"])
def test_partial_file_keeps_no_descriptor_when_another_file_is_in_its_place(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "pack.partial"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        (tmp_path / "other").touch()
        path.hardlink_to(tmp_path / "other")
    before = psutil.Process().num_fds()
    partial = PartialFile(path)
    partial.open()
    assert path.is_file() and path.stat().st_nlink == 1
    partial.close()
    assert psutil.Process().num_fds() == before
