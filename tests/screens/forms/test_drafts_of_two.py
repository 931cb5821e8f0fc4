"""Drafts of two sessions, and of a store that another program has locked."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from lockterm.config import Profile
from lockterm.domain.locks import Lock
from lockterm.operations import Operations
from lockterm.screens.locks.form import LockForm
from lockterm.screens.remote_form import RemoteForm
from tests.screens.forms.conftest import Form, Gate
from tests.screens.running_app import Demo, notices, settled, shown, until
from tests.screens.site import settled_when


@pytest.fixture(autouse=True)
def no_offer_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The forms are asked about here; the start would ask at a moment of its own."""

    async def nothing(*given: object) -> None:
        return

    monkeypatch.setattr("lockterm.screens.form_drafts.offer_abandoned", nothing)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another program is writing for as long as this lasts."""
    other = sqlite3.connect(path, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        yield
    finally:
        other.close()


async def agree(pilot: Pilot[int]) -> None:
    """Press the verb of the dialog; what it begins may wait."""
    await until(pilot, lambda: getattr(pilot.app.screen, "painted_s", None) is not None)
    await pilot.press("right", "enter")


@asynccontextmanager
async def sent_while_locked(form: Form) -> AsyncIterator[Pilot[int]]:
    """A new remote is sent while another program writes to the store."""
    pilot = form.pilot
    await form.press("'Roof crew", "tab", "'A-9001", "tab", "space")
    with locked(pilot.app.operations.journal.database.path):
        await form.press("ctrl+s")
        await agree(pilot)
        yield pilot


def another_session(app) -> Operations:
    here = app.operations
    profile = Profile(here.profile.name, here.profile.base_url)
    return Operations(profile, here.journal.database.path)


@pytest.mark.parametrize("answer", ["Continue", "Start over"])
async def test_a_draft_that_another_session_types_stays_its_own(demo: Demo, answer: str) -> None:
    key = ("remote", 1001, None)
    async with demo(open_lock=1001) as pilot:
        app = pilot.app
        other = another_session(app)
        other.drafts.keep(key, {"remoteName": "Anna"}, print)
        await other.drafts.flush()
        assert await app.operations.drafts.abandoned() == []
        form = RemoteForm(app.operations, Lock(1001, name="Main gate"))
        await app.push_screen(form)
        question = "The form for a new remote on Main gate is being edited"
        await until(pilot, lambda: question in shown(pilot))
        await until(pilot, lambda: app.screen.painted_s is not None)
        await pilot.press("right", *(("right",) if answer == "Start over" else ()), "enter")
        await settled_when(pilot, lambda: app.screen is form)
        await pilot.press(*" B")
        form.keep_draft()
        await app.operations.drafts.flush()
        mine = await app.operations.drafts.find(*key)
        assert mine is not None and mine.session == app.operations.journal.session.id
        form.forget_draft()  # as saving does
        await app.operations.drafts.flush()
        theirs = await other.drafts.find(*key)
        assert theirs is not None and theirs.typed == {"remoteName": "Anna"}
        await other.close()
        (left,) = await app.operations.drafts.abandoned()
        assert left.typed == {"remoteName": "Anna"}


@pytest.mark.long
async def test_locked_store_holds_no_keys_up(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lockterm.store.database.BUSY_S", 600.0)
    monkeypatch.setattr("lockterm.screens.form_drafts.SOON_S", 0.01)
    async with demo() as pilot:
        operations = pilot.app.operations
        form = LockForm(operations)
        await pilot.app.push_screen(form)
        await settled(pilot)
        with locked(operations.journal.database.path):
            await pilot.press("1")
            await until(pilot, lambda: "is locked by another program" in notices(pilot))
            for key in "00777":
                await pilot.press(key)
            assert form.touched() == {"id": "100777"}
            assert await operations.drafts.find("lock", 0, None) is None
        kept = None
        while kept is None or kept.typed != {"id": "100777"}:  # without another key
            await pilot.pause(0.01)
            kept = await operations.drafts.find("lock", 0, None)


@pytest.mark.long
async def test_save_waits_for_a_locked_store(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lockterm.store.database.BUSY_S", 600.0)
    async with gate() as form:
        async with sent_while_locked(form) as pilot:
            await until(pilot, lambda: "another program has locked the local store" in shown(pilot))
            assert gate.total() == 137
        await settled_when(pilot, lambda: gate.total() == 138)


@pytest.mark.long
async def test_draft_reports_a_locked_store(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lockterm.store.database.BUSY_S", 0.01)
    async with gate() as form, sent_while_locked(form) as pilot:
        await until(pilot, lambda: "is locked by another program" in shown(pilot))
        assert gate.total() == 137
