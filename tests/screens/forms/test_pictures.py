"""The remote form as pictures, for the README and against changes nobody meant."""

from __future__ import annotations

import pytest

from lockterm.service.running import RunningService
from tests.screens.forms.conftest import Opener, add
from tests.screens.forms.test_remote_form import RECURRING
from tests.screens.running_app import PATIENCE_S
from tests.screens.snapshots import assert_picture

LONG = "张伟（保安队长）大楼管理处夜班负责人与钥匙保管员 Snow clearing and gritting, Hansen & Sons"


@pytest.mark.long
async def test_adding(service: RunningService, open_form: Opener) -> None:
    async with open_form(service, timeout_s=PATIENCE_S) as form:
        await form.press("'Roof crew", "tab")
        await form.fill(**RECURRING | {"endDate": "2026-11-01 09:00", "weekDay": ""})
        await form.press("ctrl+s")
        assert_picture(form.pilot.app, "remote-form-80x24")


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_asking(service: RunningService, open_form: Opener, size: tuple[int, int]) -> None:
    async with open_form(service, size=size, timeout_s=PATIENCE_S) as form:
        await form.fill(**RECURRING | {"remoteName": LONG, "weekDay": ""})
        await form.press("ctrl+s")
        assert_picture(form.pilot.app, f"remote-form-ask-{size[0]}x{size[1]}")


@pytest.mark.long
async def test_changing(service: RunningService, open_form: Opener) -> None:
    remote_id = add(
        service,
        remoteName=LONG,
        remoteType=2,
        startDate=1_790_000_000_000,
        endDate=1_790_500_000_000,
        extraData={"company": "Brandt Elektro GmbH", "badge": 7009},
    )
    async with open_form(service, remote_id, "endDate", timeout_s=PATIENCE_S) as form:
        await form.press("'+1y")
        assert_picture(form.pilot.app, "remote-form-edit-80x24")
