"""``lockterm voice``: list, fetch and set voices."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import md5
from typing import Any

import pytest

from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.operation import OperationState
from lockterm.service.packs import PACKS_BY_PATH, content_of
from tests.api.fault_server import FaultServer, Line, answers
from tests.cli.conftest import Scripts, parse_csv
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
    model = ("--vendor=nordriegel", "--model=NR-450")
    given = scripts.json("voice", "list", "7", *model)
    scripts.run("voice", "set", "1001", "de-DE", "anna", "--yes")
    listed = scripts.run("voice", "list", "1001", *model).stdout.splitlines()
    marked = [line.split()[:2] for line in listed if "set by you" in line]
    assert marked == [["de-DE", "anna"]], "though the lock is not in the book"
    scripts.keep([GATE])
    told = scripts.json("voice", "list", "main gate")
    assert (told["vendor"], told["model"]) == ("nordriegel", "NR-450")
    assert given["languages"] == told["languages"]
    langs = [language["lang"] for language in told["languages"]]
    rows = parse_csv(scripts.run("voice", "list", "1001", "--csv").stdout)
    assert list(dict.fromkeys(row["lang"] for row in rows)) == langs
    shown = scripts.run("voice", "list", "1001").stdout
    assert {"de-DE", "anna"} <= set(shown.split())
    count = sum(len(language["timbres"]) for language in told["languages"])
    assert shown.endswith(f"nordriegel NR-450: {len(langs)} languages, {count} timbres\n")


def test_voice_set_is_checked_sent_and_remembered(scripts: Scripts) -> None:
    scripts.keep([GATE])
    command = ("voice", "set", "Main gate", "de-DE")
    scripts.refuse(*command, "ana", words="has no timbre ana")
    dry = scripts.json(*command, "anna", "--dry-run")
    assert dry["path"] == "/api/v1/lockSetting/updateLockSetting"
    wanted = {"lang": "de-DE", "timbre": "anna"}
    assert dry["body"] == {"lockId": 1001, "currentVoiceTimbre": wanted}
    assert scripts.writes() == []
    done = scripts.run(*command, "anna")
    assert done.returncode == 0
    assert "Main gate (lock 1001) was set to de-DE anna. Recorded by the service." in done.stdout
    assert scripts.writes() == ["lockSetting/updateLockSetting"]
    assert scripts.history()[-1].state is OperationState.CONFIRMED
    assert scripts.book()[1001].voice == VoiceChoice("de-DE", "anna")


def test_fetch_writes_and_verifies_a_pack(scripts: Scripts) -> None:
    pack = PACKS_BY_PATH["/packs/nordriegel/nr-450/de-de-anna.wav"]
    fetch = ("voice", "fetch", "1001", pack.name)
    done = scripts.run(*fetch)
    assert done.returncode == 0, done.stderr
    assert "Size and MD5 match." in done.stdout
    (file,) = (scripts.home / "data/lockterm/packs").iterdir()
    assert file.name.startswith("1001_de-DE-anna_")
    assert file.read_bytes() == content_of(pack)
    assert str(file) in done.stdout
    output = scripts.home / "anna.pack"
    told = scripts.json(*fetch, "--output", str(output))
    assert (told["file"], told["bytes"]) == (str(output), len(content_of(pack)))
    assert output.read_bytes() == content_of(pack)
    scripts.refuse(*fetch, "-o", str(output), words="already exists. Nothing was fetched.")
    words = "no/where cannot be written: No such file or directory."
    scripts.refuse(*fetch, "-o", str(scripts.home / "no/where"), words=words, code=1)
    scripts.refuse("voice", "fetch", "1001", "no-such-pack", code=1)


@asynccontextmanager
async def pack_elsewhere(
    scripts: Scripts, play: Any, listed: dict[str, Any], **detail: Any
) -> AsyncIterator[tuple[FaultServer, dict[str, Any]]]:
    """A service whose pack is on another server; yields that server and the detail of the pack."""
    async with FaultServer().running() as elsewhere:
        elsewhere.play(play)
        told = {"name": "one", "timbrePackUrl": f"{elsewhere.base_url}/one.bin", **detail}
        answers_of = {
            "/voice/detail": lambda asked: {"errcode": 0, "data": told},
            "/voice/list": lambda asked: {"errcode": 0, "data": [{"name": "one", **listed}]},
        }
        async with canned(answers_of) as service:
            scripts.use(service.base_url)
            yield elsewhere, told


FETCH = ("voice", "fetch", "1001", "one")
PACK = b"RIFF" * 100


async def test_fetch_asks_when_the_pack_is_on_another_server(scripts: Scripts) -> None:
    size = len(PACK)
    async with pack_elsewhere(scripts, answers(PACK), {}, fileSize=size) as (elsewhere, told):
        secret = "[profiles.site.headers]\nX-Key = 'hunter2'\n"
        scripts.config.write_text(scripts.config.read_text() + secret)
        scripts.config.chmod(0o600)
        unasked = await scripts.arun(*FETCH)
        assert (unasked.returncode, unasked.stdout) == (2, "")
        assert "another server" in unasked.stderr and not elsewhere.asked
        agreed = await scripts.arun(*FETCH, "--yes")
        assert agreed.returncode == 0, agreed.stderr
        assert "The service reported no MD5" in agreed.stdout
        assert [asked.headers.get("x-key") for asked in elsewhere.asked] == [None]
        (file,) = (scripts.home / "data/lockterm/packs").iterdir()
        assert file.read_bytes() == PACK
        told["fileSize"] = size - 1
        damaged = await scripts.arun(*FETCH, "--yes")
        assert (damaged.returncode, damaged.stdout) == (3, "")
        told["timbrePackUrl"] = "http://192.168.0.1/router"
        near = await scripts.arun(*FETCH, "--yes")
        assert (near.returncode, near.stdout) == (3, "")
        assert "not an address for fetching a pack" in near.stderr


async def test_fetch_checks_against_the_pack_list_when_the_detail_lacks_size_and_md5(
    scripts: Scripts,
) -> None:
    facts = {"fileSize": len(PACK), "fileMd5": md5(PACK).hexdigest()}
    async with pack_elsewhere(scripts, answers(PACK), facts) as (elsewhere, told):
        told["timbrePackUrl"] = f"{elsewhere.base_url}/one.mp3"
        done = await scripts.arun(*FETCH, "--yes")
        assert done.returncode == 0, done.stderr
        assert "Size and MD5 match." in done.stdout
        (file,) = (scripts.home / "data/lockterm/packs").iterdir()
        assert file.suffix == ".mp3"
    facts["fileMd5"] = "0" * 32
    async with pack_elsewhere(scripts, answers(PACK), facts):
        damaged = await scripts.arun(*FETCH, "--yes")
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
    async with pack_elsewhere(scripts, play, {}, fileSize=400):
        env = {"PYTHONDEVMODE": "1"}
        done = await asyncio.to_thread(scripts.run, *FETCH, "--yes", env=env)
    assert (done.returncode, done.stdout) == (3, "")
    # On a busy machine, the development mode also says which steps were slow.
    slow = ("Executing <", " seconds")
    note, said = (one for one in done.stderr.splitlines() if not all(word in one for word in slow))
    assert "another server" in note
    assert "The server sent more than 400 bytes. The file was deleted" in said
    assert [*(scripts.home / "data/lockterm/packs").iterdir()] == []
