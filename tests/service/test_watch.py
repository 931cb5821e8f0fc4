"""The log and the figures: what they tell, and that no word of what is asked is in them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from lockterm.service.app import METRICS
from lockterm.service.figures import Figures
from lockterm.service.watch import Log
from tests.service.cluster import Cluster
from tests.service.conftest import REMOTE, Caller
from tests.service.killing import ask, body, children, served, until

SECRET = "hunter22-hunter22-hunter22"
ADD = {"lockId": 1004, "remoteNumber": SECRET, "remoteType": 1, "addType": 1}


def test_a_line_for_each_request_has_no_word_of_it(
    serve: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    api: Caller = serve(token=SECRET, log=Log(as_json=True))
    right = {"authorization": f"Bearer {SECRET}"}
    for _ in range(2):
        api.request("POST", f"{REMOTE}add", json={**ADD, "remoteName": SECRET}, headers=right)
    api.request(SECRET.upper(), f"/{SECRET}?{SECRET}", headers=right)
    api.request("GET", f"{REMOTE}list?lockId=1001&name={SECRET}")
    assert api.http.get("/packs/lumenlock/l7/zh-cn-xiaoyan.wav").status_code == 200
    with api.service.app.state.site.database.writing() as db:
        db.execute("DROP TABLE remote")
    api.request("GET", f"{REMOTE}list?lockId=1001", headers=right)
    api.service.failures.clear()
    # Each line is written after its answer. To read the log while it grows could lose a line.
    api.service.stop()
    said = capfd.readouterr().err
    assert "hunter22" not in said.lower()
    lines = [json.loads(line) for line in said.splitlines()]
    told = [
        (line["method"], line["endpoint"], line["status"], line["code"])
        for line in lines
        if line["event"] == "request"
    ]
    requests = [line for line in lines if line["event"] == "request"]
    assert [line["token"] for line in requests] == ["token"] * 3 + [None, None, "token"]
    assert {line["peer"] for line in requests} == {"127.0.0.1"}
    assert all(0 < line["ms"] < 600_000 for line in requests), "in milliseconds"
    assert requests[0]["ms"] > 0.1, "an answer takes longer than that"
    assert told == [
        ("POST", f"{REMOTE}add", 200, 0),
        ("POST", f"{REMOTE}add", 200, -3),
        ("other", "other", 404, 404),
        ("GET", f"{REMOTE}list", 401, 401),
        ("GET", "/packs/", 200, 0),
        ("GET", f"{REMOTE}list", 503, 503),
    ]
    (failure,) = (line for line in lines if line["event"] == "failure")
    assert failure["kind"] in ("OperationalError", "UndefinedTable")
    assert re.fullmatch(r"\w+\.py:[0-9]+", failure["at"])


def samples(text: str) -> list[Sample]:
    """Return the figures as Prometheus reads them."""
    return [one for family in text_string_to_metric_families(text) for one in family.samples]


def counted(text: str) -> dict[tuple[str, str], float]:
    """Return the number of requests for each endpoint and code."""
    return {
        (one.labels["endpoint"], one.labels["code"]): one.value
        for one in samples(text)
        if one.name == "lockterm_requests_total"
    }


def test_figures_are_for_who_has_a_token(serve: Any) -> None:
    api: Caller = serve(token="t" * 20, figures=Figures())
    right = {"authorization": f"Bearer {'t' * 20}"}
    for path in (f"{REMOTE}list?lockId=1001", f"{REMOTE}list?lockId=7", f"/{SECRET}"):
        api.request("GET", path, headers=right)
    assert api.request("GET", METRICS).status_code == 401
    answer = api.http.get(METRICS, headers=right)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert SECRET not in answer.text
    listed = f"{REMOTE}list"
    assert counted(answer.text) == {(listed, "0"): 1, (listed, "-4"): 1, ("other", "404"): 1,
                                    (METRICS, "401"): 1}  # fmt: skip
    names = {sample.name for sample in samples(answer.text)}
    assert names == {
        "lockterm_requests_total",
        "lockterm_request_seconds_bucket",
        "lockterm_request_seconds_count",
        "lockterm_request_seconds_sum",
        "lockterm_token_reloads_failed_total",
    }
    seconds = [one for one in samples(answer.text) if one.labels.get("endpoint") == listed]
    (count,) = (one.value for one in seconds if one.name.endswith("_count"))
    (at_last,) = (one.value for one in seconds if one.labels.get("le") == "+Inf")
    assert count == at_last == 2


def test_metrics_are_off_by_default(api: Caller) -> None:
    assert api.request("GET", METRICS).status_code == 404


@pytest.mark.long
def test_figures_are_those_of_all_workers_and_outlive_one(cluster: Cluster, tmp_path: Path) -> None:
    says = tmp_path / "says"
    options = ("--metrics", "--log-format", "json")
    added = (f"{REMOTE}add", "0")
    with served(cluster.new_database(), 2, *options, says=says) as (process, url):

        def add(first: int) -> None:
            for number in range(first, first + 10):
                ask("POST", f"{url}{REMOTE}add", json=body(str(number))).raise_for_status()

        def told() -> tuple[float, int]:
            """What is counted, and how many lines there are: both come after the answer."""
            figure = counted(ask("GET", f"{url}{METRICS}").text).get(added, 0)
            return figure, says.read_text().count(f'"endpoint": "{REMOTE}add"')

        add(0)
        until(lambda: told() == (10, 10))
        for worker in children(process):
            worker.kill()
        until(lambda: says.read_text().count("is started") == 2 and len(children(process)) == 2)
        add(10)
        until(lambda: told() == (20, 20))
    lines = [json.loads(line) for line in says.read_text().splitlines()]
    assert {line["event"] for line in lines} == {"request", "worker", "warning", "note"}
