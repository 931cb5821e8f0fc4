"""``lockterm changes``: what others changed between two readings."""

from __future__ import annotations

import unicodedata

from lockterm.domain.locks import Lock
from tests.cli.conftest import HOSTILE, Scripts, parse_csv


def test_changes_prints_what_others_changed_and_asks_only_with_read(scripts: Scripts) -> None:
    scripts.keep([Lock(1004, name="Roof hatch"), Lock(1003, name="Server room")])
    assert scripts.json("changes", "--read") == {"changes": []}
    scripts.have(1004, remoteName=HOSTILE, remoteNumber="=1+1")
    own = scripts.json(
        *("remotes", "add", "1004", "--name", "Own", "--number", "O-1", "--type", "permanent")
    )
    scripts.service.requests.clear()
    assert scripts.json("changes") == {"changes": []}
    assert not scripts.service.requests
    (one,) = scripts.json("changes", "--read")["changes"]
    assert one["name"] == HOSTILE and one["what"] == "new" and not one["seen"]
    assert one["lock"] == {"lockId": 1004, "name": "Roof hatch"}
    assert one["since"] <= one["until"] and one["remoteId"] != own["remoteId"]
    assert one["before"] == {} and one["after"]["remoteNumber"] == "=1+1"

    assert len(scripts.json("changes", "--since", "7d", "--lock", "1004")["changes"]) == 1
    assert scripts.json("changes", "--lock", "Server room") == {"changes": []}
    assert scripts.json("changes", "--since", "2999-01-01") == {"changes": []}
    wrong = scripts.run("changes", "--since", "soon")
    assert wrong.returncode == 2 and "--since" in wrong.stderr

    table = scripts.run("changes")
    assert table.returncode == 0
    assert table.stdout.startswith("After ") and table.stdout.endswith("1 change by others\n")
    assert not [
        sign for sign in table.stdout if sign != "\n" and unicodedata.category(sign) == "Cc"
    ]
    (row,) = parse_csv(scripts.run("changes", "--csv").stdout)
    assert row["what"] == "new" and row["lockName"] == "Roof hatch"
    assert not row["remoteName"].startswith("=") and row["changed"] == "Number =1+1"


def test_changes_says_that_nothing_is_kept_without_a_cache(scripts: Scripts) -> None:
    scripts.keep([Lock(1004)])
    result = scripts.run("changes", "--no-cache")
    assert result.returncode == 0 and "keeps no lists" in result.stderr
    assert result.stdout == "0 changes by others\n"
