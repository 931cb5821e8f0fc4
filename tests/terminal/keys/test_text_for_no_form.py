"""Text that was typed for a form that did not open: whatever it spells, it settles nothing."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from lockterm.domain.operation import OperationState
from lockterm.paths import Paths
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.remotes import RemotesScreen
from lockterm.service.running import RunningService
from lockterm.store.database import Database
from lockterm.store.journal import Journal
from tests.conftest import NOW_MS
from tests.long import telling
from tests.samples import an_operation
from tests.screens.running_app import Clock, Starter, notices, shown, until
from tests.screens.site import press

SAVE = ("ctrl+s", "right", "enter")
"""How hands save a form."""


@pytest.fixture
async def starter(tmp_path: Path, service: RunningService) -> Starter:
    """A session whose change of the first remote was not seen at the service."""
    starter = Starter(tmp_path / "lockterm", Clock())
    async with starter(service, 1001) as pilot:
        remote = pilot.app.screen.current  # type: ignore[attr-defined]
    database = Database(Paths.below(starter.directory).database)
    left = an_operation(
        **{"id": uuid4().hex, "profile": "demo", "before": (remote.raw,)},
        body={"lockId": 1001, "remoteId": remote.id, "remoteName": "Other"},
        **{
            "remote_id": remote.id,
            "remote_name": remote.remote_name,
            "state": OperationState.PREPARED,
        },
        **{"session": "earlier", "prepared_ms": NOW_MS - 60_000, "service": service.base_url},
    )
    journal = Journal(database, "demo", service.base_url)
    journal.prepare(left)
    journal.move(left.id, [OperationState.PREPARED], state=OperationState.NOT_SEEN)
    database.close()
    return starter


@pytest.mark.parametrize("name", telling(["AL"], ["Anna", "AL", "Xaver"]))
@pytest.mark.parametrize("is_burst", [True, False])
async def test_a_name_for_a_remote_whose_change_is_held_back_does_nothing(
    service: RunningService, starter: Starter, name: str, is_burst: bool
) -> None:
    async with starter(service, 1001) as pilot:
        await until(pilot, lambda: pilot.app.outcomes.unconfirmed)
        service.requests.clear()
        keys = ("e", *name, *SAVE)
        for chunk in [keys] if is_burst else [(key,) for key in keys]:
            await press(pilot, *chunk)
        assert "Edit: An earlier change of this remote is unconfirmed" in notices(pilot)
        assert not [path for _, path in service.requests if path.endswith("/update")]
        (left,) = await pilot.app.operations.journal.history()
        assert left.state is OperationState.NOT_SEEN


@pytest.mark.long
async def test_what_a_held_remote_does_not_allow_is_dimmed_as_long_as_the_cursor_is_on_it(
    service: RunningService, starter: Starter
) -> None:
    async with starter(service, 1001, size=(200, 24)) as pilot:  # room for every key
        await until(pilot, lambda: pilot.app.outcomes.unconfirmed)
        for way in ("", "j", "k", "j"):
            await press(pilot, *way)
            line = shown(pilot).splitlines()[-1]
            for written in ("e edit", "w renew", "d delete"):
                assert (f"({written})" in line) is (way != "j"), line
                assert written in line
            assert "(Enter details)" not in line
        screen, left = pilot.app.screen, pilot.app.outcomes.unconfirmed
        assert isinstance(screen, RemotesScreen)
        screen.show_notices("", ())
        await pilot.press("k")
        screen.show_notices("", left)  # while the cursor stands on it
        await until(pilot, lambda: "(e edit)" in shown(pilot))
        await pilot.press("j")
        await until(pilot, lambda: "(e edit)" not in shown(pilot))
        await press(pilot, "k", "e")
        assert "Edit: not available" in shown(pilot)
        assert "Resolve the change first: c checks the change" in notices(pilot)


async def test_it_is_sent_again_once_the_word_is_typed(
    service: RunningService, starter: Starter
) -> None:
    async with starter(service, 1001) as pilot:
        await until(pilot, lambda: pilot.app.outcomes.unconfirmed)
        await pilot.press("A")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
        await pilot.press(*"send", "enter", "enter")
        await until(pilot, lambda: not pilot.app.outcomes.unconfirmed)
        states = [one.state for one in await pilot.app.operations.journal.history()]
        assert states == [OperationState.SENT_AGAIN, OperationState.CONFIRMED]
