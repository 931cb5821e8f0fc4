"""``lockterm people``: who can open what, in all of its forms."""

from __future__ import annotations

from lockterm.domain.locks import Lock
from tests.cli.conftest import HOSTILE, Scripts, assert_harmless, parse_csv
from tests.cli.test_all_locks import BOOK, half
from tests.faults.proxy import FaultProxy

__all__ = ["half"]

EVIL = "<script>alert(1)</script> | [x](javascript:1)"


def test_people_joins_names_and_shows_similar_ones(scripts: Scripts) -> None:
    scripts.keep(BOOK)
    for lock_id, name, number in (
        (1003, "Zora Neale", "Z-1"),
        (1004, "Zora Neale", "Z-1"),
        (1004, "zora neale", "Z-2"),
        (1003, "Zara Neale", "Z-3"),
        (1003, "Other", "Z-1"),
    ):
        scripts.have(lock_id, remoteName=name, remoteNumber=number)
    shown = scripts.run("people", "zora neale")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert [" ".join(line.split()) for line in shown.stdout.splitlines()] == [
        "Name Locks Number Until State Similar",
        "Zora Neale 2 Z-1 no end active zora neale (spelling), Zara Neale (one letter),"
        " Other (same number Z-1)",
        "zora neale 1 Z-2 no end active Zora Neale (spelling), Zara Neale (one letter)",
        "2 people, 3 remotes. 6 of 6 locks read.",
    ]
    told = scripts.json("people", "z-1")
    assert (told["text"], told["locks"], told["read"], told["notRead"]) == ("z-1", 6, 6, [])
    other, zora = told["people"]
    assert (other["name"], zora["name"], zora["numbers"]) == ("Other", "Zora Neale", ["Z-1"])
    assert sorted(one["lock"]["lockId"] for one in zora["remotes"]) == [1003, 1004]
    assert zora["similar"][0] == {"name": "zora neale", "why": "spelling"}
    assert scripts.writes() == []


async def test_people_shows_locks_not_read_in_every_form(
    scripts: Scripts, half: FaultProxy
) -> None:
    scripts.have(1004, remoteName=EVIL, remoteNumber="=1+1")
    period = {"startDate": 1762041600000, "endDate": 4099766400000}
    scripts.have(1004, remoteName=f"{EVIL} 2", remoteNumber="E-2", remoteType=2, **period)
    page, md = scripts.home / "people.html", scripts.home / "people.md"
    md.write_bytes(b"")
    result = await scripts.arun(
        "people", "script", "--csv", "--html", str(page), "--markdown", str(md)
    )
    assert result.returncode == 3
    assert "5 of 6 locks read, Loading dock: no answer" in result.stderr
    assert f"Page written to {page}." in result.stderr
    rows = parse_csv(result.stdout)
    assert [row["lockName"] for row in rows] == ["Roof hatch", "Roof hatch", "Loading dock"]
    assert (rows[0]["name"], rows[0]["remoteNumber"]) == (EVIL, "'=1+1")
    assert (rows[0]["valid"], rows[0]["notRead"]) == ("always", "")
    assert rows[1]["valid"].startswith("from 2 Nov 2025 0")
    assert " until 1 Dec 2099 0" in rows[1]["valid"] and rows[1]["state"] == "active"
    assert (rows[2]["name"], rows[2]["read"], rows[2]["notRead"]) == ("", "", "no answer")
    html, text = page.read_text(), md.read_text()
    for shown in (html, text):
        assert "from 2 Nov 2025 0" in shown and "until 1 Dec 2099 0" in shown
        assert "Locks not read" in shown and "Loading dock" in shown and "no answer" in shown
        assert "site" in shown and "5 of 6 locks read" in shown
        assert "<script>" not in shown
    assert "&lt;script&gt;" in html
    assert r"\<script\>alert(1)\</script\> \| \[x\](javascript\:1) | Roof hatch |" in text

    other = scripts.home / "notes.html"
    other.write_text("<html>mine</html>")
    half.ledger.clear()
    for option in ("--html", "--markdown"):
        refused = await scripts.arun("people", option, str(other))
        assert refused.returncode == 2
        assert "not a page of lockterm. Nothing was written." in refused.stderr
    assert other.read_text() == "<html>mine</html>" and not half.ledger
    again = await scripts.arun("people", "--html", str(page), "--markdown", str(md))
    assert again.returncode == 3 and len(page.read_text()) > len(html)


def test_people_cleans_hostile_names_and_finds_no_one(scripts: Scripts) -> None:
    scripts.rename(scripts.have(1004), HOSTILE)
    scripts.keep([Lock(1004, name=HOSTILE)])
    shown = scripts.run("people", "evil")
    assert shown.returncode == 0 and "Evil" in shown.stdout
    assert_harmless(shown.stdout)
    assert scripts.json("people")["people"]
    none = scripts.run("people", "nosuch")
    assert (none.returncode, none.stdout) == (1, "0 people, 0 remotes. 1 of 1 lock read.\n")
