"""Out of reach behind a portal, a proxy or a certificate, and found again by itself."""

from __future__ import annotations

import pytest

from lockterm.errors import ServiceError, UntrustedServerError
from lockterm.screens.locks.form import look_up
from tests.api.fault_server import http
from tests.certs import CERTS
from tests.faults.catalogue import answers
from tests.faults.proxy import Exchange
from tests.faults.site import STRANGER, Site, tls_context, until

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
async def test_what_answers_in_place_of_the_service(site: Site, play) -> None:
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        await operations.remotes.page(lock_id, 1, 20)
        proxy.arm("list", play)
        with pytest.raises(ServiceError):
            await operations.remotes.page(lock_id, 1, 20, fresh=True)
        assert operations.connection.online is False
        asked = len(proxy.asked)
        await until(lambda: len(proxy.asked) >= asked + 3)  # by itself
        assert operations.connection.online is False
        await proxy.heal()
        await until(lambda: operations.connection.online)


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


async def test_connection_recovers_when_the_ca_file_is_mended(site: Site, tmp_path) -> None:
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


async def test_connection_stays_up_when_the_service_refuses(site: Site) -> None:
    """A page of errors that says 403 or 404 is an answer to this call, not to all."""
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        for play in (answers(PAGE, 403), answers(PAGE, 404), answers('{"cut', 200)):
            proxy.arm("list", play)
            with pytest.raises(ServiceError):
                await operations.remotes.page(lock_id, 1, 20, fresh=True)
            assert operations.connection.online is True


async def test_a_proxy_login_before_a_write_is_looked_after_too(site: Site) -> None:
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        remote = site.remotes(lock_id)[0]
        proxy.arm("delete", answers(PAGE, 407), 1)

        async def portal(exchange: Exchange) -> None:
            await exchange.send(http(PAGE, 407))

        proxy.arm("list", portal)
        with pytest.raises(ServiceError, match="407"):
            await operations.writes.delete_remote(lock_id, remote)
        assert operations.connection.online is False
        proxy.disarm("list")
        await until(lambda: operations.connection.online)
        assert proxy.ledger == []
