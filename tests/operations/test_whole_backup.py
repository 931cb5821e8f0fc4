"""A clear has every remote in its backup, or is not sent."""

from __future__ import annotations

import pytest

from lockterm.errors import MalformedAnswerError, RuleViolationError
from tests.faults.calls import new_remote
from tests.faults.proxy import Exchange
from tests.faults.site import Site


def shift(site: Site, lock_id: int, times: int):
    """When page 2 is asked for, one goes from page 1 and one comes: the total stays."""
    left = times

    def move(exchange: Exchange) -> None:
        nonlocal left
        if "pageNo=2" in exchange.target and left:
            left -= 1
            with site.service.app.state.site.database.reading() as db:
                (first,) = db.execute(
                    "SELECT min(id) FROM remote WHERE lock_id = ?", (lock_id,)
                ).fetchone()
            site.ask("bluetooth-remote/delete", remoteId=first)
            site.ask("bluetooth-remote/add", **new_remote(lock_id, f"Come {left}").body())

    return move


@pytest.mark.parametrize("times", [1, 2])
async def test_no_remote_is_missing_from_the_backup_where_pages_shift(site: Site, times: int):
    lock_id = site.new_lock(450)
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        proxy.on_asked = shift(site, lock_id, times)
        assert await operations.writes.clear_remotes(lock_id, 450) == 450
        (row,) = await operations.journal.history()
        assert len({record["id"] for record in row.before}) == 450 and row.message == ""


async def test_clear_is_refused_when_the_list_keeps_changing(site: Site):
    lock_id = site.new_lock(450)
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        proxy.on_asked = shift(site, lock_id, 1000)
        with pytest.raises(MalformedAnswerError, match="lockterm changed nothing") as error:
            await operations.writes.clear_remotes(lock_id)
        assert error.value.title == "The list keeps changing"
        assert "clear" not in proxy.asked and await operations.journal.history() == []


async def test_more_deleted_than_the_backup_has_is_said(site: Site):
    lock_id = site.new_lock(3)
    async with site.proxy() as proxy, site.operations(proxy) as operations:

        async def two_come() -> None:
            for number in (1, 2):
                site.ask("bluetooth-remote/add", **new_remote(lock_id, f"Come {number}").body())

        proxy.after("clear", two_come)
        assert await operations.writes.clear_remotes(lock_id, 3) == 5
        (row,) = await operations.journal.history()
        assert "deleted 5 remotes, but the backup contains 3. 2 remotes were added" in row.message
        with pytest.raises(RuleViolationError):
            await operations.writes.clear_remotes(lock_id, 3)


async def test_a_list_that_is_without_what_was_recorded_is_not_cleared(site: Site):
    lock_id = site.new_lock(3)
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        kept: list[bytes] = []

        async def old(exchange: Exchange) -> None:
            if not kept:
                answer = await exchange.apply()
                kept.append(answer.head + b"\r\n\r\n" + answer.body)
            exchange.keep = True
            await exchange.send(kept[0])

        proxy.arm("list", old)
        await operations.remotes.all(lock_id)
        new_id = await operations.writes.add_remote(new_remote(lock_id))
        with pytest.raises(MalformedAnswerError, match=f"lacks remote {new_id}, which you added"):
            await operations.writes.clear_remotes(lock_id)
        assert "clear" not in proxy.asked
        await proxy.heal()
        assert await operations.writes.clear_remotes(lock_id) == 4
