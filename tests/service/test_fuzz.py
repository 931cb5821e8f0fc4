"""Input that nobody thought of, to every endpoint: always an envelope, never a 5xx."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm.service.app import OPERATIONS
from lockterm.service.running import RunningService
from tests.conftest import NOW_MS, TODAY
from tests.long import examples
from tests.service.conftest import REMOTE, Caller, calling, check_envelope

VALID = {
    "lockId": 1004,
    "remoteName": "Spare",
    "remoteNumber": "S-1",
    "mac": "AA:BB:CC:DD:EE:FF",
    "remoteType": 4,
    "addType": 1,
    "startDate": NOW_MS,
    "endDate": NOW_MS + 1,
    "weekDay": [1, 7],
    "electricQuantity": 50,
    "firmwareInfo": {},
    "remoteUserNo": 1,
    "businessId": 1,
    "remoteRight": 2,
    "isCoerced": 1,
    "extraData": {"a": [1]},
    "pageNo": 1,
    "pageSize": 20,
    "vendor": "nordriegel",
    "model": "NR-450",
    "name": "de-DE-anna",
    "currentVoiceTimbre": {"lang": "de-DE", "timbre": "anna"},
}
"""The parameters of all operations at once, but for the id of a remote; each operation ignores
those that it does not know."""
SQL = ("'", '"', "' OR '1'='1", "'; DROP TABLE remote; --", "1; SELECT 1", "%", "_", "\\")
texts = (
    st.text()
    | st.sampled_from(SQL)
    | st.text(st.characters(max_codepoint=0xA0))
    | st.text(st.characters(categories=["Cs", "Lu"]), min_size=1)
)
integers = st.integers() | st.sampled_from([0, 1, 2, 4, 1001, 2**63 - 1, 2**63, 10**19 - 1])
values = st.recursive(
    st.sampled_from(list(VALID.values()))
    | texts
    | integers
    | st.floats()
    | st.booleans()
    | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
# Mostly the right type with an odd value, so that an example gets as far as SQL; else anything.
changes = st.one_of(
    *(
        st.dictionaries(
            st.sampled_from([name for name, value in VALID.items() if isinstance(value, kind)]),
            values_of_kind,
            min_size=1,
            max_size=3,
        )
        for kind, values_of_kind in ((str, texts), (int, integers), (object, values))
    )
)
extras = st.dictionaries(texts, values, max_size=2)
oddities = st.builds(lambda change, extra: change | extra, changes, extras)


@pytest.fixture(scope="module")
def api(new_database: Callable[[], Path | str]) -> Iterator[Caller]:
    """One service for all examples: what one leaves behind is met by the next."""
    place = new_database()
    database = place if isinstance(place, str) else None
    with (
        RunningService(
            today=TODAY, clock=lambda: NOW_MS, database=database, migrate=True
        ) as service,
        calling(service) as api,
    ):
        yield api
        assert [repr(bug) for bug in service.failures] == []


def check(api: Caller, method: str, path: str, **options: object) -> None:
    answer = api.http.request(method, path, **options)
    check_envelope(path, answer)
    assert answer.status_code in {200, 400, 413, 415}, answer.text


@pytest.mark.parametrize(("method", "path"), [operation[:2] for operation in OPERATIONS])
@examples(60)
@given(odd=oddities, raw=st.binary(max_size=200))
def test_any_input_gets_an_envelope(
    api: Caller, method: str, path: str, odd: dict[str, object], raw: bytes
) -> None:
    # Without the oddities every operation would succeed.
    api.done(f"{REMOTE}clear", lockId=1004)
    body = VALID | {"remoteId": api.add(1004, "Before")} | odd
    # Half a surrogate pair has no bytes to be sent as.
    as_text = {
        name.encode(errors="replace"): one.encode(errors="replace")
        if isinstance(one, str)
        else json.dumps(one)
        for name, one in body.items()
    }
    if method == "GET":
        query = {name.decode(): value for name, value in as_text.items()}
        check(api, method, path, params=query)
        check(api, method, f"{path}?lockId=1001&{quote(raw)}={quote(raw)}")
        return
    as_json = json.dumps(body).encode()
    kinds = ("application/json", "application/x-www-form-urlencoded")
    check(api, method, path, content=as_json, headers={"content-type": kinds[0]})
    for kind in kinds:
        check(api, method, path, content=raw, headers={"content-type": kind})
    check(api, method, path, data=as_text)
