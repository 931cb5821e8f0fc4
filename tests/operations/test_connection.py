"""Out of reach behind a portal, a proxy or a certificate, and found again by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockterm.errors import ServiceError, UnreachableError, UntrustedServerError
from lockterm.screens.locks.form import look_up
from tests.certs import CERTS
from tests.conftest import NOW_MS
from tests.faults.catalogue import answers
from tests.faults.site import STRANGER, Site, tls_context, until
from tests.operations.bench import Bench

PAGE = "\n<!DOCTYPE html><title>Welcome to the hotel</title>"


@pytest.mark.parametrize(
    "play",
    [
        answers(PAGE, 200, "Content-Type: text/html"),
        answers("", 302, "Location: http://portal.example/login"),
        answers(PAGE, 407, "Proxy-Authenticate: Basic"),
        answers(PAGE, 511),
        answers(PAGE, 502),
    ],
    ids=["portal", "redirect", "proxy login", "network login", "gateway"],
)
async def test_what_answers_in_place_of_the_service(bench: Bench, play) -> None:
    connection, read = bench.operations.connection, bench.operations.remotes.page
    await read(bench.lock_id, 1, 20)
    bench.proxy.arm("list", play)
    with pytest.raises(ServiceError):
        await read(bench.lock_id, 1, 20, fresh=True)
    assert connection.online is False
    asked = len(bench.proxy.asked)
    await until(lambda: len(bench.proxy.asked) >= asked + 3)  # by itself
    assert connection.online is False
    await bench.proxy.heal()
    await until(lambda: connection.online)


async def test_a_certificate_that_is_put_right(site: Site) -> None:
    right, wrong = tls_context(CERTS / "server"), tls_context(STRANGER / "stranger")
    lock_id, trust = site.new_lock(), {"ca_file": str(CERTS / "ca.pem")}
    async with (
        site.proxy("localhost", tls=right) as proxy,
        site.operations(proxy, **trust) as operations,
    ):
        await proxy.speak(wrong)
        with pytest.raises(UntrustedServerError):
            await operations.remotes.page(lock_id, 1, 20)
        met = proxy.accepted
        await until(lambda: proxy.accepted >= met + 3)
        assert operations.connection.online is False and proxy.asked == []
        await proxy.speak(right)
        await until(lambda: operations.connection.online)


async def test_connection_recovers_when_the_ca_file_is_mended(site: Site, tmp_path: Path) -> None:
    """It is looked into on the first call, which may be any: of a search, or of a lock's name."""
    file = tmp_path / "authority.pem"
    file.write_bytes(b"0\x82\x03\xe1")  # as certificates begin that are not PEM
    lock_id, right = site.new_lock(), tls_context(CERTS / "server")
    async with (
        site.proxy("localhost", tls=right) as proxy,
        site.operations(proxy, ca_file=str(file)) as operations,
    ):
        told = await look_up(operations, lock_id, 20)
        assert not told.asked and "authority.pem cannot be used: it holds no" in told.words
        assert operations.connection.online is False and proxy.accepted == 0
        file.write_bytes((CERTS / "ca.pem").read_bytes())
        await until(lambda: operations.connection.online)


async def test_connection_stays_up_when_the_service_refuses(bench: Bench) -> None:
    """A page of errors that says 403 or 404 is an answer to this call, not to all."""
    for play in (answers(PAGE, 403), answers(PAGE, 404), answers('{"cut', 200)):
        bench.proxy.arm("list", play)
        with pytest.raises(ServiceError):
            await bench.operations.remotes.page(bench.lock_id, 1, 20, fresh=True)
        assert bench.operations.connection.online is True


async def test_connection_recovers_after_a_write_that_was_not_sent(bench: Bench) -> None:
    """It met the login of a proxy, or nobody."""
    connection, proxy = bench.operations.connection, bench.proxy
    proxy.arm("delete", answers(PAGE, 407), 1)
    proxy.arm("list", answers(PAGE, 407))
    with pytest.raises(ServiceError, match="407"):
        await bench.call("delete")
    assert connection.online is False
    proxy.disarm("list")
    await until(lambda: connection.online)
    await proxy.refuse()
    with pytest.raises(UnreachableError):
        await bench.writes.set_user_no(bench.lock_id, bench.second, 5, just_read=True)
    assert connection.online is False
    assert proxy.ledger == []
    await proxy.heal()
    await until(lambda: connection.online)
    await bench.call("update")


async def test_connection_reports_doubt_once_when_it_begins_and_ends(bench: Bench) -> None:
    connection, clock, reported = bench.operations.connection, bench.operations.clock, list[bool]()
    connection.on_clock = lambda: reported.append(connection.doubts_clock)
    for hours, expected in ((0, []), (1, [True]), (1, [True]), (0, [True, False])):
        clock.wall = lambda at_s=NOW_MS / 1000 + hours * 3600: at_s
        await bench.operations.remotes.all(bench.lock_id)
        assert reported == expected
