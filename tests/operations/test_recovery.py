"""What goes on by itself after a failed change, and what undoes one."""

from __future__ import annotations

import pytest

from lockterm.errors import UnreachableError
from lockterm.operations.undoing import undo_last
from tests.faults.calls import CALLS, Scene
from tests.faults.site import Site, until


async def test_connection_recovers_when_a_change_could_not_be_sent(site: Site):
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        scene = Scene(lock_id, site.remotes(lock_id)[1])
        await operations.remotes.all(lock_id)
        await proxy.refuse()
        with pytest.raises(UnreachableError):
            await operations.writes.set_user_no(lock_id, scene.remote, 5, just_read=True)
        assert operations.connection.online is False
        await proxy.heal()
        await until(lambda: operations.connection.online)
        await CALLS["update"](operations, scene)


async def test_undo_sets_the_former_user_number_when_nothing_has_changed_since(site: Site):
    lock_id = site.new_lock()
    remote = site.remotes(lock_id)[0]
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        for number in (7, 9):
            await operations.writes.set_user_no(lock_id, remote, number)
        drawn = await undo_last(operations, lock_id)
    assert drawn is not None and not drawn.left
    assert [step.wanted for step in drawn.plan.steps] == [{"remoteUserNo": 7}]
