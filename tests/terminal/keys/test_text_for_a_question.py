"""Text that runs into a question which came in place of a form: it answers nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.remote_form import RemoteForm
from lockterm.service.running import RunningService
from tests.screens.running_app import Clock, Starter, notices, settled, until


@pytest.mark.long
async def test_a_name_and_enter_do_not_start_a_draft_afresh(
    service: RunningService, tmp_path: Path
) -> None:
    starter = Starter(tmp_path / "lockterm", Clock())
    form = ("remote", 1001, None)
    async with starter(service, 1001) as pilot:
        typed = {"remoteName": "Draft", "remoteNumber": "D-1", "remoteType": "1"}
        pilot.app.operations.drafts.keep(form, typed, print)
        await pilot.app.operations.drafts.flush()
    async with starter(service, 1001) as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
        await pilot.press("escape")  # later: it comes with its form
        await settled(pilot)
        for key in ("a", *"Anna", "enter"):  # as hands type it, without looking
            await pilot.press(key)
            await settled(pilot)
        assert isinstance(pilot.app.screen, ConfirmModal)
        assert "before the question was shown" in notices(pilot)
        await pilot.press("right", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, RemoteForm))
        await settled(pilot)
        assert pilot.app.screen.fields.typed()["remoteName"] == "Draft"
