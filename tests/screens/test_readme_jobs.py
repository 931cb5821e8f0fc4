"""The jobs of the README are played with the keys it tells, lead where it says, and are done."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from lockterm.domain.locks import Lock
from lockterm.domain.plan import Action
from lockterm.keymap.hints import spelled
from lockterm.screens.all_locks import AllLocksSearchScreen
from lockterm.screens.all_locks.people import PeopleScreen
from lockterm.screens.changes_elsewhere import ElsewhereScreen
from lockterm.screens.plan.screen import PlanScreen
from lockterm.screens.remote_form import RemoteForm
from lockterm.service.running import RunningService
from tests.conftest import NOW_MS
from tests.long import telling
from tests.screens import someone_else
from tests.screens.running_app import Demo, settled, until
from tests.screens.site import DAY_MS, LOCKS, settled_when, words

README = Path(__file__).parents[2] / "README.md"

LEADS_TO: Mapping[str, tuple[type[Screen[Any]], str | set[Action]]] = {
    "find a fob on all locks": (AllLocksSearchScreen, "1 on 1 lock"),
    "remove a person from every lock": (PlanScreen, {Action.DELETE}),
    "renew all remotes that expire within 30 days": (PlanScreen, {Action.UPDATE}),
    "delete remotes that expired 30 days ago": (PlanScreen, {Action.DELETE}),
    "add ten remotes like the selected one": (RemoteForm, "so far: 10."),
    "replace a lost fob": (PlanScreen, {Action.ADD, Action.DELETE}),
    "see who can open what": (PeopleScreen, "people, "),
    "see what others changed": (ElsewhereScreen, "No changes by others"),
    "one voice for several locks": (PlanScreen, {Action.VOICE}),
    "apply a table file": (PlanScreen, {Action.ADD}),
    "copy a lock to all others": (PlanScreen, {Action.ADD}),
    "restore deleted remotes": (PlanScreen, {Action.ADD}),
    "copy a backup to another lock": (PlanScreen, set()),  # another fob has its name
    "undo the last change, or its whole run": (PlanScreen, {Action.ADD}),
}
"""Job -> the screen that its keys end on, and what it shows or plans."""


MOST_KEYS = {
    "find a fob on all locks": 10,
    "remove a person from every lock": 20,
    "renew all remotes that expire within 30 days": 20,
    "add ten remotes like the selected one": 60,
}
"""What these may take, on six locks; the site's size is not in it."""

Records = Mapping[int, Mapping[str, Any]]
"""Remotes as the service tells them, by id."""


def ten_are_alike(before: Records, after: Records) -> bool:
    new = [one for remote_id, one in after.items() if remote_id not in before]
    numbers = {(one["remoteName"], one["remoteNumber"]) for one in new}
    same = ("lockId", "remoteType", "startDate", "endDate", "weekDay", "extraData", "addType")
    alike = any(all(new[0][key] == one[key] for key in same) for one in before.values())
    are_all = all(new[0][key] == one[key] for key in same for one in new)
    return len(numbers) == len(new) == 10 and alike and are_all and before.items() <= after.items()


def a_person_is_gone(before: Records, after: Records) -> bool:
    theirs = {remote_id for remote_id, one in before.items() if "Herrera" in one["remoteName"]}
    on_locks = {before[remote_id]["lockId"] for remote_id in theirs}
    return len(on_locks) > 1 and after == {k: v for k, v in before.items() if k not in theirs}


def one_fob_is_replaced(before: Records, after: Records) -> bool:
    (old,), (new,) = before.keys() - after.keys(), after.keys() - before.keys()
    own = ("id", "remoteNumber", "createTime", "updateTime")
    same = before[old].keys() - own
    is_same = all(before[old][key] == after[new][key] for key in same)
    return is_same and after[new]["remoteNumber"] == "B-2050"


def those_that_end_are_renewed(before: Records, after: Records) -> bool:
    month_ms = 30 * DAY_MS
    ending = {k for k, one in before.items() if NOW_MS < one["endDate"] <= NOW_MS + month_ms}
    others = {k: one for k, one in before.items() if k not in ending}
    longer = {after[k]["endDate"] - before[k]["endDate"] for k in ending}
    return len(ending) > 1 and longer == {month_ms} and others.items() <= after.items()


DONE: Mapping[str, Callable[[Records, Records], bool]] = {
    "add ten remotes like the selected one": ten_are_alike,
    "replace a lost fob": one_fob_is_replaced,
    "remove a person from every lock": a_person_is_gone,
    "renew all remotes that expire within 30 days": those_that_end_are_renewed,
}
"""These are carried out: whether the service then has what was wanted, and no more."""

SIX = (*LOCKS, Lock(1004, name="Garage"), Lock(1005, name="Annex"))


@dataclass(frozen=True, slots=True)
class Job:
    """A line of the table."""

    begins_on: str
    keys: Sequence[str]
    """Each letter of what is typed is one."""
    in_all: int
    """With the answer to the question."""


def jobs() -> dict[str, Job]:
    """What the README tells."""
    head = "| job | start on | keys | number of keys |\n|---|---|---|---|\n"
    table = README.read_text("utf-8").partition(head)[2].partition("\n\n")[0]
    found = {}
    for line in table.splitlines():
        job, begin, cell, in_all = line.strip("| ").split(" | ")
        once, _, ten_times = cell.partition("ten times")
        keys = list[str]()
        for key, typed in re.findall(r"`(.+?)`|\*(.+?)\*", once + ten_times * 10):
            keys += [spelled(key)] if key else [*typed]
        found[job] = Job(begin, keys, int(in_all))
    return found


def test_each_job_is_played() -> None:
    assert jobs().keys() == LEADS_TO.keys()
    assert len(README.read_text("utf-8").splitlines()) <= 140


@pytest.mark.parametrize(
    "job", telling(LEADS_TO.keys() - {"add ten remotes like the selected one"}, LEADS_TO)
)
async def test_readme_job(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site.csv").write_text(
        "lockId,remoteNumber,remoteName,remoteType\n1004,A-1,Anna,1\n"
    )
    demo.fill_book(*SIX)
    told, check = jobs()[job], DONE.get(job)
    async with demo(1003 if told.begins_on == "remotes" else None) as pilot:
        operations = pilot.app.operations
        valid = [one["id"] for one in demo.page(1003) if one["status"] == 1]
        gone = await operations.remotes.detail(valid[-1])  # a copy skips expired remotes
        await operations.writes.delete_remote(1003, gone)
        before = recorded(demo.service)
        await press(pilot, *told.keys)
        answer: Sequence[str] = ()
        kind, expected = LEADS_TO[job]
        await settled_when(pilot, lambda: isinstance(pilot.app.screen, kind))
        screen = pilot.app.screen
        if isinstance(screen, PlanScreen):
            assert {step.action for step in screen.drawn.plan.steps if step.is_planned} == expected
            assert recorded(demo.service) == before, "before it was asked"
            is_delete = isinstance(expected, set) and Action.DELETE in expected
            answer = ("enter", "D") if is_delete else ("enter", "right", "enter")
            if check is not None:
                await press(pilot, *answer)
                await until(pilot, lambda: "recorded." in words(pilot.app))
        else:
            assert isinstance(expected, str)
            await until(pilot, lambda: expected in words(pilot.app))
        await settled(pilot)
    assert check is None or check(before, recorded(demo.service))
    assert len(told.keys) + len(answer) == told.in_all <= MOST_KEYS.get(job, told.in_all)


async def press(pilot: Pilot[int], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


def recorded(service: RunningService) -> Records:
    """All that the service has of the six locks."""
    return {
        one["id"]: one
        for lock in SIX
        for page_no in (1, 2)
        for one in someone_else.page(service, lock.lock_id, page_no, 100)
    }
