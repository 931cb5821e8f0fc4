"""The remote form in the running app, over real HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual import events
from textual.widget import Widget
from textual.widgets import Button, Input

from lockterm.domain.operation import Operation
from lockterm.domain.requests import RemoteChanges
from lockterm.domain.rules import OPENS_AGAIN
from lockterm.errors import ServiceError
from lockterm.operations import connection
from lockterm.screens.modal import RefusedModal
from lockterm.screens.remote_form import RemoteForm, RemoteSaved
from lockterm.screens.remote_form.saving import TAKEN
from lockterm.screens.remotes import RemotesScreen
from lockterm.service.running import RunningService
from lockterm.widgets.choice import MultiChoice, Presets
from lockterm.widgets.form_field import CompactButton, FormField
from tests.faults.proxy import FaultProxy
from tests.long import telling
from tests.screens.forms.conftest import GATE, Form, Gate, Opener, hold, lose
from tests.screens.running_app import Clock, settled, shown, until

RECURRING = {
    "remoteName": "Roof crew",
    "remoteNumber": "A-9001",
    "remoteType": "4",
    "startDate": "2026-12-01 09:00",
    "endDate": "2026-12-31 18:00",
    "weekDay": "mon-fri",
}


@pytest.mark.long
async def test_a_recurring_remote_is_added_with_the_keyboard(gate: Gate) -> None:
    async with gate() as form:
        await form.press("'Roof crew", "tab", "'A-9001", "tab", "right", "right", "space", "tab")
        await form.press("'2026-12-01 09:00", "tab", "'31.12", "'.26")
        assert "Put the year first" in form.note("endDate"), "a refused date says why at once"
        assert not form.error("endDate"), "as a note, as long as it is typed"
        await form.press("backspace", "backspace", "'2026 18:00", "tab", "'mon-fri")
        assert "stores no hours" in form.note("weekDay")
        assert form.note("endDate") == "Thu 31 Dec 2026 18:00 +01:00, 17:00 UTC, in 41 days"
        await form.press("tab", "right", "right", "space", "space", "ctrl+s")
        assert "Add Roof crew to Main gate (lock 1001)?" in form.dialog
        assert "Recurring: Mon-Fri, from 1 Dec 2026 09:00 +01:00" in form.dialog
        assert gate.total() == 137
        await form.agree()
        ((saved,),) = [form.closed]
        assert saved is not None
        remote = gate.call("detail", remoteId=saved.remote_id)
        assert (remote["remoteName"], remote["remoteNumber"]) == ("Roof crew", "A-9001")
        assert (remote["remoteType"], remote["weekDay"]) == (4, [1, 2, 3, 4, 5])
        assert (remote["startDate"], remote["endDate"]) == (1796112000000, 1798736400000)


@pytest.mark.long
async def test_keys_that_come_in_one_burst_reach_their_fields(gate: Gate) -> None:
    async with gate() as form:
        await form.burst("'Roof", "tab", "'A-1", "enter", "right", "right", "space", "down")
        await form.burst("'2026-12-01 9:00", "tab", "'+30d", "tab", "'mon-fri", "tab", "tab")
        typed = form.screen.fields.typed()
        assert [typed[field] for field in list(typed)[:6]] == [
            "Roof",
            "A-1",
            "4",
            "2026-12-01 9:00",
            "+30d",
            "mon-fri",
        ]


async def test_save_goes_to_the_first_wrong_field_and_sends_nothing(gate: Gate) -> None:
    async with gate() as form:
        assert form.status == "Required: Name, Number, Type."
        assert form.error("remoteName") == ""
        await form.fill(remoteName="Roof crew", remoteNumber="A-9001")
        await form.press("ctrl+s")
        assert form.error("remoteType").startswith("Choose a type")
        assert form.pilot.app.focused is form.screen.fields.row("remoteType").control
        await form.fill(remoteType="2", startDate="2027-03-28 02:30", endDate="now")
        await form.press("ctrl+s")
        assert "does not exist" in form.error("startDate")
        assert form.status == "Fix: Start."
        assert form.dialog == ""
        assert gate.total() == 137
        wrong = {"remoteName": "Ben", "remoteType": "2", "startDate": "soon", "extraData": "{"}
        await form.fill(**wrong, remoteNumber="", endDate="")
        assert form.status == "Fill in or fix: Number, Start, End, Extra data."
        form.screen.fields.objections["remoteName", "Ben"] = TAKEN
        form.screen.fields.read_now()
        form.screen.show_status()
        assert form.status == "Fill in or fix: Name, Number, Start, End, Extra data."
        await form.fill(remoteNumber="B-1", endDate="+30d")
        assert form.status == "Fix: Name, Start, Extra data."
        await form.press("ctrl+s")
        assert form.pilot.app.focused is form.screen.fields.row("remoteName").control


@pytest.mark.long
async def test_form_reports_a_taken_name_and_no_other(gate: Gate, proxy: FaultProxy) -> None:
    gate.add(remoteName="Roof crew")
    async with gate.open(proxy) as form:
        released = hold(proxy, "checkRemoteName")
        await form.pilot.press("R", "o", "o", "f", "space", "c", "r", "e", "w", "tab")
        await until(form.pilot, lambda: "Checking" in form.note("remoteName"))
        await form.pilot.press("up", "end", "X")
        released.set()
        await settled(form.pilot)
        assert form.error("remoteName") == "", "a late answer is for the name it was asked for"
        assert "remoteName" not in form.screen.fields.reading.errors
        await form.press("backspace", "tab")
        assert form.error("remoteName") == "This lock already has a remote with this name."
        await form.press("up", "end", "'2", "tab")
        assert form.note("remoteName") == "The name is free."
        assert form.error("remoteName") == ""


@pytest.mark.long
async def test_what_is_typed_stays_when_the_service_is_lost_behind_the_question(gate: Gate) -> None:
    async with gate() as form:
        await form.fill(**RECURRING)
        await form.press("ctrl+s")
        gate.service.stop()
        await form.agree()
        assert "Service unreachable" in form.status
        assert form.screen.fields.typed() == form.screen.fields.initial | RECURRING
        assert form.closed == []


async def test_edit_sends_only_the_name(gate: Gate, proxy: FaultProxy) -> None:
    end = 1_803_600_123_456
    remote_id = gate.add(remoteName="Roof", remoteType=2, startDate=1_790_000_000_001, endDate=end)
    async with gate.open(proxy, remote_id) as form:
        assert form.status == "You have not changed anything yet."
        await form.press("end", "'s", "ctrl+s")
        assert "Change Roof, number T-1, on Main gate (lock 1001)?" in form.dialog
        assert form.dialog.splitlines()[-1] == "Name: Roof -> Roofs"
        await form.agree()
        assert form.closed == [RemoteSaved(remote_id)]
        assert _changes(proxy) == [{"remoteName": "Roofs"}]
        assert gate.call("detail", remoteId=remote_id)["endDate"] == end


@pytest.mark.long
async def test_renewing_sends_all_four_fields(gate: Gate, proxy: FaultProxy) -> None:
    start = 1_790_000_000_000
    remote_id = gate.add(
        remoteName="Roof",
        remoteType=4,
        startDate=start,
        endDate=start + 1,
        weekDay=[5, 1],
    )
    async with gate.open(proxy, remote_id, "endDate") as form:
        await form.press("'+1y", "ctrl+s")
        assert "-> 20 Nov 2027 09:00 +01:00" in form.dialog
        assert OPENS_AGAIN in form.dialog
        await form.agree()
        assert _changes(proxy) == [
            {
                "remoteType": 4,
                "startDate": start,
                "endDate": 1_826_697_600_000,
                "weekDay": [1, 5],
            }
        ]


def _changes(proxy: FaultProxy) -> list[dict[str, Any]]:
    """Return the changes that the service applied, without the IDs of lock and remote."""
    ids = {"lockId", "remoteId"}
    return [
        {field: value for field, value in entry.body.items() if field not in ids}
        for entry in proxy.applied("update")
    ]


@pytest.mark.long
async def test_a_change_by_someone_else_is_shown_and_taken_over(gate: Gate) -> None:
    remote_id = gate.add(remoteName="Roof")
    async with gate(remote_id) as form:
        await form.press("end", "'s")
        gate.call("update", lockId=1001, remoteId=remote_id, isCoerced=1, remoteName="Attic")
        await form.press("ctrl+s")
        assert "Someone else has changed" in form.dialog
        assert "Name: Roof -> Attic" in form.dialog
        assert "Coerced: default (no) -> yes" in form.dialog
        await form.agree()
        assert form.screen.fields.typed()["isCoerced"] == "1"
        assert "Name: Attic -> Roofs" in form.dialog
        assert "Coerced" not in form.dialog
        await form.agree()
        now = gate.call("detail", remoteId=remote_id)
        assert (now["remoteName"], now["isCoerced"]) == ("Roofs", 1)


async def test_save_is_refused_when_the_remote_changes_during_the_question(gate: Gate) -> None:
    period = {"startDate": 1_796_079_600_000, "endDate": 1_803_000_000_000}
    remote_id = gate.add(remoteName="Roof", remoteType=2, **period)
    sooner = period | {"endDate": 1_797_000_000_000}
    async with gate(remote_id) as form:
        await form.fill(startDate="2026-12-02 00:00", remoteName="Roofs")
        await form.press("ctrl+s")
        gate.call("update", lockId=1001, remoteId=remote_id, remoteType=2, **sooner)
        await form.agree()
        assert form.status.startswith("! Not sent: The remote was changed after it was read")
        assert "2027" in form.status.partition("End: ")[2].partition(" -> ")[0]
        assert form.screen.fields.typed()["remoteName"] == "Roofs"
        assert gate.call("detail", remoteId=remote_id)["endDate"] == sooner["endDate"]
        await form.press("ctrl+s")
        assert "Someone else has changed" in form.dialog
        await form.agree()
        await form.agree()
        now = gate.call("detail", remoteId=remote_id)
        assert (now["remoteName"], now["endDate"]) == ("Roofs", sooner["endDate"])


@pytest.mark.long
async def test_form_keeps_input_when_the_service_refuses(gate: Gate) -> None:
    remote_id = gate.add(remoteName="Roof")
    async with gate(remote_id) as form:
        await form.press("end", "'s")
        gate.call("delete", remoteId=remote_id)
        await form.press("ctrl+s")
        assert form.status.startswith("! Refused by the service:")
        assert form.screen.fields.typed()["remoteName"] == "Roofs"
        assert form.closed == []


@pytest.mark.long
async def test_what_is_wrong_with_the_last_field_is_in_sight(gate: Gate) -> None:
    dates = {"startDate": 1_790_000_000_000, "endDate": 1_790_500_000_000}
    notes = {f"note {number}": "of the site" for number in range(4)}
    remote_id = gate.add(remoteName="Roof", remoteType=2, extraData=notes, **dates)
    async with gate(remote_id, "extraData", size=(60, 20)) as form:
        await form.press("ctrl+home", "'x", "ctrl+s")
        assert "Fix: Extra data." in form.status
        said = " ".join(shown(form.pilot).split())
        assert "! Not JSON at line 1, column 1: a value is missing" in said


@pytest.mark.parametrize("applies", telling([False], [True, False]))
async def test_unknown_outcome_holds_the_next_save(
    gate: Gate, proxy: FaultProxy, applies: bool
) -> None:
    remote_id = gate.add(remoteName="Roof")
    async with gate.open(proxy, remote_id) as form:
        await form.press("end", "'s")
        lose(proxy, "update", applies=applies)
        await form.press("ctrl+s")
        await form.agree()
        assert "may have recorded the change" in form.status
        assert form.screen.fields.typed()["remoteName"] == "Roofs"
        proxy.disarm("update")
        await form.press("ctrl+s")
        assert form.dialog == ""
        await form.press("escape")
        assert "remains unconfirmed" in form.dialog and "Leave the form for Roof?" in form.dialog
        await form.press("escape", "ctrl+r")
        if not applies:
            assert "may still take effect" in form.status
            await form.press("escape")
            assert "remains unconfirmed" in form.dialog, "also once it was read back"
            await form.press("escape", "ctrl+s")
            await form.agree()
        assert form.closed == [RemoteSaved(remote_id)]
        assert gate.call("detail", remoteId=remote_id)["remoteName"] == "Roofs"


@asynccontextmanager
async def a_lost_rename(
    gate: Gate, proxy: FaultProxy
) -> AsyncIterator[tuple[Form, int, Operation]]:
    """A form whose change has not reached the service: what becomes of it is not known."""
    remote_id = gate.add(remoteName="Roof")
    async with gate.open(proxy, remote_id) as form:
        await form.press("end", "'s")
        lose(proxy, "update", applies=False)
        await form.press("ctrl+s")
        await form.agree()
        proxy.disarm("update")
        (lost,) = await form.screen.operations.journal.list_unconfirmed()
        yield form, remote_id, lost


@pytest.mark.long
async def test_other_values_are_not_the_first_change_sent_again(
    gate: Gate, proxy: FaultProxy
) -> None:
    async with a_lost_rename(gate, proxy) as (form, remote_id, lost):
        await form.press("ctrl+r")
        assert "may still take effect" in form.status
        await form.press("'x", "ctrl+s")
        await form.agree()
        assert (
            "! Blocked by an unconfirmed change:" in form.status
            and "This form can send only the same change again" in form.status
        )
        assert form.screen.fields.typed()["remoteName"] == "Roofsx"
        assert [one.id for one in await form.screen.operations.journal.list_unconfirmed()] == [
            lost.id
        ]
        assert gate.call("detail", remoteId=remote_id)["remoteName"] == "Roof"
        await form.press("backspace", "ctrl+s")
        await form.agree()
        assert form.closed == [RemoteSaved(remote_id)]


@pytest.mark.long
async def test_sending_again_keeps_relative_times(
    gate: Gate, proxy: FaultProxy, clock: Clock
) -> None:
    async with gate.open(proxy) as form:
        await form.fill(**RECURRING | {"startDate": "now", "endDate": "+30d"})
        lose(proxy, "add", applies=False)
        await form.press("ctrl+s")
        await form.agree()
        proxy.disarm("add")
        await form.press("ctrl+r")
        assert "may still take effect" in form.status
        clock.now_s += 600
        await form.press("ctrl+s")
        await form.agree()
        assert len(form.closed) == 1
        lost, again = await form.screen.operations.journal.history()
        assert again.body == lost.body


@pytest.mark.long
@pytest.mark.parametrize("is_sent_again", [True, False])
async def test_form_takes_only_its_own_change(
    gate: Gate, proxy: FaultProxy, is_sent_again: bool
) -> None:
    async with a_lost_rename(gate, proxy) as (form, remote_id, lost):
        operations = form.screen.operations
        if is_sent_again:
            await operations.resolution.send_again(lost)
        else:
            await operations.resolution.give_up(lost)
            remote, other = await operations.remotes.detail(remote_id), RemoteChanges(is_coerced=1)
            await operations.writes.update_remote(1001, remote_id, other, remote)
        await form.press("ctrl+r")
        assert form.closed == ([RemoteSaved(remote_id)] if is_sent_again else [])
        assert is_sent_again or "resolved the change outside" in form.status
        assert is_sent_again or form.screen.fields.typed()["remoteName"] == "Roofs"
        name = gate.call("detail", remoteId=remote_id)["remoteName"]
        assert name == ("Roofs" if is_sent_again else "Roof")


@pytest.mark.parametrize(
    ("call_lost", "read"),
    [
        ("checkRemoteName", "name check"),
        pytest.param("detail", "last reading of the remote", marks=pytest.mark.long),
    ],
)
async def test_form_says_nothing_was_sent_when_a_reading_before_it_has_no_answer(
    gate: Gate, proxy: FaultProxy, call_lost: str, read: str
) -> None:
    remote_id = gate.add(remoteName="Roof") if call_lost == "detail" else None
    async with gate.open(proxy, remote_id) as form:
        await form.fill(**{"remoteName": "Roofs"} if remote_id else RECURRING)
        lose(proxy, call_lost, applies=True)
        await form.press("ctrl+s")
        if remote_id is None:
            await form.agree()
        said = (
            f"! No answer from the service: No change was sent, because the {read} got no answer."
        )
        assert form.status.startswith(said)
        assert "under way" not in form.status
        sent = {path.rpartition("/")[2] for _, path in gate.service.requests}
        assert "update" not in sent and (remote_id is not None or "add" not in sent)


@pytest.mark.parametrize("applies", [True, False])
async def test_unknown_add_is_not_added_twice(gate: Gate, proxy: FaultProxy, applies: bool) -> None:
    async with gate.open(proxy) as form:
        await form.fill(**RECURRING)
        lose(proxy, "add", applies=applies)
        await form.press("ctrl+s")
        await form.agree()
        assert "may have recorded the change" in form.status
        if not applies:  # else the list shows it, which may have settled it by now
            said = " ".join(shown(form.pilot).split())
            assert "Ctrl+R to verify the change again." in said  # the notice
        assert "outside of this form" not in shown(form.pilot)
        proxy.disarm("add")
        await form.press("ctrl+r")
        if not applies:
            assert "may still take effect" in form.status
            await form.press("ctrl+s")
            await form.agree()
        assert len(form.closed) == 1
        assert form.closed[0] is not None
        assert gate.total() == 138


async def test_save_starts_once_and_locks_the_fields(gate: Gate, proxy: FaultProxy) -> None:
    async with gate.open(proxy) as form:
        await form.fill(**RECURRING)
        await form.press("ctrl+s")
        await until(form.pilot, lambda: form.dialog)
        released = hold(proxy, "add")
        await form.pilot.press("right", "enter")
        await until(
            form.pilot, lambda: form.status.startswith("Sending ... lockterm waits up to 5 s")
        )
        await form.pilot.press("ctrl+s", "escape", "x")
        assert form.pilot.app.screen is form.screen
        assert form.screen.fields.disabled
        released.set()
        await settled(form.pilot)
        assert len(form.closed) == 1
        assert gate.total() == 138


@pytest.mark.long
async def test_keeping_editing_keeps_everything(gate: Gate) -> None:
    async with gate() as form:
        await form.fill(**RECURRING)
        await form.press("ctrl+s")
        await form.press("enter")
        assert form.screen.fields.typed() == form.screen.fields.initial | RECURRING
        await form.press("escape")
        assert "Leave without saving" in form.dialog
        await form.press("enter")
        assert form.closed == []
        await form.press("escape")
        await form.agree()
        assert form.closed == [None]
        assert gate.total() == 137


async def test_a_read_only_profile_saves_nothing(gate: Gate) -> None:
    async with gate(read_only=True) as form:
        await form.fill(**RECURRING)
        assert "read-only" in form.status
        await form.press("ctrl+s")
        assert form.dialog == ""


async def test_hostile_values_are_not_written_back(gate: Gate, proxy: FaultProxy) -> None:
    name = "[@click=app.quit]x[/] \x1b]0;owned\x07 \u202e 🔧 [/]"
    remote_id = gate.add(
        remoteName=name,
        remoteNumber="[/]\x1b[2J",
        extraData={"a\x1b": "[/]\u202e", "n": 10**17},
        remoteType=2,
        startDate=1,
        endDate=2**63 - 1,
    )
    async with gate.open(proxy, remote_id) as form:
        await form.press("shift+tab", "tab", "tab")
        assert form.status == "You have not changed anything yet."
        await form.fill(isCoerced="1")
        await form.press("ctrl+s")
        await form.agree()
        assert _changes(proxy) == [{"isCoerced": 1}]
        assert gate.call("detail", remoteId=remote_id)["remoteName"] == name


@pytest.mark.long
async def test_an_overlap_is_asked_and_settled_by_key(gate: Gate) -> None:
    async with gate() as form:
        await form.fill(remoteType="2", startDate="2027-10-31 02:30")
        field = form.screen.fields.row("startDate")
        field.focus_control()
        await form.press("down", "2")
        assert field.value == "2027-10-31 02:30 +01:00"
        assert "startDate" not in form.screen.fields.reading.errors
        assert form.pilot.app.focused in field.control.query("*")
        await form.press("backspace")
        assert field.value == "2027-10-31 02:30 +01:0"


@pytest.mark.long
async def test_weekdays_by_mark_and_by_text_say_the_same(gate: Gate) -> None:
    async with gate() as form:
        await form.fill(remoteType="4")
        picker = form.screen.fields.row("weekDay")
        week = picker.query_one(MultiChoice)
        assert week.size.height == 1 and str(week.render()).endswith("[ ] Sat [ ] Sun")
        picker.focus_control()
        await form.press("'sat-mon", "tab", "3", "7")
        assert picker.value == "Mon, Wed, Sat"
        await form.press("up", "'fri")
        assert form.screen.fields.reading.values.week_day == (5,)


@pytest.mark.long
async def test_a_paste_brings_neither_control_characters_nor_a_megabyte(gate: Gate) -> None:
    async with gate() as form:
        app = form.pilot.app
        app.post_message(events.Paste("\n\tRoof\x1b[31m crew\n" + "x" * 10**6))
        await settled(form.pilot)
        assert form.screen.fields.typed()["remoteName"] == " Roof\N{REPLACEMENT CHARACTER}[31m crew"
        await form.fill(remoteName="")
        app.post_message(events.Paste("x" * 10**6))
        await settled(form.pilot)
        assert len(form.screen.fields.typed()["remoteName"]) == 2000
        assert "Pasted text cut" in shown(form.pilot)
        app.clear_notifications()
        await settled(form.pilot)
        assert "Ctrl+O more fields" in shown(form.pilot)
        await form.press("ctrl+o")
        assert "Ctrl+O fewer fields" in shown(form.pilot)
        more = form.screen.query_one("#more", Button)
        await settled(form.pilot)
        assert more.size.width <= len(str(more.label)) + 2, "as wide as its words"
        form.screen.fields.row("extraData").focus_control()
        await settled(form.pilot)
        app.post_message(events.Paste('{"a": 1,\r\n"b": "\x00"}'))
        await settled(form.pilot)
        assert form.screen.fields.typed()["extraData"] == (
            '{"a": 1,\n"b": "\N{REPLACEMENT CHARACTER}"}'
        )


@pytest.mark.long
@pytest.mark.parametrize("size", telling([(60, 20)], [(80, 24), (60, 20)]))
async def test_the_focused_field_is_always_in_sight(gate: Gate, size: tuple[int, int]) -> None:
    async with gate(size=size) as form:
        await form.fill(**RECURRING, mac="x")
        await form.press("ctrl+s")
        await form.press("escape")
        seen: list[Widget] = []
        window = form.screen.fields.region
        for _ in range(25):
            focused = form.pilot.app.focused
            assert focused is not None
            if focused in seen:
                break
            seen.append(focused)
            region = focused.region
            is_button = isinstance(focused, CompactButton)  # below the fields, always in sight
            around = form.screen.region if is_button and focused.id != "more" else window
            assert around.contains_region(region), focused
            await form.press("tab")
        assert len(seen) > 14


@pytest.mark.long
async def test_unconfirmed_add_blocks_add_and_clear_at_once(gate: Gate, proxy: FaultProxy) -> None:
    async with gate.open(proxy) as form:
        await form.fill(**RECURRING)
        lose(proxy, "add", applies=False)
        await form.press("ctrl+s")
        await form.agree()
        assert "may have recorded the change" in form.status
        pilot = form.pilot
        log = pilot.app.messages[-1]  # type: ignore[attr-defined]
        assert log.title == "Add a remote" and "may have recorded the change" in log.text
        proxy.disarm("add")
        operations = pilot.app.operations  # type: ignore[attr-defined]
        other = RemoteForm(operations, GATE, typed=RECURRING | {"remoteName": "Another"})
        pilot.app.push_screen(other)
        await settled(pilot)
        await form.press("ctrl+s")
        await form.agree()
        assert "Outside this form, c checks the change" in str(other.query_one("#status").render())
        assert "Blocked by an unconfirmed change" in pilot.app.messages[-1].text  # type: ignore[attr-defined]

        pilot.app.push_screen(RemotesScreen(operations, GATE))
        await settled(pilot)
        for key, words in (("a", "Add"), ("C", "Clear")):
            await form.press(key)
            assert isinstance(pilot.app.screen, RefusedModal)
            await form.press("escape")
            said = pilot.app.messages[-1]  # type: ignore[attr-defined]
            assert said.title == words
            assert "An earlier change is unconfirmed: add Roof crew." in said.text
            assert (
                "Resolve the change first: c checks the change, A sends it again, or X dismisses"
                in said.text
            )
        await form.press("X", "'nope", "enter")
        assert "! Your input is not dismiss." in form.dialog
        await form.press(*["backspace"] * 4, *"dismiss", "enter", "enter")
        await form.press("a")
        # It comes below the offer of its draft.
        await until(pilot, lambda: isinstance(pilot.app.screen_stack[-2], RemoteForm))


@asynccontextmanager
async def a_form_offline(
    running_service: Callable[..., RunningService], open_form: Opener, *, reads_ahead: bool = True
) -> AsyncIterator[tuple[Form, RunningService]]:
    """A complete form, and the stopped service that it was opened on."""
    service = running_service()
    async with open_form(service) as form:
        form.screen.operations.remotes.reads_ahead = reads_ahead
        await form.fill(**RECURRING)
        service.stop()
        with pytest.raises(ServiceError):
            await form.screen.operations.remotes.page(1001, 2, 20, fresh=True)
        await settled(form.pilot)
        yield form, service


async def test_form_says_why_saving_waits_and_counts_down_when_the_service_is_lost(
    running_service: Callable[..., RunningService],
    open_form: Opener,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "FIRST_RETRY_S", 600.0)
    async with a_form_offline(running_service, open_form) as (form, _):
        waits = "The form is complete, but the service cannot be reached."
        await until(form.pilot, lambda: "Next attempt in 600 s" in form.status)
        assert form.status == f"{waits} Next attempt in 600 s. Press Ctrl+S to try now."
        assert "Ctrl+S try now" in shown(form.pilot)
        clock.now_s += 1
        await until(form.pilot, lambda: "Next attempt in 599 s" in form.status)
        clock.now_s += 599
        await until(form.pilot, lambda: "Trying again. Press Ctrl+S" in form.status)
        await form.press("ctrl+s")
        assert form.dialog == "" and form.status.startswith(waits)
        assert form.screen.fields.typed() == form.screen.fields.initial | RECURRING
        form.screen.fields.row("remoteName").focus_control()
        await form.press("end", "'s", "tab")
        told = "lockterm could not check whether the name is free."
        assert form.note("remoteName").startswith(told) and not form.error("remoteName")
        assert form.closed == []


async def test_form_does_not_count_down_in_low_bandwidth_mode(
    running_service: Callable[..., RunningService], open_form: Opener
) -> None:
    async with a_form_offline(running_service, open_form, reads_ahead=False) as (form, _):
        again = " lockterm will try again automatically. Press Ctrl+S to try now."
        assert form.status.endswith(again)


async def test_form_saves_when_the_service_is_back(gate: Gate, proxy: FaultProxy) -> None:
    async with gate.open(proxy) as form:
        await form.fill(**RECURRING)
        before = gate.total()
        lose(proxy, "detail", applies=False)
        with pytest.raises(ServiceError):
            await form.screen.operations.remotes.detail(1)
        await settled(form.pilot)
        assert "cannot be reached" in form.status
        await form.press("ctrl+s")
        assert form.dialog == "" and "cannot be reached" in form.status
        proxy.disarm("detail")
        await form.press("ctrl+s")
        await form.agree()
        assert gate.total() == before + 1
        assert form.closed and form.closed[0] is not None


async def test_focus_chain_follows_the_form_when_rows_were_just_shown(gate: Gate) -> None:
    """Before the next layout they have no place on the screen, by which Textual would go."""
    async with gate() as form:
        screen = form.screen
        screen.fields.row("remoteType").value = "4"
        screen.fields.read_now()
        fields = [row.field for row in screen.rows if row.display]
        visited = [
            row.field
            for widget in screen.focus_chain
            for row in widget.ancestors_with_self
            if isinstance(row, FormField)
        ]
        assert "startDate" in visited
        assert list(dict.fromkeys(visited)) == fields


async def test_presets_are_written_into_the_end_by_key_and_by_click(gate: Gate) -> None:
    async with gate(48238, "endDate", presets=("+30d", "eom")) as form:
        own = form.screen.fields.typed()["endDate"]
        seen = []
        for _ in range(3):
            await form.press("ctrl+g")
            seen.append(form.screen.fields.typed()["endDate"])
        assert seen == ["+30d", "eom", own], "the text from before comes back after the last one"
        presets = form.screen.fields.row("endDate").query_one(Presets)
        await form.pilot.click(presets, offset=(8, 0))  # the second of [+30d] [eom]
        await form.press("' 18:00")
        assert form.screen.fields.typed()["endDate"] == "eom 18:00", "and it can be continued"
        assert "30 Nov 2026 18:00" in form.note("endDate")
        assert form.screen.focused is form.screen.fields.row("endDate").query_one(Input)


@pytest.mark.parametrize(
    ("width", "presets", "shown_as"),
    [
        (80, ("+30d", "eom"), "[+30d] [end of month]"),
        (60, ("+1d", "+1w", "+30d", "eom"), "[+30d] [eom]"),
        (60, ("+30d", "next fri 18:00", "next mon 18:00"), "[+30d] [next fri 18:00]"),
    ],
)
async def test_presets_have_long_labels_and_are_left_out_whole_as_there_is_room(
    gate: Gate, width: int, presets: tuple[str, ...], shown_as: str
) -> None:
    async with gate(48238, "endDate", size=(width, 20), presets=presets) as form:
        line = form.screen.fields.row("endDate").query_one(Presets)
        assert str(line.render()).endswith(shown_as)


async def test_buttons_do_what_their_keys_do(gate: Gate) -> None:
    async with gate() as form:
        save, leave = form.screen.query(".buttons Button").results(Button)
        assert (str(save.label), str(leave.label)) == ("Ctrl+S  Save", "Esc  Leave")
        assert (save.has_class("-idle"), leave.has_class("-idle")) == (True, False)
        await form.pilot.click(save)
        await settled(form.pilot)
        assert form.error("remoteName") == "A name is required."
        assert form.screen.focused is not save, "the first missing field has the focus"
        await form.press("'Anna")
        await form.pilot.click(leave)
        await settled(form.pilot)
        assert "Anna" in form.dialog and "lost" in form.dialog
