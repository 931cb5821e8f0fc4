"""What of a profile is accepted; errors name the setting and never show a secret."""

from __future__ import annotations

import pytest

from lockterm.api.client import LockService
from lockterm.errors import ConfigError
from tests.api.conftest import Settings


def test_base_url_is_refused_without_its_secret_when_it_cannot_be_used():
    with pytest.raises(ConfigError) as error:
        LockService(Settings("https://user:hunter2@locks.example.com"))
    assert "base_url" in error.value.message and error.value.hint
    assert "hunter2" not in error.value.message + error.value.hint


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X Y", "hunter2"),
        ("", "hunter2"),
        ("X-Kéy", "hunter2"),
        ("X-Key", "hunter2\r\nX: y"),
        ("X-Key", " hunter2"),
        ("X-Key", "hunter2é"),
        ("X-Key", "hunter2\0"),
        ("Host", "hunter2"),
        ("content-LENGTH", "1"),
        ("Transfer-Encoding", "chunked"),
    ],
)
def test_headers_that_cannot_be_sent(name, value):
    with pytest.raises(ConfigError) as error:
        LockService(Settings("http://localhost", headers={name: value}))
    assert "hunter2" not in error.value.message + error.value.hint
