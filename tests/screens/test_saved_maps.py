"""The saved meanings of columns: found by the header, of one service, and never too many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lockterm.config.preferences import Preferences
from lockterm.domain.table_map import TableMap
from lockterm.screens.saved_maps import KEPT, MOST_BYTES, find_saved_map, save_map

HERE, THERE = "https://one.example", "https://two.example"
HEAD = ["Holder", "Card", "Gate"]
DOORS = TableMap({"Holder": "remoteName", "Card": "remoteNumber"}, {"Gate": "1001"})


@pytest.fixture
def kept(tmp_path: Path) -> Preferences:
    return Preferences(tmp_path / "choices.json")


def test_a_saved_map_is_found_by_its_columns_in_any_order(kept: Preferences) -> None:
    assert find_saved_map(kept, HERE, HEAD) is None
    assert save_map(kept, HERE, HEAD, DOORS)
    assert find_saved_map(kept, HERE, HEAD[::-1]) == DOORS
    assert find_saved_map(kept, HERE, [*HEAD, "Phone"]) is None
    assert find_saved_map(kept, HERE, HEAD[:2]) is None
    assert find_saved_map(kept, THERE, HEAD) is None, "other locks have these IDs there"


def test_a_changed_map_replaces_the_earlier_one(kept: Preferences) -> None:
    changed = TableMap(dict.fromkeys(HEAD[1:], "ignore") | {"Holder": "remoteName"})
    save_map(kept, THERE, HEAD, DOORS)
    save_map(kept, HERE, HEAD, DOORS)
    save_map(kept, HERE, HEAD, changed)
    assert find_saved_map(kept, HERE, HEAD) == changed
    assert find_saved_map(kept, THERE, HEAD) == DOORS
    assert len(kept.get(KEPT)) == 2


def test_the_oldest_maps_make_room(kept: Preferences, tmp_path: Path) -> None:
    headers = [[f"{place} {'王' * 900}"] for place in range(30)]
    for header in headers:
        assert save_map(kept, HERE, header, TableMap({header[0]: "remoteName"}))
    assert find_saved_map(kept, HERE, headers[0]) is None
    assert find_saved_map(kept, HERE, headers[-1]) is not None
    assert not save_map(kept, HERE, ["y"], TableMap({"y" * MOST_BYTES: "ignore"}))
    again = Preferences(tmp_path / "choices.json")
    assert find_saved_map(again, HERE, headers[-1]) is not None, "the file is still read"


@pytest.mark.parametrize("value", [1, [1, {}, {"service": HERE, "map": "["}], {"map": ""}])
def test_an_edited_file_does_no_harm(tmp_path: Path, value: object) -> None:
    file = tmp_path / "choices.json"
    file.write_text(json.dumps({KEPT: value}))
    kept = Preferences(file)
    assert find_saved_map(kept, HERE, HEAD) is None
    assert save_map(kept, HERE, HEAD, DOORS)
    assert find_saved_map(kept, HERE, HEAD) == DOORS
