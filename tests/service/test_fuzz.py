"""Input that nobody thought of, to every endpoint: always an envelope, never a 5xx."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockterm.service.app import OPERATIONS
from lockterm.service.running import RunningService
from tests.conftest import NOW_MS, TODAY
from tests.service.conftest import Caller, check_envelope

VALID = {
    "lockId": 1004,
    "remoteId": 48_990,
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
"""The parameters of all operations at once; those that one does not know it ignores."""
SQL = ("'", '"', "' OR '1'='1", "'; DROP TABLE remote; --", "1; SELECT 1", "%", "_", "\\")
texts = st.text() | st.sampled_from(SQL) | st.text(st.characters(max_codepoint=0xA0))
integers = st.integers() | st.sampled_from([0, 1, 2, 4, 1001, 1004, 2**31, 2**63 - 1, 2**63])
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
changes = st.dictionaries(st.sampled_from(sorted(VALID)), values, max_size=4)
extras = st.dictionaries(texts, values, max_size=2)
bodies = st.builds(lambda change, extra: VALID | change | extra, changes, extras)


@pytest.fixture(scope="module")
def api() -> Iterator[Caller]:
    """One service for all examples: what one leaves behind is met by the next."""
    service = RunningService(today=TODAY, clock=lambda: NOW_MS)
    with service, httpx.Client(base_url=service.base_url, trust_env=False) as http:
        yield Caller(service, http)
        assert [repr(bug) for bug in service.failures] == []


def check(api: Caller, method: str, path: str, **options: object) -> None:
    answer = api.http.request(method, path, **options)
    check_envelope(path, answer)
    assert answer.status_code in {200, 400, 413, 415}, answer.text


@pytest.mark.parametrize(("method", "path"), [operation[:2] for operation in OPERATIONS])
@settings(max_examples=60, deadline=None)
@given(body=bodies, raw=st.binary(max_size=200))
def test_any_input_gets_an_envelope(
    api: Caller, method: str, path: str, body: dict[str, object], raw: bytes
) -> None:
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
