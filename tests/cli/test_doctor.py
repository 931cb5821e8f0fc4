"""``lockterm doctor`` without a terminal: each line has a state and advice."""

from __future__ import annotations

import json
import re
import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import tzdata

from lockterm.cli.doctor_terminal import check_copying
from lockterm.cli.terminal_queries import TerminalAnswers
from lockterm.config.look import Look, Multiplexer
from lockterm.domain.drafts import Draft
from lockterm.domain.locks import Lock
from lockterm.domain.operation import OperationState
from lockterm.service.running import RunningService
from lockterm.store.database import Database
from lockterm.store.drafts import Drafts
from lockterm.store.journal import Journal
from lockterm.store.tables import VERSION
from tests.certs import CERTS
from tests.cli.conftest import Run, Scripts
from tests.faults.proxy import FaultProxy
from tests.faults.site import tls_context
from tests.samples import an_operation
from tests.servers import port_of


def assert_documented(report: dict[str, Any]) -> None:
    """Check that a report has the shape that ``doctor --help`` documents."""
    shape = {"state": str, "subject": str, "found": str, "advice": str, "facts": dict}
    assert report.keys() == {"version", "ok", "findings"}
    for finding in report["findings"]:
        assert {name: type(value) for name, value in finding.items()} == shape
        assert finding["state"] in ("OK", "WARN", "FAIL")
        assert finding["subject"] in ("terminal", "configuration", "store", "service")
        assert finding["found"]


def findings(report: dict[str, Any], subject: str) -> list[dict[str, Any]]:
    return [one for one in report["findings"] if one["subject"] == subject]


def facts(report: dict[str, Any], subject: str, name: str) -> dict[str, Any]:
    """Return the facts of the only finding that has a fact of this name."""
    (found,) = (one["facts"] for one in findings(report, subject) if name in one["facts"])
    return dict(found)


ADD = ("remotes", "add", "1004", "--number", "B-2", "--type", "permanent", "--yes", "--name")


def test_doctor_checks_the_rest_without_a_terminal(scripts: Scripts) -> None:
    scripts.config.chmod(0o644)
    shown = scripts.run("doctor")
    assert shown.returncode == 0, "no terminal is nothing wrong"
    for line in shown.stdout.splitlines():
        assert re.match(r"(OK   |WARN |FAIL ) (terminal|configuration|store|service) +\S", line)
    assert re.search(r"WARN +terminal .*no terminal.*ssh -t", shown.stdout)
    assert "\x1b" not in shown.stdout + shown.stderr, "nothing is asked where nobody answers"
    assert not (scripts.home / "state").exists(), "looking changes nothing"

    report = scripts.json("doctor", "--lock", "1001")
    assert report["ok"] is True
    assert_documented(report)
    service = facts(report, "service", "calls")
    assert service["calls"] == 5
    assert 0 < service["minMs"] <= service["medianMs"] <= service["maxMs"]
    assert abs(facts(report, "service", "clockOffsetS")["clockOffsetS"]) < 60
    assert facts(report, "configuration", "mode")["mode"] == "0644"
    calls = {path for _, path in scripts.service.requests}
    assert calls == {"/api/v1/bluetooth-remote/list"}, "nothing is changed by asking"


def test_doctor_gives_advice_when_something_is_wrong(
    lockterm: Run, service: RunningService, config_file: Path
) -> None:
    late = lockterm("doctor", "--base-url", service.base_url)
    assert late.returncode == 1, "the service's clock stands still in tests"
    assert re.search(r"FAIL +service .*clock.*Set the clock", late.stdout)

    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    dead = lockterm("doctor", "--base-url", f"http://127.0.0.1:{port}")
    assert dead.returncode == 1
    assert re.search(r"FAIL +service .*refused the connection.*Check the network", dead.stdout)
    assert dead.stderr == ""

    config_file.write_text('[profiles.a]\nbase_url = "https://a.example"\nbody_ = "json"\n')
    unknown = lockterm("doctor")
    assert unknown.returncode == 1
    assert re.search(r"FAIL +configuration .*line 3: body_ is not a setting", unknown.stdout)
    config_file.write_text('[renew]\npresets = ["eom", "someday"]\n')
    for command in (["doctor"], []):
        wrong = lockterm(*command, "--base-url", "https://a.example")
        assert re.search(
            r"line 2: presets contains 'someday'. .*next fri", wrong.stdout + wrong.stderr
        )
    config_file.write_text("")
    report = json.loads(lockterm("doctor", "--json").stdout)
    assert report["ok"] is False
    advice = findings(report, "configuration")[-1]["advice"]
    assert "--base-url" in advice and "lockterm demo" in advice


def test_doctor_does_not_change_the_store(scripts: Scripts) -> None:
    scripts.keep([Lock(1004)])
    with closing(Database(scripts.database)) as database:
        journal = Journal(database, "site")
        journal.prepare(an_operation(profile="site", session="", state=OperationState.PREPARED))
        journal.move("one", [OperationState.PREPARED], state=OperationState.UNKNOWN)
        Drafts(database, "site").save(Draft("remote", 1004, None, {"remoteName": "A"}, 1, "gone"))
    before = scripts.database.read_bytes()

    sound, unconfirmed, draft = findings(scripts.json("doctor"), "store")
    counts = {"locks": 1, "operations": 1, "unsettled": 1, "drafts": 1}
    assert sound["facts"].items() >= {**counts, "integrity": "ok", "schema": VERSION}.items()
    assert sound["facts"]["bytes"] >= len(before)
    assert (unconfirmed["state"], draft["state"]) == ("WARN", "WARN")
    assert "1 change is unconfirmed" in unconfirmed["found"]
    assert "press H" in unconfirmed["advice"]
    assert scripts.database.read_bytes() == before

    scripts.database.write_bytes(before[:100] + b"\xff" * (len(before) - 100))
    scripts.database.chmod(0o644)
    ill = scripts.run("doctor")
    assert ill.returncode == 1
    assert re.search(r"FAIL +store .*damaged", ill.stdout)
    assert re.search(r"WARN +store .*chmod 600", ill.stdout)


async def test_doctor_shows_when_the_certificate_ends(scripts: Scripts) -> None:
    port = port_of(scripts.service)
    proxy = FaultProxy(port, host="localhost", tls=tls_context(CERTS / "server"))
    async with proxy.running():
        scripts.use(proxy.base_url)
        untrusted = await scripts.arun("doctor")
        assert untrusted.returncode == 1
        assert re.search(r"FAIL +service .*certificate.*ca_file", untrusted.stdout)
        scripts.config.write_text(scripts.config.read_text() + f'ca_file = "{CERTS / "ca.pem"}"\n')
        report = json.loads((await scripts.arun("doctor", "--json")).stdout)
    told = facts(report, "service", "tls")
    assert told["certificateUntil"] == "2120-01-01"
    assert told["certificateIssuer"] == "lockterm test authority"
    assert told["tls"].startswith("TLSv1.")
    assert report["ok"]


def test_info_and_doctor_show_configured_terminal_and_keys(
    lockterm: Run, config_file: Path
) -> None:
    config_file.write_text('[terminal]\ncopy = "tmux"\nmouse = false\n[keys]\n"app.help" = "f1"\n')
    settings = json.loads(lockterm("info", "--json", "--quiet").stdout)["settings"]
    told = {name: settings[name]["value"] for name in ("quiet", "mouse", "colors", "copy", "keys")}
    assert told == {"quiet": True, "mouse": False, "colors": 256, "copy": "tmux", "keys": 1}
    assert settings["glyphs"] == {"value": "ascii", "from": "quiet"}
    assert settings["copy"]["from"] == f"{config_file}, line 2"
    assert settings["keys.app.help"] == {"value": "f1", "from": f"{config_file}, line 5"}
    assert re.search(r"(?m)^  mouse +false  \(.*line 3\)$", lockterm("info").stdout)


def test_doctor_and_a_change_report_a_damaged_row(scripts: Scripts) -> None:
    """An unreadable add blocks its lock: no traceback, its own exit code, nothing sent."""
    assert scripts.run(*ADD, "Ben").returncode == 0
    with closing(sqlite3.connect(scripts.database)) as connection, connection:
        connection.execute("UPDATE operations SET state = 'confirmee', body = '{\"a'")
    told = scripts.run("doctor", "--json")
    assert told.returncode == 1 and "1 entry of the journal" in told.stdout
    scripts.service.requests.clear()
    said = scripts.refuse(*ADD, "Cara", words="” is damaged: its changes", code=5)
    assert scripts.writes() == [] and "Traceback" not in said


def test_change_ends_with_5_when_the_store_is_damaged(scripts: Scripts) -> None:
    assert scripts.run(*ADD, "Ben").returncode == 0
    with closing(sqlite3.connect(scripts.database)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'operations_by_remote'"
        (page,) = connection.execute(query).fetchone()
    with scripts.database.open("r+b") as file:
        file.seek(4096 * page - 2)
        file.write(b"\xff")
    scripts.service.requests.clear()
    scripts.refuse(*ADD, "Cara", words="was damaged", code=5)
    assert scripts.writes() == [] and len(scripts.history()) == 1


def test_info_and_doctor_show_the_time_zone_database(lockterm: Run, tmp_path: Path) -> None:
    told = json.loads(lockterm("info", "--json").stdout)["timeZones"]
    assert told["installed"] == tzdata.IANA_VERSION
    assert told["is_installed_used"] == (told["machine"] < told["installed"])
    shown = [lockterm(name).stdout for name in ("info", "doctor")]
    chosen = lockterm("info", env={"PYTHONTZPATH": str(tmp_path)}).stdout
    for text in shown:
        assert ("installed with lockterm" in text) == told["is_installed_used"]
    assert "Time zones version unknown, from this machine" in chosen


@pytest.mark.parametrize(
    ("copy", "inside", "state", "advice"),
    [
        ("plain", None, "OK", ""),
        ("plain", "tmux", "WARN", 'write [terminal] copy = "tmux"'),
        ("screen", "tmux", "WARN", 'write [terminal] copy = "tmux"'),
        ("plain", "GNU screen", "WARN", 'write [terminal] copy = "screen"'),
        ("screen", "GNU screen", "OK", ""),
        ("tmux", "tmux", "WARN", "Set in that tmux: set -s set-clipboard on"),
    ],
)
def test_copying_advises_the_setting_when_the_terminal_is_another_multiplexer(
    copy: Multiplexer, inside: str | None, state: str, advice: str
) -> None:
    found = check_copying(Look(copy=copy), TerminalAnswers(name="T", multiplexer=inside), {})
    assert found.state == state and found.advice.endswith(advice + "." * ("write" in advice))
    assert bool(found.advice) == bool(advice)
    passes_on = "in pieces that GNU screen passes on" in found.sentence
    assert passes_on == (copy == "screen" and state == "OK")


@pytest.mark.parametrize(
    ("version", "clipboard", "state"),
    [
        ("3.1c", "[missing]", "OK"),
        ("3.2", "[missing]", "WARN"),
        ("next-3.5", "(string) x", "OK"),
        ("none", "", "WARN"),
    ],
)
def test_copying_warns_when_tmux_knows_no_clipboard_of_its_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, clipboard: str, state: str
) -> None:
    tmux = tmp_path / "tmux"
    tmux.write_text(
        "#!/bin/sh\n"
        f"case $1 in display-message) echo '{version} /dev/pts/7 xterm-256color' ;;\n"
        "info) echo 'Terminal 0: linux for /dev/pts/1, flags=0x0:'\n"
        "echo ' 173: Ms: (string) other'\n"
        "echo 'Terminal 1: xterm-256color for /dev/pts/7, flags=0x0:'\n"
        f"echo ' 173: Ms: {clipboard}' ;;\n"
        "show-options) echo on ;; esac\n"
    )
    tmux.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = check_copying(Look(copy="tmux"), TerminalAnswers(multiplexer="tmux"), {"TMUX": "x"})
    assert found.state == state, found.sentence
    assert ("xterm-256color" in found.sentence) == (version != "none")
