"""The command ``lockterm serve``, which runs the embedded service, and ``lockterm token``."""

from __future__ import annotations

import errno
import os
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from lockterm.cli.exit_codes import notify
from lockterm.cli.manual import NO_CODES, list_examples, list_exit_codes
from lockterm.cli.options import FILE_PATH
from lockterm.cli.output import put
from lockterm.config import values
from lockterm.config.file import FROM_ENVIRONMENT
from lockterm.domain.safe_text import clean
from lockterm.errors import ConfigError, LocktermError, describe_os_error
from lockterm.safe_files import OpenLocation, read_guarded
from lockterm.service import tokens

if TYPE_CHECKING:
    from lockterm.service.figures import Figures

_ADDRESSES = ("postgresql://", "postgres://")
_FIGURES = "PROMETHEUS_MULTIPROC_DIR"
_MEANT_AS_ADDRESS = re.compile(r"://|\b(?:host|dbname|password|service)=")

_LONGEST_TOKEN = 4096
"""The maximum number of characters in a token, because proxies refuse longer headers."""


class ServeError(LocktermError):
    """An error that prevents the embedded service from starting, such as an unusable address."""

    title = "Embedded service"


_SERVE_CODES = list_exit_codes(
    _0="ended by SIGINT or SIGTERM",
    _1="the address or the database cannot be used",
)


@click.command(
    epilog=list_examples(
        _SERVE_CODES,
        "lockterm serve",
        "lockterm serve --port 0 --empty --database site.db",
        "lockterm serve --database postgresql://db/locks --migrate --workers 4",
    )
)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on.",
)
@click.option(
    "--port",
    metavar="N",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port; 0 picks a free one.",
)
@click.option(
    "--database",
    metavar="DATABASE",
    help="A file, or postgresql://USER@HOST/NAME. [default: in memory]",
)
@click.option("--migrate", is_flag=True, help="Create or update the tables in PostgreSQL.")
@click.option(
    "--workers",
    metavar="N",
    default=1,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Number of worker processes (PostgreSQL only).",
)
@click.option(
    "--sample-data/--empty",
    default=True,
    show_default=True,
    help="Fill a new database with sample data (or, with --empty, accept any lock ID).",
)
@click.option(
    "--token",
    help="Require this bearer token; env:NAME reads it from the environment. [default: none]",
)
@click.option(
    "--tokens",
    "tokens_file",
    type=FILE_PATH,
    metavar="FILE",
    help="Require a bearer token from this file. lockterm token creates lines for the file,"
    " and SIGHUP reloads it. [default: none]",
)
@click.option(
    "--public-url",
    metavar="URL",
    help="Address of the proxy for the service, such as https://locks.example.com. [default: none]",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the log on stderr. json writes a line for each request.",
)
@click.option("--metrics", is_flag=True, help="Serve metrics for Prometheus at /metrics.")
@click.option(
    "--rate-limit",
    "rate",
    callback=lambda _, __, given: _parse_rate(given),
    metavar="RATE",
    help=(
        "Maximum requests per token in each worker, such as 50/s or 600/min. [default: no limit]"
    ),
)
def serve(
    host: str,
    port: int,
    database: str | None,
    migrate: bool,
    workers: int,
    sample_data: bool,
    token: str | None,
    tokens_file: Path | None,
    public_url: str | None,
    log_format: str,
    metrics: bool,
    rate: float | None,
) -> int:
    """Run the embedded service in the foreground."""
    required_token = _read_token(token)
    accepted = _read_tokens(required_token, tokens_file)
    public = None if public_url is None else _parse_public_url(public_url)
    is_for_others = public is not None or not values.is_loopback(host)
    is_short = required_token is not None and len(required_token) < tokens.SHORTEST
    if is_for_others and (accepted is None or is_short):
        could = "use this service" if accepted is None else "guess such a short token"
        raise ServeError(
            f"Anyone who reaches {clean(public or host, 80)} could {could}. Nothing was started.",
            hint="Add --tokens FILE or a long --token env:NAME, or use --host 127.0.0.1"
            " without --public-url.",
        )
    is_address = (database or "").startswith(_ADDRESSES)
    if not is_address and _MEANT_AS_ADDRESS.search(database or ""):
        raise ServeError(  # the message leaves out the value, which may contain a password
            "--database needs a file or a postgresql:// address. Nothing was started.",
            hint="Use a file, or postgresql://USER@HOST/NAME.",
        )
    if workers > 1 and not is_address:
        raise ServeError(
            "Several workers need PostgreSQL. Nothing was started.",
            hint="Use --database postgresql://USER@HOST/NAME, or leave out --workers.",
        )
    from lockterm.service import running, watch  # imported late, because --help needs neither

    log = watch.Log(as_json=log_format == "json")
    if migrate and not is_address:
        log.tell("note", "note: --migrate has no effect on a file.")

    options: dict[str, Any] = {
        "database": database if is_address or database is None else _trusted_file(database),
        "migrate": migrate,
        "sample_data": sample_data,
        "tokens": accepted,
        "public_url": public,
        "rate": rate,
        "log": log,
        "figures": None,
    }
    try:
        if is_address:
            from lockterm.service import postgres_storage

            for weakness in postgres_storage.weaknesses(str(database)):
                log.tell("warning", f"warning: {weakness}")
        with ExitStack() as stack:
            if metrics:
                options["figures"] = stack.enter_context(_shared_figures(workers))
            if workers > 1:
                running.serve_with_workers(workers, host, port, **options)
            else:
                running.serve(host, port, **options)
    except OSError as error:
        raise _to_error(error, host, port) from error
    return 0


@contextmanager
def _shared_figures(workers: int) -> Iterator[Figures]:
    """Yield the metrics of the service, which several workers share through temporary files.

    Raises:
        ServeError: If there is no directory for temporary files.
    """
    with ExitStack() as stack:
        os.environ.pop(_FIGURES, None)
        if workers > 1:
            try:
                folder = stack.enter_context(TemporaryDirectory(prefix="lockterm-"))
            except OSError as error:
                raise ServeError(
                    "--metrics needs a directory for the workers' temporary files."
                    " Nothing was started.",
                    hint="Set TMPDIR to a directory, or leave out --metrics.",
                ) from error
            os.environ[_FIGURES] = folder
        from lockterm.service.figures import Figures  # reads the variable on import

        yield Figures()


def _trusted_file(database: str) -> Path:
    """Return the real path of a database file, after checking that other users cannot change it.

    Raises:
        ServeError: If the directory of the file is missing, or other users can change the file.
    """
    try:
        with OpenLocation(database) as place:
            if place.weakness is None:
                return Path(place.path)
            why = place.weakness
    except OSError as error:
        why = describe_os_error(error)
    raise ServeError(
        f"The database {clean(database)} cannot be used: {clean(why)}.",
        hint="Use a file in a directory that belongs to you.",
    )


def _parse_rate(given: str | None) -> float | None:
    """Return a rate such as ``600/min`` as requests per second; None if no rate was given."""
    if given is None:
        return None
    found = re.fullmatch(r"([1-9][0-9]{0,5})/(s|min)", given)
    if found is None:
        raise ConfigError(
            "--rate-limit requires a number with /s or /min, such as 50/s or 600/min."
        )
    return int(found[1]) / {"s": 1, "min": 60}[found[2]]


def _read_token(token: str | None) -> str | None:
    """Return the token that requests must carry; None if ``--token`` was not given.

    ``env:NAME`` means the token in the environment variable NAME. A variable is safer, because
    every user of a machine can read the arguments of a command, and the shell's history stores the
    arguments.

    Raises:
        ConfigError: If the token is empty or does not fit into a header, or the variable is not
            set.
    """
    if token is None:
        return None
    if token.startswith(FROM_ENVIRONMENT):
        variable = token.removeprefix(FROM_ENVIRONMENT)
        token = os.environ.get(variable)
        if not token:
            raise ConfigError(
                f"--token reads the environment {values.shown_variable(variable)},"
                " which is not set."
            )
    try:
        values.header_value(token)
    except ValueError as error:
        raise ConfigError(f"--token {error}.") from None
    if not token:
        raise ConfigError("--token is empty.", hint="Leave out the option, or give a token.")
    return token


def _parse_public_url(given: str) -> str:
    try:
        url, _ = values.base_url(given)
    except ValueError as error:
        raise ConfigError(f"--public-url {error}.") from None
    return url


def _read_tokens(token: str | None, file: Path | None) -> tokens.Tokens | None:
    """Return the accepted tokens; None if the service also accepts requests without a token.

    Raises:
        ConfigError: If the file cannot be used, or both options were given.
    """
    if file is None:
        return None if token is None else tokens.Tokens.only(token)
    if token is not None:
        raise ConfigError(
            "--token and --tokens cannot be used together.", hint="Use only one of the two."
        )

    def read() -> tuple[str, str]:
        content, _, why = read_guarded(file, tokens.MAX_BYTES, "file of tokens")
        return content.decode("utf-8", "replace"), f"{why[0].upper()}{why[1:]}." if why else ""

    try:
        return tokens.Tokens(read)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"The tokens of {clean(str(file))} cannot be used: {tokens.reason(error)}",
            hint="Create lines for the file with: lockterm token NAME",
        ) from None


def _to_error(error: OSError, host: str, port: int) -> ServeError:
    host = clean(host, 80)
    if error.filename is not None:
        return ServeError(
            f"The database {clean(error.filename)} cannot be used: {clean(str(error.strerror))}.",
            hint=getattr(error, "hint", "Use a new file, or one that lockterm serve created."),
        )
    if isinstance(error, socket.gaierror):
        return ServeError(f"The host {host} is unknown.", hint="Try --host 127.0.0.1.")
    if error.errno == errno.EADDRINUSE:
        return ServeError(
            f"The port {port} of {host} is in use.",
            hint="Choose another with --port, or --port 0 for a free one.",
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return ServeError(
            f"{host} is not an address of this machine.", hint="Try --host 127.0.0.1."
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return ServeError(
            f"This user may not listen on port {port}.", hint="Choose a port from 1024 up."
        )
    return ServeError(f"The service cannot listen on {host}:{port}: {describe_os_error(error)}.")


@click.command(
    epilog=list_examples(
        NO_CODES,
        "lockterm token north >> tokens",
        "lockterm serve --tokens tokens",
        "pass show locks/south | lockterm token south --stdin >> tokens",
    )
)
@click.argument("name", metavar="NAME")
@click.option("--stdin", "is_given", is_flag=True, help="Read the token from stdin.")
def token(name: str, is_given: bool) -> int:
    """Make a line for the file of serve --tokens.

    The command prints the line on stdout, and the token on stderr. It does not keep the token.
    """
    made = tokens.new_token()
    try:
        line = tokens.line_of(name, _read_typed_token() if is_given else made)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    put(line)
    if not is_given:
        notify(f"the token of {name} is {made}")
    return 0


def _read_typed_token() -> str:
    if sys.stdin is None:
        raise ValueError("The token cannot be read: stdin is closed.")
    try:
        typed = sys.stdin.readline(_LONGEST_TOKEN + 1).removesuffix("\n").removesuffix("\r")
        values.header_value(typed)
    except UnicodeError:  # the message of this error would repeat part of the token
        raise ValueError("The token is not valid text in this machine's encoding.") from None
    except ValueError as error:
        raise ValueError(f"The token {error}.") from None
    if not tokens.SHORTEST <= len(typed) <= _LONGEST_TOKEN:
        raise ValueError(
            f"A token must have {tokens.SHORTEST} to {_LONGEST_TOKEN:,} characters. A shorter"
            " token could be guessed from its hash."
        )
    return typed
