"""``lockterm apply`` and ``runs``: each step runs once, is reported and stored."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lockterm.cli.run_plan import exit_code_of_steps, put_result
from lockterm.config import Profile
from lockterm.domain.plan import Action, Plan, Step, StepState
from lockterm.store.accounts import digest_credentials
from lockterm.store.database import Database
from lockterm.store.runs import RunStore
from lockterm.store.sessions import StoreSession
from tests.cli.conftest import Scripts
from tests.cli.test_send_change import NEAR
from tests.faults.catalogue import applied_unheard, reset
from tests.faults.proxy import Exchange, FaultProxy
from tests.long import telling
from tests.servers import port_of
from tests.terminal.pty_session import LOCKTERM, PtySession, clean_environment

TABLE = "lockId,remoteNumber,remoteName,remoteType,action\n"
COUNTS = ("recorded", "unchanged", "refused", "skipped", "unknown", "not_sent")


def written(folder: Path, *rows: str) -> str:
    """Write a file with these rows."""
    file = folder / "table.csv"
    file.write_text(TABLE + "".join(f"{row}\n" for row in rows))
    return str(file)


def lines(
    scripts: Scripts, *arguments: str, code: int = 0
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the steps of a command with ``--json`` in order, and its last line."""
    told = scripts.run(*arguments, "--json")
    assert told.returncode == code, told.stderr
    *steps, last = [json.loads(line) for line in told.stdout.splitlines()]
    return sorted(steps, key=lambda step: step["step"]), last


def names(scripts: Scripts, lock_id: int = 1004) -> list[str]:
    return sorted(row["name"] for row in scripts.remotes(lock_id))


def test_apply_reports_each_step_when_a_file_is_applied_twice(scripts: Scripts) -> None:
    anna = scripts.have()
    ben = scripts.have(remoteName="Ben", remoteNumber="B-1")
    file = written(scripts.home, "1004,A-1,Anna W.,1,", "1004,B-1,,,delete", "1004,C-1,Carl,1,add")

    steps, last = lines(scripts, "apply", file, "--dry-run")
    assert [step["state"] for step in steps] == ["planned"] * 3
    assert last == {"run": None, "counts": {"planned": 3, **dict.fromkeys(COUNTS, 0)}}
    assert scripts.writes() == []

    steps, last = lines(scripts, "apply", file, "--yes")
    carl = next(row["id"] for row in scripts.remotes(1004) if row["name"] == "Carl")
    assert [list(step) for step in steps] == 3 * [
        ["step", "line", "lockId", "remoteId", "remoteName", "action", "state", "message"]
    ]
    assert [tuple(step.values()) for step in steps] == [
        (1, 3, 1004, ben, "Ben", "delete", "recorded", ""),
        (2, 2, 1004, anna, "Anna", "update", "recorded", ""),
        (3, 4, 1004, carl, "Carl", "add", "recorded", ""),
    ]
    assert last["counts"] == {**dict.fromkeys(COUNTS, 0), "recorded": 3}
    assert names(scripts) == ["Anna W.", "Carl"]
    (run,) = [
        json.loads(line) for line in scripts.run("runs", "list", "--json").stdout.splitlines()
    ]
    assert (run["run"], run["state"], run["counts"]) == (last["run"], "done", last["counts"])
    assert (run["title"], run["made"] > 0) == ("apply table.csv", True)
    assert lines(scripts, "runs", "show", last["run"][:6]) == (steps, last)

    scripts.service.requests.clear()
    steps, last = lines(scripts, "apply", file, "--yes")
    assert [step["state"] for step in steps] == ["unchanged"] * 3
    assert last["run"] is None
    assert lines(scripts, "runs", "resume", run["run"], "--yes")[1]["counts"] == run["counts"]
    assert scripts.run("runs", "retry", run["run"]).returncode == 0, "nobody has to be asked"
    assert scripts.writes() == []


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize("seed", telling([0], range(3)))
def test_apply_changes_only_what_differs_when_an_export_was_edited(
    scripts: Scripts, form: str, seed: int
) -> None:
    random = Random(seed)
    exported = scripts.json("export", "1003")
    (lock,) = exported["locks"]
    remotes = lock["remotes"]
    gone = random.sample(remotes, 2)
    for remote in gone:
        remotes.remove(remote)
    for place, remote in enumerate(random.sample(remotes, 4)):
        remote["remoteName"] = (
            random.choice(["=1+1", "'quoted", '"; 王', "Zoë, A\u200dB"]) + f"{place}"
        )
        if place % 2 and remote["remoteType"] != 1:
            remote["endDate"] += 86_400_123
        elif place:
            remote["extraData"] = {"tür": [1, {"a": "=x"}], "n": place}
    new = {name: remotes[0][name] for name in ("remoteType", "startDate", "endDate", "weekDay")}
    remotes.append(new | {"remoteName": "Neu", "remoteNumber": "007", "addType": 2, "isCoerced": 1})
    file = scripts.home / f"edited.{form}"
    if form == "json":
        file.write_text(json.dumps(exported, ensure_ascii=False, indent=1))
    else:
        file.write_text(_table(remotes), encoding="utf-16")

    assert scripts.run("diff", str(file), "--prune").returncode == 1
    done = scripts.run("apply", str(file), "--prune", "--max-deletes", "2", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert scripts.run("diff", str(file), "--prune").returncode == 0
    (now,) = scripts.json("export", "1003")["locks"]
    told = ("remoteName", "remoteNumber", "remoteType", "startDate", "endDate", "isCoerced")
    assert sorted([one[name] for name in told] for one in now["remotes"]) == sorted(
        [one[name] for name in told] for one in remotes
    )
    by_number = {one["remoteNumber"]: one for one in now["remotes"]}
    for one in remotes:
        assert by_number[one["remoteNumber"]]["extraData"] == one.get("extraData", {})
        assert sorted(by_number[one["remoteNumber"]]["weekDay"]) == sorted(one["weekDay"])


def _table(remotes: Sequence[dict[str, Any]]) -> str:
    """Return a table as a spreadsheet saves it: with ``;``, and columns in another order."""
    columns = ("Number", "Name", "Type", "Start", "End", "Weekdays", "Coerced", "Extra data")
    fields = (
        *("remoteNumber", "remoteName", "remoteType", "startDate", "endDate", "weekDay"),
        *("isCoerced", "extraData"),
    )
    rows = [["Lock id", "Id", *columns, "Added via"]]
    for one in remotes:
        cells = [one.get(name, "") for name in fields]
        shown = [
            ",".join(map(str, cell)) if isinstance(cell, list) else
            json.dumps(cell) if isinstance(cell, dict) and cell else str(cell or "")
            for cell in cells
        ]  # fmt: skip
        # A quote in front keeps spreadsheets from calculating; one that is meant stands behind it.
        shown[1] = shown[1].replace("=1", "'=1")
        rows.append(["1003", str(one.get("id", "")), *shown, str(one["addType"])])
    quoted = [[f'"{cell.replace(chr(34), 2 * chr(34))}"' for cell in row] for row in rows]
    return "\r\n".join(";".join(row) for row in quoted)


@pytest.mark.long
def test_apply_asks_for_the_number_of_deletes_when_there_are_many(scripts: Scripts) -> None:
    for place in range(12):
        scripts.have(remoteName=f"N{place}", remoteNumber=f"N-{place}")
    file = written(scripts.home, "1004,N-0,,,keep")
    told = scripts.run("apply", file, "--prune", "--max-deletes", "10", "--yes")
    assert (told.returncode, told.stderr) == (
        2,
        "lockterm: 11 remotes would be deleted, but --max-deletes allows 10. Nothing was sent.\n",
    )
    assert "note: lockterm keeps a backup" in told.stdout
    scripts.refuse(
        "apply", file, "--prune", words="needs --yes if there is no terminal. Nothing was sent."
    )
    assert len(names(scripts)) == 12
    for typed, code in (("y", 1), ("12", 1), ("11", 0)):
        command = [*LOCKTERM, "apply", file, "--prune"]
        with PtySession(command, clean_environment(scripts.home), (80, 60)) as terminal:
            terminal.wait_for(r"11 to delete\. To run the plan, type 11:")
            for place in range(1, 12):
                assert f"to be deleted: N{place} (N-{place}), lock 1004" in terminal.text
            terminal.press(typed, "enter")
            assert terminal.wait_exit() == code
        assert len(names(scripts)) == (12 if code else 1)


@pytest.mark.parametrize(
    ("count", "prompt", "refusal", "consent"),
    [
        (11, r"11 to add\. To run the plan, type 11:", "y", "11"),
        (2, r"2 to add\. Run the plan\? \[y/N\]:", "n", "y"),
    ],
)
def test_apply_asks_for_the_number_when_many_remotes_are_added(
    scripts: Scripts, count: int, prompt: str, refusal: str, consent: str
) -> None:
    file = written(scripts.home, *(f"1004,N-{place},N{place},1," for place in range(count)))
    for typed, code in ((refusal, 1), (consent, 0)):
        with PtySession([*LOCKTERM, "apply", file], clean_environment(scripts.home)) as terminal:
            terminal.wait_for(prompt)
            terminal.press(typed, "enter")
            assert terminal.wait_exit() == code
        assert len(names(scripts)) == (0 if code else count)


def test_apply_sends_nothing_when_the_profile_is_read_only(scripts: Scripts) -> None:
    file = written(scripts.home, "1004,C-1,Carl,1,")
    assert scripts.run("apply", file, "--dry-run", "--read-only").returncode == 0
    scripts.refuse("apply", file, "--yes", "--read-only", words="is read-only", code=1)
    assert scripts.writes() == []


@pytest.mark.long
def test_apply_reports_each_row_when_the_service_is_unreachable(scripts: Scripts) -> None:
    file = written(scripts.home, "1004,C-1,Carl,1,", "1003,D-1,Dora,1,delete")
    scripts.use("http://127.0.0.1:9")
    steps, last = lines(scripts, "apply", file, "--yes", code=3)
    assert [(step["line"], step["action"], step["state"]) for step in steps] == [
        (2, "add", "not_sent"),
        (3, "delete", "not_sent"),
    ]
    assert last == {"run": None, "counts": {**dict.fromkeys(COUNTS, 0), "not_sent": 2}}
    told = scripts.run("apply", file, "--yes").stdout.splitlines()
    assert [line.partition(":")[0] for line in told[:2]] == [
        "! Carl (C-1), lock 1004",
        "! Dora (D-1), lock 1003",
    ]
    assert told[2:] == ["2 steps not sent."]


def test_apply_runs_other_rows_but_no_deletes_when_a_lock_is_refused(scripts: Scripts) -> None:
    scripts.have()
    rows = ("1004,A-1,,,delete", "7777,B-1,Ben,1,add", "1004,C-1,Carl,1,")
    steps, last = lines(scripts, "apply", written(scripts.home, *rows), "--yes", code=1)
    assert [(step["line"], step["state"]) for step in steps] == [
        (4, "recorded"),
        (3, "refused"),
        (2, "not_sent"),
    ]
    assert last["counts"] == {
        **dict.fromkeys(COUNTS, 0), "recorded": 1, "refused": 1, "not_sent": 1,
    }  # fmt: skip
    assert names(scripts) == ["Anna", "Carl"]
    # What could not be planned is kept with the rest, and never sent.
    assert lines(scripts, "runs", "show", last["run"]) == (steps, last)
    listed = json.loads(scripts.run("runs", "list", "--json").stdout)
    assert (listed["state"], listed["counts"]) == ("done", last["counts"])
    assert " incomplete " in scripts.run("runs", "list").stdout
    for more in (("list",), ("show", last["run"])):  # nothing was sent that could be refused
        assert "1 recorded, 1 not sent, 1 left out" in scripts.run("runs", *more).stdout
    assert scripts.run("runs", "retry", last["run"], "--yes").returncode == 0
    assert names(scripts) == ["Anna", "Carl"]


def keep(scripts: Scripts, *steps: Step, base_url: str = "", credentials: str | None = None) -> str:
    """Store a plan as a killed session leaves it."""
    service = base_url or scripts.service.base_url
    credentials = credentials or digest_credentials(Profile("site", service))
    plan = Plan("b" * 32, "site", service, "apply x.csv", 1, steps, credentials=credentials)
    with closing(Database(scripts.database)) as database:
        RunStore(database).keep(plan)
    return "b" * 32


@pytest.mark.parametrize("command", ["resume", "retry"])
def test_runs_send_nothing_when_the_credentials_have_changed(
    scripts: Scripts, command: str
) -> None:
    new = {"remoteName": "Anna", "remoteNumber": "Z-1", "remoteType": 1, "addType": 1}
    state = StepState.TO_DO if command == "resume" else StepState.NOT_SENT
    step = Step(1, Action.ADD, 1004, None, "Anna", new, state=state)
    run = keep(scripts, step, credentials="another")
    scripts.service.requests.clear()
    asked = scripts.refuse(
        "runs", command, run, "--yes", words="The credentials have changed since this run began."
    )
    assert "--same-account" in asked
    assert list(scripts.service.requests) == []
    done = scripts.run("runs", command, run, "--yes", "--same-account")
    assert (done.returncode, [one["name"] for one in scripts.remotes(1004)]) == (0, ["Anna"])


def test_resume_skips_a_step_when_its_remote_has_changed(scripts: Scripts) -> None:
    anna = scripts.have()
    raw = scripts.json("remotes", "show", "1004", str(anna))["remote"]
    step = Step(
        1, Action.UPDATE, 1004, anna, "Anna", {"remoteName": "A"}, raw | {"remoteName": "X"}
    )
    new = {"remoteName": "Anna", "remoteNumber": "Z-1", "remoteType": 1, "addType": 1}
    run = keep(
        scripts,
        step,
        Step(2, Action.ADD, 1004, None, "Anna", new),
        Step(3, Action.ADD, 1004, None, "Ben", new | {"remoteName": "Ben"}),
    )
    listed = scripts.run("runs", "list").stdout.splitlines()
    assert listed[1].split()[:1] == ["bbbbbbbb"]
    assert "planned" in listed[1]
    assert scripts.run("runs", "resume", run).returncode == 2, "somebody has to agree"
    steps, last = lines(scripts, "runs", "resume", "bbb", "--yes", code=1)
    assert [one["state"] for one in steps] == ["skipped", "refused", "recorded"]
    assert "Name: X -> Anna" in steps[0]["message"]
    assert last["run"] == run

    shown = scripts.run("runs", "show", "bbb").stdout
    assert "1 recorded, 1 refused, 1 skipped" in shown
    scripts.run("remotes", "delete", "1004", str(anna), "--yes")
    steps, last = lines(scripts, "runs", "retry", run, "--yes")
    assert [(one["remoteName"], one["state"]) for one in steps] == [("Anna", "recorded")]
    assert last["run"] != run
    assert names(scripts) == ["Anna", "Ben"]


def test_resume_verifies_a_sent_step_when_its_run_was_killed(scripts: Scripts) -> None:
    new = {"remoteName": "Ben", "remoteNumber": "Z-1", "remoteType": 1, "addType": 1}
    steps = [Step(number, Action.ADD, 1004, None, "Ben", new) for number in (1, 2)]
    run = keep(scripts, replace(steps[0], state=StepState.SENT, operation_id="a" * 32), steps[1])
    told, last = lines(scripts, "runs", "show", run)
    assert [one["state"] for one in told] == ["unknown", "not_sent"]
    assert "its result is unknown" in told[0]["message"]
    assert last["counts"] == {**dict.fromkeys(COUNTS, 0), "unknown": 1, "not_sent": 1}
    listed = json.loads(scripts.run("runs", "list", "--json").stdout)
    assert (listed["state"], listed["counts"]) == ("interrupted", last["counts"])


def test_resume_is_refused_when_another_session_runs_it(scripts: Scripts) -> None:
    new = {"remoteName": "Ben", "remoteNumber": "Z-1", "remoteType": 1, "addType": 1}
    done, sent, due, refused = (Step(n, Action.ADD, 1004, None, "Ben", new) for n in (1, 2, 3, 4))
    run = keep(
        scripts,
        replace(done, state=StepState.RECORDED),
        replace(sent, state=StepState.SENT, operation_id="a" * 32),
        due,
        replace(refused, state=StepState.REFUSED, message="No."),
    )
    counts = {"planned": 2, **dict.fromkeys(COUNTS, 0), "recorded": 1, "refused": 1}
    session = StoreSession(scripts.database.parent / "sessions")
    session.open()
    with closing(Database(scripts.database)) as database:
        assert not RunStore(database).take(run, session.id, session.is_alive)
    told, last = lines(scripts, "runs", "show", run)
    assert [one["state"] for one in told] == ["recorded", "planned", "planned", "refused"]
    assert "Another session is sending this step" in told[1]["message"]
    assert last == {"run": run, "counts": counts}
    listed = json.loads(scripts.run("runs", "list", "--json").stdout)
    assert (listed["state"], listed["counts"]) == ("running", counts)
    words = "1 recorded, 1 refused, 1 under way, 1 left"
    assert words in scripts.run("runs", "list").stdout
    assert f"apply x.csv, under way in another session: {words}" in (
        scripts.run("runs", "show", run).stdout
    )
    for command in ("resume", "retry"):
        scripts.refuse(
            "runs", command, run, "--yes", words="is already running in another session", code=1
        )
    session.close()
    assert scripts.writes() == []


def test_resume_is_refused_when_the_run_belongs_to_another_service(scripts: Scripts) -> None:
    run = keep(scripts, Step(1, Action.DELETE, 1004, 1, "Anna"), base_url="https://locks.example")
    for command in ("resume", "retry"):
        scripts.refuse(
            "runs",
            command,
            run,
            "--yes",
            words="for https://locks.example, but this is the profile site for",
        )
    assert scripts.run("runs", "show", "nothing").returncode == 2
    assert not scripts.service.requests


@pytest.mark.long
async def test_apply_reports_a_step_once_when_it_was_read_back(scripts: Scripts) -> None:
    scripts.have()
    scripts.have(remoteName="Ben", remoteNumber="B-1")
    file = written(scripts.home, "1004,A-1,Anna W.,1,", "1004,B-1,Ben W.,1,", "1003,C-1,Carl,1,add")
    async with FaultProxy(port_of(scripts.service)).running() as proxy:
        scripts.use(proxy.base_url)
        proxy.arm("update", applied_unheard)
        proxy.arm("add", reset)
        command = await asyncio.create_subprocess_exec(
            *NEAR, "apply", file, "--yes", "--json", env=clean_environment(scripts.home),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        out, err = await asyncio.wait_for(command.communicate(), 60)
        assert command.returncode == 4, err
        *steps, last = [json.loads(line) for line in out.splitlines()]
        told = sorted((step["remoteName"], step["state"]) for step in steps)
        assert told == [("Anna", "recorded"), ("Ben", "recorded"), ("Carl", "unknown")]
        assert (last["counts"]["recorded"], last["counts"]["unknown"]) == (2, 1)
        assert proxy.asked.count("update") == 2 and proxy.asked.count("add") == 1


async def test_resume_sends_the_rest_when_apply_was_interrupted(scripts: Scripts) -> None:
    file = written(scripts.home, *(f"1004,C-{n},Carl {n},1," for n in range(5)))
    async with FaultProxy(port_of(scripts.service)).running() as proxy:
        scripts.use(proxy.base_url)
        asked, go_on = asyncio.Event(), asyncio.Event()

        async def hold(exchange: Exchange) -> None:
            await exchange.apply()
            asked.set()
            await go_on.wait()
            await exchange.send(exchange.good_bytes())

        proxy.arm("add", hold)
        command = await asyncio.create_subprocess_exec(
            *LOCKTERM, "apply", file, "--yes", "--json", env=clean_environment(scripts.home),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        await asyncio.wait_for(asked.wait(), 30)
        command.send_signal(signal.SIGINT)
        assert command.stderr is not None and command.stdout is not None
        await asyncio.wait_for(command.stderr.readuntil(b"under way ...\n"), 30)
        go_on.set()
        out, err = await asyncio.wait_for(command.communicate(), 30)
        assert command.returncode == 130, err
        assert b"4 steps left. To resume, run: lockterm runs resume" in err
        assert b"\r" not in err, "progress is for a terminal"
        *steps, last = [json.loads(line) for line in out.splitlines()]
        assert [step["state"] for step in steps] == ["recorded", *["not_sent"] * 4]
        assert last["counts"]["not_sent"] == 4
        assert len(names(scripts)) == 1
        (run,) = (await scripts.arun("runs", "list", "--json")).stdout.splitlines()
        assert json.loads(run)["state"] == "interrupted"
        done = await scripts.arun("runs", "resume", last["run"], "--yes")
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "5 steps recorded.")
    assert len(names(scripts)) == 5
    assert proxy.asked.count("add") == 5


@pytest.mark.parametrize(
    ("states", "code"),
    [
        ("recorded unchanged", 0),
        ("", 0),
        ("recorded refused", 1),
        ("recorded skipped not_sent", 1),
        ("recorded not_sent", 1),
        ("unchanged not_sent", 3),
        ("refused unknown not_sent", 4),
        ("recorded sent to_do", 4),
    ],
)
def test_exit_code_of_steps_is_that_of_the_worst_state(states: str, code: int) -> None:
    steps = [
        Step(number, Action.ADD, 1, None, "x", state=StepState(state))
        for number, state in enumerate(states.split())
    ]
    assert exit_code_of_steps(steps) == code


def test_apply_reports_every_row_when_one_lock_is_unknown_and_another_row_is_wrong(
    scripts: Scripts,
) -> None:
    file = written(scripts.home, "7777,A-1,Anna,1,", "7777,B-1,Ben,1,", "1004,C-1,Carl,9,")
    told = scripts.refuse("apply", file, "--yes")
    *rows, last = told.splitlines()
    assert [row.partition(".csv: ")[2].partition(",")[0] for row in rows if ".csv" in row] == [
        "line 2",
        "line 3",
        "line 4",
    ]
    assert "Lock 7777 was not read: lock not found" in rows[-3]
    assert "3 problems. Nothing was sent." in last
    assert scripts.writes() == []


def test_put_result_prints_each_problem_once_when_some_steps_were_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def step(number: int, state: StepState, *, is_planned: bool = True) -> Step:
        place = (Action.ADD, 1004, None, f"Fob {number}")
        return Step(number, *place, state=state, message="No.", is_planned=is_planned)

    steps = (
        step(1, StepState.RECORDED),
        step(2, StepState.REFUSED),
        step(3, StepState.NOT_SENT),
        step(4, StepState.SENT),
        step(5, StepState.REFUSED, is_planned=False),
    )
    plan = Plan("run", "p", "", "a test", 0, steps)
    put_result(plan, as_json=False, printed={2})
    problems = [line for line in capsys.readouterr().out.splitlines() if line.startswith("!")]
    assert ["Fob 3" in problems[0], "Fob 4" in problems[1], len(problems)] == [True, True, 2]
