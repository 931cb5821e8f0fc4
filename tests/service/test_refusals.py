"""Every rule that a real service would hold, and the code that each refusal carries."""

from __future__ import annotations

from lockterm.service.answers import Code
from tests.conftest import NOW_MS
from tests.service.conftest import REMOTE, SETTING, VOICE, Caller, code_of

ABSENT = object()
BASE = {
    "add": {
        "lockId": 1001,
        "remoteName": "New",
        "remoteNumber": "N-1",
        "remoteType": 4,
        "addType": 1,
        "startDate": NOW_MS,
        "endDate": NOW_MS + 1,
    },
    "checkRemoteName": {"lockId": 1001, "remoteName": "New"},
    "update": {"lockId": 1001, "remoteId": "one"},
    "detail": {"remoteId": "one"},
    "delete": {"remoteId": "one"},
    "clear": {"lockId": 1001},
    "updateRemoteUserNo": {"lockId": 1001, "remoteId": "one", "remoteUserNo": 5},
    f"{VOICE}list": {"lockId": 1001},
    f"{VOICE}packs": {"vendor": "nordriegel", "model": "NR-450"},
    f"{VOICE}detail": {"lockId": 1001, "name": "de-DE-anna"},
    SETTING: {"lockId": 1001, "currentVoiceTimbre": {"lang": "de-DE", "timbre": "anna"}},
}
BAD_IDS = (ABSENT, None, "1001", 1001.0, True, [], {}, 0, -1)
BAD_TEXTS = (ABSENT, None, "", " \t\n", 5, True, [], {})
BAD_FLAGS = (3, -1, "1", 1.0, True, [1])
BAD_OBJECTS = ([], "{}", 1, True)
BAD_WEEKDAYS = ([0], [8], [1, 1], [True], ["1"], [1.0], [[1]], "1", 1, {})
BAD_DATES = (-1, "1", 1.5, True, [])

WRONG: list[tuple[str, str, object, int]] = [
    *((path, "lockId", value, -1) for path in BASE if "lockId" in BASE[path] for value in BAD_IDS),
    *(
        (path, "remoteId", value, -1)
        for path in BASE
        if "remoteId" in BASE[path]
        for value in BAD_IDS
    ),
    *(("add", name, value, -1) for name in ("remoteName", "remoteNumber") for value in BAD_TEXTS),
    *(("checkRemoteName", "remoteName", value, -1) for value in BAD_TEXTS),
    *(("update", "remoteName", value, -1) for value in BAD_TEXTS[2:]),
    *(("add", "remoteType", value, -1) for value in (ABSENT, 0, 3, 5, "1", True, 4.0)),
    *(("add", "addType", value, -1) for value in (ABSENT, 0, 3, "1", True)),
    *(("update", "remoteType", value, -1) for value in (0, 3, 8, "1", True)),
    *((path, "isCoerced", value, -1) for path in ("add", "update") for value in BAD_FLAGS),
    *(("add", "remoteRight", value, -1) for value in BAD_FLAGS),
    *((path, "extraData", value, -1) for path in ("add", "update") for value in BAD_OBJECTS),
    *(("add", "firmwareInfo", value, -1) for value in BAD_OBJECTS),
    *((path, "weekDay", value, -1) for path in ("add", "update") for value in BAD_WEEKDAYS),
    *(
        (path, name, value, -1)
        for path in ("add", "update")
        for name in ("startDate", "endDate")
        for value in BAD_DATES
    ),
    *(("add", "electricQuantity", value, -1) for value in (-1, 101, "5", 5.0, True)),
    *(("add", name, value, -1) for name in ("remoteUserNo", "businessId") for value in (-1, "5")),
    *(("add", "mac", value, -1) for value in (5, [], {})),
    *(("updateRemoteUserNo", "remoteUserNo", value, -1) for value in (ABSENT, -1, "5", 1.0, True)),
    *((f"{VOICE}packs", name, value, -1) for name in ("vendor", "model") for value in BAD_TEXTS),
    *((f"{VOICE}detail", "name", value, -1) for value in BAD_TEXTS),
    *((SETTING, "currentVoiceTimbre", value, -1) for value in (ABSENT, None, "de-DE", [], {})),
    (SETTING, "currentVoiceTimbre", {"lang": "de-DE"}, -1),
    (SETTING, "currentVoiceTimbre", {"lang": 1, "timbre": "anna"}, -1),
    # Rules over more than one parameter.
    *(("add", name, value, -2) for name in ("startDate", "endDate") for value in (ABSENT, None, 0)),
    ("add", "endDate", NOW_MS, -2),
    ("add", "startDate", NOW_MS + 2, -2),
    ("update", "startDate", 2**63 - 1, -2),
    ("add", "remoteName", "taken", -3),
    ("checkRemoteName", "remoteName", "taken", -3),
    ("update", "remoteName", "taken", -3),
    *((path, "lockId", 999, -4) for path in BASE if "lockId" in BASE[path]),
    *((path, "remoteId", 2**63 - 1, -5) for path in BASE if "remoteId" in BASE[path]),
    *((path, "lockId", 1002, -6) for path in ("update", "updateRemoteUserNo")),
    (f"{VOICE}packs", "vendor", "lumenlock", -7),
    (f"{VOICE}packs", "model", "' OR 1=1 --", -7),
    (f"{VOICE}detail", "name", "de-DE-nobody", -8),
    (SETTING, "currentVoiceTimbre", {"lang": "de-DE", "timbre": "grace"}, -9),
    (SETTING, "currentVoiceTimbre", {"lang": "xx-XX", "timbre": "anna"}, -9),
]


def test_each_wrong_parameter_is_refused_with_its_code_and_changes_nothing(api: Caller) -> None:
    api.add(1001, "taken")
    remote_id = api.add(
        1001, "one", remoteType=4, startDate=NOW_MS, endDate=NOW_MS + 1, weekDay=[1]
    )
    before = api.page(1001, pageSize=200)
    for path, name, value, code in WRONG:
        body = dict(BASE[path]) | {name: value}
        if body.get("remoteId") == "one":
            body["remoteId"] = remote_id
        if body[name] is ABSENT:
            del body[name]
        url = path if path.startswith("/") else REMOTE + path
        assert (path, name, value, code_of(api.post(url, **body))) == (path, name, value, code)
    assert api.page(1001, pageSize=200) == before
    with api.service.app.state.site.database.reading() as db:
        assert db.execute("SELECT count(*) FROM voice_setting").fetchone()[0] == 0


def test_the_refusals_above_use_the_whole_table() -> None:
    assert {code for *_, code in WRONG} == {code.number for code in Code if code.number < 0}
    assert len({code.number for code in Code}) == len(Code)


def test_wrong_list_queries(api: Caller) -> None:
    for query in (
        *("", "lockId=", "lockId=x", "lockId=0", "lockId=1001.0", "lockId=true", "lockId=٣"),
        *("lockId=1001&pageNo=0", "lockId=1001&pageNo=-1", "lockId=1001&pageSize=0"),
        *("lockId=1001&pageSize=201", "lockId=1001&pageSize=1e1"),
        *("lockId=9223372036854775808", "lockId=1001;DROP TABLE remote"),
    ):
        answer = api.request("GET", f"{REMOTE}list?{query}")
        assert (answer.status_code, answer.json()["errcode"]) == (200, -1), query
    for query in ("lockId=1001&lockId=1002", "lockId=%FF", "lockId=1001&name=%00", "lockId"):
        answer = api.request("GET", f"{REMOTE}list?{query}")
        assert (answer.status_code, answer.json()["errcode"]) == (400, 400), query
