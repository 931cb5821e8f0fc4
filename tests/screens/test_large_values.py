"""Values without a limit in the form and the detail: what is shown is counted, nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from lockterm.domain import json_text
from lockterm.domain.safe_text import LONGEST, clean
from lockterm.screens.remote_form.inputs import JsonEditor
from lockterm.widgets.details_table import DetailsTable
from tests.operations.test_walks import record
from tests.screens.running_app import Clock, Starter, settled
from tests.screens.site import answered, canned, page_of, press

MIB = 1024 * 1024


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


LARGE: Mapping[str, Mapping[str, Any]] = {
    "one string": {"extraData": {"a": "x" * (2 * MIB)}},
    "wide characters": {"extraData": {"a": "長" * 600_000}},
    "many names": {"extraData": {str(number): number for number in range(90_000)}},
    "many lines": {"extraData": {"a": [0] * 90_000}},
    "many deep ones": {"extraData": {"a": [deep(50)] * 1000}},
    "many empty ones": {"extraData": {"a": [{}] * 40_000}},
    "weekdays": {"remoteType": 4, "weekDay": [1] * 90_000},
    "name": {"remoteName": "長" * 600_000},
    "number": {"remoteNumber": "9" * (2 * MIB)},
    "name of the status": {"statusName": "e\u0301" * 300_000},
    "name of the type": {"remoteTypeName": "\u202e" * 300_000},
    "what the contract does not name": {"x" * MIB: "y" * MIB},
    "another type": {"remoteName": {"a": ["b" * MIB]}, "status": "c" * MIB},
}


TELLING = ("many lines",)


@pytest.mark.parametrize(
    "what",
    [what if what in TELLING else pytest.param(what, marks=pytest.mark.long) for what in LARGE],
)
async def test_large_values(tmp_path: Path, what: str) -> None:
    one = record(7, remoteNumber="N", remoteType=1, createTime=1) | LARGE[what]
    sent: list[dict[str, Any]] = []
    answers = {
        "/list": page_of([one]),
        "/detail": one,
        "/checkRemoteName": {},
        "/update": lambda body: [sent.append(body), answered({})][1],
    }
    async with canned(answers) as service, Starter(tmp_path, Clock())(service, 1) as pilot:
        await press(pilot, "enter")
        table = pilot.app.screen.query_one(DetailsTable)
        assert table.row_count < 500
        assert sum(len(field.shown) for field in table.fields) < 6 * LONGEST
        await press(pilot, "e")
        assert kept_in_fields(pilot) < 6 * json_text.EDITED
        name = pilot.app.screen.query(Input).first()
        name.value = "Renamed"
        await settled(pilot)
        await press(pilot, "ctrl+s")
        await press(pilot, "right", "enter")
        assert [body["remoteName"] for body in sent] == ["Renamed"]
        assert not {"extraData", "remoteNumber"} & sent[0].keys(), "what was not touched stays"


def kept_in_fields(pilot: Pilot[Any]) -> int:
    screen = pilot.app.screen
    editors, inputs = screen.query(JsonEditor), screen.query(Input)
    return sum(len(one.text) for one in editors) + sum(len(one.value) for one in inputs)


@pytest.mark.long
def test_what_is_shown_of_a_value_is_its_beginning() -> None:
    for fields in LARGE.values():
        value = dict(fields)
        assert len(json_text.write_object(value)) <= 2 * json_text.EDITED
        shown = json_text.shown_object(value)
        assert len(shown) <= json_text.SHOWN + 2
        whole = json.dumps(value, ensure_ascii=False, indent=2)
        assert whole.startswith(shown.removesuffix(" …"))
        assert "\n" not in json_text.one_line(value)
        assert json.loads(json_text.one_line(value)) == value
    assert len(clean("長" * 8 * MIB)) == LONGEST
