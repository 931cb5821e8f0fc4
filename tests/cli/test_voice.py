"""``lockterm voice``: list, fetch and set voices."""

from __future__ import annotations

from hashlib import md5

import pytest

from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.operation import OperationState
from lockterm.service.packs import MODELS, content_of
from lockterm.store.database import Database
from lockterm.store.lock_book import LockBook
from tests.api.fault_server import FaultServer, Line, answers
from tests.cli.conftest import PROFILE, Scripts, parse_csv
from tests.screens.site import canned

GATE = Lock(1001, name="Main gate", vendor="nordriegel", model="NR-450")


def test_packs_and_show_print_voice_packs(scripts: Scripts) -> None:
    table = scripts.run("voice", "packs", "1001").stdout.splitlines()
    assert table[0].split() == ["Name", "Label", "Updated"]
    told = scripts.json("voice", "packs", "1001")
    assert table[-1] == f"lock 1001: {len(told['packs'])} voice packs"
    assert [pack["name"] for pack in told["packs"]] == [line.split()[0] for line in table[1:-1]]
    name = told["packs"][0]["name"]
    detail = scripts.json("voice", "show", "1001", name)["pack"]
    assert len(detail["fileMd5"]) == 32
    assert detail["fileMd5"] in scripts.run("voice", "show", "1001", name).stdout
    cells = scripts.run("voice", "show", "1001", name, "--csv").stdout
    (row,) = parse_csv(cells)
    assert (row["name"], row["fileMd5"]) == (name, detail["fileMd5"])
    assert row["updated"].endswith(("+01:00", "+02:00")), "in the profile's zone"


def test_voice_list_has_the_timbres_of_the_model(scripts: Scripts) -> None:
    scripts.refuse("voice", "list", "1001", words="--vendor")
    assert not scripts.service.requests
    scripts.keep([GATE])
    told = scripts.json("voice", "list", "main gate")
    assert (told["vendor"], told["model"]) == ("nordriegel", "NR-450")
    langs = [language["lang"] for language in told["languages"]]
    given = scripts.json("voice", "list", "7", "--vendor=nordriegel", "--model=NR-450")
    assert given["languages"] == told["languages"]
    cells = scripts.run("voice", "list", "1001", "--csv").stdout
    rows = parse_csv(cells)
    assert list(dict.fromkeys(row["lang"] for row in rows)) == langs
    shown = scripts.run("voice", "list", "1001").stdout
    assert {"de-DE", "anna"} <= set(shown.split())
    count = sum(len(language["timbres"]) for language in told["languages"])
    assert shown.endswith(f"nordriegel NR-450: {len(langs)} languages, {count} timbres\n")


def test_voice_set_is_checked_sent_and_remembered(scripts: Scripts) -> None:
    scripts.keep([GATE])
    scripts.refuse("voice", "set", "Main gate", "de-DE", "ana", words="has no timbre ana")
    dry = scripts.json("voice", "set", "Main gate", "de-DE", "anna", "--dry-run")
    assert dry["path"] == "/api/v1/lockSetting/updateLockSetting"
    wanted = {"lang": "de-DE", "timbre": "anna"}
    assert dry["body"] == {"lockId": 1001, "currentVoiceTimbre": wanted}
    assert scripts.writes() == []
    done = scripts.run("voice", "set", "Main gate", "de-DE", "anna")
    assert done.returncode == 0
    assert "Main gate (lock 1001) was set to de-DE anna. Recorded by the service." in done.stdout
    assert scripts.writes() == ["lockSetting/updateLockSetting"]
    assert scripts.history()[-1].state is OperationState.CONFIRMED
    database = Database(scripts.database)
    entry = LockBook(database, "site").find(1001)
    database.close()
    assert entry.voice == VoiceChoice("de-DE", "anna")
    assert "set by you" in scripts.run("voice", "list", "1001").stdout


def test_fetch_writes_and_verifies_a_pack(scripts: Scripts) -> None:
    pack = MODELS["nordriegel", "NR-450"].pack("de-DE-anna")
    done = scripts.run("voice", "fetch", "1001", pack.name)
    assert done.returncode == 0, done.stderr
    assert "Size and MD5 match." in done.stdout
    (file,) = (scripts.home / "data/lockterm/packs").iterdir()
    assert file.name.startswith("1001_de-DE-anna_")
    assert file.read_bytes() == content_of(pack)
    assert str(file) in done.stdout
    output = scripts.home / "anna.pack"
    told = scripts.json("voice", "fetch", "1001", pack.name, "--output", str(output))
    assert (told["file"], told["bytes"]) == (str(output), len(content_of(pack)))
    assert output.read_bytes() == content_of(pack)
    scripts.refuse("voice", "fetch", "1001", pack.name, "-o", str(output))
    nowhere = scripts.run("voice", "fetch", "1001", pack.name, "-o", str(scripts.home / "no/where"))
    assert nowhere.returncode == 1
    assert "no/where cannot be written: No such file or directory." in nowhere.stderr
    assert scripts.run("voice", "fetch", "1001", "no-such-pack").returncode == 1


async def test_fetch_asks_when_the_pack_is_on_another_server(scripts: Scripts) -> None:
    pack = b"RIFF" * 100
    scripts.config.write_text(f"{PROFILE}[profiles.site.headers]\nX-Key = 'hunter2'\n")
    scripts.config.chmod(0o600)
    async with FaultServer().running() as elsewhere:
        elsewhere.play(answers(pack))
        url = f"{elsewhere.base_url}/one.bin"
        told = {"name": "one", "timbrePackUrl": url, "fileSize": len(pack)}
        detail = {"errcode": 0, "data": told}
        listed = {"errcode": 0, "data": [{"name": "one"}]}
        answers_of = {"/voice/detail": lambda asked: detail, "/voice/list": lambda asked: listed}
        async with canned(answers_of) as service:
            text = scripts.config.read_text()
            scripts.config.write_text(text.format(base_url=service.base_url))
            fetch = ("voice", "fetch", "1001", "one")
            unasked = await scripts.arun(*fetch)
            assert (unasked.returncode, unasked.stdout) == (2, "")
            assert "another server" in unasked.stderr and not elsewhere.asked
            agreed = await scripts.arun(*fetch, "--yes")
            assert agreed.returncode == 0, agreed.stderr
            assert "The service reported no MD5" in agreed.stdout
            assert [asked.headers.get("x-key") for asked in elsewhere.asked] == [None]
            (file,) = (scripts.home / "data/lockterm/packs").iterdir()
            assert file.read_bytes() == pack
            told["timbrePackUrl"] = "http://192.168.0.1/router"
            near = await scripts.arun(*fetch, "--yes")
            assert (near.returncode, near.stdout) == (3, "")
            assert "not an address for fetching a pack" in near.stderr
            told |= {"timbrePackUrl": url, "fileSize": len(pack) - 1}
            damaged = await scripts.arun(*fetch, "--yes")
            assert (damaged.returncode, damaged.stdout) == (3, "")


async def test_fetch_checks_against_the_pack_list_when_the_detail_lacks_size_and_md5(
    scripts: Scripts,
) -> None:
    pack = b"RIFF" * 100
    facts = {"fileSize": len(pack), "fileMd5": md5(pack).hexdigest()}
    async with FaultServer().running() as elsewhere:
        elsewhere.play(answers(pack))
        told = {"name": "one", "timbrePackUrl": f"{elsewhere.base_url}/one.mp3"}
        documents = {
            "/voice/detail": lambda asked: {"errcode": 0, "data": told},
            "/voice/list": lambda asked: {"errcode": 0, "data": [{"name": "one", **facts}]},
        }
        async with canned(documents) as service:
            scripts.config.write_text(PROFILE.format(base_url=service.base_url))
            fetch = ("voice", "fetch", "1001", "one", "--yes")
            done = await scripts.arun(*fetch)
            assert done.returncode == 0, done.stderr
            assert "Size and MD5 match." in done.stdout
            (file,) = (scripts.home / "data/lockterm/packs").iterdir()
            assert file.suffix == ".mp3"
            facts["fileMd5"] = "0" * 32
            damaged = await scripts.arun(*fetch)
            assert damaged.returncode == 3 and "MD5" in damaged.stderr


async def endless_chunks(line: Line) -> None:
    await line.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        await line.send(b"10000\r\n" + bytes(65536) + b"\r\n")


async def endless_without_length(line: Line) -> None:
    await line.send(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        await line.send(bytes(65536))


@pytest.mark.parametrize(
    "play", [answers(b"RIFF" * 500_000), endless_chunks, endless_without_length]
)
async def test_fetch_leaves_no_task_when_the_server_sends_too_much(
    scripts: Scripts, play: object
) -> None:
    async with FaultServer().running() as elsewhere:
        elsewhere.play(play)
        told = {"name": "one", "timbrePackUrl": f"{elsewhere.base_url}/one.bin", "fileSize": 400}
        documents = {
            "/voice/detail": lambda asked: {"errcode": 0, "data": told},
            "/voice/list": lambda asked: {"errcode": 0, "data": [{"name": "one"}]},
        }
        async with canned(documents) as service:
            scripts.config.write_text(PROFILE.format(base_url=service.base_url))
            fetch = ("voice", "fetch", "1001", "one", "--yes")
            env = {"PYTHONDEVMODE": "1"}
            done = await scripts.arun(*fetch, env=env)
    assert (done.returncode, done.stdout) == (3, "")
    # On a busy machine, the development mode also says which steps were slow.
    slow = ("Executing <", " seconds")
    note, said = (one for one in done.stderr.splitlines() if not all(word in one for word in slow))
    assert "another server" in note
    assert "The server sent more than 400 bytes. The file was deleted" in said
    assert [*(scripts.home / "data/lockterm/packs").iterdir()] == []
