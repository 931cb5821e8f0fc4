"""What of a profile is accepted; errors name the setting and never show a secret."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm.api.client import LockService
from lockterm.errors import ConfigError
from tests.api.conftest import Settings


@pytest.mark.parametrize(
    "url",
    [
        "https://locks.example.com",
        "https://locks.example.com:8443/a/b/",
        "http://127.0.0.1:8080",
        "http://[::1]:8080",
        "http://192.168.1.7",
    ],
)
def test_base_urls(url):
    LockService(Settings(url))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "nonsense",
        "locks.example.com",
        "//locks.example.com",
        "ftp://locks.example.com",
        "file:///etc/passwd",
        "https://",
        "https://:443",
        "https://user:hunter2@locks.example.com",
        "https://hunter2@locks.example.com",
        "https://locks.example.com@",
        "https://locks.example.com?key=hunter2",
        "https://locks.example.com/#hunter2",
        "https://locks.example.com:99999",
        "https://locks.example.com:port",
        "https://locks.example.com:0",
        "https://[::1",
        "https://locks example.com",
        "https://locks.example.com/\r\nHost: x",
        "https:\\\\locks.example.com",
        "https://lócks.example.com",
    ],
)
def test_base_url_is_refused_when_it_is_not_a_url(url):
    with pytest.raises(ConfigError) as error:
        LockService(Settings(url))
    assert "base_url" in error.value.message and error.value.hint
    assert "hunter2" not in error.value.message + error.value.hint


@given(
    st.text()
    | st.text().map("https://{}".format)
    | st.text("[]:@/?#.%a1é \\").map("http://{}".format)
)
def test_any_text_is_a_base_url_or_an_error(url):
    try:
        LockService(Settings(url))
    except ConfigError:
        pass
    else:
        assert url.startswith(("http://", "https://", "HTTP"))


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
