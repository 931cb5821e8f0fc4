"""A real sshd on loopback, with keys and a configuration of its own."""

from __future__ import annotations

import getpass
import os
import shlex
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.programs import require
from tests.terminal.pty_session import PATIENCE_S

_SSHD = "/usr/sbin/sshd"
_CONFIG = """
Port {port}
ListenAddress 127.0.0.1
HostKey {place}/host_key
AuthorizedKeysFile {place}/key.pub
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
PidFile none
PrintMotd no
PrintLastLog no
UseDNS no
LogLevel ERROR
"""


class Sshd:
    """A running server.

    Args:
        place: Where its files are.
        port: Where it listens.
    """

    def __init__(self, place: Path, port: int) -> None:
        self._place = place
        self.port = port

    def command(self, port: int, remote: Sequence[str]) -> list[str]:
        """The ``ssh`` that runs something there in a terminal.

        Args:
            port: Its own, or that of a link to it.
            remote: What to run.
        """
        options = {
            "IdentityFile": f"{self._place}/key",
            "IdentitiesOnly": "yes",
            "UserKnownHostsFile": "/dev/null",
            "StrictHostKeyChecking": "no",
            "LogLevel": "ERROR",
            "EscapeChar": "none",
        }
        given = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
        target = f"{getpass.getuser()}@127.0.0.1"
        return ["ssh", "-F", "none", "-tt", *given, "-p", str(port), target, shlex.join(remote)]


@contextmanager
def running_sshd(place: Path) -> Iterator[Sshd]:
    """Open as long as the context.

    Args:
        place: An empty directory.
    """
    require("sshd", "openssh-server", found=Path(_SSHD).exists())
    require("ssh", "openssh-client")
    if (
        os.geteuid() == 0
    ):  # where root runs it, sshd wants a directory that its package's unit makes
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    for name in ("host_key", "key"):
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / name)]
        subprocess.run(make, check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (place / "sshd_config").write_text(_CONFIG.format(port=port, place=place))
    with (place / "log").open("wb") as log:
        server = subprocess.Popen([_SSHD, "-D", "-e", "-f", place / "sshd_config"], stderr=log)
    try:
        _await(port, server, place / "log")
        yield Sshd(place, port)
    finally:
        server.terminate()
        server.wait()


def _await(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE_S
    while True:
        assert server.poll() is None and time.monotonic() < end, f"no sshd: {log.read_text()}"
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.02)
        else:
            return
