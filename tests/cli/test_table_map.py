"""``lockterm apply --map``: the tables of other systems, by their mapping files."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Scripts

EXAMPLES = Path(__file__).parents[2] / "docs/how-to/examples"

WIDE, TALL = (
    (str(EXAMPLES / f"{name}.csv"), "--map", str(EXAMPLES / f"{name}.toml"))
    for name in ("door-list", "card-list")
)


def numbers(scripts: Scripts, lock_id: int) -> set[tuple[str, str, int]]:
    rows = scripts.remotes(lock_id)
    return {(row["name"], row["number"], row["type"]) for row in rows}


def test_apply_adds_a_remote_for_each_door_when_the_table_has_door_columns(
    scripts: Scripts,
) -> None:
    planned = scripts.run("diff", *WIDE)
    assert (planned.returncode, scripts.writes()) == (1, [])
    assert "note: Ignored columns: Department." in planned.stdout
    before = numbers(scripts, 1001)
    assert scripts.run("apply", *WIDE, "--yes").returncode == 0
    tomas, mei = ("Tomás Vidal", "04A23B77", 2), ("Mei Wang", "04A23B9F", 1)
    assert numbers(scripts, 1001) - before == {("Anna Weber", "04A23B1C", 2), tomas, mei}
    assert numbers(scripts, 1004) == {tomas, mei}
    assert scripts.run("diff", *WIDE).returncode == 0
    assert scripts.run("apply", *TALL, "--yes").returncode == 0, "cells name the door"
    cards = {("Paul Novak", "12300457", 2), ("O'Brien, Sean", "12300461", 2)}
    assert numbers(scripts, 1004) - {tomas, mei} == cards
    assert scripts.run("diff", *TALL).returncode == 0


def test_apply_counts_rows_without_access(scripts: Scripts) -> None:
    table, mapping = scripts.home / "t.csv", scripts.home / "m.toml"
    table.write_text("Name,Card,Gate,Yard\nAnna,A1,x,\nBen,B1,no,-\nCarl,C1,,\n")
    mapping.write_text(
        '[columns]\nName = "name"\nCard = "number"\n[doors]\nGate = "1004"\nYard = "1001"\n'
        '[values]\ntype = "permanent"\n'
    )
    command = (str(table), "--map", str(mapping))
    assert "1 to add, 2 rows without access. " in scripts.run("diff", *command).stdout
    planned = scripts.run("diff", *command, "--json").stdout.splitlines()
    assert json.loads(planned[-1])["leftOut"] == {"without access": 2}
    done = scripts.run("apply", *command, "--yes", "--json").stdout.splitlines()
    assert json.loads(done[-1])["leftOut"] == {"without access": 2}

    table.write_text("Name,Card,Gate,Yard\nDora,D1,x,\n")
    mapping.write_text(mapping.read_text().partition("[values]")[0])
    told = scripts.run("diff", *command)
    assert "line 2, column type, “”: A new remote needs a type, and this row" in told.stderr


def test_apply_sends_nothing_when_the_table_or_its_mapping_is_wrong(scripts: Scripts) -> None:
    def refuse(table: str, mapping: str) -> str:
        files = (scripts.file("t.csv", table), "--map", scripts.file("m.toml", mapping))
        return scripts.refuse("apply", *files, "--yes")

    mapping = (
        '[columns]\nCard = "number"\nUntil = "end"\n[values]\nlock = "1004"\ntype = "by end"\n'
        '[format]\ndates = "day/month/year"\nnumbers = "hex"\n'
    )
    said = refuse("Card,Until\nA-B,31/02/2027\nXY,1/2/2027\n", mapping)
    assert "t.csv: line 3, column Card, “XY”: “XY” is not a hex number." in said
    assert "t.csv: line 2, column Until, “31/02/2027”: " in said
    assert "2 problems. Nothing was sent." in said
    said = refuse("Card,Until,Phone\nAB,,1\n", mapping)
    assert "t.csv: line 1, column Phone, “Phone”: The mapping has no meaning" in said
    said = refuse("Card,Until\nAB,\n", '[columns]\nCard = "nmber"\n')
    assert "m.toml: line 2, column Card, “nmber”: Unknown meaning." in said
    assert scripts.writes() == []
