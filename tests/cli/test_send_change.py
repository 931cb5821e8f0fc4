"""Changes on a broken connection: every exit code, and the journal afterwards."""

from __future__ import annotations

import asyncio
import json
import signal
import sys

import pytest

from lockterm.cli.exit_codes import exit_code_of, format_error
from lockterm.domain.locks import Lock
from lockterm.domain.operation import OperationState
from lockterm.errors import (
    ConfigError,
    LocktermError,
    MalformedAnswerError,
    NameTakenError,
    NoAnswerError,
    RateLimitedError,
    ResultUnknownError,
    RuleViolationError,
    StoreError,
    UnreachableError,
    UntrustedServerError,
)
from lockterm.service.running import RunningService
from tests.cli.conftest import Scripts
from tests.faults.catalogue import applied_unheard, reset
from tests.faults.proxy import Exchange, FaultProxy

ADD = ("remotes", "add", "1004", "--name", "Anna", "--number", "A-1", "--type", "permanent")


NEAR = (
    sys.executable,
    "-c",
    "from lockterm.__main__ import main; from lockterm.operations import proof, watching;"
    " watching.Horizon = lambda: proof.Horizon(0.2, 0.1, (0.2, 0.4, 0.8, 1.6)); main()",
)
"""lockterm with an up-to-date service, so that a confirmation needs no minute.

The last four pauses help a busy machine, which reads more slowly.
"""


async def stall(exchange: Exchange) -> None:
    """Forward the request and never answer."""
    await exchange.apply()
    await exchange.reader.read()


@pytest.mark.long
async def test_add_is_recorded_when_its_answer_is_lost_and_the_list_shows_it(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    proxy.arm("add", applied_unheard)
    lost = await scripts.arun(*ADD, "--json")
    assert lost.returncode == 0, lost.stderr
    (row,) = scripts.remotes(1004)
    told = json.loads(lost.stdout)
    assert (told["outcome"], told["remoteId"]) == ("recorded", row["id"])
    # The list is read before, for numbers and names like these, and after it.
    assert (proxy.asked.count("add"), proxy.asked.count("list")) == (1, 2)


@pytest.mark.long
async def test_add_ends_with_4_and_blocks_the_next_when_its_answer_is_lost(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    proxy.arm("add", reset)
    lost = await scripts.arun(*ADD, "--json", program=NEAR)
    assert lost.returncode == 4
    assert '"outcome": "unknown"' in lost.stdout
    assert '"state": "not_seen",\n  "call": "add"' in lost.stdout
    assert "The add may still take effect" in lost.stderr
    await proxy.heal()
    held = await scripts.arun(*ADD[:4], "Ben", *ADD[5:], program=NEAR)
    assert (held.returncode, held.stdout) == (1, "")
    assert "is unconfirmed" in held.stderr
    assert proxy.asked.count("add") == 1
    assert [one.state for one in scripts.history()] == [OperationState.NOT_SEEN]


async def test_change_is_recorded_when_reading_shows_it(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    remote_id = str(scripts.have())
    proxy.arm("delete", applied_unheard)
    gone = await scripts.arun("remotes", "delete", "1004", remote_id, "--yes", program=NEAR)
    assert gone.returncode == 0
    words = "Recorded by the service: no answer came, but the service shows the change."
    assert words in gone.stdout
    assert scripts.history()[-1].state is OperationState.CONFIRMED_BY_READING


@pytest.mark.parametrize(
    ("command", "call", "words"),
    [
        (["update", "--name", "B"], "update", "The remote is unchanged"),
        (["delete", "--yes"], "delete", "still there"),
        (["user-number", "5"], "updateRemoteUserNo", "does not report this value"),
    ],
)
async def test_change_stays_unconfirmed_when_reading_does_not_show_it(
    scripts: Scripts, proxy: FaultProxy, command: list[str], call: str, words: str
) -> None:
    arguments = ("remotes", command[0], "1004", str(scripts.have()), *command[1:])
    proxy.arm(call, reset)
    lost = await scripts.arun(*arguments, program=NEAR)
    assert lost.returncode == 4
    assert lost.stderr.startswith("lockterm: Result unknown: ")
    assert lost.stderr.count("\n") == 1
    assert words in lost.stderr
    assert proxy.asked.count(call) == 1, "never sent again by itself"
    assert scripts.history()[-1].is_unconfirmed


@pytest.mark.long
async def test_update_is_sent_when_the_cached_detail_is_old(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    update = ("remotes", "update", "1004", str(scripts.have()), "--yes", "--name")
    old: list[bytes] = []

    async def stale(exchange: Exchange) -> None:
        if not old:
            answer = await exchange.apply()
            old.append(answer.head + b"\r\n\r\n" + answer.body)
        await exchange.send(old[0])

    proxy.arm("detail", stale)
    for name in ("Ben", "Anna"):
        done = await scripts.arun(*update, name, program=NEAR)
        assert done.returncode == 0, done.stderr
        assert "unchanged" not in done.stdout
        assert scripts.remotes(1004)[0]["name"] == name
    assert proxy.asked.count("update") == 2


@pytest.mark.long
async def test_commands_end_with_3_when_the_service_is_unreachable(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    await proxy.refuse()
    for command in (ADD, ("remotes", "list", "1001"), ("voice", "packs", "1001")):
        result = await scripts.arun(*command)
        assert (result.returncode, result.stdout) == (3, "")
        assert result.stderr.startswith("lockterm: Service unreachable: Nothing was sent")
        assert result.stderr.count("\n") == 1
    assert scripts.history() == []


async def test_change_ends_with_130_when_it_is_interrupted(
    scripts: Scripts, proxy: FaultProxy
) -> None:
    proxy.arm("add", stall)
    asked = asyncio.Event()
    proxy.on_asked = lambda exchange: exchange.call == "add" and asked.set()
    command = await scripts.start(*ADD)
    await asyncio.wait_for(asked.wait(), 30)
    command.send_signal(signal.SIGINT)
    out, err = await asyncio.wait_for(command.communicate(), 30)
    assert (command.returncode, out) == (130, b"")
    assert b"so the change is unconfirmed" in err
    assert err.count(b"\n") == 1
    assert [one.state for one in scripts.history()] == [OperationState.UNKNOWN]


def test_dates_need_yes_when_the_clocks_disagree(scripts: Scripts, service: RunningService) -> None:
    scripts.use(service.base_url)  # its clock stands still
    period = ("--type", "time-limited", "--end", "2090-01-01")
    scripts.refuse(*ADD[:7], *period, words="This machine's clock is")
    assert [path for _, path in service.requests if path.endswith("add")] == []
    assert scripts.run(*ADD[:7], *period, "--yes").returncode == 0
    permanent = scripts.run(*ADD[:4], "Ben", "--number", "B-1", "--type", "permanent")
    assert permanent.returncode == 0, "permanent has no dates"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ResultUnknownError("x"), 4),
        (UnreachableError("x"), 3),
        (UntrustedServerError("x"), 3),
        (NoAnswerError("x"), 3),
        (MalformedAnswerError("x"), 3),
        (RuleViolationError({"remoteName": "x"}), 2),
        (ConfigError("x"), 2),
        (RuleViolationError({"read_only": "x"}), 1),
        (RateLimitedError("x", retry_after_s=1), 1),
        (NameTakenError("x"), 1),
        (StoreError("x"), 1),
    ],
)
def test_exit_code_of_returns_the_code_of_each_error(error: LocktermError, code: int) -> None:
    assert exit_code_of(error) == code


def test_format_error_ends_the_sentence_of_the_service() -> None:
    said = "Name taken: It exists already (code -3). Choose another."
    for words in ("It exists already", "It exists already."):
        assert format_error(NameTakenError(words, hint="Choose another.")) == said


def test_commands_end_with_2_when_profile_is_missing_or_formats_conflict(scripts: Scripts) -> None:
    for command, words in (
        (("list", "1001", "--json", "--csv"), "cannot be used together"),
        (("list", "1001", "--all", "--page", "2"), "--all cannot be used with --page"),
        (("update", "1001", "5"), "an option to change"),
        (("list", "1001", "--profile", "nowhere"), "nowhere"),
        ((), "Missing command"),
    ):
        assert scripts.refuse("remotes", *command, words=words).count("\n") == 1
    scripts.config.unlink()
    scripts.refuse("remotes", "list", "1001", words="--base-url")
    assert not scripts.service.requests


def test_delete_asks_by_name_number_and_lock_when_there_is_a_terminal(scripts: Scripts) -> None:
    scripts.keep([Lock(1004, name="Roof hatch")])
    remote_id = str(scripts.have())
    scripts.have(remoteName="Ben")

    def answer(question: str, keys: str, *arguments: str) -> int:
        with scripts.terminal("remotes", *arguments) as terminal:
            terminal.wait_for(question)
            terminal.press(keys)
            code = terminal.wait_exit()
            assert ("Nothing was sent" in terminal.text) is (code == 1)
            return code

    question = r"Delete Anna \(A-1\) from Roof hatch \(lock 1004\)\?"
    for keys, code in (("n\r", 1), ("\r", 1), ("\x03", 130)):
        assert answer(question, keys, "delete", "Roof hatch", remote_id) == code
        assert scripts.writes() == []
    assert answer(question, "y\r", "delete", "Roof hatch", remote_id) == 0
    assert [row["name"] for row in scripts.remotes(1004)] == ["Ben"]
    question = r"the only remote of Roof hatch \(lock 1004\)(?s:.*)the lock:"
    assert answer(question, "yes\r", "clear", "1004") == 1
    assert answer(question, "Roof hatch\r", "clear", "1004") == 0
    assert scripts.remotes(1004) == []
