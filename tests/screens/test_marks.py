"""Marks on the remotes of a lock, and the plans that are made of them."""

from __future__ import annotations

import csv
import json
from datetime import UTC
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.config.look import FULL_LOOK, Look
from lockterm.domain.date_input import HELP
from lockterm.domain.plan import Action, Plan, Run, Step
from lockterm.domain.text.plan import describe_step_notes
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.modal import RefusedModal
from lockterm.screens.plan.screen import PlanScreen
from lockterm.screens.remote_form.marked import IncompleteInputError, MarkedForm, NewValidity
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.table import RemotesTable
from tests.operations.runs import planning
from tests.screens import someone_else
from tests.screens.running_app import Demo, notices, settled, shown, until
from tests.screens.site import DAY_MS, LOCKS, marked_ids, press, remotes_screen, remotes_table


def signed(pilot: Pilot[Any]) -> list[int | None]:
    """The ids of the rows that have the sign of a mark on the screen."""
    lines = shown(pilot).splitlines()[2:]
    rows = remotes_table(pilot).rows
    return [row.remote.id for row, line in zip(rows, lines, strict=False) if line.startswith("*")]


def drawn(pilot: Pilot[Any]) -> PlanScreen:
    assert isinstance(pilot.app.screen, PlanScreen)
    return pilot.app.screen


def steps(pilot: Pilot[Any]) -> list[Step]:
    return [*drawn(pilot).drawn.plan.steps]


async def execute(pilot: Pilot[Any], plan: Plan | Run) -> Plan:
    """What the screen of a plan does once it is agreed to."""
    return await planning.execute(pilot.app.operations, plan)


@pytest.mark.long
async def test_marks_survive_all_that_moves_rows(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await press(pilot, "space", "down", "space")
        first = signed(pilot)
        rows = remotes_table(pilot).rows
        assert first == marked_ids(pilot) == [rows[at].remote.id for at in (0, 2)]
        assert remotes_table(pilot).cursor_row == 3
        assert "2 marked · page 1 of 7" in shown(pilot)
        await press(pilot, "n", "space")
        assert "3 marked, 2 not shown · page 2 of 7" in shown(pilot)
        assert len(signed(pilot)) == 1
        await press(pilot, "p")
        assert signed(pilot) == first

        await press(pilot, "t", "Z", "Z", "ctrl+s")  # by name, Z to A
        assert set(signed(pilot)) == set(first)
        await press(pilot, "slash", *"crew", "enter", "down")
        assert f"3 marked, {3 - len(signed(pilot))} not shown" in shown(pilot)
        await press(pilot, "asterisk")
        found = [row.remote.id for row in remotes_table(pilot).rows]
        assert set(signed(pilot)) == set(found)
        assert set(marked_ids(pilot)) == {*found, *marked_ids(pilot)[:3]}
        await press(pilot, "asterisk", "escape")
        assert not set(marked_ids(pilot)) & set(found)


async def test_rows_that_change_at_the_service_take_no_other_mark_along(demo: Demo) -> None:
    """What came before is gone, so that each row stands where another one stood."""
    async with demo(1001) as pilot:
        await press(pilot, "down", "space", "space")
        two = marked_ids(pilot)
        gone = remotes_table(pilot).rows[0].remote.id
        someone_else.post(demo.service, "delete", lockId=1001, remoteId=gone)
        someone_else.post(demo.service, "delete", lockId=1001, remoteId=two[0])
        changed = {"remoteId": two[1], "remoteName": "Renamed by somebody"}
        someone_else.post(demo.service, "update", lockId=1001, **changed)
        await press(pilot, "r")
        assert signed(pilot) == two[1:]
        # The one that is gone stays until a plan reports it.
        assert marked_ids(pilot) == two
        assert "2 marked, 1 not shown" in shown(pilot)
        await press(pilot, "d")
        assert [(one.action, one.remote_id) for one in steps(pilot)] == [
            (Action.DELETE, one) for one in two
        ]
        await press(pilot, "down")
        assert "Renamed by somebody" in shown(pilot)  # as it was seen last, and by name
        assert steps(pilot)[1].before["remoteName"] == "Renamed by somebody"
        plan = drawn(pilot).drawn.plan
        await execute(pilot, plan)
        await press(pilot, "escape")
        await until(pilot, lambda: not remotes_screen(pilot).marks)
        await press(pilot, "r")
        left = {record["id"] for record in someone_else.page(demo.service, 1001, size=200)}
        assert len(left) == 137 - 3
        assert not left & {gone, *two}


@pytest.mark.long
async def test_what_a_plan_has_not_done_stays_marked(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await press(pilot, "slash", *"limited", "down", "space", "space", "escape")
        one, other = marked_ids(pilot)
        seen = {remote.id: remote.end_ms or 0 for _, remote in remotes_screen(pilot).marks.rows}
        await press(pilot, "w", *"+30d", "ctrl+s")
        assert [step.remote_id for step in steps(pilot)] == [one, other]
        ends = {
            step.remote_id: step.wanted["endDate"] - seen[step.remote_id] for step in steps(pilot)
        }
        assert all(abs(more - 30 * DAY_MS) <= DAY_MS // 24 for more in ends.values())
        someone_else.post(
            demo.service, "update", lockId=1001, remoteId=one, remoteType=2, weekDay=[],
            startDate=seen[one or 0] - DAY_MS, endDate=seen[one or 0] + DAY_MS,
        )  # fmt: skip
        plan = drawn(pilot).drawn.plan
        await execute(pilot, plan)
        await press(pilot, "escape")
        await until(pilot, lambda: marked_ids(pilot) == [one])


async def test_marks_go_when_a_plan_that_was_stopped_is_done_later(demo: Demo) -> None:
    """What it has done must not be changed once more with the next plan."""
    async with demo(1001) as pilot:
        await press(pilot, "slash", *"limited", "down", "space", "space", "escape")
        one, other = marked_ids(pilot)
        await press(pilot, "w", *"+30d", "ctrl+s")
        operations = pilot.app.operations
        run = planning.run_of(operations, drawn(pilot).drawn.plan)
        run.on_change = Run.stop
        plan = await execute(pilot, run)
        await press(pilot, "escape")
        await until(pilot, lambda: marked_ids(pilot) == [other])
        await execute(pilot, await operations.runs.find(plan.id))
        remotes_screen(pilot).unmark_done()
        await until(pilot, lambda: marked_ids(pilot) == [])
        assert one != other


async def test_a_range_all_and_none(demo: Demo) -> None:
    async with demo(1001) as pilot:
        ids = [row.remote.id for row in remotes_table(pilot).rows]
        await press(pilot, "S")
        assert "First press Space" in notices(pilot)
        await press(pilot, "down", "space", "down", "down", "S")
        assert signed(pilot) == ids[1:5]
        pilot.app.clear_notifications()
        await press(pilot, "n", "S")
        assert "not shown now" in notices(pilot)
        assert marked_ids(pilot) == ids[1:5]
        pilot.app.clear_notifications()
        await press(pilot, "p", "asterisk")
        assert signed(pilot) == ids
        assert "cannot be marked" not in notices(pilot)
        await press(pilot, "U")
        assert not remotes_screen(pilot).marks
        assert "Rows unmarked: 20. Press U to mark them again." in notices(pilot)
        await press(pilot, "U")
        assert signed(pilot) == ids
        await press(pilot, "escape")  # does not leave yet
        assert not remotes_screen(pilot).marks


@pytest.mark.long
async def test_a_key_that_marks_paints_one_row(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    painted: list[int] = []

    def refresh(self: RemotesTable, *regions: Any, **more: Any) -> RemotesTable:
        painted.extend(region.height for region in regions or [self.size.region])
        return whole(self, *regions, **more)

    whole = RemotesTable.refresh
    async with demo(1001) as pilot:
        await press(pilot, "space")
        monkeypatch.setattr(RemotesTable, "refresh", refresh)
        await press(pilot, "space")
        assert len(marked_ids(pilot)) == 2
        assert painted
        assert set(painted) == {1}
        assert len(painted) <= 3  # the mark, the row that is left, the one that is reached


@pytest.mark.long
@pytest.mark.parametrize("look", [FULL_LOOK, Look(colors=0, ascii=True), Look(quiet=True)])
async def test_a_mark_is_seen_beside_the_cursor_by_its_shape(demo: Demo, look: Look) -> None:
    async with demo(1001, look) as pilot:
        name = remotes_table(pilot).rows[0].remote.remote_name or ""
        before = shown(pilot).splitlines()[2]
        await press(pilot, "space", "up")
        after = shown(pilot).splitlines()[2]
        assert f"*{name}" in after or (after.startswith("*") and name in after)
        assert before[0] == (">" if after.startswith(">") else " ")


@pytest.mark.long
async def test_what_is_typed_is_there_again_and_what_is_possible_is_said_before_the_plan(
    demo: Demo,
) -> None:
    async with demo(1001) as pilot:
        await press(pilot, "asterisk", "n", "w")
        assert isinstance(pilot.app.screen, MarkedForm)
        assert "Marked but not on the screen: " in shown(pilot)
        assert "Required: New end date." in shown(pilot)
        await press(pilot, *"1/2/2027")
        assert "20 cannot be changed, such as Night crew 1" in shown(pilot)
        await press(pilot, "ctrl+q")
        assert isinstance(pilot.app.screen, ConfirmModal), "nothing typed is lost unasked"
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, MarkedForm)
        await press(pilot, "escape", "w")
        assert "1/2/2027" in shown(pilot)
        await press(pilot, *"+30d")
        assert "4 remotes to check, such as " in shown(pilot)
        assert "This reactivates an expired remote." in " ".join(shown(pilot).split())
        await press(pilot, "home", "shift+end", *"2027-06-30")
        assert "Permanent remotes have no end date." in shown(pilot)
        assert "leave this form and press m." in " ".join(shown(pilot).split())
        await press(pilot, "ctrl+s")
        assert len(steps(pilot)) == 20
        assert {one.message for one in drawn(pilot).drawn.left} == {
            "Permanent remotes have no end date."
        }
        await press(pilot, "escape")
        assert len(marked_ids(pilot)) == 20


@pytest.mark.long
async def test_more_that_can_be_done(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await press(pilot, "m")
        assert isinstance(pilot.app.screen, RefusedModal)
        await press(pilot, "escape", "space", "space", "m", "down", "enter", "down", "enter")
        assert {step.wanted.get("isCoerced", 1) for step in steps(pilot)} == {1}
        await press(pilot, "escape", "m", "down", "down", "enter", *"room", "tab", *"[5]")
        assert "Sent as JSON: [5]" in shown(pilot)
        await press(pilot, "ctrl+s")
        assert all(step.wanted["extraData"]["room"] == [5] for step in steps(pilot))
        await execute(pilot, drawn(pilot).drawn.plan)
        await press(pilot, "escape")
        await until(pilot, lambda: not remotes_screen(pilot).marks)
        await press(pilot, "r", "g", "space", "space", "m", "down", "down", "down", "enter")
        assert "room  on 2" in shown(pilot)
        await press(pilot, "escape", "m", "enter", "1", "ctrl+s")
        assert {step.wanted.get("remoteType", 1) for step in steps(pilot)} == {1}
        changed = [step for step in steps(pilot) if step.action is Action.UPDATE]
        now_ms = drawn(pilot).operations.now_ms()
        assert changed and all(describe_step_notes(step, UTC, now_ms) for step in changed)


def below(pilot: Pilot[Any]) -> RemotesScreen:
    """The screen of the marks, under a dialog."""
    under = pilot.app.screen_stack[-2]
    assert isinstance(under, RemotesScreen)
    return under


@pytest.mark.parametrize(
    ("opens", "answers"),
    [
        (["m"], "enter"),
        pytest.param(["w", *"2030-01-01"], "ctrl+s", marks=pytest.mark.long),
        pytest.param(["m", "down", "enter"], "enter", marks=pytest.mark.long),
        pytest.param(["m", "end"], "enter", marks=pytest.mark.long),
    ],
)
async def test_what_a_run_has_done_while_a_dialog_was_open_is_not_changed_again(
    demo: Demo, opens: list[str], answers: str
) -> None:
    async with demo(1001) as pilot:
        await press(pilot, "slash", *"limited", "down", "space", "escape", "d")
        plan = drawn(pilot).drawn.plan
        await press(pilot, "escape", *opens)
        await execute(pilot, plan)
        below(pilot).after_write(None)  # as the end of a run has it
        await until(pilot, lambda: not below(pilot).marks)
        await settled(pilot)
        await press(pilot, answers)
        assert isinstance(pilot.app.screen, RefusedModal)
        assert "These rows are no longer marked" in notices(pilot)
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, RemotesScreen)


async def test_a_choice_is_for_those_that_are_still_marked_as_it_is_made(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await press(pilot, "space", "space", "d")
        plan = drawn(pilot).drawn.plan
        left = plan.steps[0].remote_id
        someone_else.post(demo.service, "update", lockId=1001, remoteId=left, remoteName="Renamed")
        await press(pilot, "escape", "m", "down", "enter")
        await execute(pilot, plan)
        below(pilot).after_write(None)
        await until(pilot, lambda: len(below(pilot).marks) == 1)
        await settled(pilot)
        await press(pilot, "enter")
        assert [step.remote_id for step in steps(pilot)] == [left]
        assert drawn(pilot).drawn.plan.title == "set the coerced flag: 1 remote, lock 1001"


@pytest.mark.parametrize(
    ("is_reused", "keys"),
    [
        (True, ["Y"]),
        pytest.param(False, ["m", *["down"] * 4, "enter"], marks=pytest.mark.long),
    ],
)
async def test_copy_of_marked_remotes_leaves_out_one_that_is_gone_or_another_one(
    demo: Demo, is_reused: bool, keys: list[str]
) -> None:
    async with demo(1001, locks=LOCKS) as pilot:
        await press(pilot, "space", "down", "space")
        gone, left = marked_ids(pilot)
        if is_reused:
            with demo.service.app.state.site.database.writing() as db:
                later = "UPDATE remote SET created_ms = created_ms + 5000 WHERE id = ?"
                db.execute(later, (gone,))
        else:
            someone_else.post(demo.service, "delete", lockId=1001, remoteId=gone)
        assert "2 remotes of Main gate" in await press(pilot, *keys)
        await press(pilot, "space", "enter")
        await press(pilot, "enter")
        assert "Not copied, because no longer on the lock: 1 of 2 remotes." in shown(pilot)
        await press(pilot, "escape")
        rows = {one["id"]: one for one in someone_else.page(demo.service, 1001, size=200)}
        assert [step.remote_name for step in steps(pilot)] == [rows[left]["remoteName"]]


@pytest.mark.long
async def test_marked_remotes_are_written_to_files(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await press(pilot, "space", "n", "space", "m", "end", "enter")
        await until(pilot, lambda: "Exported" in notices(pilot))
        ids = marked_ids(pilot)
        (table_file,) = demo.directory.rglob("remotes-*.csv")
        (json_file,) = demo.directory.rglob("remotes-*.json")
        with table_file.open(newline="") as file:
            assert [int(row["remoteId"]) for row in csv.DictReader(file)] == ids
        (lock,) = json.loads(json_file.read_text())["locks"]
        assert (lock["lockId"], [one["id"] for one in lock["remotes"]]) == (1001, ids)


def test_marked_form_names_every_wrong_field_in_order() -> None:
    typed = {"type": "4", "start": "soon", "end": "later", "days": "Someday"}
    with pytest.raises(IncompleteInputError, match=r"^Fix: Start, End, Weekdays\. ") as raised:
        NewValidity().wanted(typed)
    assert HELP.split()[0] in str(raised.value)
    with pytest.raises(IncompleteInputError, match=r"^Fix: End\. "):
        NewValidity().wanted(typed | {"start": "now", "days": "Mon"})
    assert NewValidity().wanted(typed | {"start": "now", "end": "+30d", "days": "Mon"})
