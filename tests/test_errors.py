"""What errors say to people."""

from __future__ import annotations

import errno
import os

from lockterm.errors import describe_os_error


def test_an_os_error_says_why_without_number_and_path() -> None:
    denied = OSError(errno.EACCES, os.strerror(errno.EACCES), "/etc/secret")
    words = [describe_os_error(error) for error in (denied, OSError("timed out"))]
    assert words == ["Permission denied", "timed out"]
