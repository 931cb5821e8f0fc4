"""A profile that means another service by now: the same ids are other locks and remotes there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lockterm.config import Profile
from lockterm.domain.operation import OperationState
from lockterm.errors import ResultUnknownError
from lockterm.operations import Operations
from lockterm.operations.refusals import OtherServiceError
from lockterm.operations.undoing import plan_undo
from tests.faults.calls import CALLS, Scene
from tests.faults.catalogue import reset
from tests.faults.site import Site, verify_step


async def test_what_was_sent_elsewhere_is_not_read_back_sent_or_restored_here(
    site: Site, running_service, tmp_path
):
    lock_id = site.new_lock()
    scene = Scene(lock_id, site.remotes(lock_id)[1])
    store = tmp_path / "lockterm.db"
    async with site.proxy() as proxy:
        there = Operations(Profile("p", proxy.base_url, "UTC"), store)
        proxy.arm("delete", reset, 1)
        there.watch.start = lambda: None  # type: ignore[method-assign]
        with pytest.raises(ResultUnknownError):
            await CALLS["delete"](there, scene)
        await there.close()

    empty = running_service(sample_data=False)
    here = Operations(Profile("p", empty.base_url, "UTC"), store)
    try:
        (lost,) = await here.journal.list_unconfirmed()
        assert lost.service == proxy.base_url
        here.watch.start()  # what it does by itself at the start
        await verify_step(here)
        for resolve in (here.watch.check, here.resolution.send_again):
            with pytest.raises(OtherServiceError, match="Nothing was read or sent"):
                await resolve(lost)
        with pytest.raises(OtherServiceError):
            await plan_undo(
                here, [replace(lost, state=OperationState.CONFIRMED)], "undo", renames=False
            )
        (lost,) = await here.journal.list_unconfirmed()
        assert lost.state is OperationState.UNKNOWN, "the remote is in no list of another service"
        assert list(empty.requests) == []
    finally:
        await here.close()
