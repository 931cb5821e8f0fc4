"""The page that is asked for before there is a client: as the client would, and to the same end."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import ssl
from pathlib import Path
from types import SimpleNamespace

import pytest

from lockterm.api import trust
from lockterm.api.client import LockService
from lockterm.api.first_page import FirstPage, Outcome
from lockterm.api.pending_connection import PendingConnection
from lockterm.config import Profile
from lockterm.domain.remotes import RemotePage
from lockterm.errors import NoAnswer, ServiceError
from tests.api.conftest import AT_ONCE
from tests.api.fault_server import FaultServer, answers, http, says
from tests.api.test_faults import FAULTS, MALFORMED, REFUSED, SECRET, brief, drip
from tests.certs import CERTS
from tests.long import telling

LIST = {"list": [{"id": 5, "remoteName": "Zoë", "lockId": 1001}], "total": 41, "pages": 3}
GOOD = json.dumps({"errcode": 0, "data": LIST})
PACKED = gzip.compress(GOOD.encode())
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"".join(
    b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (GOOD[:30].encode(), GOOD[30:].encode(), b"")
)


def profile(server: FaultServer, **fields: object) -> Profile:
    given = {"base_url": server.base_url, "headers": {"Authorization": SECRET}} | fields
    return Profile("p", **given)  # type: ignore[arg-type]


async def asked(of: Profile, connection: PendingConnection | None = None) -> Outcome:
    first = FirstPage(of, 1001, connection=connection)
    first.ask()
    return await asyncio.wrap_future(first.outcome)


async def listed(of: Profile, before: Outcome | None = None) -> RemotePage:
    async with LockService(of, AT_ONCE) as client:
        return await client.list_remotes(1001, 1, of.page_rows(), before)


async def refusal(of: Profile, before: Outcome | None = None) -> ServiceError:
    with pytest.raises(ServiceError) as error:
        await listed(of, before)
    return error.value


@pytest.mark.parametrize("prefix", ["", "/v1", "/a.b/c~d_e-f"])
async def test_it_is_the_request_that_the_client_sends(
    faults: FaultServer, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    faults.play(answers(GOOD))
    of = profile(faults, base_url=faults.base_url + prefix, page_size=50)
    outcome = await asked(of)
    page = await listed(of)
    early, usual = faults.asked
    assert (early.start, early.headers, early.body) == (usual.start, usual.headers, usual.body)
    assert outcome.page == page and page.remotes[0].remote_name == "Zoë"
    assert (page.total, page.pages, page.answer_bytes) == (41, 3, len(GOOD))


@pytest.mark.parametrize(
    "script",
    [
        answers(PACKED, 200, "Content-Encoding: gzip"),
        says(CHUNKED),
        says(*(bytes([byte]) for byte in http(GOOD)[:40]), http(GOOD)[40:]),
        says(b"HTTP/1.1 200 OK\r\nX: \xff\r\n\r\n" + GOOD.encode()),
    ],
    ids=["packed", "chunked", "in pieces", "to the end of the line"],
)
async def test_every_form_of_an_answer_is_taken(faults: FaultServer, script) -> None:
    faults.play(script)
    outcome = await asked(profile(faults))
    assert outcome.page is not None and outcome.page.total == 41
    assert await listed(profile(faults), outcome) == outcome.page
    assert len(faults.asked) == 1


async def test_it_tells_the_clock_of_the_service(faults: FaultServer) -> None:
    faults.play(answers(GOOD, 200, "Date: Thu, 01 Jan 1970 00:00:10 GMT"))
    outcome = await asked(profile(faults))
    assert outcome.clock_offset_s == 10.5 - outcome.at_s and outcome.at_s > 1e9


@pytest.mark.parametrize("name", telling([*FAULTS][::4], FAULTS))
async def test_what_is_no_page_ends_as_ever(faults: FaultServer, name: str) -> None:
    """In the same words; and where an answer came, after as many requests."""
    of = profile(faults, timeout_s=brief(name, faults).timeout_s)
    faults.play(FAULTS[name])
    usual = await refusal(of)
    requests = len(faults.asked)
    faults.asked.clear()
    outcome = await asked(of)
    assert outcome.page is None and len(faults.asked) == 1
    error = await refusal(of, outcome)
    assert (type(error), error.message, error.hint) == (type(usual), usual.message, usual.hint)
    if name in MALFORMED or name in REFUSED:
        assert outcome.answer is not None and len(faults.asked) == requests
    else:
        assert isinstance(usual, NoAnswer) and outcome.answer is None
        assert len(faults.asked) == requests + 1


async def test_many_small_pieces_are_left_to_the_client(faults: FaultServer) -> None:
    """It would be at them for as long as an answer may take, and keys would wait."""
    faults.play(drip(http(GOOD, length=10**6)), answers(GOOD))
    outcome = await asked(profile(faults, timeout_s=600.0))
    assert outcome == Outcome()
    assert (await listed(profile(faults), outcome)).total == 41


async def test_what_was_not_sent_is_the_first_attempt() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        of = Profile("p", f"http://127.0.0.1:{closed.getsockname()[1]}")
        outcome = await asked(of)
        assert isinstance(outcome.error, ConnectionRefusedError)
        error, usual = await refusal(of, outcome), await refusal(of)
    assert (type(error), error.message) == (type(usual), usual.message)


@pytest.mark.parametrize("ca_file", ["", str(CERTS / "ca.pem")], ids=["machine", "own"])
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
async def test_a_certificate_is_verified_as_ever(ca_file: str, host: str) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(CERTS / "server.pem", CERTS / "server.key")
    async with FaultServer(tls=tls).running() as server:
        server.play(answers(GOOD))
        url = server.base_url.replace("localhost", host)
        of = profile(server, base_url=url, ca_file=ca_file)
        outcome = await asked(of)
        if ca_file and host == "localhost":
            assert outcome.page is not None
            assert len(server.asked) == 1
            return
        error, usual = await refusal(of, outcome), await refusal(of)
        assert (type(error), error.message) == (type(usual), usual.message)
        assert server.asked == []


async def test_whom_the_client_alone_trusts_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Well-known authorities take long to load."""
    monkeypatch.setattr(trust, "quick_tls_context", lambda *_, **__: ssl.create_default_context())
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(CERTS / "server.pem", CERTS / "server.key")
    async with FaultServer(tls=tls).running() as server:
        server.play(answers(GOOD))
        of = profile(server, ca_file=str(CERTS / "ca.pem"))
        outcome = await asked(of)
        assert outcome == Outcome() and server.asked == []
        assert (await listed(of, outcome)).total == 41


def test_authorities_are_not_loaded_that_the_machine_finds_by_their_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = SimpleNamespace(openssl_cafile=str(tmp_path / "none"), openssl_capath=str(tmp_path))
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)
    own = str(CERTS / "ca.pem")
    assert len(trust.quick_tls_context("https://localhost", "").get_ca_certs()) > 50
    (tmp_path / "0123abcd.0").touch()
    assert trust.quick_tls_context("https://localhost", "").get_ca_certs() == []
    assert len(trust.quick_tls_context("https://localhost", own).get_ca_certs()) == 1


@pytest.mark.parametrize("leads_there", [True, False])
async def test_a_connection_that_was_begun_serves_where_it_leads_there(
    faults: FaultServer, leads_there: bool
) -> None:
    faults.play(answers(GOOD))
    async with FaultServer().running() as other:
        begun = PendingConnection("127.0.0.1", (faults if leads_there else other).port, 10.0)
        outcome = await asked(profile(faults), begun)
        assert outcome.page is not None and faults.accepted == 1
        async with asyncio.timeout(60):
            while not leads_there and not (other.accepted and not other.open_connections):
                await asyncio.sleep(0.01)
        assert other.asked == []


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:{}/a/../b", "http://[::1]:{}", "http://127.0.0.1:{}/%7e", "https://x:{}"],
)
async def test_what_is_not_written_plainly_or_cannot_be_used_is_left_to_the_client(
    faults: FaultServer, url: str
) -> None:
    of = Profile("p", url.format(faults.port), ca_file="/no/such/file")
    assert await asked(of) == Outcome() or url.startswith("https")
    assert faults.asked == []
