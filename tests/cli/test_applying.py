"""``lockterm apply`` and ``runs``: each step runs once, is reported and stored."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Sequence
from contextlib import closing
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

TABLE = "lockId,remoteNumber,remoteName,remoteType,action\n"
COUNTS = ("recorded", "unchanged", "refused", "skipped", "unknown", "not_sent")


def written(scripts: Scripts, *rows: str) -> str:
    """Write a file with these rows."""
    return scripts.file("table.csv", TABLE + "".join(f"{row}\n" for row in rows))


def lines(
    scripts: Scripts, *arguments: str, code: int = 0
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the steps of a command with ``--json`` in order, and its last line."""
    told = scripts.run(*arguments, "--json")
    assert told.returncode == code, told.stderr
    *steps, last = map(json.loads, told.stdout.splitlines())
    return sorted(steps, key=lambda step: step["step"]), last


def counts(**counted: int) -> dict[str, int]:
    return {**dict.fromkeys(COUNTS, 0), **counted}


def names(scripts: Scripts, lock_id: int = 1004) -> list[str]:
    return sorted(row["name"] for row in scripts.remotes(lock_id))


def test_apply_reports_each_step_when_a_file_is_applied_twice(scripts: Scripts) -> None:
    anna = scripts.have()
    ben = scripts.have(remoteName="Ben", remoteNumber="B-1")
    file = written(scripts, "1004,A-1,Anna W.,1,", "1004,B-1,,,delete", "1004,C-1,Carl,1,add")

    steps, last = lines(scripts, "apply", file, "--dry-run")
    assert [step["state"] for step in steps] == ["planned"] * 3
    assert last == {"run": None, "counts": {"planned": 3, **counts()}}
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
    assert last["counts"] == counts(recorded=3)
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
    file = written(scripts, "1004,N-0,,,keep")
    told = scripts.run("apply", file, "--prune", "--max-deletes", "10", "--yes")
    refusal = "11 remotes would be deleted, but --max-deletes allows 10. Nothing was sent."
    assert (told.returncode, told.stderr) == (2, f"lockterm: {refusal}\n")
    assert "note: lockterm keeps a backup" in told.stdout
    alone = scripts.run("apply", file, "--prune")
    assert alone.returncode == 2
    assert "needs --yes if there is no terminal. Nothing was sent." in alone.stderr
    assert len(names(scripts)) == 12
    for typed, code in (("y", 1), ("12", 1), ("11", 0)):
        with scripts.terminal("apply", file, "--prune", size=(80, 60)) as terminal:
            terminal.wait_for(r"11 to delete\. To run the plan, type 11:")
            for place in range(1, 12):
                assert f"to be deleted: N{place} (N-{place}), lock 1004" in terminal.text
            terminal.press(typed, "enter")
            assert terminal.wait_exit() == code
        assert len(names(scripts)) == (12 if code else 1)


@pytest.mark.parametrize(
    ("count", "prompt", "typed"),
    [
        (11, r"11 to add\. To run the plan, type 11:", ("y", "", "11")),
        (2, r"2 to add\. Run the plan\? \[y/N\]:", ("n", "", "y")),
    ],
)
def test_apply_asks_for_the_number_when_many_remotes_are_added(
    scripts: Scripts, count: int, prompt: str, typed: tuple[str, ...]
) -> None:
    """Enter alone never agrees."""
    file = written(scripts, *(f"1004,N-{place},N{place},1," for place in range(count)))
    for answer in typed:
        with scripts.terminal("apply", file) as terminal:
            terminal.wait_for(prompt)
            terminal.press(answer, "enter")
            assert terminal.wait_exit() == (answer != typed[-1])
        assert len(names(scripts)) == (count if answer == typed[-1] else 0)


@pytest.mark.long
def test_apply_reports_each_row_when_the_service_is_unreachable(scripts: Scripts) -> None:
    file = written(scripts, "1004,C-1,Carl,1,", "1003,D-1,Dora,1,delete")
    scripts.use("http://127.0.0.1:9")
    steps, last = lines(scripts, "apply", file, "--yes", code=3)
    found = [(step["line"], step["action"], step["state"]) for step in steps]
    assert found == [(2, "add", "not_sent"), (3, "delete", "not_sent")]
    assert last == {"run": None, "counts": counts(not_sent=2)}
    carl, dora, end = scripts.run("apply", file, "--yes").stdout.splitlines()
    assert carl.startswith("! Carl (C-1), lock 1004:") and dora.startswith("! Dora (D-1), lock 10")
    assert end == "2 steps not sent."


def test_apply_runs_other_rows_but_no_deletes_when_a_lock_is_refused(scripts: Scripts) -> None:
    scripts.have()
    rows = ("1004,A-1,,,delete", "7777,B-1,Ben,1,add", "1004,C-1,Carl,1,")
    steps, last = lines(scripts, "apply", written(scripts, *rows), "--yes", code=1)
    found = [(step["line"], step["state"]) for step in steps]
    assert found == [(4, "recorded"), (3, "refused"), (2, "not_sent")]
    assert last["counts"] == counts(recorded=1, refused=1, not_sent=1)
    assert names(scripts) == ["Anna", "Carl"]
    # What could not be planned is kept with the rest, and never sent.
    assert lines(scripts, "runs", "show", last["run"]) == (steps, last)
    listed = json.loads(scripts.run("runs", "list", "--json").stdout)
    assert (listed["state"], listed["counts"]) == ("done", last["counts"])
    assert " incomplete " in scripts.run("runs", "list").stdout
    for more in (("list",), ("show", last["run"])):  # nothing was sent that could be refused
        assert "1 recorded, 1 not sent, 1 not planned" in scripts.run("runs", *more).stdout
    assert scripts.run("runs", "retry", last["run"], "--yes").returncode == 0
    assert names(scripts) == ["Anna", "Carl"]


def add(number: int, name: str = "Ben", state: StepState = StepState.TO_DO, **more: Any) -> Step:
    """Return a step that adds a remote."""
    new = {"remoteName": name, "remoteNumber": "Z-1", "remoteType": 1, "addType": 1}
    return Step(number, Action.ADD, 1004, None, name, new, state=state, **more)


def keep(scripts: Scripts, *steps: Step, base_url: str = "", credentials: str | None = None) -> str:
    """Store a plan as a killed session leaves it."""
    service = base_url or scripts.service.base_url
    credentials = credentials or digest_credentials(Profile("site", service))
    plan = Plan("b" * 32, "site", service, "apply x.csv", 1, steps, credentials=credentials)
    with closing(Database(scripts.database)) as database:
        session = StoreSession(scripts.database.parent / "sessions")
        RunStore(database, session).keep(plan)
    return "b" * 32


@pytest.mark.parametrize(
    ("command", "state"), [("resume", StepState.TO_DO), ("retry", StepState.NOT_SENT)]
)
def test_runs_send_nothing_when_the_credentials_have_changed(
    scripts: Scripts, command: str, state: StepState
) -> None:
    run = keep(scripts, add(1, state=state), credentials="another")
    asked = scripts.run("runs", command, run, "--yes")
    assert asked.returncode == 2
    assert "The credentials have changed since this run began." in asked.stderr
    assert "--same-account" in asked.stderr
    assert not scripts.service.requests
    done = scripts.run("runs", command, run, "--yes", "--same-account")
    assert (done.returncode, names(scripts)) == (0, ["Ben"])


def test_resume_skips_a_step_when_its_remote_has_changed(scripts: Scripts) -> None:
    anna = scripts.have()
    raw = scripts.json("remotes", "show", "1004", str(anna))["remote"] | {"remoteName": "X"}
    update = Step(1, Action.UPDATE, 1004, anna, "Anna", {"remoteName": "A"}, raw)
    run = keep(scripts, update, add(2, "Anna"), add(3))
    listed = scripts.run("runs", "list").stdout.splitlines()[1]
    assert listed.startswith("bbbbbbbb ") and "planned" in listed
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
    run = keep(scripts, add(1, state=StepState.SENT, operation_id="a" * 32), add(2))
    told, last = lines(scripts, "runs", "show", run)
    assert [one["state"] for one in told] == ["unknown", "not_sent"]
    assert "its result is unknown" in told[0]["message"]
    assert last["counts"] == counts(unknown=1, not_sent=1)
    listed = json.loads(scripts.run("runs", "list", "--json").stdout)
    assert (listed["state"], listed["counts"]) == ("interrupted", last["counts"])


def test_runs_are_refused_when_another_session_runs_them(scripts: Scripts) -> None:
    run = keep(
        scripts,
        add(1, state=StepState.RECORDED),
        add(2, state=StepState.SENT, operation_id="a" * 32),
        add(3),
        add(4, state=StepState.REFUSED, message="No."),
    )
    session = StoreSession(scripts.database.parent / "sessions")
    session.open()
    with closing(Database(scripts.database)) as database:
        assert not RunStore(database, session).take(run)
    told, last = lines(scripts, "runs", "show", run)
    assert [one["state"] for one in told] == ["recorded", "planned", "planned", "refused"]
    assert "Another session is sending this step" in told[1]["message"]
    assert last == {"run": run, "counts": {"planned": 2, **counts(recorded=1, refused=1)}}
    listed = json.loads(scripts.run("runs", "list", "--json").stdout)
    assert (listed["state"], listed["counts"]) == ("running", last["counts"])
    words = "1 recorded, 1 refused, 1 under way, 1 left"
    assert words in scripts.run("runs", "list").stdout
    shown = scripts.run("runs", "show", run).stdout
    assert f"apply x.csv, under way in another session: {words}" in shown
    for command in ("resume", "retry"):
        refusal = "is already running in another session"
        scripts.refuse("runs", command, run, "--yes", words=refusal, code=1)
    session.close()
    assert scripts.writes() == []


def test_runs_are_refused_when_they_belong_to_another_service(scripts: Scripts) -> None:
    run = keep(scripts, Step(1, Action.DELETE, 1004, 1, "Anna"), base_url="https://locks.example")
    words = "for https://locks.example, but this is the profile site for"
    for command in ("resume", "retry"):
        scripts.refuse("runs", command, run, "--yes", words=words)
    scripts.refuse("runs", "show", "nothing")
    assert not scripts.service.requests


@pytest.mark.long
async def test_apply_reports_a_step_once_when_it_was_read_back(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    scripts.have()
    scripts.have(remoteName="Ben", remoteNumber="B-1")
    file = written(scripts, "1004,A-1,Anna W.,1,", "1004,B-1,Ben W.,1,", "1003,C-1,Carl,1,add")
    proxy.arm("update", applied_unheard)
    proxy.arm("add", reset)
    done = await scripts.arun("apply", file, "--yes", "--json", program=NEAR)
    assert done.returncode == 4, done.stderr
    *steps, last = map(json.loads, done.stdout.splitlines())
    told = sorted((step["remoteName"], step["state"]) for step in steps)
    assert told == [("Anna", "recorded"), ("Ben", "recorded"), ("Carl", "unknown")]
    assert last["counts"] == counts(recorded=2, unknown=1)
    assert proxy.asked.count("update") == 2 and proxy.asked.count("add") == 1


async def test_resume_sends_the_rest_when_apply_was_interrupted(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    file = written(scripts, *(f"1004,C-{n},Carl {n},1," for n in range(5)))
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def hold(exchange: Exchange) -> None:
        await exchange.apply()
        asked.set()
        await go_on.wait()
        await exchange.send(exchange.good_bytes())

    proxy.arm("add", hold)
    command = await scripts.start("apply", file, "--yes", "--json")
    await asyncio.wait_for(asked.wait(), 30)
    command.send_signal(signal.SIGINT)
    await asyncio.wait_for(command.stderr.readuntil(b"under way ...\n"), 30)
    go_on.set()
    out, err = await asyncio.wait_for(command.communicate(), 30)
    assert command.returncode == 130, err
    assert b"4 steps left. To resume, run: lockterm runs resume" in err
    assert b"\r" not in err, "progress is for a terminal"
    *steps, last = map(json.loads, out.splitlines())
    assert [step["state"] for step in steps] == ["recorded", *["not_sent"] * 4]
    assert last["counts"]["not_sent"] == 4
    assert len(names(scripts)) == 1
    (run,) = (await scripts.arun("runs", "list", "--json")).stdout.splitlines()
    assert json.loads(run)["state"] == "interrupted"
    done = await scripts.arun("runs", "resume", last["run"], "--yes")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "5 steps recorded.")
    assert (len(names(scripts)), proxy.asked.count("add")) == (5, 5)


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
    assert exit_code_of_steps([add(1, state=StepState(one)) for one in states.split()]) == code


def test_apply_reports_every_row_when_one_lock_is_unknown_and_another_row_is_wrong(
    scripts: Scripts,
) -> None:
    file = written(scripts, "7777,A-1,Anna,1,", "7777,B-1,Ben,1,", "1004,C-1,Carl,9,")
    told = scripts.run("apply", file, "--yes")
    assert told.returncode == 2
    *rows, last = told.stderr.splitlines()
    numbered = [row.partition(".csv: ")[2].partition(",")[0] for row in rows if ".csv" in row]
    assert numbered == ["line 2", "line 3", "line 4"]
    assert "Lock 7777 was not read: lock not found" in rows[-3]
    assert "3 problems. Nothing was sent." in last
    assert scripts.writes() == []


def test_put_result_prints_each_problem_once_when_some_steps_were_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    states = (StepState.RECORDED, StepState.REFUSED, StepState.NOT_SENT, StepState.SENT)
    steps = [add(n, f"Fob {n}", state, message="No.") for n, state in enumerate(states, 1)]
    steps.append(add(5, "Fob 5", StepState.REFUSED, message="No.", is_planned=False))
    put_result(Plan("run", "p", "", "a test", 0, tuple(steps)), as_json=False, printed={2})
    problems = [line for line in capsys.readouterr().out.splitlines() if line.startswith("!")]
    assert ["Fob 3" in problems[0], "Fob 4" in problems[1], len(problems)] == [True, True, 2]
