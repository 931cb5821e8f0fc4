"""The jobs of the README are played with the keys it tells, and lead where it says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen

from lockterm.domain.plan import Action
from lockterm.screens.everywhere import EverywhereScreen
from lockterm.screens.plan.screen import PlanScreen
from lockterm.screens.remote_form import RemoteForm
from lockterm.service.running import RunningService
from tests.screens import someone_else
from tests.screens.running_app import Starter, settled, until
from tests.screens.site import LOCKS, fill_book, words

README = Path(__file__).parents[2] / "README.md"

LEADS_TO: Mapping[str, tuple[type[Screen[Any]], str | set[Action]]] = {
    "find a fob on all locks": (EverywhereScreen, "1 on 1 lock"),
    "take a person off every lock": (PlanScreen, {Action.DELETE}),
    "renew all that end within a week": (PlanScreen, {Action.UPDATE}),
    "add one like another, and the next": (RemoteForm, "Add a remote"),
    "one voice for several locks": (PlanScreen, {Action.VOICE}),
    "do what a table says": (PlanScreen, {Action.ADD}),
    "copy a lock to all others": (PlanScreen, {Action.ADD, Action.KEEP}),
    "restore what was deleted": (PlanScreen, {Action.ADD}),
    "copy a backup to another lock": (PlanScreen, {Action.KEEP}),
    "undo the last change, or its whole run": (PlanScreen, {Action.ADD}),
}
"""Job -> the screen that its keys end on, and what it shows or plans."""


def jobs() -> dict[str, tuple[str, list[str]]]:
    """Job -> where it begins, and its keys; each letter of what is typed is one."""
    head = "| job | begins on | keys |\n|---|---|---|\n"
    table = README.read_text("utf-8").partition(head)[2].partition("\n\n")[0]
    found = {}
    for line in table.splitlines():
        job, begin, cell = line.strip("| ").split(" | ")
        keys = list[str]()
        for key, typed in re.findall(r"`(.+?)`|\*(.+?)\*", cell):
            keys += [{"*": "asterisk", "+": "plus"}.get(key, key)] if key else [*typed]
        found[job] = (begin, keys)
    return found


def test_each_job_is_played() -> None:
    assert jobs().keys() == LEADS_TO.keys()
    assert len(README.read_text("utf-8").splitlines()) <= 180


@pytest.mark.parametrize("job", LEADS_TO)
async def test_its_keys_lead_there(
    service: RunningService,
    lockterm_app: Starter,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    job: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site.csv").write_text(
        "lockId,remoteNumber,remoteName,remoteType\n1004,A-1,Anna,1\n"
    )
    fill_book(lockterm_app, *LOCKS)
    begin, keys = jobs()[job]
    async with lockterm_app(service, 1003 if begin == "remotes" else None) as pilot:
        operations = pilot.app.operations
        gone = await operations.remotes.detail(someone_else.page(service, 1003)[-1]["id"])
        await operations.writes.delete_remote(1003, gone)
        for key in keys:
            await pilot.press(key)
            await settled(pilot)
        kind, expected = LEADS_TO[job]
        await until(pilot, lambda: isinstance(pilot.app.screen, kind))
        await settled(pilot)
        screen = pilot.app.screen
        if isinstance(screen, PlanScreen):
            assert {step.action for step in screen.drawn.plan.steps if step.is_planned} == expected
        else:
            assert isinstance(expected, str)
            await until(pilot, lambda: expected in words(pilot.app))
            assert someone_else.counted(service, "add") == (kind is RemoteForm)
