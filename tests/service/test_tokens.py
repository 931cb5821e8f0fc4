"""Tokens with names: which file is one of them, and that it is read again while it is served."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lockterm.cli.commands import run
from lockterm.service.tokens import Tokens, line_of
from tests.conftest import NOW_MS
from tests.service.cluster import Cluster
from tests.service.conftest import PATIENCE_S, REMOTE
from tests.service.killing import ask, children, served, until

LIST = f"{REMOTE}list?lockId=1001"
NORTH, SOUTH = "north-0123456789abcdef", "south-0123456789abcdef"


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_each_token_has_its_own_rate(serve) -> None:
    text = f"# keys\n\n{line_of('north', NORTH)}  # the campus\n{line_of('south', SOUTH)}\n"
    tokens = Tokens(lambda: (text, ""))
    api = serve(tokens=tokens, rate=2.0, clock=lambda: NOW_MS)

    def statuses(token: str, count: int) -> list[int]:
        headers = bearer(token)
        return [api.request("GET", LIST, headers=headers).status_code for _ in range(count)]

    assert statuses(NORTH, 3) == [200, 200, 429]
    assert statuses(SOUTH, 3) == [200, 200, 429]
    assert statuses(NORTH[:-1], 1) == statuses("-" * 22, 1) == [401]
    text = line_of("west", SOUTH)
    tokens.read_again()
    assert statuses(NORTH, 1) == [401]
    assert statuses(SOUTH, 1) == [200], "the rate is that of the name"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# none\n",
        "north\n",
        f"north {NORTH}",
        f"{line_of('north', NORTH)}0",
        f"a b{line_of('north', NORTH)}",
        f"{line_of('north', NORTH)}\n{line_of('north', SOUTH)}",
        f"{line_of('north', NORTH)}\n{line_of('south', NORTH)}",
    ],
)
def test_wrong_token_file_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ValueError, match=r"^(Line|It has)") as refused:
        Tokens(lambda: (text, ""))
    assert NORTH not in str(refused.value)


def test_a_line_is_made_of_a_new_token_or_of_a_given_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert run(["token", "north"]) == 0
    line, told = capsys.readouterr()
    assert Tokens(lambda: (line, "")).name_of(told.split()[-1].encode()) == "north"
    given = tmp_path / "token"
    latin = "\udce9" * 20  # é, in bytes that are no UTF-8
    lengths = [("n" * 19, 2), ("n" * 20, 0), ("n" * 4096, 0), ("n" * 4097, 2)]
    wrong = [("a\tb" * 20, 2), ("é" * 20, 2), (latin, 2)]
    for typed, code in ((NORTH, 0), *lengths, *wrong):
        given.write_text(f"{typed}\n", "utf-8", "surrogateescape")
        with given.open(encoding="utf-8") as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            assert run(["token", "north", "--stdin"]) == code
        line, told = capsys.readouterr()
        assert line == ("" if code else f"{line_of('north', typed)}\n")
        assert typed not in told
        assert "codec" not in told
        assert ("The token" in told) == (typed.startswith(("a\t", "é", "\udce9"))), told
    assert run(["token", "no name"]) == 2


BAD_LINE = f"west {NORTH}"


@pytest.mark.parametrize(
    ("text", "problem", "valid"),
    [
        (f"{line_of('north', NORTH)}\n{BAD_LINE}", "", {NORTH}),
        (f"{BAD_LINE}\n{line_of('south', SOUTH)}\n{line_of('new', 'n' * 20)}", "", {SOUTH}),
        (f"{line_of('a', NORTH)}\n{line_of('a', SOUTH)}\n{line_of('a', 'n' * 20)}", "",
         {NORTH, SOUTH}),
        (f"{line_of('north', NORTH)}\n{line_of('new', 'n' * 20)}", "Other users can change it.",
         {NORTH}),
        (f"# {line_of('north', NORTH)}\n{BAD_LINE}", "", set()),
        (f"{line_of('north', NORTH)[:-1]}\n{line_of('south', SOUTH)}\ufffd", "", set()),
        ("", "", set()),
    ],
)  # fmt: skip
def test_tokens_end_at_once_when_a_bad_file_no_longer_has_them(
    text: str, problem: str, valid: set[str]
) -> None:
    now = (f"{line_of('north', NORTH)}\n{line_of('south', SOUTH)}", "")
    tokens = Tokens(lambda: now)
    now = (text, problem)
    with pytest.raises(ValueError, match=r"^(Line|It has|Other users)"):
        tokens.read_again()
    known = {one for one in (NORTH, SOUTH, "n" * 20) if tokens.name_of(one.encode())}
    assert known == valid
    now = (line_of("new", "n" * 20), "")
    tokens.read_again()
    assert [tokens.name_of(one.encode()) for one in (NORTH, "n" * 20)] == [None, "new"]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_tokens_end_for_every_worker_when_the_file_is_read_again(
    workers: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    cluster: Cluster | None = request.getfixturevalue("cluster") if workers > 1 else None
    file, says = tmp_path / "tokens", tmp_path / "says"
    file.write_text(line_of("north", NORTH))

    def answers() -> set[tuple[int, int]]:
        """What the two tokens get, on connections enough to meet every worker."""
        return {
            tuple(ask("GET", url + LIST, headers=bearer(one)).status_code for one in (NORTH, SOUTH))
            for _ in range(8)
        }  # type: ignore[return-value]

    def said(words: str) -> int:
        return says.read_text().count(words)

    place = cluster.new_database() if cluster else None

    def failed_reloads() -> set[str]:
        return {
            line.split()[1]
            for _ in range(8)
            for line in ask("GET", f"{url}/metrics", headers=bearer(SOUTH)).text.splitlines()
            if line.startswith("lockterm_token_reloads_failed_total ")
        }

    options = ("--metrics", "--tokens", str(file))
    with served(place, workers, *options, says=says) as (process, url):
        assert answers() == {(200, 401)}
        file.write_text(f"{line_of('north', NORTH)}\nsouth {SOUTH}\n")
        process.send_signal(signal.SIGHUP)
        # The first process says it, and each of several workers.
        readers = 1 if workers == 1 else workers + 1
        until(lambda: said("could not be read again: Line 2") == readers)
        assert answers() == {(200, 401)}
        if workers > 1:  # one that is started now has the old ones, too
            children(process)[0].kill()
            until(lambda: said("is started") == 1 and len(children(process)) == workers)
            assert answers() == {(200, 401)}
        file.write_text(line_of("south", SOUTH))
        process.send_signal(signal.SIGHUP)
        until(lambda: answers() == {(401, 200)})
        until(lambda: said("the tokens were read again") == readers)
        file.write_text(f"{line_of('north', NORTH)}\n{line_of('south', SOUTH)}\nsouth {SOUTH}\n")
        process.send_signal(signal.SIGHUP)
        until(lambda: said("could not be read again: Line 3") == readers)
        assert answers() == {(401, 200)}
        assert failed_reloads() == {"2.0"}
        file.unlink()
        process.send_signal(signal.SIGHUP)
        until(lambda: said("No token is valid.") == readers)
        assert answers() == {(401, 401)}
        assert SOUTH not in says.read_text()
    assert process.returncode == 0


def test_serve_notes_that_anyone_can_change_a_database_without_a_token(tmp_path: Path) -> None:
    says, kept = tmp_path / "says", str(tmp_path / "site.db")
    for place, options, noted in (
        (kept, (), True), (None, (), False), (kept, ("--token", "t" * 20), False)
    ):  # fmt: skip
        with served(place, 1, *options, says=says) as (process, _):
            process.terminate()
            process.wait(PATIENCE_S)
        assert ("without a token every user" in says.read_text()) == noted


AT_BIRTH = f"""
import os, signal
from lockterm.service import running
from lockterm.service.tokens import Tokens, line_of

def disturbed(*given):
    os.kill(os.getpid(), signal.SIGHUP)
    work(*given)

work, running._work = running._work, disturbed
tokens = Tokens(lambda: (line_of("north", {NORTH!r}), ""))
running.serve_with_workers(2, "127.0.0.1", 0, tokens=tokens)
"""


def test_worker_reads_tokens_again_when_signaled_at_its_start(tmp_path: Path) -> None:
    """In place of being ended by it, as nothing deals with the signal yet."""
    says = tmp_path / "says"
    with (
        says.open("wb") as stderr,
        subprocess.Popen([sys.executable, "-c", AT_BIRTH], stderr=stderr, text=True) as process,
    ):
        until(lambda: says.read_text().count("\n") == 2)
        process.terminate()
        assert process.wait(PATIENCE_S) == 0
    assert says.read_text() == "lockterm: the tokens were read again\n" * 2
