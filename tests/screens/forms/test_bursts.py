"""A stalled link delivers many keys at once: all of them arrive, in their order."""

from __future__ import annotations

import pytest
from textual import events

from lockterm.service.running import RunningService
from tests.screens.forms.conftest import Opener
from tests.screens.running_app import settled


@pytest.mark.long
async def test_a_burst_of_keys_is_typed_as_it_came(
    service: RunningService, open_form: Opener
) -> None:
    async with open_form(service) as form:
        await form.press("'Roof crew", "tab", "'A-9001", "tab", "right", "right", "space", "tab")
        app = form.pilot.app
        for text in ("tomorrow 9:00", "+30d", "mon-fri"):
            for char in text:
                app.post_message(events.Key(char if char.isalnum() else "", char))
            app.post_message(events.Key("tab", "\t"))
        await settled(form.pilot)
        typed = form.screen.fields.typed()
        assert (typed["startDate"], typed["endDate"], typed["weekDay"]) == (
            "tomorrow 9:00",
            "+30d",
            "mon-fri",
        )
