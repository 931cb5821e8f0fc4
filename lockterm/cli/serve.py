"""``lockterm serve``: the embedded service alone, in the foreground."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

from lockterm.cli.ending import tell
from lockterm.config import values
from lockterm.config.file import FROM_ENVIRONMENT
from lockterm.errors import ConfigError, LocktermError


class CannotServe(LocktermError):
    """The address or the database is not to be had."""

    title = "Embedded service"


def run_serve(
    host: str, port: int, database: Path | None, *, sample_data: bool, token: str | None
) -> int:
    """Serve until interrupted.

    A token that starts with ``env:`` names the environment variable that has it: what is typed
    can be read by every user of this machine, and stays in the shell's history.

    Raises:
        ConfigError: The token cannot be sent in a header, or its variable is not set.
        CannotServe: The address or the database is not to be had.
    """
    if token is not None and token.startswith(FROM_ENVIRONMENT):
        variable = token.removeprefix(FROM_ENVIRONMENT)
        token = os.environ.get(variable)
        if not token:
            raise ConfigError(f"--token wants the environment variable {variable}: it is not set.")
    if token is not None:
        try:
            values.header_value(token)
        except ValueError as error:
            raise ConfigError(f"--token {error}.") from None
        if not token:
            raise ConfigError("--token is empty.", hint="Leave it out, or give one.")
    if token is None and not values.is_loopback(host):
        tell(f"anyone who reaches {host} can use this service: give it a --token.")
    from lockterm.service.running import serve

    try:
        serve(host, port, database=database, sample_data=sample_data, token=token)
    except OSError as error:
        raise _explained(error, host, port) from error
    return 0


def _explained(error: OSError, host: str, port: int) -> CannotServe:
    if error.filename is not None:
        return CannotServe(
            f"The database {error.filename} cannot be used: {error.strerror}.",
            hint="Name a file that is new or was made by lockterm serve.",
        )
    if isinstance(error, socket.gaierror):
        return CannotServe(f"The host {host} is unknown.", hint="Try --host 127.0.0.1.")
    if error.errno == errno.EADDRINUSE:
        return CannotServe(
            f"The port {port} of {host} is in use.",
            hint="Choose another with --port, or --port 0 for a free one.",
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return CannotServe(f"{host} is no address of this machine.", hint="Try --host 127.0.0.1.")
    if error.errno in (errno.EACCES, errno.EPERM):
        return CannotServe(
            f"The port {port} is not for this user.", hint="Choose one from 1024 on."
        )
    return CannotServe(f"The service cannot listen on {host}:{port}: {error.strerror or error}.")
