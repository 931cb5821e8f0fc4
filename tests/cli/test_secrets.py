"""Typed secrets: hidden from the list of processes and from errors."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from lockterm.cli.commands import run
from lockterm.domain.safe_text import masked, spellings


def test_serve_reads_the_token_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served: list[Any] = []
    monkeypatch.setattr("lockterm.service.running.serve", lambda *_, **got: served.append(got))
    monkeypatch.setenv("A_TOKEN", "hunter22")
    assert run(["serve", "--token", "env:A_TOKEN"]) == 0
    assert served[0]["tokens"].name_of(b"hunter22")
    assert run(["serve", "--token", "env:NO_TOKEN"]) == 2
    assert "variable NO_TOKEN, which is not set" in capsys.readouterr().err
    assert len(served) == 1


@pytest.mark.parametrize(
    "reached",
    [
        *(["--host", host] for host in ("0.0.0.0", "::", "192.0.2.1", "\x1b[31mred")),
        ["--public-url", "https://locks.example.com"],
    ],
)
def test_serve_requires_a_long_token_when_others_can_reach_it(
    reached: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The token must be long, because failed attempts have no rate limit."""
    served: list[Any] = []
    monkeypatch.setattr("lockterm.service.running.serve", lambda *got, **_: served.append(got))
    assert run(["serve", *reached, "--token", "hunter22-hunter22-hu"]) == 0
    assert len(served) == 1
    for token in ((), ("--token", "hunter22-hunter22-h")):
        assert run(["serve", "--port", "0", *reached, *token]) == 1
        said = capsys.readouterr().err.removesuffix("\n")
        assert "Nothing was started" in said and "--token" in said and said.isprintable()
        assert "hunter22" not in said
    assert len(served) == 1


@pytest.mark.parametrize(
    ("header", "echoed"),
    [
        ("Basic " + b64encode(b"field:hunter22").decode(), ["field:hunter22", "hunter22"]),
        ('Token token="hunter22"', ["hunter22"]),
        ("Digest user=field,response='hunter22';x", ["hunter22"]),
        ("Bearer hunt'er\\22", [repr("hunt'er\\22"), repr(b"Bearer hunt'er\\22")]),
    ],
)
def test_masked_hides_a_secret_when_a_gateway_repeats_it(header: str, echoed: list[str]) -> None:
    """A gateway repeats a request, also decoded; h11 quotes a line that it refuses."""
    for text in echoed:
        shown = masked(f"illegal header line: {text}!", spellings([header]))
        assert "hunt" not in shown and "illegal header line" in shown


def test_masked_hides_the_whole_secret_when_it_is_json() -> None:
    secret = 'hunt"er\\22é'
    known = spellings([f"Bearer {secret}"])
    said = json.dumps({"token": secret, "for": "gate"})
    assert masked(said, known) == said.replace(json.dumps(secret)[1:-1], masked(secret, known))
    assert "2" not in masked(said, known)
