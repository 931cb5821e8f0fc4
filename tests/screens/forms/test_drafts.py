"""What was typed survives: a killed program, a closed form, a service that is gone."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.app import LocktermApp
from lockterm.config import Profile
from lockterm.domain.dates import Clock
from lockterm.domain.drafts import Draft
from lockterm.domain.locks import Lock
from lockterm.operations import Operations
from lockterm.screens.form import SOON_S
from lockterm.screens.form_drafts import DraftForm, ask_about_draft
from lockterm.screens.locks.form import LockForm
from lockterm.screens.remote_form import RemoteForm
from lockterm.screens.remotes import RemotesScreen
from lockterm.store.drafts import Drafts
from tests.faults.calls import new_remote
from tests.long import telling
from tests.screens.running_app import Demo, settled, shown, until
from tests.screens.site import press, press_to, settled_when


async def answer(pilot: Pilot[int], *keys: str) -> None:
    """Wait for the offer of a draft, or for the question to leave, and press keys."""
    await until(pilot, lambda: pilot.app.screen.is_modal)
    await until(pilot, lambda: pilot.app.screen.painted_s is not None)
    await press(pilot, *keys)


def leave_draft(app: LocktermApp, **draft: Any) -> Draft:
    """Write a draft as a session that was killed leaves it."""
    made = Draft("remote", 1001, None, {"remoteName": "Roof crew"}, 1, "1-dead")
    made = replace(made, **draft)
    Drafts(app.operations.journal.database, "demo").save(made)
    return made


async def test_draft_is_kept_after_a_key_and_offered_when_opened_again(demo: Demo) -> None:
    assert SOON_S <= 2
    async with demo(open_lock=1001) as pilot:
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
        await answer(pilot, "right", "enter")
        assert pilot.app.screen is form
        assert form.fields.typed()["remoteName"] == "Roof"
        await pilot.press("escape")
        await answer(pilot, "right", "enter")
        assert await kept() is None


@pytest.mark.parametrize(
    "keys", telling([("enter",)], [("escape",), ("enter",), ("right", "right", "enter")])
)
async def test_only_one_button_discards_a_draft(demo: Demo, keys: tuple[str, ...]) -> None:
    app = demo.starter.app(demo.service, open_lock=1001)
    draft = leave_draft(app)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await answer(pilot, "escape")  # at the start too: later
        await pilot.press("a")
        await answer(pilot, *keys)
        is_discarded = len(keys) == 3
        kept = await app.operations.drafts.find("remote", 1001, None)
        assert kept == (None if is_discarded else draft)
        assert isinstance(app.screen, RemoteForm) == is_discarded
        await pilot.press(*([] if is_discarded else ["a"]))
        await until(pilot, lambda: is_discarded or "Later  " in shown(pilot))
        assert ("Discard the input" in shown(pilot)) == (not is_discarded)


async def test_the_draft_of_a_session_that_ended_is_offered_at_the_start(demo: Demo) -> None:
    app = demo.starter.app(demo.service)
    leave_draft(app, typed={"remoteName": "张伟 [/]", "remoteType": "2"})
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "was not finished" in shown(pilot))
        assert "The form for a new remote on lock 1001 was not finished" in shown(pilot)
        assert " Name: 张伟 [/]" in shown(pilot)
        assert " Type: time-limited" in shown(pilot)
        await answer(pilot, "right", "enter")
        await until(pilot, lambda: isinstance(app.screen, RemoteForm))
        assert app.screen.fields.typed()["remoteName"] == "张伟 [/]"


async def test_draft_is_not_offered_over_a_question(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = demo.starter.app(demo.service, open_lock=1001)
    drafts = app.operations.drafts
    leave_draft(app)
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


async def test_what_is_saved_from_an_offered_draft_is_shown_at_once(demo: Demo) -> None:
    """As where its form was opened with a key: the list is read again, the cursor stands on it."""
    before = demo.page(1002)[1]
    app = demo.starter.app(demo.service, open_lock=1002)
    leave_draft(app, lock_id=1002, remote_id=before["id"])
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await answer(pilot, "right", "enter")
        await settled_when(pilot, lambda: isinstance(app.screen, RemoteForm))
        await press_to(pilot, RemotesScreen, "ctrl+s", "right", "enter")
        assert app.screen.current.remote_name == "Roof crew"


async def test_lock_form_keeps_a_draft_until_it_is_taken_back_or_sent(demo: Demo) -> None:
    async with demo() as pilot:
        drafts, form = pilot.app.operations.drafts, LockForm(pilot.app.operations)
        await pilot.app.push_screen(form)
        await settled(pilot)

        async def kept() -> object:
            form.soon.end()
            await drafts.flush()
            draft = await drafts.find("lock", 0, None)
            return draft and draft.typed

        await pilot.press(*"100")
        assert await kept() == {"id": "100"}
        DraftForm.on_mount(form)
        await settled(pilot)
        assert pilot.app.screen is form, "no draft is offered for what was typed already"
        await pilot.press("backspace", "backspace", "backspace")
        assert await kept() is None
        await pilot.press(*"100")
        form.forget_draft()
        form.note_change()
        assert await kept() is None, "it would be offered again, and a remote added twice"
        edit = LockForm(pilot.app.operations, Lock(1001, name="Main gate"))
        await pilot.app.push_screen(edit)
        await settled(pilot)
        edit.fill({"id": "1002", "name": "Side gate"})
        assert (edit.typed()["id"], edit.typed()["name"]) == ("1001", "Side gate")


@pytest.mark.parametrize("name", ["Roof crew", "Someone else"])
async def test_offer_says_that_a_draft_was_sent(demo: Demo, name: str) -> None:
    async with demo(open_lock=1001) as pilot:
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


async def test_a_draft_that_the_store_cannot_take_holds_no_other_up(demo: Demo) -> None:
    async with demo() as pilot:
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


async def test_the_last_keys_before_the_end_are_kept(demo: Demo) -> None:
    async with demo() as pilot:
        operations = pilot.app.operations
        await pilot.app.push_screen(RemoteForm(operations, Lock(1001)))
        await settled(pilot)
        await pilot.press(*"Roof")
        assert await operations.drafts.find("remote", 1001, None) is None
    with closing(operations.journal.database) as database:
        (draft,) = Drafts(database, "demo").all()
    assert draft.typed == {"remoteName": "Roof"}


async def test_no_worker_continues_after_the_end_of_the_session(demo: Demo) -> None:
    has_ended, ended_at_step = False, list[bool]()

    async def work() -> None:
        while True:
            ended_at_step.append(has_ended)
            await asyncio.sleep(0)

    async def close() -> None:
        nonlocal has_ended
        await Operations.close(operations)
        has_ended = True

    async with demo() as pilot:
        operations = pilot.app.operations
        operations.close = close  # type: ignore[method-assign]
        pilot.app.run_worker(work())
    assert has_ended and ended_at_step and not any(ended_at_step)


# --- a session that ends -------------------------------------------------------------------------

KEY = ("remote", 1001, None)


async def test_a_write_under_way_does_not_show_an_ended_session_as_living(
    tmp_path: Path, monkeypatch: Any
) -> None:
    """As where a profile is switched: the process goes on, and its session has ended."""
    profile = Profile("site", "http://127.0.0.1:9")
    held, begun, saved = threading.Event(), threading.Event(), threading.Semaphore(0)

    def slow() -> float:
        if not begun.is_set():
            begun.set()
            held.wait(30)  # as where all threads are busy
        return time.time()

    save = Drafts.save

    def counted(*draft: Any, **options: Any) -> None:
        save(*draft, **options)
        saved.release()

    monkeypatch.setattr(Drafts, "save", counted)
    first = Operations(profile, tmp_path / "lockterm.db", clock=Clock(wall=slow))
    first.drafts.keep(KEY, {"remoteName": "Anna"}, print)
    await asyncio.to_thread(begun.wait, 30)
    threading.Timer(0.2, held.set).start()
    await first.close()
    for _ in range(2):  # what was under way, and what the end of the session wrote
        assert await asyncio.to_thread(saved.acquire, timeout=30)
    second = Operations(profile, tmp_path / "lockterm.db")
    offered = await second.drafts.abandoned()
    assert [draft.typed for draft in offered] == [{"remoteName": "Anna"}]
    await second.close()
