"""A plain HTTP caller for the service's own tests; nothing of the client is used here."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from lockterm.service.running import RunningService
from tests.service.cluster import cluster

__all__ = ["cluster"]

REMOTE = "/api/v1/bluetooth-remote/"
VOICE = "/api/v1/voice/"
SETTING = "/api/v1/lockSetting/updateLockSetting"
PATIENCE_S = 60.0
"""How long a busy machine may take for what has to come."""
OTHER_SPELLING = (f"{VOICE}packs", SETTING)

Json = dict[str, object]


class Caller:
    """Calls one running service and checks that every answer is an envelope."""

    def __init__(self, service: RunningService, http: httpx.Client) -> None:
        self.service = service
        self.http = http

    def request(self, method: str, path: str, **options: object) -> httpx.Response:
        """Any request; the answer has to be an envelope of the path's spelling."""
        answer = self.http.request(method, path, **options)
        check_envelope(path.partition("?")[0], answer)
        return answer

    def post(self, path: str, /, **body: object) -> Json:
        """The whole envelope of a JSON POST; the HTTP status has to be 200."""
        answer = self.request("POST", path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def done(self, path: str, /, **body: object):
        """The ``data`` of a POST that has to succeed."""
        envelope = self.post(path, **body)
        assert code_of(envelope) == 0, envelope
        return envelope.get("data")

    def refused(self, path: str, /, **body: object) -> int:
        """The code of a POST that has to be refused."""
        code = code_of(self.post(path, **body))
        assert code != 0
        return code

    def page(self, lock_id: int, **query: int) -> Json:
        """The ``data`` of a list."""
        answer = self.request("GET", f"{REMOTE}list", params={"lockId": lock_id, **query})
        assert answer.json()["errcode"] == 0, answer.text
        return answer.json()["data"]

    def add(self, lock_id: int = 1004, name: str = "Spare", **more: object) -> int:
        """Add a remote, a permanent one unless said otherwise; returns its id."""
        body = {"remoteNumber": "S-1", "remoteType": 1, "addType": 1} | more
        return self.done(f"{REMOTE}add", lockId=lock_id, remoteName=name, **body)["remoteId"]

    def detail(self, remote_id: int) -> Json:
        """The record of a remote."""
        return self.done(f"{REMOTE}detail", remoteId=remote_id)


def code_of(envelope: Json) -> object:
    """The code, in whichever spelling."""
    return envelope["errcode"] if "errcode" in envelope else envelope["errorCode"]


def check_envelope(path: str, answer: httpx.Response) -> None:
    """Section 2.1: exactly the members of the path's spelling, with their types."""
    assert answer.headers["content-type"] == "application/json", answer.text
    envelope = answer.json()
    number, message = ("errcode", "errmsg")
    expected = {"description": str}
    if path in OTHER_SPELLING:
        number, message = ("errorCode", "errorMsg")
        expected |= {"status": int, "statusText": str, "content": str}
        assert envelope["status"] == answer.status_code
    expected |= {number: int, message: str}
    data = envelope.pop("data", None)
    assert {name: type(value) for name, value in envelope.items()} == expected
    if envelope[number] == 0:
        assert answer.status_code == 200
        assert envelope["description"] == ""
        assert (data is None) == (path == SETTING)
    else:
        assert envelope["description"]
        assert data is None
        assert answer.status_code == (200 if envelope[number] < 0 else envelope[number])
    assert "Traceback" not in answer.text and ".py" not in answer.text


@pytest.fixture(
    scope="session", params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)]
)
def new_database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Path | str]:
    """Name a database that is not made yet, or is empty, of the kind that the tests run on."""
    if request.param == "postgres":
        return request.getfixturevalue("cluster").new_database
    folder, numbers = tmp_path_factory.mktemp("databases"), itertools.count()
    return lambda: folder / f"{next(numbers)}.db"


@pytest.fixture
def running_service(
    running_service: Callable[..., RunningService], new_database: Callable[[], Path | str]
) -> Callable[..., RunningService]:
    """Start a service, on a new database of the kind unless told which."""

    def start(**options: Any) -> RunningService:
        if "database" not in options and isinstance(place := new_database(), str):
            options["database"] = place
        return running_service(migrate=True, **options)

    return start


@contextmanager
def calling(service: RunningService) -> Iterator[Caller]:
    """A caller of a service."""
    # To read who is to be trusted would take longer than a test, and nothing is encrypted.
    options = {"trust_env": False, "verify": False, "timeout": PATIENCE_S}
    with httpx.Client(base_url=service.base_url, **options) as http:
        yield Caller(service, http)


@pytest.fixture
def serve(running_service: Callable[..., RunningService]) -> Iterator[Callable[..., Caller]]:
    """Start a service with options of the test, and return its caller."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(calling(running_service(**options)))


@pytest.fixture
def api(serve: Callable[..., Caller]) -> Caller:
    """A caller of a fresh service with sample data."""
    return serve()
