"""Screens on which access is taken away: form, marks, plan and question say so before it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Button, Static

from lockterm.domain.dates import DAY_MS
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.plan.table import PlanTable
from tests.screens.forms.conftest import Gate, gate, open_form
from tests.screens.running_app import NOW_MS, Demo, shown
from tests.screens.site import press, words
from tests.screens.test_plan import agreed, asked, ended, on_plan
from tests.screens.test_take_file import opened, take

__all__ = ["gate", "open_form"]

MIDNIGHT = 1_801_436_399_000
"""2027-01-31 23:59:59 in Berlin."""

PERIOD = {"remoteType": 2, "startDate": NOW_MS - DAY_MS, "endDate": MIDNIGHT}


async def test_renewing_to_an_earlier_end_asks_to_shorten(gate: Gate) -> None:
    remote_id = gate.add(remoteName="Roof", **PERIOD)
    async with gate(remote_id, "endDate") as form:
        await form.press("'2026-12-25 17:19")
        sentence = (
            "Shortens access by 37 days: the remote will expire 25 Dec 2026 17:19, not 31"
            " Jan 2027 23:59:59."
        )
        row = form.screen.fields.row("endDate")
        assert row.warning == sentence
        assert row.query_one(".warning", Static).display
        await form.press("ctrl+s")
        question, warning, *_ = form.dialog.splitlines()
        assert question.startswith("Shorten Roof, number T-1, on Main gate")
        assert warning == sentence
        (colored,) = form.pilot.app.screen.query(".details .warning")
        assert colored.styles.color != form.screen.styles.color
        await form.agree()
        assert gate.call("detail", remoteId=remote_id)["endDate"] == 1_798_215_540_000


async def test_renewing_says_if_no_weekday_is_left_before_the_end(gate: Gate) -> None:
    period = {"remoteType": 4, "startDate": NOW_MS - 9 * DAY_MS, "endDate": NOW_MS - DAY_MS}
    remote_id = gate.add(remoteName="Roof", **period, weekDay=[2, 4])
    async with gate(remote_id, "endDate") as form:
        await form.press("'+1d")  # until Saturday
        sentence = "No Tue or Thu before the end, so this remote will not open the lock."
        row = form.screen.fields.row("endDate")
        assert row.warning == sentence
        assert row.query_one(".warning", Static).display
        await form.press("ctrl+s")
        assert f"Note on End: {sentence}" in form.dialog
        assert "reactivates" not in form.dialog
        await form.press("escape", "'+9d")
        assert row.warning == ""


async def test_renewing_counts_from_current_end_and_asks_to_renew(gate: Gate) -> None:
    remote_id = gate.add(remoteName="Roof", **PERIOD)
    async with gate(remote_id, "endDate") as form:
        await form.press("'+1mo")
        assert form.note("endDate").endswith("current end 31 Jan 2027 + 1 month")
        assert form.screen.fields.row("endDate").warning == ""
        await form.press("ctrl+s")
        assert form.dialog.startswith("Renew Roof, number T-1")
        assert form.pilot.app.screen.query_one("#act", Button).label.plain == "Renew Roof"
        assert "Shortens" not in form.dialog
        await form.agree()
        assert gate.call("detail", remoteId=remote_id)["endDate"] == MIDNIGHT + 28 * DAY_MS


@pytest.mark.parametrize("keys", [("home", "'X "), ()])
async def test_question_asks_to_change_when_more_than_the_end_differs_or_it_does_not(
    gate: Gate, keys: tuple[str, ...]
) -> None:
    remote_id = gate.add(remoteName="Roof", **PERIOD)
    async with gate(remote_id, "remoteName") as form:
        await form.press(*keys or ("end", "'s"))
        if keys:
            await form.fill(endDate="+1mo")
        await form.press("ctrl+s")
        assert form.dialog.startswith("Change Roof, number T-1")


async def test_imported_plan_marks_and_sums_what_it_shortens(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = demo.add(1001, "Anna", remoteNumber="X-1", **PERIOD)
    demo.add(1001, "Ben", remoteNumber="X-2", **PERIOD)
    demo.add(1001, "Carl", remoteNumber="X-3", **PERIOD)
    Path("table.csv").write_text(
        "lockId,remoteNumber,endDate\n1001,X-1,+1mo\n1001,X-2,2026-12-25 17:19\n"
        "1001,X-3,2026-12-31 23:59\n"
    )
    summary = "2 remotes will expire up to 37 days earlier."
    async with demo() as pilot:
        await opened(pilot)
        await take(pilot, "table.csv")
        assert summary in words(pilot.app)
        shortens = pilot.app.screen.query_one("#shortens", Static)
        assert shortens.styles.color != pilot.app.screen.query_one("#what", Static).styles.color
        table = pilot.app.screen.query_one(PlanTable)
        assert [line.count("! shortens") for line in _rows(table)] == [0, 1, 1]
        assert (1, "week") in [(row, look) for row in range(3) for _, look in table.line(row)]
        await asked(pilot, ConfirmModal)
        question = words(pilot.app)
        assert "Shorten 2, change 1 on lock 1001?" in question
        assert summary in question
        await press(pilot, "escape")
        await agreed(pilot)
        await ended(pilot)
        assert "lose access" not in shown(pilot)
        assert "shortens" not in " ".join(_rows(on_plan(pilot).query_one(PlanTable)))
    assert demo.post("detail", remoteId=first)["endDate"] == MIDNIGHT + 28 * DAY_MS


async def test_marked_remotes_that_an_end_shortens_are_counted(demo: Demo) -> None:
    demo.add(1001, "A0", remoteNumber="X-1", **PERIOD)
    async with demo(1001) as pilot:
        await press(pilot, "slash", *"A0", "enter")
        await press(pilot, "asterisk", "w", *"2026-12-25 17:19")
        summary = "1 remote will expire 37 days earlier."
        assert f"Note: {summary}" in words(pilot.app)
        await press(pilot, "ctrl+s")
        assert summary in words(pilot.app)


def _rows(table: PlanTable) -> list[str]:
    return ["".join(text for text, _ in table.line(row)) for row in range(table.row_count)]
