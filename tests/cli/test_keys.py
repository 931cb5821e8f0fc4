"""``lockterm keys``: every key, as configured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lockterm.keymap.keys import PLACES, known
from tests.cli.conftest import Run


@pytest.fixture
def chosen(config_file: Path) -> Path:
    config_file.write_text('[keys]\n"remotes.delete" = "x"\n"app.help" = "F1,|"\n')
    return config_file


def test_keys_json_lists_every_key_with_chosen_ones(lockterm: Run, chosen: Path) -> None:
    result = lockterm("keys", "--json")
    assert result.returncode == 0
    keys = json.loads(result.stdout)["keys"]
    assert {key["id"] for key in keys} == set(known())
    assert len(keys) == sum(len(place.own) for place in PLACES.values())
    assert {key["id"] for key in keys if key["chosen"]} == {"remotes.delete", "app.help"}
    (deletes,) = (key for key in keys if key["id"] == "remotes.delete")
    assert deletes == {
        "where": "on the remotes",
        "id": "remotes.delete",
        "keys": ["x"],
        "usual": ["d", "del"],
        "chosen": True,
        "verb": "delete",
        "does": "Delete the selected or the marked remotes, after a confirmation",
    }


def test_keys_prints_a_table_and_markdown(lockterm: Run, chosen: Path) -> None:
    lines = lockterm("keys").stdout.splitlines()
    at = lines.index("on the remotes")
    (deletes,) = (line for line in lines[at:] if " remotes.delete " in line)
    assert deletes.startswith("* x ")
    assert deletes.endswith("Delete the selected or the marked remotes, after a confirmation")
    assert lines[-1] == "* differs from the default keys"
    table = lockterm("keys", "--markdown").stdout.splitlines()
    assert "| everywhere | `f1` `\\|` | `app.help` | Help |" in table
    assert {line.replace("\\|", "").count("|") for line in table} == {5}


def test_keys_table_separates_each_key_from_its_id(lockterm: Run) -> None:
    printed = lockterm("keys").stdout
    keys = json.loads(lockterm("keys", "--json").stdout)["keys"]
    for key in keys:
        assert f" {' '.join(key['keys'])} " in printed, key["id"]


def test_keys_refuses_two_formats(lockterm: Run) -> None:
    assert lockterm("keys", "--json", "--markdown").returncode == 2


def test_commands_report_the_same_error_when_a_key_is_unusable(
    lockterm: Run, config_file: Path
) -> None:
    config_file.write_text('[keys]\n"remotes.add" = "ctrl+i"\n')
    config_file.chmod(0o600)
    wrong = (
        f"{config_file}, line 2: remotes.add uses 'ctrl+i', which is the same as tab in most"
        " terminals."
    )
    for arguments in ((), ("demo",), ("remotes", "list", "1001"), ("info",)):
        result = lockterm(*arguments)
        assert result.returncode == 2
        assert wrong in result.stderr.replace("\n", " ")
    info = json.loads(lockterm("info", "--json").stdout)
    assert info["error"].startswith(wrong)
    doctor = json.loads(lockterm("doctor", "--json").stdout)
    assert wrong in json.dumps(doctor, ensure_ascii=False)
