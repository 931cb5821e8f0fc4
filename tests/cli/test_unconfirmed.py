"""``lockterm unconfirmed``: list, check and resolve changes."""

from __future__ import annotations

import asyncio
import json
import subprocess
from contextlib import closing

import pytest

from lockterm.domain.operation import OperationState
from lockterm.store.database import Database
from tests.cli.conftest import HOSTILE, Scripts, assert_harmless
from tests.cli.test_send_change import ADD, NEAR
from tests.faults.catalogue import applied_unheard, reset
from tests.faults.proxy import Exchange, FaultProxy

HURRIED = (
    *NEAR[:2],
    f"import lockterm.cli.send_change as sending; sending.TIMEOUT_S = 0; {NEAR[2]}",
)
"""lockterm that stops reading back at once."""


async def run(
    scripts: Scripts, *arguments: str, program: tuple[str, ...] = NEAR
) -> subprocess.CompletedProcess[str]:
    """Run ``lockterm unconfirmed`` with an up-to-date service."""
    return await scripts.arun("unconfirmed", *arguments, program=program)


async def refuse(scripts: Scripts, *arguments: str, words: str = "", code: int = 2) -> None:
    """Check that the command prints nothing but an error."""
    result = await run(scripts, *arguments)
    assert (result.returncode, result.stdout) == (code, ""), result.stderr
    assert words in result.stderr


async def lost(scripts: Scripts, proxy: FaultProxy, name: str = "Anna") -> str:
    """Lose the answer to a user number, which no reading can confirm; return the ID."""
    remote_id = str(scripts.have(remoteName=name))
    proxy.arm("updateRemoteUserNo", reset)
    sent = await scripts.arun("remotes", "user-number", "1004", remote_id, "5", program=NEAR)
    assert sent.returncode == 4
    return scripts.history()[-1].id


async def test_list_and_check_end_with_0_when_nothing_is_unconfirmed(scripts: Scripts) -> None:
    for command in ("list", "check"):
        result = await run(scripts, command)
        assert (result.returncode, result.stdout) == (0, "0 changes are unconfirmed.\n")
    assert not scripts.service.requests
    await refuse(scripts, "dismiss", "abc", "--yes")


@pytest.mark.long
async def test_list_shows_an_unconfirmed_change_until_it_is_dismissed(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    operation_id = await lost(scripts, proxy)
    listed = await run(scripts, "list")
    assert listed.returncode == 4
    assert operation_id[:8] in listed.stdout and "set user number of Anna" in listed.stdout
    assert listed.stdout.endswith("1 change is unconfirmed.\n")
    told = json.loads((await run(scripts, "list", "--json")).stdout)
    assert [(one["id"], one["state"]) for one in told["outcomes"]] == [(operation_id, "unknown")]
    checked = await run(scripts, "check")
    assert checked.returncode == 4
    assert "does not report this value" in checked.stdout
    await refuse(scripts, "dismiss", operation_id[:8])
    assert await answer(scripts, "type Anna", "yes", "dismiss", operation_id) == 1
    assert scripts.history()[-1].state is OperationState.UNKNOWN
    given = await run(scripts, "dismiss", operation_id[:8], "--yes")
    assert (given.returncode, given.stdout) == (0, "set user number of Anna: dismissed.\n")
    assert scripts.history()[-1].state is OperationState.GIVEN_UP
    assert (await run(scripts, "list")).returncode == 0

    other_id = await lost(scripts, proxy, "Ben")
    assert await answer(scripts, "type Ben", "Ben", "dismiss", other_id) == 0
    assert scripts.history()[-1].state is OperationState.GIVEN_UP


async def test_check_reads_until_the_change_is_confirmed(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    delete = ("remotes", "delete", "1004", str(scripts.have()), "--yes")
    scripts.have(remoteName="Bea", remoteNumber="N-2")  # else an empty list proves nothing
    proxy.arm("delete", applied_unheard)
    proxy.arm("list", reset)
    assert (await scripts.arun(*delete, program=HURRIED)).returncode == 4
    down = await run(scripts, "check", program=HURRIED)
    assert (down.returncode, "delete Anna: " in down.stderr) == (4, True)
    proxy.disarm("list")
    checked = await run(scripts, "check", scripts.history()[-1].id, "--json")
    assert checked.returncode == 0, checked.stderr
    (told,) = json.loads(checked.stdout)["outcomes"]
    assert told["state"] == "confirmed_by_reading"
    assert proxy.asked.count("delete") == 1, "never sent again"


async def answer(scripts: Scripts, question: str, word: str, *command: str) -> int:
    """Answer the question of a command at a terminal; return the exit code."""

    def type_word() -> int:
        with scripts.terminal("unconfirmed", *command, size=(200, 24)) as session:
            session.wait_for(question)
            session.send(f"{word}\n".encode())
            return session.wait_exit()

    return await asyncio.to_thread(type_word)


@pytest.mark.long
async def test_unconfirmed_cleans_hostile_names(scripts: Scripts, proxy: FaultProxy) -> None:
    operation_id = await lost(scripts, proxy, name="plain")
    with closing(Database(scripts.database)) as database, database.transaction() as connection:
        connection.execute("UPDATE operations SET remote_name = ?, message = ?", (HOSTILE, HOSTILE))
    for command in (("list",), ("check",), ("dismiss", operation_id, "--yes")):
        shown = await run(scripts, *command)
        assert "Evil" in shown.stdout
        assert_harmless(shown.stdout + shown.stderr)


async def test_adopt_takes_over_changes_when_a_profile_was_renamed(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    operation_id = await lost(scripts, proxy)
    scripts.config.write_text(scripts.config.read_text().replace("profiles.site", "profiles.yard"))
    listed = await run(scripts, "list")
    assert (listed.returncode, operation_id[:8] in listed.stdout) == (4, True)
    words = "Sent with the profile “site”. To take it over, run: lockterm unconfirmed adopt."
    assert words in " ".join(listed.stdout.split())
    assert (await run(scripts, "adopt")).returncode == 2, "somebody has to agree"
    adopted = await run(scripts, "adopt", "--yes")
    assert (adopted.returncode, adopted.stdout) == (0, "Adopted 1 change.\n")
    listed = await run(scripts, "list")
    assert (listed.returncode, "Sent with" in listed.stdout) == (4, False)
    assert (await run(scripts, "dismiss", operation_id[:8], "--yes")).returncode == 0


async def unsure(scripts: Scripts, proxy: FaultProxy) -> tuple[str, int]:
    """Lose the answer to an add that the service stored differently; return both IDs."""

    async def record_otherwise(exchange: Exchange) -> None:
        await exchange.apply()
        with scripts.service.app.state.site.database.writing() as db:
            db.execute("UPDATE remote SET add_type = 2 WHERE name = 'Anna'")
        exchange.reset()

    proxy.arm("add", record_otherwise, 1)
    assert (await scripts.arun(*ADD, program=NEAR)).returncode == 4
    (lost,) = scripts.history()
    assert lost.state is OperationState.AMBIGUOUS
    return lost.id, lost.candidates[0]


async def not_seen(scripts: Scripts, proxy: FaultProxy) -> str:
    """Lose an add, read twice, and return its ID."""
    scripts.have(remoteName="Ben", remoteNumber="B-1")
    rows = "lockId,remoteName,remoteNumber,remoteType\n1004,Anna,A-1,permanent\n"
    proxy.arm("add", reset, 1)
    apply = ("apply", scripts.file("table.csv", rows), "--yes")
    assert (await scripts.arun(*apply, program=NEAR)).returncode == 4
    if scripts.history()[0].state is OperationState.UNKNOWN:
        # On a busy machine, apply ends before the second reading.
        await run(scripts, "check", program=HURRIED)
    (lost,) = scripts.history()
    assert lost.state is OperationState.NOT_SEEN
    return lost.id


async def test_accept_resolves_an_add_when_its_remote_differs(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    operation_id, remote_id = await unsure(scripts, proxy)
    await refuse(scripts, "accept", operation_id)
    await refuse(scripts, "accept", operation_id, "1", "--yes", words=f"could be {remote_id}")
    question = rf"differs from the request: addType\. Accept Anna \(A-1\) .ID {remote_id}"
    assert await answer(scripts, question, "n", "accept", operation_id) == 1
    assert scripts.history()[-1].state is OperationState.AMBIGUOUS
    lists = proxy.asked.count("list")
    taken = await run(scripts, "accept", operation_id[:8], str(remote_id), "--yes")
    assert (taken.returncode, taken.stderr) == (0, "")
    assert f"as remote {remote_id}." in taken.stdout
    assert proxy.asked.count("list") == lists + 1, "it was read again first"
    (row,) = scripts.history()
    assert (row.state, row.remote_id) == (OperationState.CONFIRMED_BY_READING, remote_id)
    assert proxy.asked.count("add") == 1
    words = "No unconfirmed change has an ID"
    await refuse(scripts, "accept", operation_id, "--yes", words=words)


async def test_accept_takes_yes_when_there_is_a_terminal(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    operation_id, remote_id = await unsure(scripts, proxy)
    assert await answer(scripts, "Accept Anna", "y", "accept", operation_id) == 0
    assert scripts.history()[-1].remote_id == remote_id


async def test_accept_changes_nothing_when_reading_confirms_or_shows_nothing(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    operation_id = await not_seen(scripts, proxy)
    await refuse(scripts, "accept", operation_id, "--yes", words="is not on the lock")
    remote_id = scripts.have()  # it landed after all
    landed = await run(scripts, "accept", operation_id, "--yes", "--json")
    assert landed.returncode == 0, landed.stderr
    told = json.loads(landed.stdout)
    assert (told["state"], told["remoteId"]) == ("confirmed_by_reading", remote_id)


async def test_send_again_sends_once_when_the_add_was_not_seen(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    operation_id = await not_seen(scripts, proxy)
    await refuse(scripts, "send-again", operation_id)
    assert proxy.asked.count("add") == 1
    sent = await run(scripts, "send-again", operation_id[:8], "--yes")
    assert sent.returncode == 0, sent.stderr
    assert "will be sent again: add" in sent.stderr and "two such remotes" in sent.stderr
    assert proxy.asked.count("add") == 2
    first, second = scripts.history()
    assert (first.state, second.state) == (OperationState.SENT_AGAIN, OperationState.CONFIRMED)
    assert second.again_of == operation_id
    assert [row["name"] for row in scripts.remotes(1004)] == ["Ben", "Anna"]
    await refuse(scripts, "send-again", operation_id, "--yes")


async def test_send_again_sends_nothing_when_the_first_request_arrived(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    operation_id = await not_seen(scripts, proxy)
    remote_id = scripts.have()
    sent = await run(scripts, "send-again", operation_id, "--yes", "--json")
    assert sent.returncode == 0, sent.stderr
    assert json.loads(sent.stdout)["remoteId"] == remote_id
    assert proxy.asked.count("add") == 1


async def test_send_again_ends_with_4_when_its_answer_is_lost(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    operation_id = await lost(scripts, proxy)
    words = "only an added remote"
    await refuse(scripts, "accept", operation_id, "--yes", words=words)
    asked = len(proxy.asked)
    await refuse(scripts, "send-again", operation_id, "--yes", "--read-only", code=1)
    assert len(proxy.asked) == asked
    sent = await run(scripts, "send-again", operation_id, "--yes")
    assert (sent.returncode, "User number: 5" in sent.stderr) == (4, True)
    first, second = scripts.history()
    assert (first.state, second.state) == (OperationState.SENT_AGAIN, OperationState.UNKNOWN)
    proxy.disarm("updateRemoteUserNo")
    assert await answer(scripts, "type send", "y", "send-again", second.id) == 1
    assert len(scripts.history()) == 2
    assert await answer(scripts, "type send", "send", "send-again", second.id) == 0
    assert scripts.history()[-1].state is OperationState.CONFIRMED
