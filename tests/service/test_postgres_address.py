"""Who gets the password of the database: only a server that proves itself, unless asked for."""

from __future__ import annotations

import shutil
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lockterm.cli import serve
from lockterm.service import postgres_storage, running
from tests.certs import CERTS
from tests.service.cluster import make_tables, refusal, running_cluster

PASSWORD = "hunter22"
SSL_REQUEST = 80877103
CLEAR_TEXT = b"R\0\0\0\x08\0\0\0\x03"
MD5 = b"R\0\0\0\x0c\0\0\0\x05salt"


class Impostor:
    """A server that speaks no TLS and wants a password in a way of its choice."""

    def __init__(self, wanted: bytes) -> None:
        self._wanted = wanted
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.heard = b""
        """All that clients sent after it asked for the password."""
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            with client:
                while (first := client.recv(4096)) and first[4:8] == SSL_REQUEST.to_bytes(4):
                    client.sendall(b"N")
                if first:
                    client.sendall(self._wanted)
                    self.heard += client.recv(4096)

    def close(self) -> None:
        """Let no more clients in. Doing so twice is harmless."""
        if self._socket.fileno() < 0:
            return
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


@pytest.fixture(params=[CLEAR_TEXT, MD5], ids=["clear text", "md5"])
def impostor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Impostor]:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    # What surrounds the address must not lower the protection.
    monkeypatch.setenv("PGSSLMODE", "disable")
    monkeypatch.setenv("PGREQUIREAUTH", "password,md5")
    impostor = Impostor(request.param)
    yield impostor
    impostor.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "localhost,0.0.0.0"])
def test_serve_sends_no_password_when_another_server_asks_for_it(
    host: str, impostor: Impostor
) -> None:
    """0.0.0.0 leads to this machine and is no loopback address."""
    ports = ",".join([str(impostor.port)] * len(host.split(",")))
    refused = refusal(f"postgresql://u@/d?host={host}&port={ports}", migrate=False)
    impostor.close()
    assert impostor.heard == b""
    assert PASSWORD not in str(refused)
    assert ("sslrootcert" if "0.0.0.0" in host else "scram-sha-256") in refused.hint


def test_serve_sends_the_password_when_the_address_asks_for_it(impostor: Impostor) -> None:
    """The other side of the test above: the impostor would have heard it."""
    options = "sslmode=disable&require_auth=password,md5"
    refusal(f"postgresql://u@0.0.0.0:{impostor.port}/d?{options}")
    impostor.close()
    assert impostor.heard.startswith(b"p")


@pytest.mark.parametrize(
    ("query", "sslmode", "sslrootcert", "warnings"),
    [
        ("host=db.example.com", "verify-full", "system", 0),
        ("host=db,/run/postgresql", "verify-full", "system", 0),
        ("host=localhost&hostaddr=203.0.113.5", "verify-full", "system", 0),
        ("service=site", "verify-full", "system", 0),
        ("", "verify-full", "system", 0),
        ("host=db&sslrootcert=/ca.pem", "verify-full", "/ca.pem", 0),
        ("host=db&sslmode=verify-ca", "verify-ca", None, 1),
        ("host=db&sslmode=prefer&require_auth=md5", "prefer", None, 2),
        ("host=/run/postgresql", None, None, 0),
        ("host=/run/postgresql&require_auth=none", None, None, 1),
        ("host=127.0.0.2", None, None, 0),
        ("host=::1", None, None, 0),
        ("host=localhost&sslmode=require", "require", None, 0),
    ],
)
def test_address_is_protected_unless_it_asks_for_less(
    query: str,
    sslmode: str | None,
    sslrootcert: str | None,
    warnings: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")  # so that the test leaves nothing behind
    settings, _ = postgres_storage.read_address(f"postgresql://u@/d?{query}")
    assert settings.get("sslmode") == sslmode
    assert settings.get("sslrootcert") == sslrootcert
    if "require_auth" not in query:
        assert settings["require_auth"] == "scram-sha-256"
    assert len(postgres_storage.weaknesses(f"postgresql://u@/d?{query}")) == warnings


def test_serve_warns_when_the_address_asks_for_less(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "serve", lambda *_, **__: None)
    assert serve.serve.main(
        ["--database", "postgresql://u@db/d?sslmode=disable"], standalone_mode=False
    ) == 0  # fmt: skip
    assert "warning: the address sets sslmode=disable" in capfd.readouterr().err


def test_old_libpq_is_refused_when_it_cannot_protect_the_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("psycopg.pq.version", lambda: 150013)
    refusal("postgresql://u@db/d", "libpq is older than 16")


@pytest.mark.long
def test_serve_connects_when_the_server_proves_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with running_cluster(f"-c listen_addresses=0.0.0.0 -c port={port} -c fsync=off") as cluster:
        cluster.port = port
        data, owner = cluster.folder / "data", cluster.folder.stat()
        for name in ("server.pem", "server.key"):
            shutil.copy(CERTS / name, data / name)
            (data / name).chmod(0o600)
            shutil.chown(data / name, owner.st_uid, owner.st_gid)
        access = data / "pg_hba.conf"
        access.write_text(f"hostssl all guarded all scram-sha-256\n{access.read_text()}")
        cluster.do("ALTER SYSTEM SET ssl_cert_file = 'server.pem'")
        cluster.do("ALTER SYSTEM SET ssl_key_file = 'server.key'")
        cluster.do("ALTER SYSTEM SET ssl = on")
        cluster.do(f"CREATE ROLE guarded SUPERUSER LOGIN PASSWORD '{PASSWORD}'")
        cluster.control("restart")
        monkeypatch.setenv("PGPASSWORD", PASSWORD)
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        monkeypatch.delenv("SSL_CERT_DIR", raising=False)
        cluster.do("REVOKE CREATE ON SCHEMA public FROM PUBLIC")  # for PostgreSQL 13 and 14
        address = f"postgresql://guarded@localhost:{port}/postgres?hostaddr=0.0.0.0"
        with monkeypatch.context() as unknown:
            _set_authorities(unknown, CERTS / "nothing.pem")
            assert "sslrootcert=FILE" in refusal(address, "certificate verify failed").hint
        for place, variables in (
            (f"{address}&sslrootcert={CERTS / 'ca.pem'}", CERTS / "nothing.pem"),
            (address, CERTS / "ca.pem"),  # as if the machine knew that authority
        ):
            with monkeypatch.context() as known:
                _set_authorities(known, variables)
                make_tables(place)
        other = address.replace("localhost", "elsewhere")
        refusal(f"{other}&sslrootcert={CERTS / 'ca.pem'}", "does not match host name")


def _set_authorities(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    """Have this machine know the authorities of a file alone."""
    paths: Any = ssl.DefaultVerifyPaths(str(file), None, *ssl.get_default_verify_paths()[2:])
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
