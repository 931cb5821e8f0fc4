"""The eight operations on remotes as the contract's sections 4.1 to 4.8 have them."""

from __future__ import annotations

import json

import httpx

from tests.conftest import NOW_MS
from tests.service.conftest import REMOTE, Caller

LIST_FIELDS = {
    "id": int,
    "lockId": int,
    "remoteName": str,
    "remoteNumber": str,
    "remoteType": int,
    "remoteTypeName": str,
    "addType": int,
    "addTypeName": str,
    "startDate": int,
    "endDate": int,
    "weekDay": list,
    "isCoerced": int,
    "extraData": dict,
    "status": int,
    "statusName": str,
    "apiUserId": int,
    "createTime": int,
    "updateTime": int,
}
DAY_MS = 86_400_000
FULL = {
    "remoteNumber": "A-9000",
    "remoteType": 4,
    "addType": 2,
    "startDate": NOW_MS,
    "endDate": NOW_MS + DAY_MS,
    "weekDay": [5, 1],
    "isCoerced": 1,
    "extraData": {"nested": {"ключ": [1, 2.5, None, True, "𝄞"]}},
    "mac": "AA:BB:CC:DD:EE:FF",
    "electricQuantity": 87,
    "firmwareInfo": {"version": "1.2"},
    "remoteUserNo": 12,
    "businessId": 2**63 - 1,
    "remoteRight": 1,
}


def types(record: dict[str, object]) -> dict[str, type]:
    return {name: type(value) for name, value in record.items()}


def test_what_is_added_comes_back_unchanged(api: Caller) -> None:
    names = ("' OR 1=1 --", '"; DROP TABLE remote; --', "\x1b]52;c;x\x07[@click=app.quit]", " 王 ")
    for name in names:
        remote_id = api.add(1001, name, **FULL)
        record = api.detail(remote_id)
        lock_info = record.pop("lockInfo")
        assert lock_info == {
            "lockId": 1001,
            "lockName": "Main gate",
            "lockAlias": "North campus, gate 1",
        }
        assert types(record) == LIST_FIELDS
        assert record == api.page(1001, pageSize=200)["list"][-1]
        sent = {key: value for key, value in FULL.items() if key in LIST_FIELDS}
        assert record | sent == record
        assert (record["remoteName"], record["lockId"], record["id"]) == (name, 1001, remote_id)
        assert (record["createTime"], record["updateTime"]) == (NOW_MS, NOW_MS)
        assert (record["status"], record["statusName"]) == (1, "normal")
    assert api.page(1001)["total"] == 137 + len(names)


def test_what_lists_leave_out_is_kept_and_what_is_left_out_has_a_default(api: Caller) -> None:
    remote_id = api.add(1004, "Kept", **FULL)
    api.done(f"{REMOTE}updateRemoteUserNo", lockId=1004, remoteId=remote_id, remoteUserNo=0)
    with api.service.app.state.site.database.reading() as db:
        row = db.execute(
            "SELECT mac, electric_quantity, firmware_info, user_no, business_id, remote_right"
            " FROM remote WHERE id = ?",
            (remote_id,),
        ).fetchone()
    assert tuple(row) == ("AA:BB:CC:DD:EE:FF", 87, '{"version": "1.2"}', 0, 2**63 - 1, 1)
    record = api.detail(api.add(1004, "Minimal"))
    assert (record["startDate"], record["endDate"], record["weekDay"]) == (0, 0, [])
    assert (record["isCoerced"], record["extraData"]) == (0, {})


def test_form_bodies_mean_the_same_as_json(api: Caller) -> None:
    form = {
        name: json.dumps(value) if isinstance(value, dict | list) else str(value)
        for name, value in {"lockId": 1004, "remoteName": "王 & söhne", **FULL}.items()
    }
    answer = api.request("POST", f"{REMOTE}add", data=form)
    by_form = api.detail(answer.json()["data"]["remoteId"])
    by_json = api.detail(api.add(1005, "王 & söhne", **FULL))
    for differs in ("id", "lockId", "lockInfo"):
        del by_form[differs], by_json[differs]
    assert by_form == by_json


def test_pages_cover_the_list_once_in_the_order_of_adding(api: Caller) -> None:
    whole = api.page(1001, pageSize=200)["list"]
    assert len(whole) == 137 and all(types(item) == LIST_FIELDS for item in whole)
    for name in ("id", "createTime"):
        assert [item[name] for item in whole] == sorted(item[name] for item in whole)
    walked = []
    for number in range(1, 8):
        page = api.page(1001, pageNo=number)
        assert (page["pageNo"], page["pageSize"], page["pages"]) == (number, 20, 7)
        walked += page["list"]
    assert walked == whole
    beyond = api.page(1001, pageNo=2**63 - 1, pageSize=200)
    assert (beyond["list"], beyond["total"], beyond["pages"]) == ([], 137, 1)
    nothing = api.page(1004)
    assert (nothing["list"], nothing["total"], nothing["pages"]) == ([], 0, 0)


def test_delete_and_clear_count_right(api: Caller) -> None:
    ids = [item["id"] for item in api.page(1001, pageSize=200)["list"]]
    others = api.page(1002)["total"]
    for gone in ids[30:60]:
        assert api.done(f"{REMOTE}delete", remoteId=gone) == {}
    assert [item["id"] for item in api.page(1001, pageNo=2, pageSize=30)["list"]] == ids[60:90]
    assert api.refused(f"{REMOTE}detail", remoteId=ids[30]) == -5
    assert api.done(f"{REMOTE}clear", lockId=1001) == {"deletedCount": 107}
    assert api.done(f"{REMOTE}clear", lockId=1001) == {"deletedCount": 0}
    assert api.page(1001)["total"] == 0
    assert api.page(1002)["total"] == others
    assert api.add(1001, "After") > max(ids), "an id must never come back as another remote"


def test_names_are_compared_exactly_and_per_lock(api: Caller) -> None:
    api.add(1004, "Anna")
    free = {"errcode": 0, "errmsg": "no error", "description": "", "data": {}}
    for name in ("anna", "Anna ", "Ann"):
        assert api.post(f"{REMOTE}checkRemoteName", lockId=1004, remoteName=name) == free
    assert api.post(f"{REMOTE}checkRemoteName", lockId=1002, remoteName="Anna") == free
    taken = api.post(f"{REMOTE}checkRemoteName", lockId=1004, remoteName="Anna")
    assert taken["errcode"] == -3
    assert "remote name exists" in taken["errmsg"]
    assert "remote name exists" in taken["description"]


def test_update_changes_what_is_sent_and_nothing_else(api: Caller) -> None:
    remote_id = api.add(1004, "Before", **FULL)
    before = api.detail(remote_id)
    for change in (
        {"remoteName": "After"},
        {"remoteName": "After"},
        {"isCoerced": 0},
        {"extraData": {}},
        {"weekDay": []},
        {"endDate": NOW_MS + 2 * DAY_MS},
    ):
        assert api.done(f"{REMOTE}update", lockId=1004, remoteId=remote_id, **change) == {}
        before |= change
        assert api.detail(remote_id) == before


def test_update_is_judged_by_its_merged_result(api: Caller) -> None:
    remote_id = api.add(1004, "Merged", **FULL)

    def update(**change: object) -> object:
        return api.post(f"{REMOTE}update", lockId=1004, remoteId=remote_id, **change)["errcode"]

    assert update(endDate=NOW_MS) == -2
    assert update(startDate=NOW_MS + DAY_MS) == -2
    assert update(startDate=0) == -2
    assert update(remoteType=2, weekDay=[1]) == -2
    assert update(remoteType=2) == 0
    assert api.detail(remote_id)["weekDay"] == []
    assert update(weekDay=[1]) == -2
    assert update(remoteType=1) == 0
    permanent = api.detail(remote_id)
    assert (permanent["startDate"], permanent["endDate"]) == (0, 0)
    assert update(endDate=NOW_MS) == 0, "dates of type 1 may be 0 (4.1): others are not refused"
    assert update(remoteType=1, startDate=5, endDate=6) == 0
    assert update(remoteType=4, startDate=NOW_MS) == -2
    assert api.detail(remote_id) == permanent
    assert update(remoteType=4, startDate=1, endDate=2) == 0


def test_status_follows_the_clock(serve) -> None:
    now = [NOW_MS]
    api = serve(clock=lambda: now[0])
    dates = {"remoteType": 2, "startDate": NOW_MS, "endDate": NOW_MS + DAY_MS}
    remote_id = api.add(1004, "Day", **dates)
    assert api.detail(remote_id)["status"] == 1
    now[0] = NOW_MS + DAY_MS
    assert api.detail(remote_id)["status"] == 1
    now[0] += 1
    assert api.detail(remote_id)["status"] == 2
    assert api.page(1004)["list"][0]["statusName"] == "invalid"


def test_head_and_wrong_methods(api: Caller) -> None:
    for name, right in (("add", "POST"), ("delete", "POST"), ("list", "GET")):
        for method in {"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"} - {right}:
            answer = api.request(method, REMOTE + name)
            assert (answer.status_code, answer.json()["errcode"]) == (405, 405)
            assert right in answer.headers["allow"]
        head: httpx.Response = api.http.head(REMOTE + name, params={"lockId": 1001})
        assert (head.status_code, head.content) == (200 if name == "list" else 405, b"")
