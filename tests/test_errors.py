"""What errors say to people."""

from __future__ import annotations

import errno
import os

import pytest

from lockterm.errors import describe_os_error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.EACCES, os.strerror(errno.EACCES), "/etc/secret"), "Permission denied"),
        (OSError("timed out"), "timed out"),
    ],
)
def test_an_os_error_says_why_without_number_and_path(error: OSError, words: str) -> None:
    assert describe_os_error(error) == words
