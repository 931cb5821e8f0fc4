"""``lockterm voice``: what there is, and what a lock is told to speak with."""

from __future__ import annotations

import csv
import io

from lockterm.models.locks import Lock, VoiceChoice
from lockterm.models.operation import State
from lockterm.store.database import Database
from lockterm.store.lock_book import LockBook
from tests.cli.conftest import Scripts

GATE = Lock(1001, name="Main gate", vendor="nordriegel", model="NR-450")


def test_packs_and_their_detail(scripts: Scripts) -> None:
    table = scripts.run("voice", "packs", "1001").stdout.splitlines()
    assert table[0].split() == ["Name", "Label", "Updated"]
    told = scripts.json("voice", "packs", "1001")
    assert [pack["name"] for pack in told["packs"]] == [line.split()[0] for line in table[1:-1]]
    name = told["packs"][0]["name"]
    detail = scripts.json("voice", "show", "1001", name)["pack"]
    assert len(detail["fileMd5"]) == 32
    assert detail["fileMd5"] in scripts.run("voice", "show", "1001", name).stdout
    cells = scripts.run("voice", "show", "1001", name, "--csv").stdout
    (row,) = csv.DictReader(io.StringIO(cells, newline=""))
    assert (row["name"], row["fileMd5"]) == (name, detail["fileMd5"])
    assert row["updated"].endswith(("+01:00", "+02:00")), "in the profile's zone"


def test_timbres_are_those_of_the_model(scripts: Scripts) -> None:
    unknown = scripts.run("voice", "list", "1001")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "--vendor" in unknown.stderr
    assert not scripts.service.requests
    scripts.keep([GATE])
    told = scripts.json("voice", "list", "main gate")
    assert (told["vendor"], told["model"]) == ("nordriegel", "NR-450")
    langs = [language["lang"] for language in told["languages"]]
    given = scripts.json("voice", "list", "7", "--vendor=nordriegel", "--model=NR-450")
    assert given["languages"] == told["languages"]
    cells = scripts.run("voice", "list", "1001", "--csv").stdout
    rows = list(csv.DictReader(io.StringIO(cells, newline="")))
    assert list(dict.fromkeys(row["lang"] for row in rows)) == langs
    assert {"de-DE", "anna"} <= set(scripts.run("voice", "list", "1001").stdout.split())


def test_set_is_checked_sent_journalled_and_remembered(scripts: Scripts) -> None:
    scripts.keep([GATE])
    typo = scripts.run("voice", "set", "Main gate", "de-DE", "ana")
    assert (typo.returncode, typo.stdout) == (2, "")
    assert "has no timbre ana" in typo.stderr
    dry = scripts.json("voice", "set", "Main gate", "de-DE", "anna", "--dry-run")
    assert dry["path"] == "/api/v1/lockSetting/updateLockSetting"
    wanted = {"lang": "de-DE", "timbre": "anna"}
    assert dry["body"] == {"lockId": 1001, "currentVoiceTimbre": wanted}
    assert scripts.writes() == []
    done = scripts.run("voice", "set", "Main gate", "de-DE", "anna")
    assert done.returncode == 0
    assert "Main gate (lock 1001) was set to de-DE anna. Recorded by the service." in done.stdout
    assert scripts.writes() == ["lockSetting/updateLockSetting"]
    assert scripts.history()[-1].state is State.CONFIRMED
    database = Database(scripts.database)
    entry = LockBook(database, "site").find(1001)
    database.close()
    assert entry is not None
    assert entry.voice == VoiceChoice("de-DE", "anna")
    assert "last set from here" in scripts.run("voice", "list", "1001").stdout
