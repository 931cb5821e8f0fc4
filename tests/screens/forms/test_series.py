"""Another remote like one, and a series of them: what is offered is seen before it is sent."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.config.look import Look
from lockterm.operations import names_in_use
from lockterm.operations.list_walk import WalkLimits
from lockterm.screens.remote_form import RemoteForm
from lockterm.screens.remotes import RemotesScreen
from lockterm.service.running import RunningService
from tests.faults.proxy import FaultProxy
from tests.long import telling
from tests.screens import someone_else
from tests.screens.forms.conftest import Gate, lose
from tests.screens.forms.test_remote_form import RECURRING
from tests.screens.running_app import PATIENCE_S, Demo, notices, settled, shown, until
from tests.screens.site import press, press_to, settled_when, words
from tests.screens.snapshots import assert_picture

START, END = 1_796_112_000_000, 1_798_736_400_000


def crew(service: RunningService, number: int, **more: Any) -> None:
    name = {"remoteName": f"Crew {number}", "remoteNumber": f"B-{number:03}"}
    period = {"remoteType": 4, "startDate": START, "endDate": END, "weekDay": [1, 5]}
    someone_else.post(service, "add", **{"lockId": 1004, "addType": 2}, **name, **period, **more)


def crews(service: RunningService) -> dict[str, dict[str, Any]]:
    return {one["remoteName"]: one for one in someone_else.page(service, 1004)}


async def begun(pilot: Pilot[Any], *keys: str) -> RemoteForm:
    """Keys one by one, as hands type them without looking; then the form."""
    await press(pilot, *keys)
    assert isinstance(pilot.app.screen, RemoteForm)
    return pilot.app.screen


@pytest.mark.parametrize("count", telling([3], [3, 10]))
async def test_many_remotes_take_few_keys(demo: Demo, count: int) -> None:
    crew(demo.service, 1, isCoerced=1, extraData={"firm": "Roofers"})
    crew(demo.service, 3)  # in the way
    async with demo(1004) as pilot:
        form = await begun(pilot, "+")
        typed = form.fields.typed()
        assert (typed["remoteName"], typed["remoteNumber"]) == ("Crew 2", "B-002")
        assert "Crew 2" in shown(pilot) and "B-002" in shown(pilot)
        for key in ("ctrl+n", "right", "enter") * count:
            await press(pilot, key)
        assert pilot.app.screen is form
        assert f"Recorded Crew {count + 2}. Added so far: {count}." in shown(pilot)
        assert form.fields.typed()["remoteName"] == f"Crew {count + 3}"
        await pilot.press("escape")  # what is offered was not typed: there is nothing to lose
        await settled(pilot)
        assert isinstance(pilot.app.screen, RemotesScreen)
        assert pilot.app.screen.current.remote_name == f"Crew {count + 2}"
        assert await pilot.app.operations.drafts.find("remote", 1004, None) is None  # type: ignore[attr-defined]
    made = crews(demo.service)
    assert sorted(made) == sorted(f"Crew {number}" for number in range(1, count + 3))
    same = ("remoteType", "startDate", "endDate", "weekDay", "addType", "isCoerced", "extraData")
    for number in (2, *range(4, count + 3)):
        one = made[f"Crew {number}"]
        assert one["remoteNumber"] == f"B-{number:03}"
        assert all(one[name] == made["Crew 1"][name] for name in same)


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_it_looks_like(demo: Demo, size: tuple[int, int]) -> None:
    crew(demo.service, 1)
    async with demo(1004, size=size) as pilot:
        await begun(pilot, "+")
        await press(pilot, "ctrl+n", "right", "enter")
        assert "Recorded Crew 2. Added so far: 1." in words(pilot.app)
        assert_picture(pilot.app, f"series-{size[0]}x{size[1]}")


async def test_another_remote_counts_past_all_numbers_of_the_lock(demo: Demo) -> None:
    """Also past those on pages that were not read."""
    for number in range(1, 13):
        crew(demo.service, number)
    async with demo(1004, look=Look(quiet=True), page_size=5) as pilot:
        form = await begun(pilot, "+")
        typed = form.fields.typed()
        assert (typed["remoteName"], typed["remoteNumber"]) == ("Crew 13", "B-013")
        assert "are known" not in shown(pilot)


async def test_series_warns_of_a_long_list(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names_in_use, "UNASKED", WalkLimits(100, 100, 30.0, asked=False))
    for number in range(1, 13):
        crew(demo.service, number)
    async with demo(1004, look=Look(quiet=True), page_size=5) as pilot:
        await begun(pilot, "+")
        assert "Only 5 of 12 remotes were read, so another remote may have this number." in shown(
            pilot
        )
        await press(pilot, *"Zed", "ctrl+s")
        assert "Note on Number: Only 5 of 12 remotes were read" in words(pilot.app)


async def test_form_reports_a_used_number_at_its_field(demo: Demo) -> None:
    for number in range(1, 8):
        crew(demo.service, number)
    async with demo(1004, look=Look(quiet=True), page_size=5) as pilot:
        form = await begun(pilot, "a")
        await pilot.press(*"Late", "tab", *"B-007", "tab")
        await until(pilot, lambda: bool(form.fields.row("remoteNumber").warning))
        assert form.fields.row("remoteNumber").warning == "Crew 7 on this lock has the same number."
        await pilot.press("shift+tab", "end", "backspace", "8", "tab")
        assert form.fields.row("remoteNumber").warning == ""


@pytest.mark.long
async def test_a_series_that_comes_in_one_burst_is_the_same(demo: Demo) -> None:
    crew(demo.service, 1)
    async with demo(1004) as pilot:
        save = ("ctrl+n", "right", "enter")
        await press(pilot, "+", *save, "A", "n", "n", "a", "tab", "7", *save, *save)
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, RemotesScreen), notices(pilot)
    made = {name: one["remoteNumber"] for name, one in crews(demo.service).items()}
    assert made == {"Crew 1": "B-001", "Crew 2": "B-002", "Anna": "7", "Anna 2": "8"}


async def lost(pilot: Pilot[Any], proxy: FaultProxy) -> None:
    """Save and go on to the next, and lose the answer."""
    lose(proxy, "add", applies=True)
    await press(pilot, "ctrl+n", "right", "enter")
    proxy.disarm("add")


@pytest.mark.long
async def test_next_remote_is_offered_after_the_result(demo: Demo, proxy: FaultProxy) -> None:
    crew(demo.service, 1)
    async with demo.starter(proxy, 1004) as pilot:
        form = await begun(pilot, "+")
        await lost(pilot, proxy)
        status = form.query_one("#status")
        assert "may have recorded the change" in str(status.render())
        assert form.fields.typed()["remoteName"] == "Crew 2", "the next, before this one is known"
        await press(pilot, "ctrl+n")
        assert pilot.app.screen is form, "it was asked whether to send another"
        await pilot.press("ctrl+r")
        await settled_when(pilot, lambda: form.fields.typed()["remoteName"] == "Crew 3")
        assert "Recorded Crew 2. Added so far: 1." in str(status.render())
        await press(pilot, "ctrl+n", "right", "enter")
        journal = await pilot.app.operations.journal.history()  # type: ignore[attr-defined]
        assert [one.again_of for one in journal] == [None, None]
    assert sorted(crews(demo.service)) == ["Crew 1", "Crew 2", "Crew 3"]


async def test_form_does_not_report_unconfirmed_input_as_recorded(
    demo: Demo, proxy: FaultProxy
) -> None:
    crew(demo.service, 1)
    async with demo.starter(proxy, 1004) as pilot:
        form = await begun(pilot, "+")
        await lost(pilot, proxy)
        await pilot.press("end", *"abc", "ctrl+r")
        await settled_when(pilot, lambda: "Recorded Crew 2. Added so far: 1." in shown(pilot))
        typed = form.fields.typed()
        assert (typed["remoteName"], typed["remoteNumber"]) == ("Crew 2abc", "B-003")
        assert form.touched(), "what was typed for the next one could be left unasked"
        assert "Added Crew 2 (B-002): Recorded by the service." in notices(pilot)
    assert sorted(crews(demo.service)) == ["Crew 1", "Crew 2"]


async def test_what_the_service_refuses_stays_and_nothing_behind_it_is_saved(demo: Demo) -> None:
    crew(demo.service, 1)
    async with demo(1004) as pilot:
        form = await begun(pilot, "+")
        crew(demo.service, 2)  # somebody else was faster
        save = ("ctrl+n", "right", "enter")
        await press(pilot, *save, *save, *save)
        assert form.fields.row("remoteName").error
        assert form.fields.typed()["remoteName"] == "Crew 2"
    assert sorted(crews(demo.service)) == ["Crew 1", "Crew 2"]


@pytest.mark.long
async def test_a_draft_comes_back_alone(demo: Demo) -> None:
    """What was offered at another remote is not mixed into what somebody had typed."""
    crew(demo.service, 1)
    async with demo(1004) as pilot:
        operations = pilot.app.operations  # type: ignore[attr-defined]
        operations.drafts.keep(("remote", 1004, None), {"remoteName": "Draft"}, print)
        await operations.drafts.flush()
        await pilot.press("+")
        await settled_when(pilot, lambda: "was not finished" in shown(pilot))
        await press_to(pilot, RemoteForm, "right", "enter")
        form = pilot.app.screen
        assert isinstance(form, RemoteForm)
        assert form.fields.typed() == form.fields.initial | {"remoteName": "Draft"}


# --- pictures ------------------------------------------------------------------------------------

LONG = "张伟（保安队长）大楼管理处夜班负责人与钥匙保管员 Snow clearing and gritting, Hansen & Sons"


@pytest.mark.long
async def test_adding(gate: Gate) -> None:
    async with gate(timeout_s=PATIENCE_S) as form:
        await form.press("'Roof crew", "tab")
        await form.fill(**RECURRING | {"endDate": "2026-11-01 09:00", "weekDay": ""})
        await form.press("ctrl+s")
        assert_picture(form.pilot.app, "remote-form-80x24")


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_asking(gate: Gate, size: tuple[int, int]) -> None:
    async with gate(size=size, timeout_s=PATIENCE_S) as form:
        await form.fill(**RECURRING | {"remoteName": LONG, "weekDay": ""})
        await form.press("ctrl+s")
        assert_picture(form.pilot.app, f"remote-form-ask-{size[0]}x{size[1]}")


@pytest.mark.long
async def test_changing(gate: Gate) -> None:
    remote_id = gate.add(
        remoteName=LONG,
        remoteType=2,
        startDate=1_790_000_000_000,
        endDate=1_790_500_000_000,
        extraData={"company": "Brandt Elektro GmbH", "badge": 7009},
    )
    async with gate(remote_id, "endDate", timeout_s=PATIENCE_S) as form:
        await form.press("'+1y")
        assert_picture(form.pilot.app, "remote-form-edit-80x24")
