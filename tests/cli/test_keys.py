"""``lockterm keys``: every key, as configured."""

from __future__ import annotations

import json
from pathlib import Path

from lockterm.keymap.keys import PLACES, known
from tests.cli.conftest import Run


def test_keys_prints_every_key_as_chosen_in_each_format(lockterm: Run, config_file: Path) -> None:
    config_file.write_text('[keys]\n"remotes.delete" = "x"\n"app.help" = "F1,|"\n')
    does = "Delete the selected or the marked remotes, after a confirmation"
    keys = json.loads(lockterm("keys", "--json").stdout)["keys"]
    assert {key["id"] for key in keys} == set(known())
    assert len(keys) == sum(len(place.own) for place in PLACES.values())
    assert {key["id"] for key in keys if key["chosen"]} == {"remotes.delete", "app.help"}
    (deletes,) = (key for key in keys if key["id"] == "remotes.delete")
    names = {"where": "on the remotes", "id": "remotes.delete", "verb": "delete", "does": does}
    assert deletes == {**names, "keys": ["x"], "usual": ["d", "del"], "chosen": True}

    printed = lockterm("keys").stdout
    lines = printed.splitlines()
    (line,) = (one for one in lines[lines.index("on the remotes") :] if " remotes.delete " in one)
    assert line.startswith("* x ") and line.endswith(does)
    assert lines[-1] == "* differs from the default keys"
    for key in keys:
        assert f" {' '.join(key['keys'])} " in printed, key["id"]
    table = lockterm("keys", "--markdown").stdout.splitlines()
    assert "| everywhere | `f1` `\\|` | `app.help` | Help |" in table
    assert {line.replace("\\|", "").count("|") for line in table} == {5}
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
