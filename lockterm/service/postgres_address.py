"""The settings to connect to PostgreSQL: the given address, with safe defaults for the rest.

libpq's own defaults send the password to any server that answers and requests it. With the defaults
of this module, only the address can lower the protection; PGSSLMODE, PGREQUIREAUTH and service
files cannot.
"""

from __future__ import annotations

import ipaddress
import os
import ssl
from typing import Any

import psycopg
from psycopg import conninfo

from .storage import DatabaseUnusableError

HINT = "Its address is postgresql://USER@HOST:PORT/DATABASE, and the server must be running."
_OLDEST_LIBPQ = 160000
"""First version of libpq with ``require_auth`` and ``sslrootcert=system``."""
_SECRET = ("password", "sslpassword")
_SETTINGS = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "tcp_user_timeout": 10_000,
    "application_name": "lockterm",
}
"""Default settings; times are in seconds, but ``tcp_user_timeout`` is in milliseconds."""
_SCRAM = "scram-sha-256"
_HINTS = (
    (
        ("permission denied for schema",),
        "The service needs a schema that it may create in. Run in the database: CREATE SCHEMA"
        " lockterm AUTHORIZATION lockterm, for a role lockterm.",
    ),
    (
        ("authentication method requirement", "authentication requirement"),
        "The server must ask for a password by scram-sha-256: set password_encryption to it and"
        " set the password again. For a server that trusts a socket's user, add require_auth=none"
        " to the address.",
    ),
    (
        ("SSL", "certificate"),
        "The server must prove with TLS that it is the host of the address. For a certificate of"
        " your own authority, add sslrootcert=FILE to the address.",
    ),
)
"""Pairs: parts of libpq's messages, and the hint to show for messages with one of these parts."""


def read_address(address: str) -> tuple[dict[str, Any], str]:
    """Return the settings to connect with, and a description of the database without secrets.

    Raises:
        DatabaseUnusableError: If the address is invalid or contains a password, or libpq is too old
            to protect a password.
    """
    if psycopg.pq.version() < _OLDEST_LIBPQ:
        raise DatabaseUnusableError(
            "its client library libpq is older than 16 and cannot protect the password",
            "in PostgreSQL",
            "Install it with: pip install 'lockterm[postgres]'",
        )
    try:
        given = conninfo.conninfo_to_dict(address)
    except psycopg.Error:
        # The message of libpq may contain a part of a password.
        raise DatabaseUnusableError(
            "it is not an address of a database", "in PostgreSQL", HINT
        ) from None
    shown = [f"{key} {given[key]}" for key in ("service", "host", "port", "dbname") if key in given]
    name = " ".join(["in PostgreSQL", *(f"({', '.join(shown)})",) * bool(shown)])
    if any(key in given for key in _SECRET):
        raise DatabaseUnusableError(
            "it has a password in its address, which others could read",
            name,
            "Remove the password. Use PGPASSWORD, ~/.pgpass or a service file instead.",
        )
    safe = {"require_auth": _SCRAM}
    if not _is_local(given):
        safe["sslmode"] = "verify-full"
        if given.get("sslmode", "verify-full") == "verify-full":
            safe["sslrootcert"] = "system"
    settings = {**_SETTINGS, **safe, **given, "client_encoding": "UTF8"}
    if settings.get("sslrootcert") == "system":
        _find_authorities()
    return settings, name


def weaknesses(address: str) -> list[str]:
    """Return a sentence for each setting by which the address lowers the protection.

    Raises:
        DatabaseUnusableError: As for ``read_address``.
    """
    settings, _ = read_address(address)
    found = []
    if (allowed := settings["require_auth"]) != _SCRAM:
        found.append(
            f"the address sets require_auth={allowed}: the server need not prove that it knows the"
            " password, and may get it in clear text."
        )
    if not _is_local(settings) and (mode := settings["sslmode"]) != "verify-full":
        found.append(
            f"the address sets sslmode={mode}: another server can take this one's place and read"
            " what is sent."
        )
    return found


def hint_for(reason: str) -> str:
    """Return the hint for the user if a connection failed with a message of libpq."""
    for parts, hint in _HINTS:
        if any(part in reason for part in parts):
            return hint
    return HINT


def _is_local(settings: dict[str, Any]) -> bool:
    """Return whether every host in the address is a socket or a loopback address.

    An address without a host is not local, because PGHOST or a service file may name a host. libpq
    ignores TLS on sockets.
    """
    places = settings.get("hostaddr") or settings.get("host")
    return bool(places) and all(map(_is_local_place, str(places).split(",")))


def _is_local_place(place: str) -> bool:
    if place.startswith(("/", "@")) or place == "localhost":
        return True
    try:
        return ipaddress.ip_address(place).is_loopback
    except ValueError:
        return False


def _find_authorities() -> None:
    """Point libpq's OpenSSL to the machine's authorities, because psycopg's build ignores them."""
    machine = ssl.get_default_verify_paths()
    if "SSL_CERT_FILE" in os.environ or "SSL_CERT_DIR" in os.environ:
        return
    for variable, place in (("SSL_CERT_FILE", machine.cafile), ("SSL_CERT_DIR", machine.capath)):
        if place:
            os.environ[variable] = place
