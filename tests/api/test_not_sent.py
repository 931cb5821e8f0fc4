"""Provably not sent, or perhaps sent: the line between the two, at every kind of failure."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

import anyio
import h11
import httpcore
import pytest

from lockterm.api import request as request_module
from lockterm.api import writes
from lockterm.api.client import LockService
from lockterm.api.retry_policy import RetryPolicy
from lockterm.api.trust import NO_CERTIFICATE, tls_context
from lockterm.domain.remotes import Remote
from lockterm.errors import (
    ConfigError,
    NoAnswerError,
    RateLimitedError,
    RefusedError,
    ResultUnknownError,
    UnreachableError,
    UntrustedServerError,
)
from tests.api.conftest import AT_ONCE, Settings
from tests.api.fault_server import FaultServer, answers
from tests.certs import CERTS
from tests.servers import CertificateGateway, Line

GOOD = '{"errcode":0,"data":{"id":5}}'


async def read(client: LockService) -> Remote:
    return await client.remote_detail(5)


async def write(client: LockService) -> None:
    await client.send(writes.delete_remote(5))


BOTH = pytest.mark.parametrize("call", [read, write])


async def not_sent(
    settings: Settings, call, kind: type[UnreachableError] = UnreachableError
) -> UnreachableError:
    async with LockService(settings, AT_ONCE) as client:
        with pytest.raises(UnreachableError) as error:
            await call(client)
    assert type(error.value) is kind
    assert "Nothing was sent" in error.value.message and error.value.hint
    return error.value


@BOTH
async def test_refused_and_back_again(call):
    with socket.socket() as taken:  # bound and not listening: connecting to it is refused
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        error = await not_sent(Settings(f"http://127.0.0.1:{port}"), call)
    assert f"127.0.0.1:{port} refused the connection" in error.message


@BOTH
async def test_unknown_host_name(call, monkeypatch):
    asked = []

    def resolve(host, *rest, **more):
        asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    error = await not_sent(Settings("http://locks.example"), call)
    assert "locks.example cannot be resolved" in error.message and "base_url" in error.hint
    assert len(asked) == 3  # also a write: it was provably not sent


@BOTH
@pytest.mark.parametrize("share", [0.45, 9], ids=["connect timeout", "deadline"])
async def test_time_runs_out_while_connecting(call, share, monkeypatch):
    """A listener whose queue is full leaves the next connection hanging."""
    monkeypatch.setattr(request_module, "CONNECT_SHARE", share)
    with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        for one in (first, second):
            one.setblocking(False)
            one.connect_ex(address)
        settings = Settings(f"http://127.0.0.1:{address[1]}", timeout_s=0.3)
        error = await not_sent(settings, call)
    assert "in time" in error.message


@BOTH
@pytest.mark.parametrize("how", ["time runs out", "connection lost", "no TLS"])
async def test_error_is_not_sent_when_the_tls_handshake_fails(faults: FaultServer, call, how: str):
    async def fail(line: Line) -> None:
        if how == "connection lost":
            line.reset()
        elif how == "no TLS":
            await line.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        else:
            await line.reader.read()

    faults.at_once = fail
    url = faults.base_url.replace("http:", "https:")
    settings = Settings(url, timeout_s=0.3 if how == "time runs out" else 10.0)
    if how == "no TLS":
        error = await not_sent(settings, call, UntrustedServerError)
        assert "TLS" in error.hint and faults.accepted == 1
    else:
        await not_sent(settings, call)
        assert faults.accepted == 3


@pytest.fixture
async def secure():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTS / "server.pem", CERTS / "server.key")
    async with FaultServer(tls=context).running() as server:
        server.play(answers(GOOD))
        yield server


@BOTH
async def test_an_authority_is_trusted_when_it_was_added(secure: FaultServer, call):
    error = await not_sent(Settings(secure.base_url), call, UntrustedServerError)
    assert f"certificate of localhost:{secure.port}" in error.message
    assert "unable to get local issuer certificate" in error.message
    assert "ca_file" in error.hint
    ours = str(CERTS / "ca.pem")
    url = secure.base_url.replace("localhost", "127.0.0.1")
    error = await not_sent(Settings(url, ca_file=ours), call, UntrustedServerError)
    assert "not valid for '127.0.0.1'" in error.message
    assert secure.asked == []
    for ca_only in (False, True):
        settings = Settings(secure.base_url, ca_file=ours, ca_only=ca_only)
        async with LockService(settings, AT_ONCE) as client:
            await call(client)
        authorities = tls_context(secure.base_url, ours, ca_only=ca_only).get_ca_certs()
        assert len(authorities) == 1 if ca_only else len(authorities) > 100
    assert len(secure.asked) == 2
    with pytest.raises(UnreachableError):
        await call(client)  # after it was closed
    assert len(secure.asked) == 2


@pytest.mark.parametrize("ca_only", [False, True])
async def test_authority_is_accepted_when_it_is_the_issuing_one(ca_only: bool):
    """Its own certificate is signed by a root that nobody knows here."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTS / "issued.pem", CERTS / "issued.key")
    async with FaultServer(tls=context).running() as server:
        server.play(answers(GOOD))
        issuing = str(CERTS / "issuing.pem")
        async with LockService(
            Settings(server.base_url, ca_file=issuing, ca_only=ca_only)
        ) as client:
            await read(client)
        other = Settings(server.base_url, ca_file=str(CERTS / "ca.pem"), ca_only=ca_only)
        await not_sent(other, read, UntrustedServerError)


@BOTH
@pytest.mark.parametrize(
    ("version", "proof", "hint"),
    [
        # TLS 1.2 has no alert of its own for it.
        (ssl.TLSVersion.TLSv1_2, "Nothing was sent.", "It may require a client certificate"),
        (ssl.TLSVersion.TLSv1_3, "requires a client certificate. It did not read the request", ""),
    ],
)
async def test_error_is_not_sent_when_a_gateway_wants_a_client_certificate(
    version, proof, hint, call
):
    with CertificateGateway(version) as gateway:
        settings = Settings(gateway.base_url, ca_file=str(CERTS / "ca.pem"))
        async with LockService(settings, AT_ONCE) as client:
            with pytest.raises(UntrustedServerError) as error:
                await call(client)
    assert proof in error.value.message
    assert hint in error.value.hint and NO_CERTIFICATE in error.value.hint


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE"])
async def test_the_environment_changes_no_trust(
    secure: FaultServer, monkeypatch, tmp_path, variable
):
    (tmp_path / "ca.pem").write_bytes((CERTS / "ca.pem").read_bytes())
    (tmp_path / "keys").touch()
    places = {"SSL_CERT_FILE": "ca.pem", "SSL_CERT_DIR": ".", "SSLKEYLOGFILE": "keys"}
    monkeypatch.setenv(variable, str(tmp_path / places[variable]))
    await not_sent(Settings(secure.base_url), write, UntrustedServerError)
    async with LockService(Settings(secure.base_url, ca_file=str(CERTS / "ca.pem"))) as client:
        await write(client)
    assert (tmp_path / "keys").read_text() == ""


@pytest.mark.parametrize("ca_file", ["/no/such/file.pem", __file__, "/", "a\0b", "too large"])
async def test_a_ca_file_of_no_use(tmp_path: Path, ca_file: str):
    if ca_file == "too large":
        ca_file, content = str(tmp_path / "ca.pem"), (CERTS / "ca.pem").read_bytes()
        Path(ca_file).write_bytes(content.ljust(16 << 20, b"\n"))
        tls_context("https://localhost", ca_file)
        Path(ca_file).write_bytes(content.ljust((16 << 20) + 1, b"\n"))
    with pytest.raises(UntrustedServerError) as error:
        async with LockService(Settings("https://localhost", ca_file=ca_file)):
            pass
    assert "ca_file" in error.value.message and error.value.message.isprintable()


async def test_reads_ignore_proxies(faults: FaultServer, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    faults.play(answers(GOOD))
    async with LockService(Settings(faults.base_url)) as client:
        assert (await client.remote_detail(5)).id == 5


def _is_error(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, Exception)


def leak(kind: type[Exception]) -> Exception:
    return kind("ascii", "ü", 0, 1, "x") if issubclass(kind, UnicodeEncodeError) else kind("x")


LEAKS = [
    *(one for name in httpcore.__all__ if _is_error(one := getattr(httpcore, name))),
    h11.RemoteProtocolError,
    h11.LocalProtocolError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    OSError,
    EOFError,
    UnicodeEncodeError,
    ValueError,
    RuntimeError,
]


class Failing(httpcore.AsyncHTTPConnection):
    """Fails like no real server can be made to, before or after the request began to be sent."""

    def __init__(self, error: Exception, *steps: str) -> None:
        super().__init__(httpcore.Origin(b"http", b"127.0.0.1", 9))
        self.error, self.steps = error, steps
        self.calls = 0

    async def handle_async_request(self, request):
        self.calls += 1
        for step in self.steps:
            await request.extensions["trace"](step, {})
        raise self.error


@pytest.mark.parametrize("kind", LEAKS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
async def test_whatever_the_http_stack_raises(kind, monkeypatch):
    connecting = ("connection.connect_tcp.started", "connection.start_tls.started")
    sending = (*connecting, "http11.send_request_headers.started")
    async with LockService(Settings("http://127.0.0.1:9"), AT_ONCE) as client:
        for steps, read_error, write_error, sent in (
            (connecting, UnreachableError, UnreachableError, 3),
            (sending, NoAnswerError, ResultUnknownError, 1),
            # A step of a name that is not known counts as sent: doubt is the safe side.
            (("http9.surprise",), NoAnswerError, ResultUnknownError, 1),
        ):
            failing = Failing(leak(kind), *steps)
            made = lambda *_, failing=failing, **options: failing  # noqa: E731
            monkeypatch.setattr(httpcore, "AsyncHTTPConnection", made)
            with pytest.raises(read_error):
                await client.remote_detail(5)
            assert failing.calls == 3
            failing.calls = 0
            with pytest.raises(write_error):
                await client.send(writes.delete_remote(5))
            assert failing.calls == sent


class Alerting(Failing):
    """Fails with an alert of TLS once the request has left, before or amid the answer."""

    def __init__(self, reason: str, *, is_amid_answer: bool) -> None:
        alert = ssl.SSLError(1, reason)
        alert.reason = reason
        super().__init__(alert, "http11.send_request_headers.started")
        self.is_amid_answer = is_amid_answer

    async def handle_async_request(self, request):
        if not self.is_amid_answer:
            return await super().handle_async_request(request)
        await request.extensions["trace"](self.steps[0], {})

        async def body():
            yield b"{"
            raise self.error

        return httpcore.Response(200, content=body())


@pytest.mark.parametrize(
    ("reason", "is_amid_answer", "kind"),
    [
        ("TLSV13_ALERT_CERTIFICATE_REQUIRED", False, UntrustedServerError),
        ("TLSV13_ALERT_CERTIFICATE_REQUIRED", True, ResultUnknownError),
        ("SSLV3_ALERT_BAD_CERTIFICATE", False, ResultUnknownError),  # it may be of any moment
    ],
)
async def test_write_is_not_sent_only_when_the_alert_proves_that_it_was_not_read(
    reason, is_amid_answer, kind, monkeypatch
):
    alerting = Alerting(reason, is_amid_answer=is_amid_answer)
    monkeypatch.setattr(httpcore, "AsyncHTTPConnection", lambda *_, **options: alerting)
    async with LockService(Settings("http://127.0.0.1:9"), AT_ONCE) as client:
        with pytest.raises(kind) as error:
            await write(client)
    assert type(error.value) is kind
    assert "client certificate" in error.value.message
    assert not tls_context("https://localhost", "").post_handshake_auth


async def test_patience_with_time_that_is_faked(monkeypatch):
    """Pauses grow and are uneven, waits that were asked for are kept, and 30 s end all reads."""
    now, pauses, allowed = 0.0, [], []

    async def pause(seconds):
        nonlocal now
        pauses.append(seconds)
        now += seconds

    class Clock:
        time = staticmethod(lambda: now)

    monkeypatch.setattr("lockterm.api.retry_policy.asyncio.sleep", pause)
    monkeypatch.setattr("lockterm.api.retry_policy.asyncio.get_running_loop", lambda: Clock)

    async def give_up(calls, error, takes=0.0):
        async def attempt(within_s):
            nonlocal now
            allowed.append(within_s)
            now += min(takes, within_s)
            raise error

        allowed.clear(), pauses.clear()
        with pytest.raises(type(error)):
            await calls(attempt, 15)

    policy = RetryPolicy()
    for error in (NoAnswerError(""), RateLimitedError("", retry_after_s=0)):
        await give_up(policy.read, error)
        assert len(allowed) == 3 and 0.15 <= pauses[0] <= 0.45 and 0.3 <= pauses[1] <= 0.9
    await give_up(policy.read, NoAnswerError(""), takes=15)
    assert allowed[0] == 15 and allowed[1] < 15 and len(allowed) == 2  # the 30 s are over
    await give_up(policy.write, UnreachableError(""), takes=15)
    assert allowed == [15, 15, 15]  # a write is never hurried
    for wait_s, waited in ((4, [4, 4]), (6, []), (None, [1, 1])):
        await give_up(policy.read, RateLimitedError("", retry_after_s=wait_s))
        assert pauses == waited and len(allowed) == len(waited) + 1
    limited = RateLimitedError("", retry_after_s=0)
    for error in (RefusedError(""), ResultUnknownError(""), NoAnswerError(""), limited):
        await give_up(policy.write, error)
        assert len(allowed) == 1


def test_base_url_is_refused_without_its_secret_when_it_cannot_be_used():
    with pytest.raises(ConfigError) as error:
        LockService(Settings("https://user:hunter2@locks.example.com"))
    assert "base_url" in error.value.message and error.value.hint
    assert "hunter2" not in error.value.message + error.value.hint


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X Y", "hunter2"),
        ("", "hunter2"),
        ("X-Kéy", "hunter2"),
        ("X-Key", "hunter2\r\nX: y"),
        ("X-Key", " hunter2"),
        ("X-Key", "hunter2é"),
        ("X-Key", "hunter2\0"),
        ("Host", "hunter2"),
        ("content-LENGTH", "1"),
        ("Transfer-Encoding", "chunked"),
    ],
)
def test_headers_that_cannot_be_sent(name, value):
    with pytest.raises(ConfigError) as error:
        LockService(Settings("http://localhost", headers={name: value}))
    assert "hunter2" not in error.value.message + error.value.hint
