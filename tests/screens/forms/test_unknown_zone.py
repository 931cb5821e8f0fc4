"""The form of a remote whose lock has a zone that this machine does not know."""

from __future__ import annotations

from typing import Any

import pytest

from lockterm.domain.locks import Lock
from lockterm.service.running import RunningService
from tests.screens.forms import conftest
from tests.screens.forms.conftest import Opener, add


async def test_form_refuses_dates_when_the_zone_of_the_lock_is_unknown(
    service: RunningService, open_form: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conftest, "GATE", Lock(1001, name="Main gate", zone="Europe/Atlantis"))
    period: dict[str, Any] = {"remoteType": 2, "startDate": 1, "endDate": 1_801_436_399_000}
    remote_id = add(service, remoteName="Roof", **period)
    reason = 'This machine does not know the time zone "Europe/Atlantis" of this lock.'
    async with open_form(service, remote_id, "endDate") as form:
        assert "31 Jan 2027 22:59:59 +00:00" in form.note("endDate")
        assert reason in form.note("endDate")
        await form.press("'2027-06-30", "ctrl+s")
        assert form.error("endDate").startswith(reason)
        assert form.dialog == ""
        await form.fill(endDate="2027-06-30 18:00 +02:00")
        await form.press("ctrl+s")
        assert "30 Jun 2027 16:00 +00:00" in form.dialog
