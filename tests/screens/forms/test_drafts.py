"""What was typed survives: a killed program, a closed form, a service that is gone."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from lockterm.domain.drafts import Draft
from lockterm.domain.locks import Lock
from lockterm.screens.form import SOON_S
from lockterm.screens.form_drafts import ask_about_draft
from lockterm.screens.locks.form import LockForm
from lockterm.screens.remote_form import RemoteForm
from lockterm.screens.remotes import RemotesScreen
from lockterm.service.running import RunningService
from lockterm.store.drafts import Drafts
from tests.faults.calls import new_remote
from tests.long import telling
from tests.screens import someone_else
from tests.screens.forms.conftest import Opener, total
from tests.screens.running_app import Clock, Starter, settled, shown, until


async def test_a_draft_is_on_disk_soon_after_a_key_and_offered_at_the_next_opening(
    service: RunningService, lockterm_app: Starter
) -> None:
    assert SOON_S <= 2
    async with lockterm_app(service, open_lock=1001) as pilot:
        operations = pilot.app.operations
        await pilot.app.push_screen(RemoteForm(operations, Lock(1001, name="Main gate")))
        await settled(pilot)
        await pilot.press(*"Roof")

        async def kept() -> Draft | None:
            return await operations.drafts.find("remote", 1001, None)

        draft = None
        while draft is None or draft.typed.get("remoteName") != "Roof":  # without another key
            await pilot.pause(0.01)
            draft = await kept()
        # As after kill -9: the form is gone without having been asked.
        pilot.app.pop_screen()
        await settled(pilot)
        form = RemoteForm(operations, Lock(1001, name="Main gate"))
        await pilot.app.push_screen(form)
        await until(pilot, lambda: "was not finished" in shown(pilot))
        await until(pilot, lambda: pilot.app.screen.painted_s is not None)
        await pilot.press("right", "enter")
        await until(pilot, lambda: pilot.app.screen is form)
        assert form.fields.typed()["remoteName"] == "Roof"
        await pilot.press("escape")
        await until(pilot, lambda: "Leave without saving" in shown(pilot))
        await until(pilot, lambda: pilot.app.screen.painted_s is not None)
        await pilot.press("right", "enter")
        await settled(pilot)
        assert await kept() is None


@pytest.mark.parametrize(
    "keys", telling([("enter",)], [("escape",), ("enter",), ("right", "right", "enter")])
)
async def test_only_the_button_that_says_so_discards_a_draft(
    service: RunningService, lockterm_app: Starter, keys: tuple[str, ...]
) -> None:
    app = lockterm_app.app(service, open_lock=1001)
    draft = Draft("remote", 1001, None, {"remoteName": "Roof crew"}, 1, "1-dead")
    Drafts(app.operations.journal.database, "demo").save(draft)

    async def answer(*answers: str) -> None:
        await until(pilot, lambda: "was not finished" in shown(pilot))
        await until(pilot, lambda: app.screen.painted_s is not None)
        await pilot.press(*answers)
        await settled(pilot)

    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await answer("escape")  # at the start too: later
        await pilot.press("a")
        await answer(*keys)
        is_discarded = len(keys) == 3
        kept = await app.operations.drafts.find("remote", 1001, None)
        assert kept == (None if is_discarded else draft)
        assert isinstance(app.screen, RemoteForm) == is_discarded
        await pilot.press(*([] if is_discarded else ["a"]))
        await until(pilot, lambda: is_discarded or "Later  " in shown(pilot))
        assert ("Discard the input" in shown(pilot)) == (not is_discarded)


async def test_the_draft_of_a_session_that_ended_is_offered_at_the_start(
    service: RunningService, lockterm_app: Starter, clock: Clock, tmp_path: Path
) -> None:
    app = lockterm_app.app(service)
    draft = Draft("remote", 1001, None, {"remoteName": "张伟 [/]", "remoteType": "2"}, 1, "1-dead")
    Drafts(app.operations.journal.database, "demo").save(draft)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "was not finished" in shown(pilot))
        assert "The form for a new remote on lock 1001 was not finished" in shown(pilot)
        assert " Name: 张伟 [/]" in shown(pilot)
        assert " Type: time-limited" in shown(pilot)
        await until(pilot, lambda: app.screen.painted_s is not None)
        await pilot.press("right", "enter")
        await until(pilot, lambda: isinstance(app.screen, RemoteForm))
        await settled(pilot)
        assert app.screen.fields.typed()["remoteName"] == "张伟 [/]"


async def test_what_a_session_left_is_not_offered_over_a_question(
    service: RunningService, lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = lockterm_app.app(service, open_lock=1001)
    drafts = app.operations.drafts
    Drafts(app.operations.journal.database, "demo").save(
        Draft("remote", 1001, None, {"remoteName": "Roof crew"}, 1, "1-dead")
    )
    begun, gate, abandoned = asyncio.Event(), asyncio.Event(), drafts.abandoned

    async def held() -> list[Draft]:
        begun.set()
        await gate.wait()
        return await abandoned()

    monkeypatch.setattr(drafts, "abandoned", held)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: begun.is_set() and not app.key_queue.is_opening)
        await pilot.press("d")
        await until(pilot, lambda: app.screen.is_modal)
        gate.set()
        await settled(pilot)
        assert "was not finished" not in shown(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: "was not finished" in shown(pilot))


async def test_what_is_saved_from_an_offered_draft_is_shown_at_once(
    service: RunningService, lockterm_app: Starter
) -> None:
    """As where its form was opened with a key: the list is read again, the cursor stands on it."""
    before = someone_else.page(service, 1002)[1]
    app = lockterm_app.app(service, open_lock=1002)
    draft = Draft("remote", 1002, before["id"], {"remoteName": "Roof crew"}, 1, "1-dead")
    Drafts(app.operations.journal.database, "demo").save(draft)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "was not finished" in shown(pilot))
        await until(pilot, lambda: app.screen.painted_s is not None)
        await pilot.press("right", "enter")
        await until(pilot, lambda: isinstance(app.screen, RemoteForm))
        await settled(pilot)
        await pilot.press("ctrl+s", "right", "enter")
        await until(pilot, lambda: isinstance(app.screen, RemotesScreen))
        await settled(pilot)
        assert app.screen.current.remote_name == "Roof crew"


@pytest.mark.long
async def test_a_saved_form_leaves_no_draft(service: RunningService, open_form: Opener) -> None:
    async with open_form(service) as form:
        await form.press("'Roof crew", "tab", "'A-9001", "tab", "space", "ctrl+s")
        await form.agree()
        assert total(service) == 138
        operations = form.pilot.app.operations
        assert await operations.drafts.find("remote", 1001, None) is None


async def test_form_keeps_no_draft_when_it_changes_after_it_was_sent(
    service: RunningService, lockterm_app: Starter
) -> None:
    """It would be offered again, and the remote added twice."""
    async with lockterm_app(service) as pilot:
        operations = pilot.app.operations
        form = LockForm(operations)
        await pilot.app.push_screen(form)
        await settled(pilot)
        await pilot.press(*"100")
        form.drafts.finish()
        form.drafts.note_change()
        form.soon.end()
        await operations.drafts.flush()
        assert await operations.drafts.find("lock", 0, None) is None


async def test_form_offers_no_draft_when_something_was_typed_already(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service) as pilot:
        form = LockForm(pilot.app.operations)
        await pilot.app.push_screen(form)
        await settled(pilot)
        await pilot.press(*"100")
        form.soon.end()
        await pilot.app.operations.drafts.flush()
        form.drafts.begin(None)
        await settled(pilot)
        assert pilot.app.screen is form


async def test_fill_changes_no_field_when_it_cannot_be_typed_into(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service) as pilot:
        form = LockForm(pilot.app.operations, Lock(1001, name="Main gate"))
        await pilot.app.push_screen(form)
        await settled(pilot)
        form.fill({"id": "1002", "name": "Side gate"})
        assert (form.typed()["id"], form.typed()["name"]) == ("1001", "Side gate")


@pytest.mark.parametrize("name", ["Roof crew", "Someone else"])
async def test_ask_about_draft_says_that_it_was_sent_when_the_journal_has_it(
    service: RunningService, lockterm_app: Starter, name: str
) -> None:
    async with lockterm_app(service, open_lock=1001) as pilot:
        operations = pilot.app.operations
        await operations.writes.add_remote(new_remote(1001, name))
        at_ms = operations.machine_ms()
        draft = Draft("remote", 1001, None, {"remoteName": "Roof crew"}, at_ms, "1-dead")
        question = await ask_about_draft(
            draft, operations, "A form", lambda field, text: text, verb="Continue"
        )
        pilot.app.push_screen(question)
        await until(pilot, lambda: "was not finished" in shown(pilot))
        was_sent = "the lock may have the remote twice" in " ".join(shown(pilot).split())
        assert was_sent is (name == "Roof crew")


@pytest.mark.long
async def test_the_lock_form_keeps_its_draft_too_and_forgets_what_was_taken_back(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service) as pilot:
        operations = pilot.app.operations
        form = LockForm(operations)
        await pilot.app.push_screen(form)
        await settled(pilot)
        await pilot.press(*"100")
        form.soon.end()
        await operations.drafts.flush()
        assert (await operations.drafts.find("lock", 0, None)).typed == {"id": "100"}
        await pilot.press("backspace", "backspace", "backspace")
        form.soon.end()
        await operations.drafts.flush()
        assert await operations.drafts.find("lock", 0, None) is None


async def test_a_draft_that_the_store_cannot_take_holds_no_other_up(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service) as pilot:
        drafts, told = pilot.app.operations.drafts, list[tuple[str, str]]()
        beyond = 2**70  # no store can keep it
        for lock_id, typed in ((beyond, "Gate"), (1002, "Roof"), (1003, "Yard")):
            tell = partial(lambda typed, error: told.append((typed, error.message)), typed)
            drafts.keep(("remote", lock_id, None), {"remoteName": typed}, tell)
            if lock_id == beyond:
                await until(pilot, lambda: told)
        await drafts.flush()
        for lock_id, typed in ((1002, "Roof"), (1003, "Yard")):
            draft = await drafts.find("remote", lock_id, None)
            assert draft is not None and draft.typed == {"remoteName": typed}
        assert {typed for typed, _ in told} == {"Gate"}


async def test_the_last_keys_before_the_end_are_kept(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service) as pilot:
        operations = pilot.app.operations
        await pilot.app.push_screen(RemoteForm(operations, Lock(1001)))
        await settled(pilot)
        await pilot.press(*"Roof")
        assert await operations.drafts.find("remote", 1001, None) is None
    (draft,) = Drafts(operations.journal.database, "demo").all()
    assert draft.typed == {"remoteName": "Roof"}
