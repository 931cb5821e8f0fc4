"""Plans in words: what is said of locks, and of what is to be changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from typing import Any

import pytest

from lockterm.domain.dates import DAY_MS
from lockterm.domain.plan import NOT_REACHED, Action, RunLine, Step, StepState
from lockterm.domain.rules import OPENS_AGAIN
from lockterm.domain.text.plan import (
    count_to_type,
    describe_changes,
    describe_notes,
    describe_step,
    describe_step_notes,
    shorten_step,
    step_sends_dates,
    step_states,
)
from lockterm.domain.text.replacement import describe_replacements
from lockterm.domain.text.run import describe_deletions, describe_effects, format_run_state
from lockterm.domain.text.validity import OPENS_ALWAYS
from lockterm.domain.validity import RemoteState

START_MS = 1_767_225_600_000
"""The first of January 2026, in UTC."""
PERMANENT = {"remoteType": 1, "startDate": 0, "endDate": 0}
LIMITED = {"remoteType": 2, "startDate": START_MS, "endDate": START_MS + DAY_MS}


def steps_of(deleted: int, added: int, reopened: int, renewed: int) -> list[Step]:
    over = {"remoteType": 2, "startDate": START_MS - 2 * DAY_MS, "endDate": START_MS - DAY_MS}
    later = {"endDate": START_MS + DAY_MS}
    return [
        *[Step(0, Action.DELETE, 1, 7, "Anna", before=over)] * deleted,
        *[Step(0, Action.ADD, 1, None, "Anna", wanted={"remoteType": 1})] * added,
        *[Step(0, Action.UPDATE, 1, 7, "Anna", wanted=later, before=over)] * reopened,
        *[Step(0, Action.UPDATE, 1, 7, "Anna", wanted=later, before={**over, **later})] * renewed,
    ]


@pytest.mark.parametrize(
    ("counts", "number"),
    [
        ((10, 10, 0, 30), 0),
        ((11, 10, 0, 0), 11),
        ((10, 11, 0, 0), 11),
        ((0, 6, 5, 30), 11),
        ((0, 0, 11, 0), 11),
        ((12, 11, 2, 0), 25),
    ],
)
def test_count_to_type_counts_many_deleted_or_granted_remotes(
    counts: tuple[int, int, int, int], number: int
) -> None:
    assert count_to_type(steps_of(*counts), START_MS) == number


def deletes(words: str) -> list[Step]:
    """``1 recorded``, ``2 add recorded``: steps of locks, which are deletes where not told."""
    steps = []
    for number, one in enumerate(words.split(", "), 1):
        lock_id, *action, state = one.split()
        kind = Action(action[0]) if action else Action.DELETE
        steps.append(Step(number, kind, int(lock_id), 7, "Anna", state=StepState(state)))
    return steps


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ("1 recorded", ""),
        ("1 recorded, 1 refused", ""),
        ("1 add recorded, 2 add refused", ""),
        ("1 not_sent, 2 not_sent", ""),
        ("1 recorded, 2 unchanged", "Deleted remotes on 2 of 2 locks."),
        ("1 recorded, 2 not_sent", "Deleted remotes on 1 of 2 locks. Not sent: Yard."),
        (
            "1 recorded, 2 not_sent, 2 add recorded",
            "Deleted remotes on 1 of 2 locks. Not sent: Yard.",
        ),
        (
            "1 recorded, 2 recorded, 2 not_sent, 2 not_sent, 3 not_sent",
            "Deleted remotes on 1 of 3 locks. Partly done: Yard (1 deleted, 2 not sent)."
            " Not sent: lock 3.",
        ),
        (
            "1 recorded, 1 sent, 2 recorded, 3 refused, 4 skipped, 5 to_do",
            "Deleted remotes on 1 of 5 locks. Partly done: Gate (1 deleted, 1"
            " unconfirmed). Refused: lock 3. Skipped: lock 4. Not done yet: lock 5.",
        ),
        (
            "1 recorded, 3 refused, 4 refused, 5 refused, 6 refused, 7 refused",
            "Deleted remotes on 1 of 6 locks. Refused: lock 3, lock 4, lock 5 and 2 more.",
        ),
    ],
)
def test_describe_deletions_counts_locks(steps: str, said: str) -> None:
    assert describe_deletions(deletes(steps), {1: "Gate", 2: "Yard"}) == said


def test_describe_deletions_names_unreached_locks_only() -> None:
    for why, said in (
        (f"{NOT_REACHED}. Nothing was sent: no route.", "Not reached: Yard"),
        ("Too many requests (HTTP 429).", "Not sent: Yard (Too many requests (HTTP 429))"),
    ):
        done, left = deletes("1 recorded, 2 not_sent")
        left = replace(left, message=why)
        words = describe_deletions([done, left], {1: "Gate", 2: "Yard"})
        assert words == f"Deleted remotes on 1 of 2 locks. {said}."
        added = replace(left, message="", action=Action.ADD, state=StepState.RECORDED)
        answered = describe_deletions([done, left, added], {1: "Gate", 2: "Yard"})
        assert "Not sent: Yard (" in answered
    assert "\x1b" not in describe_deletions(deletes("1 recorded, 2 refused"), {2: "\x1b[31mYard"})


def renewed(number: int, end_ms: int, **wanted: object) -> Step:
    before = {"id": number, "remoteName": f"Fob {number}", "remoteType": 2, "startDate": START_MS}
    before |= {"endDate": START_MS + DAY_MS}
    wanted = {"endDate": end_ms, **wanted}
    return Step(number, Action.UPDATE, 1, number, f"Fob {number}", wanted, before)


ENDED = {"remoteType": 2, "startDate": START_MS, "endDate": START_MS + 5 * DAY_MS, "status": 1}


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (Step(1, Action.ADD, 1, None, "A", {"remoteType": 1}), (None, RemoteState.OPEN)),
        (Step(1, Action.DELETE, 1, 7, "A", {}, ENDED), (RemoteState.DISAGREE, None)),
        (Step(1, Action.KEEP, 1, 7, "A", {}, ENDED), (RemoteState.DISAGREE, RemoteState.DISAGREE)),
        (
            Step(1, Action.UPDATE, 1, 7, "A", {"endDate": START_MS + 40 * DAY_MS}, ENDED),
            (RemoteState.DISAGREE, RemoteState.MONTH),
        ),
        (
            Step(1, Action.UPDATE, 1, 7, "A", {"remoteName": "B"}, ENDED),
            (RemoteState.DISAGREE, RemoteState.ENDED),
        ),
        (Step(1, Action.VOICE, 1, None, "A", {"lang": "de-DE"}), (None, None)),
    ],
)
def test_step_states_returns_the_state_before_and_after(
    step: Step, told: tuple[RemoteState | None, RemoteState | None]
) -> None:
    assert step_states(step, START_MS + 20 * DAY_MS) == told


def test_shorten_step_keeps_the_new_value_when_the_column_is_narrow() -> None:
    step = renewed(1, START_MS + 2 * DAY_MS + 1)
    (words,) = describe_step(step, UTC, START_MS)
    full, new, *_, arrow, day = shorten_step(step, UTC, START_MS)
    assert full == words
    assert new == "End -> 3 Jan 2026 00:00:00.001 +00:00"
    assert words.endswith(new.removeprefix("End"))
    assert (arrow, day) == ("-> 3 Jan 26", "3 Jan 26")
    named = replace(renewed(1, 0), wanted={"remoteName": "Anna"})
    assert [*shorten_step(named, UTC, START_MS)][-1] == "-> Anna"
    both = renewed(1, START_MS + 2 * DAY_MS, remoteName="Anna")
    assert "Anna" in [*shorten_step(both, UTC, START_MS)][-1], "the end is not all that changes"
    extra = Step(1, Action.ADD, 1, None, "Anna", {**PERMANENT, "extraData": {"badge": "7"}})
    assert [*shorten_step(extra, UTC, START_MS)][-1] == "always; …"


UPCOMING = {"remoteType": 2, "startDate": START_MS + 7 * DAY_MS, "endDate": START_MS + 90 * DAY_MS}


def of_upcoming(**wanted: object) -> Step:
    return Step(1, Action.UPDATE, 1, 7, "Anna", wanted, {"id": 7, **UPCOMING})


@pytest.mark.parametrize(
    ("wanted", "forms"),
    [
        ({"startDate": START_MS - 1}, ["-> from 31 Dec 2025", "-> from 31 Dec", "from 31 Dec"]),
        (
            {"startDate": START_MS + DAY_MS, "endDate": START_MS + 60 * DAY_MS},
            [
                "-> from 2 Jan 2026 until 1 Mar 2026",
                "-> from 2 Jan until 1 Mar 2026",
                "-> from 2 Jan 2026; …",
                "-> from 2 Jan; …",
                "from 2 Jan; …",
            ],
        ),
        (
            {"startDate": START_MS + 8 * DAY_MS, "remoteType": 4, "weekDay": [1]},
            ["-> from 9 Jan 2026; …", "-> from 9 Jan; …", "from 9 Jan; …"],
        ),
    ],
)
def test_shorten_step_keeps_a_new_start_when_the_column_is_narrow(
    wanted: dict[str, Any], forms: list[str]
) -> None:
    texts = [*shorten_step(of_upcoming(**wanted), UTC, START_MS)]
    assert all("from" in text or "Start" in text for text in texts)
    assert texts[-len(forms) :] == forms


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"startDate": START_MS - 1}, ["Opens earlier: from now, not from 8 Jan 00:00."]),
        (
            {"startDate": START_MS + DAY_MS},
            ["Opens earlier: from 2 Jan 00:00, not from 8 Jan 00:00."],
        ),
        (PERMANENT, [OPENS_ALWAYS, "Opens earlier: from now, not from 8 Jan 00:00."]),
        ({"startDate": START_MS + 8 * DAY_MS}, []),
        ({"endDate": START_MS + 100 * DAY_MS}, []),
        ({"remoteName": "Ben"}, []),
        ({"weekDay": [1, 2, 6]}, ["Opens on more weekdays: Sat."]),
    ],
)
def test_notes_say_that_a_remote_opens_earlier(wanted: dict[str, Any], said: list[str]) -> None:
    step = of_upcoming(**wanted)
    if "weekDay" in wanted:
        step = replace(step, before={**step.before, "remoteType": 4, "weekDay": [1, 2]})
    notes = describe_step_notes(step, UTC, START_MS)
    assert [one for one in notes if not one.startswith("Shortens")] == said
    moved = replace(step, before={**step.before, "startDate": START_MS - 1})
    moved = replace(moved, wanted={"startDate": START_MS - DAY_MS})
    assert describe_step_notes(moved, UTC, START_MS) == [], "the past does not count"


@pytest.mark.parametrize(
    ("fields", "shortest"),
    [
        (PERMANENT, "always"),
        (LIMITED, "1 Jan 26"),  # it ends at midnight
        ({**LIMITED, "remoteType": 4, "weekDay": [1, 2]}, "1 Jan 26"),
        ({**LIMITED, "endDate": START_MS - 1}, "ends before it starts"),
        ({**LIMITED, "remoteType": 9}, "unknown type 9"),
    ],
)
def test_shorten_step_ends_with_the_end_date_of_a_deleted_remote(
    fields: dict[str, Any], shortest: str
) -> None:
    step = Step(1, Action.DELETE, 1, 7, "Anna", before=fields)
    forms = [*shorten_step(step, UTC, START_MS)]
    assert forms[-1] == shortest
    assert [forms[0]] == describe_step(step, UTC, START_MS)


def replaced(lock_id: int, first: str, second: str, *, adds_first: bool = False) -> list[Step]:
    """Return the two steps that replace a fob, with their states in order."""
    old = {"id": 70 + lock_id, "remoteName": "Anna"}
    delete = Step(0, Action.DELETE, lock_id, 70 + lock_id, "Anna", before=old)
    add = Step(0, Action.ADD, lock_id, None, "Anna", wanted=PERMANENT, before=old)
    pair = (add, delete) if adds_first else (delete, add)
    return [replace(pair[0], state=StepState(first)), replace(pair[1], state=StepState(second))]


RECORDED, REFUSED = "recorded", "refused"


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (replaced(1, RECORDED, RECORDED), "Replaced 1 fob on Gate."),
        (
            [*replaced(1, RECORDED, RECORDED), *replaced(2, RECORDED, RECORDED, adds_first=True)],
            "Replaced 2 fobs on 2 locks.",
        ),
        (
            [*replaced(1, RECORDED, RECORDED), *replaced(2, RECORDED, REFUSED)],
            "Replaced 1 of 2 fobs on Gate. Old fob deleted, new fob not added: Yard.",
        ),
        (
            [*replaced(1, RECORDED, RECORDED), *replaced(2, RECORDED, "sent", adds_first=True)],
            "Replaced 1 of 2 fobs on Gate. New fob added, old fob unconfirmed: Yard.",
        ),
        (
            replaced(3, RECORDED, "not_sent", adds_first=True),
            "New fob added, old fob not deleted: lock 3.",
        ),
        (
            [*replaced(1, RECORDED, RECORDED), *replaced(2, REFUSED, "not_sent")],
            "Replaced 1 of 2 fobs on Gate.",
        ),
        (replaced(1, REFUSED, "not_sent"), ""),
        (deletes("1 recorded, 2 recorded"), ""),
    ],
)
def test_describe_replacements_counts_fobs(steps: list[Step], said: str) -> None:
    titles = {1: "Gate", 2: "Yard"}
    assert describe_replacements(steps, titles) == said
    if said:
        assert describe_effects(steps, titles) == said, "no sentence says only that it is deleted"


def test_describe_notes_names_the_lock_when_a_remote_is_on_several() -> None:
    past = {"remoteType": 2, "startDate": START_MS - DAY_MS, "endDate": START_MS - 1}
    steps = [
        Step(number, Action.ADD, number, None, name, wanted={"remoteNumber": "B-2", **past})
        for number, name in enumerate(("Anna", "Anna", "Ben"), 1)
    ]
    steps.append(Step(4, Action.ADD, 1, None, "Carl", wanted={"remoteType": 1}))
    zones, titles = dict.fromkeys((1, 2, 3), UTC), {1: "Gate", 2: "Yard", 3: "\x1bShed"}
    (note,) = describe_notes(steps, zones, START_MS, titles)
    assert note.startswith("Note for Anna (B-2) on Gate, Yard; Ben (B-2) on ")
    assert "\x1b" not in note
    (note,) = describe_notes(steps[:1] + steps[3:], zones, START_MS)
    assert note.startswith("Note for Anna (B-2): ")
    # 1 January 2026 is a Thursday.
    step = renewed(1, START_MS + 4 * DAY_MS, remoteType=4, weekDay=[2, 3])
    (note,) = describe_notes([step], {1: UTC}, START_MS + 2 * DAY_MS)
    assert note == (
        "Note for Fob 1: No Tue or Wed before the end, so this remote will not open the lock."
    )


def test_describe_changes_counts_new_values() -> None:
    steps = [renewed(number, START_MS + 2 * DAY_MS) for number in range(1, 1200)]
    steps += [renewed(3000, START_MS + 2 * DAY_MS, isCoerced=1), *deletes("1 to_do")]
    told = describe_changes(steps, {1: UTC})
    assert told == "End: 3 Jan 2026 00:00 +00:00 for 1,200 remotes; Coerced: yes for 1 remote."
    steps += [renewed(2000 + number, START_MS + (12 - number) * DAY_MS) for number in range(4)]
    assert describe_changes(steps, {1: UTC}) == (
        "End: 5 different values for 1,204 remotes, from 3 Jan 2026 00:00 +00:00 to"
        " 13 Jan 2026 00:00 +00:00; Coerced: yes for 1 remote."
    )


def test_describe_notes_counts_reactivated_remotes() -> None:
    now_ms, later_ms = START_MS + 3 * DAY_MS, START_MS + 40 * DAY_MS
    ended = [renewed(1, later_ms), renewed(2, 0, remoteType=1), renewed(3, later_ms)]
    shut = renewed(4, START_MS + 2 * DAY_MS)  # another end, and it has passed too
    named = renewed(5, START_MS + DAY_MS, remoteName="Fob 6")
    open_now = renewed(7, later_ms)
    open_now = replace(open_now, before={**open_now.before, "endDate": later_ms - 1})
    zones = {1: UTC}
    told = describe_notes([shut, named, *ended, open_now], zones, now_ms)
    assert told[0] == "3 expired remotes will be reactivated: Fob 1, Fob 2, Fob 3."
    assert sum("reactivate" in words for words in told) == 1
    assert describe_notes([open_now, ended[0]], zones, now_ms) == [f"Note for Fob 1: {OPENS_AGAIN}"]


@pytest.mark.parametrize(
    ("action", "before", "wanted", "sends"),
    [
        (Action.UPDATE, LIMITED, {"remoteName": "Ben"}, False),
        (Action.UPDATE, LIMITED, {"endDate": 2_000_000_000_000}, True),
        (Action.UPDATE, LIMITED, {"remoteType": 1, "startDate": 0, "endDate": 0}, False),
        (Action.UPDATE, PERMANENT, LIMITED, True),
        (Action.ADD, {}, LIMITED, True),
        (Action.ADD, {}, PERMANENT, False),
    ],
)
def test_step_sends_dates_when_it_sets_a_start_and_an_end(
    action: Action, before: dict[str, Any], wanted: dict[str, Any], sends: bool
) -> None:
    step = Step(1, action, 1001, 7, "Anna", wanted, before)
    assert step_sends_dates(step) is sends


@pytest.mark.parametrize(
    ("states", "left_out", "word"),
    [
        ({StepState.RECORDED: 22, StepState.NOT_SENT: 16}, 0, "incomplete"),
        ({StepState.RECORDED: 1, StepState.UNKNOWN: 1}, 0, "incomplete"),
        ({StepState.RECORDED: 1, StepState.REFUSED: 2}, 2, "done"),
        ({StepState.RECORDED: 1, StepState.REFUSED: 2}, 1, "incomplete"),
        ({StepState.RECORDED: 1, StepState.TO_DO: 1, StepState.NOT_SENT: 1}, 0, "interrupted"),
    ],
)
def test_run_is_incomplete_when_it_ended_with_problems(
    states: dict[StepState, int], left_out: int, word: str
) -> None:
    heads = ("3f2a", "north", "", "apply a.csv", 0)
    run = RunLine(*heads, is_running=False, is_begun=True, states=states, left_out=left_out)
    assert format_run_state(run) == word
