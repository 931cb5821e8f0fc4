"""Secrets that are typed: neither seen in a list of processes nor repeated in an error."""

from __future__ import annotations

from typing import Any

import pytest

from lockterm.cli.serve import run_serve
from lockterm.config import values
from lockterm.errors import ConfigError


def test_a_token_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Any] = []
    monkeypatch.setattr("lockterm.service.running.serve", lambda *_, **got: served.append(got))
    monkeypatch.setenv("A_TOKEN", "hunter22")
    run_serve("127.0.0.1", 0, None, sample_data=False, token="env:A_TOKEN")
    assert served[0]["token"] == "hunter22"
    with pytest.raises(ConfigError, match="NO_TOKEN: it is not set"):
        run_serve("127.0.0.1", 0, None, sample_data=False, token="env:NO_TOKEN")
    assert len(served) == 1


@pytest.mark.parametrize(
    "url", ["{}locks", "https://{}locks:99999/", "ftp://{}locks", "https://{}"]
)
def test_a_password_in_a_base_url_is_not_repeated(url: str) -> None:
    with pytest.raises(ValueError, match="user name or password") as caught:
        values.base_url(url.format("user:hunter22@"))
    assert "hunter22" not in str(caught.value)


@pytest.mark.parametrize("url", ["https:///{}locks", "https:/\\{}locks", "ftp://x/{}locks"])
def test_a_password_behind_a_slash_too_many_is_not_repeated(url: str) -> None:
    for at in ("@", "\N{FULLWIDTH COMMERCIAL AT}"):
        with pytest.raises(ValueError, match=r"is no web address|user name") as caught:
            values.base_url(url.format(f"user:hunter22{at}"))
        assert "hunter22" not in str(caught.value)
