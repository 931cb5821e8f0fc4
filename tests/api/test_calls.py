"""The 12 calls against the embedded service, over real HTTP, in both body encodings."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from urllib.parse import parse_qsl

import pytest

from lockterm import __version__
from lockterm.api import writes
from lockterm.api.client import LockService
from lockterm.domain.requests import NewRemote, RemoteChanges
from lockterm.errors import RefusedError, RuleViolationError
from tests.api.conftest import AT_ONCE, Settings
from tests.api.fault_server import FaultServer, answers, http
from tests.servers import Line

OK = '{"errcode":0,"errmsg":"none","description":"","data":{}}'
NEW = NewRemote(
    lock_id=1001,
    remote_name="Häuser & 门 = 🔑 100%",
    remote_number="0042",
    mac="AA:BB:CC:00:11:22",
    remote_type=4,
    add_type=2,
    start_ms=1_790_000_000_000,
    end_ms=1_890_000_000_000,
    week_day=[1, 7],
    electric_quantity=80,
    firmware_info={"version": "1.2", "parts": [1, {"a": None}]},
    remote_user_no=3,
    business_id=9,
    remote_right=2,
    is_coerced=1,
    extra_data={"note": "a=b&c", "deep": {"list": [1, 2.5, True, None]}},
)


@pytest.fixture(params=["json", "form"])
async def client(service, request) -> AsyncIterator[LockService]:
    async with LockService(Settings(service.base_url, body=request.param)) as client:
        yield client


async def test_a_remote_from_adding_to_deleting(client):
    remote_id = await client.send(writes.add_remote(NEW))
    assert isinstance(remote_id, int)
    assert not await client.check_remote_name(1001, NEW.remote_name)
    assert await client.check_remote_name(1001, NEW.remote_name + "?")

    remote = await client.remote_detail(remote_id)
    assert remote.id == remote_id
    assert (remote.remote_name, remote.remote_number) == (NEW.remote_name, "0042")
    assert (remote.remote_type, remote.add_type, remote.is_coerced) == (4, 2, 1)
    assert (remote.start_ms, remote.end_ms, remote.week_day) == (NEW.start_ms, NEW.end_ms, [1, 7])
    assert remote.extra_data == NEW.extra_data
    assert remote.lock_info is not None and remote.lock_info.lock_id == 1001
    assert remote.odd == remote.extras == {}

    changes = RemoteChanges(remote_name="Renamed", week_day=[], extra_data={}, is_coerced=2)
    await client.send(writes.update_remote(1001, remote_id, changes))
    await client.send(writes.update_remote_user_no(1001, remote_id, 77))
    changed = await client.remote_detail(remote_id)
    assert (changed.remote_name, changed.week_day, changed.extra_data) == ("Renamed", [], {})
    assert (changed.is_coerced, changed.remote_type, changed.end_ms) == (2, 4, NEW.end_ms)

    await client.send(writes.delete_remote(remote_id))
    with pytest.raises(RefusedError) as refusal:
        await client.remote_detail(remote_id)
    assert refusal.value.code not in (0, -3, None)


async def test_pages_and_clearing(client):
    first = await client.list_remotes(lock_id=1001, page_no=1, page_size=50)
    last = await client.list_remotes(lock_id=1001, page_no=3, page_size=50)
    beyond = await client.list_remotes(lock_id=1001, page_no=9, page_size=50)
    assert [len(page.remotes) for page in (first, last, beyond)] == [50, 37, 0]
    assert (first.page_no, first.page_size, first.pages, first.total) == (1, 50, 3, 137)
    assert {remote.lock_id for remote in first.remotes} == {1001}
    assert all(not remote.odd and not remote.extras for remote in first.remotes)
    assert first.odd == {} and first.unreadable == 0

    assert await client.send(writes.clear_remotes(1001)) == 137
    empty = await client.list_remotes(lock_id=1001, page_no=1, page_size=50)
    assert (empty.remotes, empty.total) == ((), 0)


async def test_voices(client):
    packs = await client.list_voice_packs(1001)
    assert packs and all(pack.name and pack.label and pack.updated_at for pack in packs)
    pack = await client.voice_pack_detail(1001, packs[0].name or "")
    assert pack.name == packs[0].name and pack.timbre_pack_url and pack.file_size and pack.file_md5

    languages = await client.list_languages("nordriegel", "NR-450")
    assert languages and all(entry.lang and entry.timbres for entry in languages)
    voice = languages[0]
    await client.send(writes.set_voice(1001, voice.lang or "", voice.timbres[0].timbre or ""))
    with pytest.raises(RefusedError):
        await client.send(writes.set_voice(1001, voice.lang or "", "no such timbre"))


async def test_what_goes_over_the_wire(faults: FaultServer):
    """The contract's paths, methods and names, below a base URL with a path of its own."""
    faults.play(answers(OK))
    headers = {"Authorization": "Bearer 0123456789"}
    settings = Settings(faults.base_url + "/gateway/", headers=headers)
    async with LockService(settings) as client:
        await client.check_remote_name(7, "é")
        await client.send(writes.update_remote(7, 8, RemoteChanges(start_ms=0, week_day=[])))
        await client.send(writes.set_voice(7, "de-DE", "anna"))
    check, update, voice = faults.asked
    assert check.start == "POST /gateway/api/v1/bluetooth-remote/checkRemoteName HTTP/1.1"
    assert json.loads(check.body) == {"lockId": 7, "remoteName": "é"}
    assert json.loads(update.body) == {"lockId": 7, "remoteId": 8, "startDate": 0, "weekDay": []}
    assert voice.start == "POST /gateway/api/v1/lockSetting/updateLockSetting HTTP/1.1"
    for asked in faults.asked:
        assert asked.headers["authorization"] == "Bearer 0123456789"
        assert asked.headers["user-agent"] == f"lockterm/{__version__}"
        assert asked.headers["host"] == f"127.0.0.1:{faults.port}"


async def test_forms_carry_objects_as_json_text_and_the_voice_stays_json(faults: FaultServer):
    faults.play(answers(OK))
    async with LockService(Settings(faults.base_url, body="form")) as client:
        await client.send(writes.add_remote(NEW))
        await client.send(writes.set_voice(7, "de-DE", "anna"))
    add, voice = faults.asked
    assert add.headers["content-type"] == "application/x-www-form-urlencoded"
    fields = dict(parse_qsl(add.body.decode(), strict_parsing=True))
    assert fields["remoteName"] == NEW.remote_name and fields["lockId"] == "1001"
    assert json.loads(fields["weekDay"]) == [1, 7]
    assert json.loads(fields["extraData"]) == NEW.extra_data
    assert voice.headers["content-type"] == "application/json"
    voice_sent = {"lang": "de-DE", "timbre": "anna"}
    assert json.loads(voice.body) == {"lockId": 7, "currentVoiceTimbre": voice_sent}


async def test_what_json_cannot_say_is_not_sent(faults: FaultServer):
    for extra in ({"a": "\udc80"}, {"\ud800": 1}, {"a": float("nan")}):
        write = writes.update_remote(1, 2, RemoteChanges(extra_data=extra))
        for body in ("json", "form"):
            async with LockService(Settings(faults.base_url, body=body)) as client:
                with pytest.raises(RuleViolationError) as error:
                    await client.send(write)
            assert list(error.value.reasons) == ["extraData"]
    assert faults.asked == []


@pytest.mark.parametrize("data", ["", ',"data":null', ',"data":[]', ',"data":{"remoteId":"17"}'])
async def test_add_is_unconfirmed_when_the_answer_has_no_usable_id(faults: FaultServer, data):
    faults.play(answers(f'{{"errcode":"0"{data}}}'))
    async with LockService(Settings(faults.base_url)) as client:
        assert await client.send(writes.add_remote(NEW)) is None
        assert await client.send(writes.clear_remotes(7)) is None
        await client.send(writes.delete_remote(7))
        assert await client.check_remote_name(7, "free")


@pytest.mark.parametrize(
    ("words", "is_taken"),
    [
        ("the bluetooth remote name exists", True),
        ("Remote name already in use.", True),
        ("蓝牙遥控器名称已存在", True),
        ("Invalid Parameter.", False),
        ("The lock does not exist.", False),
        ("The lock doesn't exist", False),
        ("锁不存在", False),
        ("", False),
    ],
)
async def test_check_remote_name_reports_taken_when_the_words_say_so(
    faults: FaultServer, words: str, is_taken: bool
):
    faults.play(answers(f'{{"errcode":-3,"errmsg":"{words}","description":""}}'))
    async with LockService(Settings(faults.base_url)) as client:
        if is_taken:
            assert await client.check_remote_name(7, "Anna") is False
            return
        with pytest.raises(RefusedError) as refusal:
            await client.check_remote_name(7, "Anna")
    assert words.removesuffix(".") in refusal.value.meaning and "(code -3)" in refusal.value.meaning


async def test_name_taken_is_an_answer_only_where_names_are_checked(faults: FaultServer):
    faults.play(answers('{"errcode":-3,"errmsg":"exists","description":"it does"}'))
    async with LockService(Settings(faults.base_url)) as client:
        with pytest.raises(RefusedError) as refusal:
            await client.send(writes.add_remote(NEW))
    assert (refusal.value.code, refusal.value.message) == (-3, "exists")
    assert refusal.value.description == "it does"


async def test_list_is_malformed_when_it_is_of_another_lock(faults: FaultServer):
    def page(*locks: int | None) -> bytes:
        remotes = [{"id": number, "lockId": lock} for number, lock in enumerate(locks, 1)]
        counts = {"pageNo": 1, "pageSize": 20, "pages": 1, "total": len(remotes)}
        return http(json.dumps({"errcode": 0, "data": {"list": remotes, **counts}}))

    async def one_answer_too_many(line: Line) -> None:
        line.keep = True
        await line.send(page(1) + page(666, 666) if len(faults.asked) == 1 else page(2, None, 666))

    faults.scripts = [one_answer_too_many]
    async with LockService(Settings(faults.base_url), retries=AT_ONCE) as service:
        assert len((await service.list_remotes(1, 1, 20)).remotes) == 1
        # What nobody asked for stays in the connection; the next question must not get it.
        page_of_2 = await service.list_remotes(2, 1, 20)
        assert [remote.lock_id for remote in page_of_2.remotes] == [2, None, 666]
