"""What is done to remotes: on the one that was shown, asked for by name, told afterwards."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Button, Input, Static

from lockterm.app.notices import LEAST_S
from lockterm.domain.locks import Lock
from lockterm.domain.requests import RemoteChanges
from lockterm.domain.text.remote import format_remote
from lockterm.errors import ResultUnknownError
from lockterm.screens.dialogs.destroy import DestroyModal, TargetState
from lockterm.screens.remotes import RemotesScreen
from tests.faults.proxy import Exchange, FaultProxy
from tests.screens import someone_else
from tests.screens.running_app import Demo, Starter, notices, settled, shown, until
from tests.screens.site import canned, page_of, press, remotes_table, settled_when, words
from tests.servers import port_of


async def test_delete_acts_on_the_remote_that_was_shown(demo: Demo) -> None:
    async with demo(1003) as pilot:
        await press(pilot, "j", "j")
        target = remotes_table(pilot).selected
        assert target is not None and target.id is not None
        await press(pilot, "d")
        assert isinstance(pilot.app.screen, DestroyModal)
        assert f"Delete {target.remote_name} from lock 1003?" in shown(pilot)
        assert f"Number: {target.remote_number}" in shown(pilot)
        assert pilot.app.screen.query_one("#keep", Button).has_focus
        # Somebody deletes the rows before it; the list is read again under the open dialog.
        for record in demo.page(1003)[:2]:
            demo.post("delete", remoteId=record["id"])
        pilot.app.screen_stack[-2].action_refresh()  # type: ignore[attr-defined]
        await settled(pilot)
        remotes_table(pilot).move_cursor(row=3)

        await press(pilot, "D")
        left = {record["id"] for record in demo.page(1003)}
        assert target.id not in left and len(left) == 6
        assert pilot.app.messages[-1].title == f"Deleted {format_remote(target)} from lock 1003"
        once = "Recorded by the service. The service does not report whether the change"
        assert once in pilot.app.messages[-1].text
        pilot.app.clear_notifications()
        await until(pilot, lambda: "page 1 of 1 · 6 r" in shown(pilot))


async def test_keys_typed_ahead_delete_nothing(demo: Demo) -> None:
    async with demo(1003) as pilot:
        for key in ("d", "tab", "D"):  # typed before anything was painted
            pilot.app.post_message(events.Key(key, None))
        await settled_when(pilot, lambda: isinstance(pilot.app.screen, DestroyModal))
        assert isinstance(pilot.app.screen, DestroyModal)
        assert "pressed it before the dialog appeared" in notices(pilot)
        assert pilot.app.screen.query_one("#keep", Button).has_focus
        assert len(demo.page(1003)) == 9
        assert demo.counted("delete") == 0


async def test_the_keys_that_save_never_delete(demo: Demo) -> None:
    async with demo(1003) as pilot:
        await press(pilot, "d")
        act = pilot.app.screen.query_one("#act", Button)
        assert str(act.label).startswith("D  ") and not act.disabled
        for key in ("right", "tab", "down", "left", "up", "shift+tab"):
            await press(pilot, key)
            assert not act.has_focus
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RemotesScreen)
        await press(pilot, "d")
        await pilot.click("#act")
        await settled(pilot)
        assert demo.counted("delete") == 1


@pytest.mark.long
async def test_buttons_are_whole_for_any_name(demo: Demo) -> None:
    demo.add(1004, "長い名前" * 60)
    async with demo(1004, size=(60, 20)) as pilot:
        await press(pilot, "d")
        for button in pilot.app.screen.query(Button):
            assert pilot.app.screen.query_one(".dialog").content_region.contains_region(
                button.region
            )
        await press(pilot, "escape")


@pytest.mark.long
async def test_delete_says_that_it_is_gone_or_changed(demo: Demo) -> None:
    async with demo(1003) as pilot:
        first, second = demo.page(1003)[:2]
        someone_else.post(
            demo.service, "update", lockId=1003, remoteId=first["id"], remoteName="Someone else"
        )
        demo.post("delete", remoteId=second["id"])
        await press(pilot, "d")
        assert "! The remote has changed since the list was read:" in shown(pilot)
        assert f"Name: {first['remoteName']} -> Someone else" in shown(pilot)
        assert "Delete Someone else" in shown(pilot)
        await press(pilot, "escape", "j", "d")
        assert f"{second['remoteName']} ({second['remoteNumber']}) no longer exists." in shown(
            pilot
        )
        assert pilot.app.screen.query_one("#act", Button).disabled
        await press(pilot, "enter")
        assert "8 remotes" in shown(pilot)  # the old list was read again
        assert demo.counted("delete") == 1


async def test_delete_is_refused_when_the_remote_changes_during_the_question(demo: Demo) -> None:
    async with demo(1003) as pilot:
        first = demo.page(1003)[0]
        await press(pilot, "d")
        about = {"lockId": 1003, "remoteId": first["id"]}
        demo.post("update", **about, remoteName="Someone else")
        await press(pilot, "D")
        told = (
            "The remote was changed after it was read. Nothing was sent. Name:"
            f" {first['remoteName']} ->"
        )
        await until(pilot, lambda: told in notices(pilot))
        assert demo.counted("delete") == 0
        await press(pilot, "d")  # it is asked anew, of what it is now
        assert "Delete Someone else" in shown(pilot)
        await press(pilot, "D")
        assert demo.counted("delete") == 1


async def test_question_takes_no_answer_while_another_screen_covers_it(demo: Demo) -> None:
    read = asyncio.Event()

    class Question(DestroyModal):
        reads_target = True

        async def read_target(self) -> TargetState:
            await read.wait()
            return TargetState("Number: A-1")

    async with demo(1003) as pilot:
        app = pilot.app
        question = Question("Delete Anna?", "Reading", verb="Delete", keep="Keep")
        app.push_screen(question)
        await until(pilot, lambda: app.screen is question and question.is_mounted)
        app.action_command_palette()
        await until(pilot, lambda: app.screen is not question)
        read.set()
        details = question.query_one(".details Static", Static)
        await until(pilot, lambda: "Number: A-1" in str(details.render()))
        await pilot.pause()
        assert question.painted_s is None
        question.box.act.press()
        await pilot.pause()
        assert question in app.screen_stack, "a click on what nobody could see yet is no answer"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is question and question.painted_s is not None)


async def test_clear_wants_the_name_typed_and_says_how_many(demo: Demo) -> None:
    async with demo(1003) as pilot:
        demo.add(1003, "Came later")
        await press(pilot, "C")
        assert isinstance(pilot.app.screen, DestroyModal)
        assert "Delete all 10 remotes of lock 1003?" in shown(pilot)
        act = pilot.app.screen.query_one("#act", Button)
        await press(pilot, *"100")
        assert act.disabled
        await press(pilot, "enter", "enter")
        assert "! Your input is not 1003." in shown(pilot)
        await press(pilot, "D")
        field = pilot.app.screen.query_one("#typed", Input)
        assert field.value == "100", "a letter is not inserted into the field for a number"
        assert "! Type only the number 1003, then press Enter." in shown(pilot)
        assert len(demo.page(1003)) == 10
        await press(pilot, *"1003")
        assert field.value == "1003", "typing replaces what was wrong"
        await press(pilot, "D")
        assert "! The number is complete. Press Enter." in shown(pilot)
        act = pilot.app.screen.query_one("#act", Button)
        assert not act.disabled
        await press(pilot, "enter", "D")
        assert demo.page(1003) == []
        assert "Deleted 10 remotes from lock 1003: Recorded by the service." in notices(pilot)
        assert "This lock has no remotes now" in shown(pilot)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Main gate", "! Your input is neither Main gate nor 1001."),
        ("בית", "! Your input does not match."),
    ],
)
async def test_confirmation_reports_a_wrong_word(demo: Demo, name: str, said: str) -> None:
    demo.fill_book(Lock(1001, name=name))
    async with demo(1001) as pilot:
        await press(pilot, "C", *"1002", "enter")
        assert said in shown(pilot)


async def test_clear_is_allowed_when_the_count_may_be_wrong(lockterm_app: Starter) -> None:
    remotes = [{"id": number, "lockId": 7, "remoteName": f"Crew {number}"} for number in (1, 2)]
    wrong = page_of(remotes) | {"pages": 0, "total": 0}
    async with canned({"/list": wrong}) as server, lockterm_app(server, 7) as pilot:
        await settled(pilot)
        await pilot.press("C")
        await until(pilot, lambda: "Delete all 2 remotes of lock 7?" in shown(pilot))


async def test_clear_stops_where_the_number_is_another_by_then(demo: Demo) -> None:
    async with demo(1003) as pilot:
        await press(pilot, "C", *"1003")
        demo.add(1003, "Came while the dialog stood there")
        await press(pilot, "enter", "D")
        assert len(demo.page(1003)) == 10
        assert "10 remotes now, not 9" in notices(pilot)


@pytest.mark.long
async def test_user_number_is_checked_set_and_its_refusal_quoted(demo: Demo) -> None:
    async with demo(1003) as pilot:
        await press(pilot, "u")
        asked = words(pilot.app).replace(" │ │ ", " ")
        assert "does not report user numbers, so write down the number." in asked
        await press(pilot, "a", *"9223372036854775808", "enter")
        assert "Type a whole number, such as 12." in shown(pilot)
        await press(pilot, *"922337203685477580", "enter")  # in place of the wrong number
        assert "Set user number 922337203685477580 for " in notices(pilot)
        assert demo.counted("updateRemoteUserNo") == 1
        await press(pilot, "u", "minus", "1", "enter")
        message = pilot.app.messages[-1]
        assert message.severity == "error"
        assert "Refused by the service" in message.text and "User number of" in message.title
        assert "parameter error" in message.text


async def test_a_user_number_is_not_given_to_the_next_remote_with_the_id(demo: Demo) -> None:
    first = demo.page(1003)[0]
    async with demo(1003) as pilot:
        await press(pilot, "u", "7")
        demo.post("delete", remoteId=first["id"])
        bob = demo.add(1003, "Bob")
        with demo.service.app.state.site.database.writing() as db:
            db.execute("UPDATE remote SET id = ? WHERE id = ?", (first["id"], bob))
        await press(pilot, "enter")
        assert f"gave the ID {first['id']} to another remote: Bob" in notices(pilot)
        assert demo.counted("updateRemoteUserNo") == 0


async def test_unknown_delete_is_reported(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    async with demo(1003) as pilot:

        async def lost(*_: object, **__: object) -> None:
            raise ResultUnknownError(
                "The service may have recorded the change or not.", hint="Look first."
            )

        monkeypatch.setattr(pilot.app.operations.writes, "delete_remote", lost)
        before = demo.counted("list")
        await press(pilot, "d")
        await press(pilot, "D")
        message = pilot.app.messages[-1]
        assert "Result unknown" in message.text and "may have recorded" in message.text
        assert demo.counted("list") > before


@pytest.mark.long
async def test_renew_says_why_a_remote_has_no_end_to_set(demo: Demo) -> None:
    async with demo(1004) as pilot:
        await press(pilot, "d")
        assert "No remote is selected." in pilot.app.messages[-1].text
        await press(pilot, "escape")
        demo.add(1004, "Permanent")
        await press(pilot, "r", "w")
        refused = "Permanent remotes have no end date. Press e to change the type."
        assert refused in pilot.app.messages[-1].text
        await press(pilot, "escape", "enter", "w")
        said = pilot.app.messages[-1]
        assert refused in said.text and (said.times, len(pilot.app.messages)) == (2, 2)


@pytest.mark.long
async def test_a_write_outlives_the_screen_that_began_it(demo: Demo) -> None:
    async with demo() as pilot:
        pilot.app.push_screen(RemotesScreen(pilot.app.operations, Lock(1003)))
        await settled(pilot)
        await press(pilot, "d")
        await pilot.press("D", "escape")
        await until(pilot, lambda: "Recorded by the service" in notices(pilot))
        assert len(demo.page(1003)) == 8


@pytest.mark.long
async def test_added_remote_is_selected(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LEAST_S, "information", 600.0)
    async with demo(1001) as pilot:
        await press(pilot, "a")
        await press(pilot, *"New one", "tab", *"N-1", "tab", "1")
        assert not pilot.app.screen.query_one(Input).disabled
        await press(pilot, "ctrl+s")
        await press(pilot, "tab", "enter")
        await settled_when(pilot, lambda: isinstance(pilot.app.screen, RemotesScreen))
        selected = remotes_table(pilot).selected
        assert selected is not None and selected.remote_name == "New one"
        await until(pilot, lambda: "Added New one (N-1): Recorded" in shown(pilot))
        await until(pilot, lambda: row_of(pilot, "N-1").startswith(" ·  New one"))
        assert shown(pilot).splitlines()[-2].startswith("▌ Added New one (N-1): Recorded")
        pilot.app.clear_notifications()
        await until(pilot, lambda: "page 7 of 7" in shown(pilot))


def row_of(pilot: Pilot[Any], number: str) -> str:
    return next((line for line in shown(pilot).splitlines() if f" {number} " in line), "")


@pytest.mark.long
async def test_an_empty_lock_names_the_way_back_where_there_is_one(demo: Demo) -> None:
    async with demo(1004) as pilot:
        assert "No remotes on this lock yet." in shown(pilot)
        demo.add(1004, "Roof crew")
        await press(pilot, "r", "C")
        assert isinstance(pilot.app.screen, DestroyModal)
        await press(pilot, *"1004", "enter", "D")
        assert "The history lists the remotes that you deleted" in words(pilot.app)
        assert "H  history (there, R restores)" in shown(pilot)
        await press(pilot, "H", "R")
        assert "Roof crew" in shown(pilot)
    async with demo(1004) as pilot:  # another session knows it too
        assert "H  history (there, R restores)" in shown(pilot)
    async with demo(1004, read_only=True) as pilot:
        assert "R restores)" not in shown(pilot)


async def test_question_keeps_numbers_apart_from_non_ascii_names(demo: Demo) -> None:
    """Terminals disagree on the width and the direction of such letters, and shift what follows."""
    demo.fill_book(Lock(1003, name="Östliche Tür"))
    remote_id = demo.add(1003, "Félix שלום", remoteNumber="A-2272")
    async with demo(1003) as pilot:
        await press(pilot, "G")
        assert remotes_table(pilot).selected is not None
        for key, numbers in (("d", ("A-2272", str(remote_id), "1003")), ("C", ("1003",))):
            await press(pilot, key)
            dialog = re.findall(r"│(.*)│", shown(pilot))
            for number in numbers:
                told = [line for line in dialog if number in line]
                assert told and all(map(str.isascii, told)), dialog
            await press(pilot, "escape")


async def test_list_reports_what_the_service_kept_otherwise(demo: Demo) -> None:
    async def keep_name(exchange: Exchange) -> None:
        body = json.loads(exchange.body)
        exchange.body = json.dumps(body | {"remoteName": body["remoteName"][:6]}).encode()
        answer = await exchange.apply()
        await exchange.send(answer.head + b"\r\n\r\n" + answer.body)

    async with (
        FaultProxy(port_of(demo.service)).running() as proxy,
        demo.starter(proxy, 1003) as pilot,
    ):
        operations = pilot.app.operations
        (remote, *_) = await operations.remotes.all(1003)
        proxy.arm("update", keep_name, 1)
        changes = RemoteChanges(remote_name="Anna Weber")
        await operations.writes.update_remote(1003, remote.id, changes, remote)
        await press(pilot, "r")
        words = "The service kept Name Anna W instead of Anna Weber."
        await until(pilot, lambda: words in notices(pilot))


async def test_states_follow_the_clock_of_the_service(demo: Demo) -> None:
    clock, words = demo.starter.clock, "This machine's clock is 365 days ahead of the service's"
    async with demo(1003) as pilot:

        def states() -> list[str]:
            return [row.valid.word for row in remotes_table(pilot).rows]

        right = states()
        await press(pilot, "d")
        assert "State: active" in shown(pilot) and "clock" not in shown(pilot)
        await press(pilot, "escape")
        clock.set_back_s = -365 * 86_400.0
        pilot.app.screen.note_minute()  # type: ignore[attr-defined]
        assert states() != right
        await pilot.app.operations.remotes.detail(remotes_table(pilot).rows[0].remote.id)
        await settled_when(pilot, lambda: f"{words} clock." in notices(pilot))
        assert states() == right
        await press(pilot, "d")
        assert "State: active" in shown(pilot)
        assert words in " ".join(shown(pilot).split())
