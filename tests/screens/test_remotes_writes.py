"""What is done to remotes: on the one that was shown, asked for by name, told afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Button, Input

from lockterm.errors import OutcomeUnknown
from lockterm.screens.clear_remotes import ClearModal
from lockterm.screens.delete_remote import DeleteModal
from lockterm.screens.remotes import RemotesScreen
from lockterm.service.running import RunningService
from lockterm.widgets.remotes_table import RemotesTable
from tests.screens import someone_else
from tests.screens.running_app import Starter, notices, settled, shown, until


def table(pilot: Pilot[Any]) -> RemotesTable:
    return next(
        screen.query_one(RemotesTable)
        for screen in pilot.app.screen_stack
        if isinstance(screen, RemotesScreen)
    )


async def press(pilot: Pilot[Any], *keys: str) -> None:
    await pilot.press(*keys)
    await settled(pilot)


async def test_delete_acts_on_the_remote_that_was_shown(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        await press(pilot, "j", "j")
        target = table(pilot).selected
        assert target is not None and target.id is not None
        await press(pilot, "d")
        assert isinstance(pilot.app.screen, DeleteModal)
        assert f"Delete {target.remote_name} ({target.remote_number}) from lock 1003?" in shown(
            pilot
        )
        assert pilot.app.screen.query_one("#keep", Button).has_focus
        # Somebody deletes the rows before it; the list is read again under the open dialog.
        for record in someone_else.page(service, 1003)[:2]:
            someone_else.post(service, "delete", remoteId=record["id"])
        pilot.app.screen_stack[-2].action_refresh()  # type: ignore[attr-defined]
        await settled(pilot)
        table(pilot).move_cursor(row=3)

        await press(pilot, "tab", "enter")
        left = {record["id"] for record in someone_else.page(service, 1003)}
        assert target.id not in left and len(left) == 6
        assert "recorded by the service" in pilot.app.messages[-1].text
        assert "page 1 of 1 · 6 r" in shown(pilot)


async def test_keys_typed_ahead_delete_nothing(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        for key in ("d", "enter", "tab", "enter"):  # typed before anything was painted
            pilot.app.post_message(events.Key(key, None))
        await until(pilot, lambda: isinstance(pilot.app.screen, DeleteModal))
        await settled(pilot)
        assert isinstance(pilot.app.screen, DeleteModal)
        assert pilot.app.screen.query_one("#keep", Button).has_focus
        assert len(someone_else.page(service, 1003)) == 9
        assert someone_else.counted(service, "delete") == 0


async def test_enter_on_keep_keeps(service: RunningService, lockterm_app: Starter) -> None:
    async with lockterm_app(service, 1003) as pilot:
        await press(pilot, "d")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RemotesScreen)
        assert someone_else.counted(service, "delete") == 0


async def test_the_buttons_stand_whole_whatever_the_name(
    service: RunningService, lockterm_app: Starter
) -> None:
    someone_else.add(service, 1004, "長い名前" * 60)
    async with lockterm_app(service, 1004, size=(60, 20)) as pilot:
        await press(pilot, "d")
        for button in pilot.app.screen.query(Button):
            assert pilot.app.screen.query_one(".dialog").content_region.contains_region(
                button.region
            )
        await press(pilot, "escape")


async def test_delete_says_that_it_is_gone_or_changed(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        first, second = someone_else.page(service, 1003)[:2]
        someone_else.post(
            service, "update", lockId=1003, remoteId=first["id"], remoteName="Someone else"
        )
        someone_else.post(service, "delete", remoteId=second["id"])
        await press(pilot, "d")
        assert "! Changed since the list was read:" in shown(pilot)
        assert f"Name: {first['remoteName']} -> Someone else" in shown(pilot)
        assert "Delete Someone else" in shown(pilot)
        await press(pilot, "escape", "j", "d")
        assert f"{second['remoteName']} ({second['remoteNumber']}) is gone." in shown(pilot)
        assert pilot.app.screen.query_one("#act", Button).disabled
        await press(pilot, "enter")
        assert "8 remotes" in shown(pilot)  # the old list was read again
        assert someone_else.counted(service, "delete") == 1


async def test_clear_wants_the_name_typed_and_says_how_many(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        someone_else.add(service, 1003, "Came later")
        await press(pilot, "C")
        assert isinstance(pilot.app.screen, ClearModal)
        assert "Delete all 10 remotes of lock 1003?" in shown(pilot)
        act = pilot.app.screen.query_one("#act", Button)
        await press(pilot, *"100")
        assert act.disabled
        await press(pilot, "enter", "enter")  # to the other button: nothing happens
        assert len(someone_else.page(service, 1003)) == 10
        await press(pilot, "C", *"1003")
        act = pilot.app.screen.query_one("#act", Button)
        assert not act.disabled
        await press(pilot, "enter", "enter")
        assert someone_else.page(service, 1003) == []
        assert "10 remotes deleted from lock 1003; recorded by the service." in notices(pilot)
        assert "No remotes on this lock now" in shown(pilot)


async def test_clear_stops_where_the_number_is_another_by_then(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        await press(pilot, "C", *"1003")
        someone_else.add(service, 1003, "Came while the dialog stood there")
        await press(pilot, "enter", "enter")
        assert len(someone_else.page(service, 1003)) == 10
        assert "10 remotes now, not 9" in notices(pilot)


async def test_user_number(service: RunningService, lockterm_app: Starter) -> None:
    async with lockterm_app(service, 1003) as pilot:
        await press(pilot, "u")
        assert "no way to read it back" in shown(pilot) and " set. " in shown(pilot)
        await press(pilot, "a", *"9223372036854775808", "enter")
        assert "A whole number from" in shown(pilot)
        await press(pilot, "backspace", "enter")
        assert "has user number 922337203685477580 now; recorded by the service." in notices(pilot)
        assert someone_else.counted(service, "updateRemoteUserNo") == 1


async def test_a_refusal_is_quoted(service: RunningService, lockterm_app: Starter) -> None:
    async with lockterm_app(service, 1003) as pilot:
        await press(pilot, "u", "minus", "1", "enter")
        message = pilot.app.messages[-1]
        assert message.severity == "error"
        assert "Refused by the service" in message.title and "User number of" in message.title
        assert "parameter error" in message.text


async def test_an_unknown_outcome_is_said_plainly_and_the_page_read_again(
    service: RunningService, lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with lockterm_app(service, 1003) as pilot:

        async def lost(*_: object, **__: object) -> None:
            raise OutcomeUnknown("The service may have recorded it or not.", hint="Look first.")

        monkeypatch.setattr(pilot.app.operations, "delete_remote", lost)
        before = someone_else.counted(service, "list")
        await press(pilot, "d")
        await press(pilot, "tab", "enter")
        message = pilot.app.messages[-1]
        assert "Outcome unknown" in message.title and "may have recorded" in message.text
        assert someone_else.counted(service, "list") > before


async def test_a_read_only_profile_and_a_missing_end_say_why(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1004, read_only=True) as pilot:
        for key in ("a", "e", "d", "C", "u", "w"):
            await press(pilot, key)
            assert "is read-only" in pilot.app.messages[-1].text
        assert len(pilot.app.messages) == 6
    async with lockterm_app(service, 1004) as pilot:
        await press(pilot, "d")
        assert "There is no remote under the cursor." in pilot.app.messages[-1].text
        someone_else.add(service, 1004, "Permanent")
        await press(pilot, "r", "w")
        assert "A permanent remote has no end" in pilot.app.messages[-1].text


async def test_a_write_outlives_the_screen_that_began_it(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service) as pilot:
        from lockterm.models.locks import Lock

        pilot.app.push_screen(RemotesScreen(pilot.app.operations, Lock(1003)))
        await settled(pilot)
        await press(pilot, "d")
        await pilot.press("tab", "enter", "escape")
        await until(pilot, lambda: "recorded by the service" in notices(pilot))
        assert len(someone_else.page(service, 1003)) == 8


async def test_copy_goes_to_the_terminal_and_says_so(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        remote = table(pilot).selected
        assert remote is not None
        await press(pilot, "y", "enter")
        assert pilot.app.clipboard == remote.remote_number
        assert f"{remote.remote_number} - sent to the terminal" in pilot.app.messages[-1].text


async def test_an_added_remote_is_found_on_its_page(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        await press(pilot, "a")
        await press(pilot, *"New one", "tab", *"N-1", "tab", "p")
        assert not pilot.app.screen.query_one(Input).disabled
        await press(pilot, "ctrl+s")
        await press(pilot, "tab", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, RemotesScreen))
        await settled(pilot)
        selected = table(pilot).selected
        assert selected is not None and selected.remote_name == "New one"
        assert "page 7 of 7" in shown(pilot)


async def test_an_empty_lock_names_the_way_back_where_there_is_one(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1004) as pilot:
        assert "No remotes on this lock yet." in shown(pilot)
        someone_else.add(service, 1004, "Roof crew")
        await press(pilot, "r", "C")
        assert isinstance(pilot.app.screen, ClearModal)
        await press(pilot, *"1004", "enter", "enter")
        assert "the history has what was deleted from here" in shown(pilot)
        assert "H  history, where R adds it again" in shown(pilot)
        await press(pilot, "H", "R")
        assert "Roof crew" in shown(pilot)
    async with lockterm_app(service, 1004) as pilot:  # another session knows it too
        assert "H  history, where R adds it again" in shown(pilot)
    async with lockterm_app(service, 1004, read_only=True) as pilot:
        assert "R adds it again" not in shown(pilot)
