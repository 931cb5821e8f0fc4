"""Commands from outside: bad input gives one sentence and a code, never a traceback."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lockterm import __version__
from lockterm.cli.commands import run
from lockterm.service import running
from lockterm.service.tokens import line_of
from tests.cli.conftest import Run
from tests.terminal.pty_session import LOCKTERM, clean_environment


def _assert_one_sentence(result: subprocess.CompletedProcess[str], *words: str) -> None:
    assert result.stderr.startswith("lockterm: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr, result.stderr


@pytest.mark.parametrize(
    ("arguments", "env", "words"),
    [
        (["--base-url", "nonsense"], {}, ["--base-url", "https://HOST"]),
        (["--base-url", "nonsense", "info"], {}, ["--base-url", "https://HOST"]),
        (["info", "--base-url", "nonsense"], {}, ["--base-url", "https://HOST"]),
        ([], {"LOCKTERM_BASE_URL": "nonsense"}, ["LOCKTERM_BASE_URL", "https://HOST"]),
        (["--profile", "nowhere"], {}, ["--profile", "nowhere", "--base-url"]),
        (["info"], {"LOCKTERM_PROFILE": "x"}, ["LOCKTERM_PROFILE", "'x'"]),
        (["--lock", "abc", "--base-url", "https://x.example"], {}, ["--lock", "1001"]),
        
        (["info"], {"LOCKTERM_LOCK": "abc"}, ["LOCKTERM_LOCK", "1001"]),
        (["info"], {"LOCKTERM_READ_ONLY": "maybe", "LOCKTERM_BASE_URL": "https://x.example"},
         ["LOCKTERM_READ_ONLY", "1 or 0"]),
        (["--base-url", "https://x.example", "demo"], {}, ["demo", "--base-url"]),
        (["frobnicate"], {}, ["frobnicate", "--help"]),
        (["--frobnicate"], {}, ["--frobnicate", "--help"]),
        (["serve", "--port", "99999"], {}, ["--port", "65535"]),
        (["serve", "--port", "x"], {}, ["--port"]),
        (["serve", "--token", "a\nb"], {}, ["--token"]),
        (["serve", "--public-url", "locks"], {}, ["--public-url", "https://"]),
        (["serve", "--rate-limit", "50"], {}, ["--rate-limit", "50/s"]),
        (["serve", "--rate-limit", "0/s"], {}, ["--rate-limit", "50/s"]),
    ],
)  # fmt: skip
def test_commands_print_one_sentence_when_input_is_wrong(
    lockterm: Run, arguments: list[str], env: dict[str, str], words: list[str]
) -> None:
    result = lockterm(*arguments, env=env)
    assert result.returncode == 2
    _assert_one_sentence(result, *words)


def test_commands_print_one_sentence_when_config_is_unreadable(
    lockterm: Run, config_file: Path
) -> None:
    config_file.mkdir()
    for command in ([], ["info"], ["--base-url", "https://x.example"]):
        result = lockterm(*command)
        assert result.returncode == 2
        _assert_one_sentence(result, str(config_file))
    assert lockterm("doctor").returncode == 1


def test_serve_prints_one_sentence_when_address_or_database_is_unusable(
    lockterm: Run, tmp_path: Path
) -> None:
    def refuse(*arguments: str, words: Sequence[str]) -> None:
        result = lockterm("serve", *arguments)
        assert (result.returncode, result.stdout) == (1, "")
        _assert_one_sentence(result, *words)
        assert "hunter22" not in result.stderr

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refuse("--port", port, words=(port, "in use", "--port 0"))
    host = "no-such-host.invalid"
    refuse("--port", "0", "--host", host, words=[host])
    foreign = tmp_path / "notes.txt"
    foreign.write_text("not a database")
    refuse("--port", "0", "--database", str(foreign), words=[str(foreign)])
    assert foreign.read_text() == "not a database"
    for where in ((), ("--database", str(tmp_path / "site.db"))):
        refuse("--port", "0", "--workers", "2", *where, words=["--database postgresql://"])
    assert list(tmp_path.glob("*.db")) == []
    for address, said in (
        ("postgresql://me:hunter22@db.invalid/locks", "has a password in its address"),
        ("postgres://me@db.invalid/locks?password=hunter22", "PGPASSWORD"),
        ("postgresql://me:hunter22@[", "is not an address"),
        ("postgresql://me@db.invalid/locks", "db.invalid"),
    ):
        refuse("--port", "0", "--database", address, words=[said])


def test_serve_names_the_package_when_psycopg_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "lockterm.service.postgres_storage", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert run(["serve", "--port", "0", "--database", "postgresql:///locks"]) == 1
    assert "pip install 'lockterm[postgres]'" in " ".join(capsys.readouterr().err.split())


def test_serve_passes_its_options_to_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    served = dict[str, Any]()
    monkeypatch.setattr("lockterm.service.running.serve", lambda *_, **got: served.update(got))
    public = "https://locks.example.com"
    options = ["--empty", "--metrics", "--log-format", "json", "--rate-limit", "600/min"]
    assert run(["serve", *options, "--token", "t" * 20, "--public-url", f"{public}/"]) == 0
    assert (served["sample_data"], served["rate"], served["public_url"]) == (False, 10, public)
    assert served["log"].as_json and served["figures"] is not None
    assert run(["serve"]) == 0
    assert (served["sample_data"], served["rate"], served["public_url"]) == (True, None, None)
    assert not served["log"].as_json and served["figures"] is None


def test_ui_ends_with_2_when_stdin_is_not_a_terminal(lockterm: Run) -> None:
    assert lockterm("--version").stdout == f"lockterm {__version__}\n"
    for command in (["demo"], ["--base-url", "https://x.example"], []):
        result = lockterm(*command)
        assert result.returncode == 2
        _assert_one_sentence(result, "terminal")


def test_info_masks_secrets_and_shows_the_source_of_settings(
    lockterm: Run, config_file: Path
) -> None:
    config_file.write_text(
        '[profiles.north]\nbase_url = "https://locks.example.com"\n'
        '[profiles.north.headers]\nX-Key = "hunter2-literal"\nAuthorization = "env:TOKEN"\n'
    )
    config_file.chmod(0o600)
    env = {"TOKEN": "hunter2-token", "LOCKTERM_LOCK": "1001"}
    for command in (["info"], ["info", "--json"], ["doctor"]):
        shown = lockterm(*command, env=env)
        assert "hunter2" not in shown.stdout + shown.stderr

    report = json.loads(lockterm("info", "--json", "--read-only", env=env).stdout)
    assert report["version"] == __version__
    assert report["paths"]["config_file"] == str(config_file)
    settings = report["settings"]
    assert settings["base_url"]["value"] == "https://locks.example.com"
    assert settings["base_url"]["from"].endswith("config.toml, line 2")
    assert settings["lock"] == {"value": 1001, "from": "environment LOCKTERM_LOCK"}
    assert settings["read_only"] == {"value": True, "from": "option --read-only"}
    assert settings["page_size"] == {"value": "auto", "from": "default"}
    assert settings["headers.Authorization"]["value"] == "***"


def test_info_shows_paths_when_a_setting_is_missing_or_broken(
    lockterm: Run, config_file: Path
) -> None:
    told = lockterm("info").stdout
    assert "No service is configured yet. Run `lockterm demo`, or add --base-url URL." in told
    config_file.write_text("x =\ny = 1\n")
    result = lockterm("info")
    assert result.returncode == 2
    assert str(config_file) in result.stdout
    _assert_one_sentence(result, "line 1")


def test_serve_refuses_a_database_when_others_can_change_its_path(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "top/in").mkdir(parents=True)
    (tmp_path / "top").chmod(0o777)
    assert run(["serve", "--port", "0", "--database", str(tmp_path / "top/in/a.db")]) == 1
    assert f"chmod go-w {tmp_path}/top." in capsys.readouterr().err
    (tmp_path / "link").symlink_to("real")
    tmp_path.chmod(0o777)
    assert run(["serve", "--port", "0", "--database", str(tmp_path / "link/a.db")]) == 1
    assert "others can replace the link" in capsys.readouterr().err


@pytest.mark.parametrize("part", ["top", "top/tokens"])
def test_serve_refuses_tokens_when_others_can_change_them(
    part: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(running, "serve", lambda *_, **__: None)
    file = tmp_path / "top/tokens"
    file.parent.mkdir()
    file.write_text(line_of("north", "n" * 20))
    command = ["serve", "--tokens", str(file)]
    assert run(command) == 0
    changed = tmp_path / part
    changed.chmod(0o777)
    assert run(command) == 2
    assert f"chmod go-w {changed}." in capsys.readouterr().err


def test_serve_prints_its_address_and_ends_with_a_signal(tmp_path: Path) -> None:
    database = tmp_path / "site.db"
    command = [*LOCKTERM, "serve", "--port", "0", "--database", str(database)]
    with subprocess.Popen(
        command, env=clean_environment(tmp_path), stdout=subprocess.PIPE, text=True
    ) as process:
        line = process.stdout.readline()
        assert line.startswith("listening on http://127.0.0.1:")
        url = line.removeprefix("listening on ").strip()
        with urllib.request.urlopen(
            f"{url}/api/v1/bluetooth-remote/list?lockId=1001&pageNo=7&pageSize=20"
        ) as answer:
            page = json.load(answer)
        assert (page["errcode"], page["data"]["total"]) == (0, 137)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    assert database.stat().st_size > 0


@pytest.mark.parametrize("home", [None, "relative"])
def test_commands_name_the_variable_when_the_user_has_no_home(
    home: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unknown(uid: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    monkeypatch.setattr("pwd.getpwuid", unknown)
    monkeypatch.setattr("lockterm.cli.demo.require_terminal", lambda environ: None)
    for name in ("HOME", *(f"XDG_{kind}_HOME" for kind in ("CONFIG", "DATA", "STATE", "CACHE"))):
        monkeypatch.delenv(name, raising=False)
    if home is not None:
        monkeypatch.setenv("HOME", home)
    for command in (
        *("info", "doctor", "demo", "keys", "man", "completion bash --install", "locks list"),
        *("completion fish --install", "history", "export 1001"),
    ):
        assert run(command.split()) == 2, command
        told = capsys.readouterr().err
        assert "has no home directory" in told and "Set HOME" in told
        assert told.count("\n") == 1


def test_commands_name_their_help_when_they_are_misused(lockterm: Run) -> None:
    for typed, command in (("remotes add --nosuch", " remotes add"), ("nosuch", "")):
        refused = lockterm(*typed.split())
        assert refused.returncode == 2
        assert refused.stderr.endswith(f" See: lockterm{command} --help\n")
        assert "?." not in refused.stderr
