"""What is refused before any rule is asked: encodings, sizes, hosts, origins, credentials."""

from __future__ import annotations

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx
import pytest

from lockterm.service import guards, running
from lockterm.service.answers import Code
from tests.conftest import NOW_MS
from tests.servers import port_of
from tests.service.conftest import PATIENCE_S, REMOTE, SETTING, VOICE, Caller
from tests.service.killing import until

LIST = f"{REMOTE}list?lockId=1001"
CHECK = f"{REMOTE}checkRemoteName"
JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}


def nested(levels: int) -> bytes:
    """A body with objects nested ``levels`` deep, itself included."""
    return (
        b'{"lockId":1004,"remoteName":"x","e":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"
    )


def test_bodies_that_cannot_be_read(api: Caller) -> None:
    for body in (
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b'{"lockId":1,}',
        b"{'lockId':1}",
        b'{"lockId":NaN}',
        b'{"lockId":-Infinity}',
        b'{"lockId":1e999}',
        b'{"lockId":9223372036854775808}',
        b'{"extraData":{"n":-9223372036854775809}}',
        b'{"lockId":' + b"9" * 5000 + b"}",
        b'{"lockId":1001,"lockId":1001}',
        b'{"extraData":{"a":{"b":1,"b":2}}}',
        b'{"remoteName":"\\ud800"}',
        b'{"extraData":{"\\udfff":1}}',
        b'{"remoteName":"a\\u0000b"}',
        b'{"extraData":["\\u0000"]}',
        b'{"remoteName":"\xff"}',
        b'\xef\xbb\xbf{"lockId":1001}',
        '{"lockId":1001}'.encode("utf-16"),
        b'{"lockId":1001} x',
        nested(17),
        b'{"e":' + b"[" * 60_000,
        b'{"e":' + b'{"e":' * 13_000,
    ):
        for path in (CHECK, SETTING):
            answer = api.request("POST", path, content=body, headers=JSON)
            assert answer.status_code == 400, body[:50]
    for body in (
        b"lockId",
        b"lockId=1001&lockId=1001",
        b"lockId=1001&remoteName=%FF",
        b"lockId=1001&remoteName=%00",
        b"lockId=1001&remoteName=\xc3\xa4",
        b"&".join(b"a%d=1" % number for number in range(101)),
    ):
        assert api.request("POST", CHECK, content=body, headers=FORM).status_code == 400, body
    for text in ("{", '{"a":NaN}', '{"a":1,"a":2}', '{"a":"\\ud800"}', "[" * 16):
        form = {"lockId": "1004", "remoteId": "1", "extraData": text}
        assert api.request("POST", f"{REMOTE}update", data=form).status_code == 400, text


def test_depth_16_and_a_body_of_64_kib_are_still_read(api: Caller) -> None:
    assert api.request("POST", CHECK, content=nested(16), headers=JSON).json()["errcode"] == 0
    body = json.dumps({"lockId": 1004, "remoteName": "x"}).encode()
    for size, status in ((65_536, 200), (65_537, 413), (4_000_000, 413)):
        padded = body.ljust(size)
        for content in (padded, iter([padded[:50_000], padded[50_000:]])):
            answer = api.request("POST", CHECK, content=content, headers=JSON)
            assert answer.status_code == status
    long_name = "n" * 60_000
    assert api.detail(api.add(1004, long_name))["remoteName"] == long_name
    fields = {"lockId": 1004, "remoteName": "Deep", "remoteNumber": "D-1", "remoteType": 1}
    for levels, status in ((15, 200), (16, 400)):  # the form itself is the first of the 16 levels
        value = '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)
        form = {**fields, "addType": 1, "extraData": value}
        assert api.request("POST", f"{REMOTE}add", data=form).status_code == status


def test_content_types_are_read_as_the_standard_has_them(api: Caller) -> None:
    for kind in (
        *(None, "", "text/plain", "text/json", "multipart/form-data; boundary=x"),
        *("application/xml", "application/json; charset=latin-1", "application/jsonx"),
    ):
        headers = {} if kind is None else {"content-type": kind}
        answer = api.request("POST", CHECK, content=b'{"lockId":1001}', headers=headers)
        assert answer.status_code == 415, kind
    content = json.dumps({"lockId": 1004, "remoteName": "x"})
    headers = {"content-type": 'Application/JSON ; charset="UTF-8"'}
    answer = api.request("POST", CHECK, content=content, headers=headers)
    assert answer.json()["errcode"] == 0


def test_unknown_paths(api: Caller) -> None:
    for path in (
        *("/", "/api/v1", "/api/v2/voice/list", f"{VOICE}list/", "//", "/%00"),
        "/API/v1/voice/list",
    ):
        for method in ("GET", "POST"):
            assert api.request(method, path).status_code == 404, path
    api.request("G" * 5000, "/" + "a" * 9000, headers={"host": "evil.example"})
    noted = [*api.service.requests][-3:]
    assert noted[:2] == [(method, "/API/v1/voice/list") for method in ("GET", "POST")]
    assert [len(text) for text in noted[2]] == [200, 200], "what is noted of a request is short"


def test_foreign_origins(api: Caller) -> None:
    host = api.service.base_url.removeprefix("http://")
    for origin in (
        *("http://evil.example", "null", f"https://{host}", f"http://{host}.evil.example"),
        *("http://127.0.0.1", "://"),
    ):
        headers = {"origin": origin}
        answer = api.request("POST", f"{REMOTE}clear", json={"lockId": 1001}, headers=headers)
        assert answer.status_code == 403, origin
    assert api.page(1001)["total"] == 137
    assert api.request("GET", LIST, headers={"origin": api.service.base_url}).status_code == 200


@pytest.mark.parametrize("public_url", [None, "https://locks.example.com"])
def test_request_is_refused_when_a_browser_sends_it_for_another_site(
    public_url: str | None, serve
) -> None:
    """Some are sent without Origin, as those of images and of links."""
    api = serve(public_url=public_url)
    for site, status in (
        ("cross-site", 403), ("same-site", 200), ("same-origin", 200), ("none", 200)
    ):  # fmt: skip
        for path in (LIST, "/packs/lumenlock/l7/zh-cn-xiaoyan.wav"):
            assert api.http.get(path, headers={"sec-fetch-site": site}).status_code == status


def test_own_hosts_and_the_pack_addresses_they_give(api: Caller) -> None:
    for host in (
        *("evil.example", "evil.example:80", "127.0.0.1.evil.example", "127.0.0.2", "", "["),
        "a@localhost",
    ):
        assert api.request("GET", LIST, headers={"host": host}).status_code == 421, host
    body = {"vendor": "lumenlock", "model": "L7"}
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1:8080", "[::1]:99", "[::1]"):
        answer = api.request("POST", f"{VOICE}packs", json=body, headers={"host": host})
        url = answer.json()["data"][0]["timbres"][0]["timbrePackUrl"]
        assert url == f"http://{host}/packs/lumenlock/l7/zh-cn-xiaoyan.wav"


def test_behind_a_proxy_addresses_are_the_public_ones(serve) -> None:
    address = "https://Locks.example.com:443/site"
    api = serve(public_url=address)
    body = {"vendor": "lumenlock", "model": "L7"}
    for host in ("locks.example.com", "127.0.0.1"):
        answer = api.request("POST", f"{VOICE}packs", json=body, headers={"host": host})
        url = answer.json()["data"][0]["timbres"][0]["timbrePackUrl"]
        assert url == f"{address}/packs/lumenlock/l7/zh-cn-xiaoyan.wav"
    own = "https://locks.example.com"  # browsers leave out the port that goes without saying
    for origin, status in ((own, 200), (f"{own}:8443", 403), ("https://example.com", 403)):
        headers = {"origin": origin, "host": "locks.example.com"}
        assert api.request("GET", LIST, headers=headers).status_code == status
    for host in ("127.0.0.1:8080", "locks.example.com"):
        headers = {"origin": f"http://{host}", "host": host}
        assert api.request("GET", LIST, headers=headers).status_code == 403, "not the public one"


def test_hosts_can_be_configured_and_a_wildcard_serves_addresses_but_not_names(serve) -> None:
    own, evil = "locks.example.com", "evil.example"
    for options, statuses in (
        ({"host": "0.0.0.0"}, {"192.0.2.7:8080": 200, "[2001:db8::7]": 200, evil: 421}),
        ({"allowed_hosts": [own]}, {own: 200, "127.0.0.1": 421, evil: 421}),
    ):
        api = serve(**options)
        for host, status in statuses.items():
            assert api.request("GET", LIST, headers={"host": host}).status_code == status


def test_a_token_is_needed_where_one_is_set(serve) -> None:
    api = serve(token="s3cr3t")
    right = {"authorization": "Bearer s3cr3t"}
    for wrong in ({}, {"authorization": "Bearer s3cr3"}, {"authorization": "Basic s3cr3t"}):
        for path in (LIST, "/nowhere"):
            answer = api.request("GET", path, headers=wrong)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert api.request("GET", LIST, headers=right).status_code == 200
    for path in ("/healthz", "/readyz"):
        assert api.request("GET", path).json()["errcode"] == 0, "a probe has no token"
    packs = api.request(
        "POST", f"{VOICE}detail", json={"lockId": 1001, "name": "de-DE-anna"}, headers=right
    )
    url = packs.json()["data"]["timbrePackUrl"]
    assert api.http.get(url).status_code == 200, "the lock that fetches a pack has no token"


def test_many_who_ask_whether_it_is_ready_are_one_question_to_the_database(
    api: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They need no token: each with a connection of its own would take them all."""
    database = api.service.app.state.site.database
    asked, is_free, rows = [], threading.Event(), database.rows

    def slow(*statement: object) -> object:
        asked.append(1)
        assert is_free.wait(PATIENCE_S)
        return rows(*statement)

    monkeypatch.setattr(database, "rows", slow)
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(api.request, "GET", "/readyz") for _ in range(8)]
        until(lambda: len(api.service.requests) == 8 and asked)
        assert len(asked) == 1
        is_free.set()
    assert {one.result().status_code for one in answers} == {200}


def test_a_rate_is_kept_and_says_when_to_ask_again(serve) -> None:
    now_ms = [NOW_MS]
    api = serve(token="s3cr3t", rate=2.0, clock=lambda: now_ms[0])
    right = {"authorization": "Bearer s3cr3t"}

    def statuses(count: int) -> list[int]:
        return [api.request("GET", LIST, headers=right).status_code for _ in range(count)]

    for _ in range(3):  # they have no token, and take nothing from who has
        assert api.request("GET", LIST).status_code == 401
    assert statuses(3) == [200, 200, 429]
    refused = api.request("GET", LIST, headers=right)
    assert (refused.json()["errcode"], refused.headers["retry-after"]) == (429, "1")
    assert api.request("GET", "/healthz").status_code == 200
    now_ms[0] += 500
    assert statuses(2) == [200, 429]
    now_ms[0] += 3_600_000
    assert statuses(3) == [200, 200, 429], "what was not asked for is not saved up"
    now_ms[0] -= 3_600_000
    assert statuses(1) == [429]
    now_ms[0] += 500
    assert statuses(2) == [200, 429]


def exchange(api: Caller, request: bytes) -> httpx.Response:
    """Send bytes as they are; returns the one answer to them."""
    address = httpx.URL(api.service.base_url)
    with socket.create_connection((address.host, address.port), timeout=PATIENCE_S) as line:
        line.sendall(request)
        received = b""
        with suppress(ConnectionResetError):  # not all that was sent was read, but it was answered
            while chunk := line.recv(65536):
                received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = [tuple(line.split(": ", 1)) for line in lines[1:]]
    return httpx.Response(int(lines[0].split()[1]), headers=headers, content=body)


def test_invalid_http_gets_an_envelope(api: Caller) -> None:
    own = b"Host: localhost\r\n"
    for request, status in (
        (b"nonsense\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n" + own + b"X: " + b"x" * 100_000, 400),
        (b"POST / HTTP/1.1\r\n" + own + b"Content-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\n" + own + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"GET / HTTP/1.0\r\n\r\n", 421),
        (b"OPTIONS * HTTP/1.1\r\n" + own + b"Connection: close\r\n\r\n", 404),
        (b"TRACE / HTTP/1.1\r\n" + own + b"Connection: close\r\n\r\n", 404),
    ):
        answer = exchange(api, request)
        envelope = answer.json()
        assert (answer.status_code, envelope["errcode"]) == (status, status), request[:50]
        assert envelope["errmsg"] in {code.message for code in Code}


def test_duplicate_length_ends_the_connection(api: Caller) -> None:
    """What follows may be meant as part of the body by who stands in front: it is not answered."""
    two = "Content-Length: 50\r\nTransfer-Encoding: chunked"
    head = f"POST {CHECK} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{two}"
    hidden = f"POST {REMOTE}delete HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = exchange(api, f"{head}\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n{hidden}".encode())
    assert (answer.status_code, answer.headers["connection"]) == (400, "close")
    assert b"HTTP/1.1" not in answer.content
    assert [path for _, path in api.service.requests] == [CHECK]


def test_a_body_that_does_not_arrive_is_not_waited_for_forever(
    api: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guards, "BODY_TIMEOUT_S", 0.05)
    headers = "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\nx"
    answer = exchange(api, f"POST {CHECK} HTTP/1.1\r\n{headers}".encode())
    assert (answer.status_code, answer.json()["errcode"]) == (408, 408)


def test_a_broken_database_is_an_envelope_too(serve, new_database) -> None:
    api = serve(database=new_database())
    service = api.service
    with service.app.state.site.database.writing() as db:
        db.execute("DROP TABLE remote")
    answer = api.request("GET", LIST)
    assert (answer.status_code, answer.json()["errcode"]) == (503, 503)
    assert answer.headers["retry-after"] == "1"
    assert api.request("GET", "/readyz").status_code == 200
    with service.app.state.site.database.writing() as db:
        db.execute("DROP TABLE site")
    assert api.request("GET", "/readyz").status_code == 503
    assert api.request("GET", "/healthz").status_code == 200
    service.app.state.site.database.close()
    assert api.request("GET", LIST).status_code == 500
    assert len(service.failures) == 3
    service.failures.clear()


@pytest.mark.long
def test_a_head_that_never_ends_is_hung_up_on(api: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "HEAD_TIMEOUT_S", 0.3)
    address = ("127.0.0.1", port_of(api.service))
    head = b"GET /api/v1/bluetooth-remote/list?lockId=1001 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    for begun in (b"", head, head + b"\r\n" + head):
        with socket.create_connection(address, timeout=PATIENCE_S) as line:
            line.sendall(begun)
            if head + b"\r\n" in begun:
                assert line.recv(5) == b"HTTP/"
            try:
                while line.recv(65536):
                    pass
            except ConnectionResetError:
                pass


def test_a_slow_body_is_not_cut_off_by_the_limit_for_heads(
    api: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "HEAD_TIMEOUT_S", 0.3)
    address, body = ("127.0.0.1", port_of(api.service)), b'{"lockId":1004,"remoteName":"Anna"}'
    head = f"POST {CHECK} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection(address, timeout=PATIENCE_S) as slow:
        slow.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:1])
        with socket.create_connection(address, timeout=PATIENCE_S) as silent:
            assert silent.recv(1) == b"", "the limit for heads has passed"
        slow.sendall(body[1:])
        assert slow.recv(12) == b"HTTP/1.1 200"
