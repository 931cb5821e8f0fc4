"""Renders the texts of lockterm with sample values into one document, for reading.

``python -m tests.texts`` writes ``tests/texts.md``, and a test holds it. Read the document from top
to bottom after a change of words: it shows each text beside its neighbors, as an editor needs it.
The descriptions of keys and the constant strings of the interface follow, module by module.
"""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import lockterm
from lockterm import errors
from lockterm.domain import changes_elsewhere, people, rules, shortening
from lockterm.domain.copies import BackedUp
from lockterm.domain.date_input import read_moment
from lockterm.domain.dates import (
    DAY_MS,
    HOUR_MS,
    SECOND_MS,
    UnknownZone,
    format_weekdays,
    parse_weekdays,
)
from lockterm.domain.listing import Block
from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.plan import NAME_TAKEN, NOT_REACHED, Action, Plan, RunLine, Step, StepState
from lockterm.domain.remotes import FIELDS, UNLISTED, Remote
from lockterm.domain.text import (
    amount,
    operation,
    plan,
    remote,
    replacement,
    run,
    service,
    validity,
)
from lockterm.domain.validity import RemoteState
from lockterm.keymap.keys import PLACES

DOCUMENT = Path(__file__).with_suffix(".md")

MODULES = (
    *(amount, validity, remote, replacement, shortening, operation, plan, run),
    *(service, changes_elsewhere, people),
)

ZONE = ZoneInfo("Europe/Berlin")
NOW = int(datetime(2026, 11, 20, 11, tzinfo=UTC).timestamp() * 1000)
"""Noon in Berlin, on a Friday."""

AGES_MS = (
    *(-1, 0, 999, 1000, 59_999, 60_000, HOUR_MS - 1, HOUR_MS, 2 * HOUR_MS - 1, 2 * HOUR_MS),
    *(DAY_MS, 2 * DAY_MS - 1, 2 * DAY_MS, 400 * DAY_MS),
)
"""Ages around which a unit changes, in milliseconds."""
COUNTS = (0, 1, 2, 1_000)

UI_PACKAGES = ("app", "screens", "terminal", "widgets")

STYLES = {"bold", "dim", "not", "reverse", "underline", "{...}"}
"""The words of styles, which are no texts."""

WITHOUT_TEXT = {
    *("grants_access", "has_work", "step_states", "step_remotes", "shortening_of"),
    "find_shortenings",
    *("step_sends_dates", "count_to_type", "count_states", "compare_remotes", "remotes_around"),
    *("find_shortening", "read_differing", "by_id", "differing_fields"),
    *("key_of_person", "find_typing_errors", "differs_in_one_letter", "period_bar"),
}
"""Public functions of the text modules that return no words."""


class TextSamples:
    """Collects what functions return for samples, under the functions' names."""

    def __init__(self) -> None:
        self.lines: dict[str, list[str]] = {}

    def show(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        """Add what a function returns."""
        shown = [*_lines_of(function(*arguments, **options))] or ["(nothing)"]
        self.lines.setdefault(function.__name__, []).append("\n  ".join(shown))

    def each(self, function: Callable[..., Any], samples: Iterable[Any], *more: Any) -> None:
        """Add what a function returns for each sample as its first argument."""
        for sample in samples:
            self.show(function, sample, *more)


def _lines_of(value: Any) -> Iterator[str]:
    """Yield the words of a returned value, a line for each."""
    if isinstance(value, str):
        yield from value.splitlines()
    elif isinstance(value, Mapping):
        yield from (f"{key}: {one}" for key, one in value.items())
    elif names := _names_of(value):
        parts = ((name, getattr(value, name)) for name in names)
        if type(value).__str__ is object.__str__:
            shown = ((name, getattr(part, "word", part)) for name, part in parts)
            yield "; ".join(f"{name}: {part}" for name, part in shown if part not in ("", None))
        else:
            yield str(value)
    elif isinstance(value, Iterable):
        for one in value:
            yield from _lines_of(one)
    elif value is not None:
        yield str(value)


def _names_of(value: Any) -> Sequence[str]:
    """Return the names of the fields of a dataclass or a NamedTuple; empty for other values."""
    if is_dataclass(value):
        return [one.name for one in fields(value)]
    return getattr(type(value), "__match_args__", ())


# --- samples -------------------------------------------------------------------------------------

LIMITED = {
    **{"id": 7, "remoteName": "Anna Weber", "remoteNumber": "A-2041", "remoteType": 2, "status": 1},
    **{"startDate": NOW - 30 * DAY_MS, "endDate": NOW + 41 * DAY_MS, "weekDay": []},
    **{"addType": 1, "isCoerced": 0, "extraData": {"room": "B2"}},
}
PERMANENT = {**LIMITED, "remoteType": 1, "startDate": 0, "endDate": 0}
RECURRING = {**LIMITED, "remoteType": 4, "weekDay": [1, 2, 3, 4, 5]}
EXPIRED = {**LIMITED, "endDate": NOW - 3 * DAY_MS, "status": 2}
UPCOMING = {**LIMITED, "startDate": NOW + 2 * DAY_MS, "status": 2}
REMOTES = (
    *(PERMANENT, LIMITED, RECURRING, EXPIRED, UPCOMING),
    {**LIMITED, "endDate": NOW + 5 * HOUR_MS},
    {**RECURRING, "weekDay": [1, 3, 5, 6], "startDate": NOW + HOUR_MS, "status": 2},
    {**RECURRING, "weekDay": None},
    {**RECURRING, "weekDay": []},
    {**RECURRING, "weekDay": ["x"]},
    {**LIMITED, "endDate": 0},
    {**LIMITED, "startDate": "soon"},
    {**LIMITED, "endDate": NOW - 40 * DAY_MS},
    {**EXPIRED, "status": 1},
    {**LIMITED, "status": 2},
    {**LIMITED, "status": None},
    {**LIMITED, "status": 7},
    {**PERMANENT, "status": 2},
    {**LIMITED, "remoteType": 9},
    {**LIMITED, "remoteType": None},
)


def step(action: Action, **more: Any) -> Step:
    """Return a step of a plan on lock 1001."""
    usual: dict[str, Any] = {"number": 1, "lock_id": 1001, "remote_id": 7}
    usual |= {"remote_name": "Anna Weber", "before": LIMITED}
    return Step(**{**usual, "action": action, **more})


ADD = step(Action.ADD, remote_id=None, before={}, wanted={**RECURRING, "remoteName": "Ben"})
SHORTEN = step(Action.UPDATE, wanted={"endDate": NOW + 4 * DAY_MS})
EXTEND = step(Action.UPDATE, wanted={"endDate": NOW + 60 * DAY_MS})
REOPEN = step(Action.UPDATE, before=EXPIRED, wanted={"endDate": NOW + 30 * DAY_MS})
DELETE = step(Action.DELETE)
KEEP = step(Action.KEEP, message="The lock already has this remote. Its ID is 7.")
VOICE = step(
    Action.VOICE, remote_id=None, remote_name="", before={}, wanted={"lang": "de", "timbre": "anna"}
)
TAKEN = step(
    Action.ADD, is_planned=False, state=StepState.REFUSED, message=f"{NAME_TAKEN} by remote 9."
)
STEPS = (ADD, EXTEND, SHORTEN, REOPEN, DELETE, KEEP, VOICE, TAKEN)
ENDED = tuple(replace(DELETE, state=state, message="The reason.") for state in StepState)


def numbered(*steps: Step) -> tuple[Step, ...]:
    """Return steps with numbers from 1."""
    return tuple(replace(one, number=number) for number, one in enumerate(steps, 1))


def sample_plan(*steps: Step, **more: Any) -> Plan:
    """Return a plan of steps."""
    url = "https://locks.example.com"
    return Plan("3f2a" * 8, "north", url, "apply remotes.csv", NOW, numbered(*steps), **more)


def sample_run(*steps: Step, **more: Any) -> Any:
    """Return a run in this session, as its texts see it."""
    one = sample_plan(*steps)
    usual: dict[str, Any] = {"plan": one, "steps": {step.number: step for step in one.steps}}
    usual |= {"due": len(one.steps), "done": 12, "error": None, "reading": 0, "only_reads": False}
    usual |= {"problems": Counter[StepState](), "under_way": 0, "is_finished": False}
    usual |= {"left": len(one.steps) - 12, "is_stopped": False, "stop_reason": ""}
    return SimpleNamespace(**usual | {"took_s": 2.5, "per_s": 0.0} | more)


def sample_operation(call: str, body: Any, *before: Mapping[str, Any], **more: Any) -> Operation:
    """Return a change in the journal."""
    usual: dict[str, Any] = {"id": "c0ffee", "profile": "north", "path": f"/x/{call}"}
    usual |= {"lock_id": 1001, "lock_name": "Main gate", "remote_id": 7, "session": "12-a"}
    usual |= {"remote_name": "Anna Weber", "state": OperationState.CONFIRMED, "sent_ms": NOW}
    return Operation(
        **{**usual, "call": call, "body": body, "before": before, "prepared_ms": NOW} | more
    )


OPERATIONS = (
    sample_operation("add", RECURRING, answer=7),
    sample_operation("add", LIMITED, restores="beef", restores_remote=3, answer=7),
    sample_operation("update", {"endDate": NOW + 60 * DAY_MS}, LIMITED),
    sample_operation("update", {"remoteName": "Anna W."}, RECURRING, state=OperationState.UNKNOWN),
    sample_operation("delete", {}, EXPIRED, read_ms=NOW + 90 * SECOND_MS),
    sample_operation("clear", {}, LIMITED, PERMANENT, remote_id=None, remote_name="", answer=2),
    sample_operation("updateRemoteUserNo", {"remoteUserNo": 7}, {**LIMITED, "remoteUserNo": 5}),
    sample_operation(
        "updateLockSetting",
        {"currentVoiceTimbre": {"lang": "de-DE", "timbre": "anna"}},
        remote_id=None,
        remote_name="",
    ),
    sample_operation("delete", {}, LIMITED, state=OperationState.REFUSED, code=-4, message="No."),
    sample_operation("delete", {}, LIMITED, remote_name="", sent_ms=NOW - 2 * DAY_MS),
)


# --- sections ------------------------------------------------------------------------------------


def render_amounts(samples: TextSamples) -> None:
    """Show numbers, sizes and ages."""
    samples.each(amount.format_count, COUNTS, "remote")
    samples.each(amount.describe_unreadable_periods, COUNTS)
    for count in (1, 5):
        samples.show(amount.describe_none, count, "lock", "matches", "does not match")
    samples.each(amount.format_duration, (0, 89.4, 90, 5_369, 5_400, 9_000))
    samples.each(amount.format_size, (0, 1, 1_023, 1_024, 1_048_524, 1_048_525, 2**70))
    samples.each(amount.format_age, AGES_MS)
    for age_ms in AGES_MS:
        samples.show(amount.format_short_age, NOW - age_ms, NOW, changed=age_ms == DAY_MS)
        samples.show(amount.describe_age, NOW - age_ms, NOW, changed=age_ms == DAY_MS)


def render_remotes(samples: TextSamples) -> None:
    """Show periods, states, fields, requests and backups."""
    read = [Remote.read(raw) for raw in REMOTES]
    for one in read:
        samples.show(validity.describe_validity, one, NOW, ZONE)
        samples.show(validity.describe_validity_briefly, one, NOW, ZONE)
        samples.show(validity.describe_period, one, NOW, ZONE)
        samples.show(validity.shorten_period, one, NOW, ZONE)
        samples.show(validity.describe_dates, one, ZONE)
    samples.each(validity.format_state, RemoteState)
    samples.show(validity.shorten_start, Remote.read(LIMITED), NOW, ZONE, has_end=True)
    for one in read[2], read[6], read[7]:
        samples.show(validity.format_days, one)
        samples.show(validity.format_days, one, short=True)
    never = replace(read[2], start_ms=NOW - DAY_MS, end_ms=NOW + HOUR_MS, week_day=(2, 4))
    samples.show(validity.describe_never_opens, never, NOW, ZONE)
    limited, permanent, recurring, expired = read[1], read[0], read[2], read[3]
    for before, after in ((limited, recurring), (limited, permanent), (expired, limited)):
        samples.show(remote.find_differences, before, after, ZONE)
        samples.show(remote.describe_update, before, after, NOW, ZONE)
    extra = FIELDS["extraData"]
    for one, other in (({"a": 1}, {"a": 2}), ({}, {"a": 1}), ({"a": "x" * 80}, {"b": [1, 2]})):
        samples.show(remote.compare_field, extra, one, other, ZONE)
    samples.show(remote.format_json_line, {"room": "北", "floor": 2})
    for two in (("Anna", "Anne"), ("long " * 20 + "a", "long " * 20 + "b"), ("a\u200bb", "ab")):
        samples.show(remote.clip_both, *two)
    for name, value in (
        *(("endDate", NOW), ("endDate", 0), ("weekDay", [1, 2]), ("extraData", {"a": 1})),
        *(("isCoerced", 1), ("remoteName", "Anna\x1b[31m"), ("remoteName", "")),
    ):
        samples.show(remote.format_value, FIELDS[name], value, ZONE)
    unnamed = Remote.read({"id": 7})
    samples.each(remote.format_remote, (limited, unnamed))
    samples.show(remote.format_remote_name, limited, "remote 7")
    samples.show(remote.format_remote_name, unnamed, "remote 7")
    for number in ("A-2041", None):
        samples.show(remote.format_name, "Anna Weber", number)
    info = {"lockId": 1002, "lockName": "Main gate", "lockAlias": None}
    full = {**RECURRING, "lockId": 1001, "lockInfo": info, "color": "red", "macAddress": 5}
    full |= {"createTime": NOW - 9 * DAY_MS, "apiUserId": 3, "electricQuantity": 80}
    for raw in (full, PERMANENT):
        one = Remote.read(raw)
        valid = validity.describe_validity(one, NOW, ZONE)
        details = remote.describe_remote(one, valid, ZONE, NOW)
        samples.lines.setdefault("describe_remote", []).append(
            "\n  ".join(
                f"{detail.label}: {' / '.join(detail.shown.splitlines())}" for detail in details
            )
        )
    samples.each(remote.describe_add, (permanent, recurring), NOW, ZONE)
    for many in (False, True):
        samples.show(remote.describe_backup, LIMITED, many=many)
        samples.show(remote.describe_backup, {one.name: 1 for one in UNLISTED}, many=many)
    for deleted in (None, 5, 6, 7):
        samples.show(remote.describe_beyond_backup, deleted, 5)
    backed = BackedUp(limited, rules.new_remote(1001, limited), unknown=tuple(UNLISTED[:2]))
    odd = replace(backed, unnamed=("color", "shape"), was_invalid=True, unknown=())
    samples.each(remote.describe_losses, ([], [backed], [backed, odd], [odd, odd]))


def render_people(samples: TextSamples) -> None:
    """Show people, their ends, and similar names."""
    found = people.People()
    for lock_id, names in enumerate((["Anna", "Bo\x1b"], ["Anna", "anna", "", "Ben"])):
        read = [Remote.read({**LIMITED, "remoteName": name}) for name in names]
        block = Block.of([*read, Remote.read({**PERMANENT, "remoteName": "Anna"})])
        found.add(lock_id, "", block.raws(), block.ends)
    for person in found:
        samples.show(people.format_person, person)
        samples.show(people.format_numbers, person)
        samples.show(people.describe_bounds, person.bounds(NOW), lambda _: ZONE)
        samples.show(people.describe_person_state, person, NOW)
        samples.show(people.describe_similar, found.similar(person), 2)
        samples.each(people.describe_why, found.similar(person))
    samples.each(people.count_people, ([], [*found][:1], [*found]))
    samples.each(people.format_people, (1, 2000))


def render_shortenings(samples: TextSamples) -> None:
    """Show what changes take away."""
    changes = [
        (LIMITED, {**LIMITED, "endDate": NOW + 4 * DAY_MS}),
        (LIMITED, {**LIMITED, "endDate": NOW - DAY_MS}),
        (PERMANENT, LIMITED),
        (LIMITED, {**LIMITED, "startDate": NOW + 2 * DAY_MS}),
        (RECURRING, {**RECURRING, "weekDay": [1, 2]}),
        (LIMITED, {**LIMITED, "endDate": NOW + 90 * DAY_MS}),
    ]
    found = []
    for before, after in changes:
        two = Remote.read(before), Remote.read(after)
        samples.show(shortening.describe_shortened_access, *two, NOW, ZONE)
        samples.show(shortening.describe_added_access, two[1], two[0], NOW, ZONE)
        if (one := rules_shortening(*two)) is not None:
            found.append(one)
            samples.show(shortening.describe_shortening, one, NOW, ZONE)
            samples.show(shortening.describe_shortened_fields, one, NOW, ZONE)
    samples.each(
        shortening.summarize_shortenings, ([], found[:1], found[:2], found[2:3], found[3:], found)
    )


def rules_shortening(before: Remote, after: Remote) -> Any:
    """Return what a change of a remote takes away."""
    return shortening.find_shortening(before, after, NOW, ZONE)


def render_replacements(samples: TextSamples) -> None:
    """Show what a plan that replaces a fob says."""
    remotes = [Remote.read(one) for one in (LIMITED, {**LIMITED, "remoteName": ""})]
    for one in remotes:
        samples.show(replacement.format_replacement_title, one, "B-2050")
        for adds_first in (False, True):
            samples.show(replacement.describe_order, one, adds_first=adds_first)
    other = Remote.read({**LIMITED, "remoteName": "anna"})
    for some in (remotes[:1] * 3, [*remotes, other]):
        samples.show(replacement.format_title_on_locks, some, "B-2050")
        samples.show(replacement.name_people, some)
        samples.show(replacement.describe_different_names, some)
    for deletes_first in (0, 2):
        samples.show(replacement.describe_order_on_locks, deletes_first, 3)
    for unknown in (UNLISTED, ()):
        for has_mac in (False, True):
            samples.show(replacement.describe_not_copied, unknown, has_mac=has_mac)


def render_elsewhere(samples: TextSamples) -> None:
    """Show the changes that others made."""
    later = {**LIMITED, "endDate": LIMITED["endDate"] + 15 * DAY_MS, "remoteName": "Anna"}
    long = {**LIMITED, "extraData": {"note": "x" * 2000}}
    readings = changes_elsewhere.Comparison(
        1001, NOW - DAY_MS, NOW, is_old_whole=True, is_new_whole=True
    )
    old, new, much = ({1: Remote.read(one)} for one in ({**LIMITED, "extraData": {}}, later, long))
    for two in ((old, new), (old, much), ({}, old), (old, {})):
        for change in readings.find_changes(*two):
            samples.show(changes_elsewhere.describe_kind, change)
            samples.show(changes_elsewhere.describe_values, change, ZONE)
            samples.show(changes_elsewhere.describe_between, change, ZONE, NOW)
            for with_head in (True, False):
                samples.show(
                    changes_elsewhere.describe_change, change, ZONE, NOW, with_head=with_head
                )
    samples.each(amount.describe_elsewhere, (0, 1, 2000), "!")


def render_operations(samples: TextSamples) -> None:
    """Show changes in the journal."""
    samples.lines["the states of a change"] = [
        f"{state.value}: {words}" for state, words in operation.STATE_NAMES.items()
    ]
    for one in OPERATIONS:
        samples.show(operation.format_operation, one)
        samples.show(operation.describe_operation, one, ZONE, NOW)
        samples.show(operation.describe_change, one, ZONE)
        samples.show(operation.describe_change_briefly, one, ZONE)
        details = operation.describe_fields(one, (), ZONE, "12-a")
        samples.lines.setdefault("describe_fields", []).append(
            "\n  ".join(
                f"{one.label}: {' '.join(one.shown.split())}".removeprefix(": ")
                for one in details
                if one.shown.strip()
            )
        )
    deleted = replace(OPERATIONS[4], id="beef")
    again = replace(OPERATIONS[0], id="cafe", again_of="c0ffee")
    for linked in ((deleted, OPERATIONS[1]), (again,)):
        details = operation.describe_fields(OPERATIONS[1], linked, ZONE, "")
        samples.lines["describe_fields"].append(
            "\n  ".join(
                f"{one.label}: {one.shown}" for one in details if one.label[:2] in ("Re", "Se")
            )
        )
    samples.show(operation.ask_to_adopt, [OPERATIONS[0]])
    samples.show(operation.ask_to_adopt, [OPERATIONS[0], replace(OPERATIONS[0], profile="south")])
    samples.each(operation.format_voice, (OPERATIONS[7], OPERATIONS[0]))


def render_plans(samples: TextSamples) -> None:
    """Show plans and their steps."""
    plans = [
        sample_plan(),
        sample_plan(ADD),
        sample_plan(*STEPS, skipped={"expired": 123}),
        sample_plan(KEEP, skipped={"expired": 2}),
        sample_plan(*(DELETE,) * 1_200),
    ]
    samples.each(plan.describe_plan, plans)
    samples.each(plan.describe_skipped, plans)
    not_answered = errors.NoAnswerError("The service did not answer within 5 s.")
    for days, kept, unread in (
        (30, sample_plan(), []),
        (1, sample_plan(skipped={"unclear": 2}), []),
        (30, sample_plan(), [("Main gate", not_answered)]),
        (30, sample_plan(), [(f"Gate {number}", not_answered) for number in range(1, 6)]),
    ):
        samples.show(plan.describe_none_expired, days, kept, unread)
    unread = [("Main gate", not_answered)]
    samples.show(plan.describe_none_expired, 30, sample_plan(), unread, is_none_read=True)
    samples.each(plan.describe_work, plans, "4 requests to the service, about 2 s")
    zones = {1001: ZONE}
    for one in STEPS:
        samples.show(plan.step_name, one)
        samples.show(plan.format_step, one)
        samples.show(plan.describe_step, one, ZONE, NOW)
        samples.show(plan.shorten_step, one, ZONE, NOW)
        samples.show(plan.describe_step_shortening, one, ZONE, NOW)
    unknown = UnknownZone("Europe/Atlantis")
    never = {**RECURRING, "weekDay": [6], "startDate": NOW, "endDate": NOW + HOUR_MS}
    noted = (
        *(EXTEND, SHORTEN, REOPEN, replace(EXTEND, note="lockterm sent the same values earlier.")),
        step(Action.UPDATE, wanted={"endDate": NOW - DAY_MS}),
        step(Action.UPDATE, wanted={"remoteType": 1, "startDate": 0, "endDate": 0}),
        step(Action.ADD, before={}, wanted=never),
        step(Action.ADD, before={}, wanted={**RECURRING, "weekDay": []}),
        step(Action.ADD, before={}, wanted={**LIMITED, "extraData": {"a": "x" * 2_000}}),
    )
    samples.each(plan.describe_step_notes, noted, ZONE, NOW)
    samples.show(plan.describe_step_notes, EXTEND, unknown, NOW)
    days = [replace(EXTEND, wanted={"endDate": NOW + day * DAY_MS}) for day in range(50, 54)]
    for some in ([EXTEND], [EXTEND] * 2, days, [ADD]):
        samples.show(plan.describe_changes, some, zones)
    for some in (noted, (REOPEN, REOPEN), (noted[3],) * 2, ()):
        samples.show(plan.describe_notes, some, zones, NOW)
        samples.show(plan.describe_notes, some, zones, NOW, {1001: "Main gate"})


def render_runs(samples: TextSamples) -> None:
    """Show runs on the way and at their end."""
    for state in StepState:
        samples.show(run.format_step_state, replace(DELETE, state=state))
        samples.show(run.format_step_state, replace(DELETE, state=state), is_running=True)
        samples.show(run.format_problem, replace(DELETE, state=state, message="The reason."))
    samples.show(run.format_step_state, TAKEN)
    titles = {1001: "Main gate", 1002: "Yard"}
    far = replace(DELETE, lock_id=1002, state=StepState.NOT_SENT, message=f"{NOT_REACHED}: timeout")
    gone = replace(DELETE, state=StepState.RECORDED)
    for last in (far, *(replace(one, lock_id=1002) for one in ENDED)):
        samples.show(run.describe_deletions, (gone, last), titles)
        samples.show(run.list_deleted, (gone, gone, last), titles)
        samples.show(run.describe_effects, (gone, last), titles)
    samples.show(run.describe_deletions, (gone,), titles)
    added = replace(ADD, state=StepState.RECORDED, lock_id=gone.lock_id, before=gone.before)
    for new in (added, replace(added, state=StepState.REFUSED)):
        samples.show(replacement.describe_replacements, (gone, new), titles)
        samples.show(replacement.describe_replacements, (gone, added, new, gone), titles)
    samples.each(replacement.list_locks, (["Yard"], ["Yard", "Main gate", "Shed", "Door", "Dock"]))
    for lock_id in (1001, 1003):
        samples.show(replacement.format_lock, titles, lock_id)
    many = [replace(far, lock_id=number) for number in range(2, 8)]
    samples.show(run.describe_deletions, (gone, *many), titles)
    for per_s in (0.005, 0.16, 1, 4.83, 25):
        samples.show(run.format_rate, per_s)
    some = Counter({state: place for place, state in enumerate(StepState)})
    samples.each(run.describe_problems, ({}, some))
    for is_running in (False, True):
        samples.show(run.describe_counts, some, 1, is_running=is_running)
        samples.show(run.describe_counts, {}, 0, is_running=is_running)
    problems = Counter({StepState.REFUSED: 2, StepState.UNKNOWN: 1})
    runs = [
        sample_run(*(ADD,) * 214),
        sample_run(*(ADD,) * 214, problems=problems, left=201, under_way=3, per_s=4.8),
        sample_run(*(ADD,) * 20, per_s=0.2, reading=1, under_way=1),
        sample_run(*(ADD,) * 12, done=11, left=0, reading=1, only_reads=True, problems=problems),
    ]
    samples.each(run.describe_progress, runs)
    samples.each(run.describe_pace, runs)
    samples.each(run.describe_other_run, runs)
    for unread, unplanned in (((), 1), (("Yard",), 0), (("Yard", "Main gate"), 1_200)):
        samples.show(plan.describe_gaps, unread, unplanned)
    samples.show(plan.describe_ignored, ["Department", "王 \x1b[2J", ""])
    due, sent = replace(ADD, state=StepState.TO_DO), replace(ADD, state=StepState.SENT)
    done, failed = (replace(ADD, state=one) for one in (StepState.RECORDED, StepState.REFUSED))
    ends = [
        sample_run(done, done, is_finished=True),
        sample_run(done, failed, failed, is_finished=True),
        sample_run(done, due, is_finished=True, is_stopped=True),
        sample_run(done, sent, due, due, is_finished=True),
        sample_run(done, sent, is_finished=True),
    ]
    stopped = sample_run(done, due, is_finished=True, stop_reason="The service refuses the token.")
    for one in (*ends, stopped):
        samples.show(run.describe_end, one, titles)
        samples.show(run.describe_outcome, one.steps.values(), titles)
        samples.show(run.describe_end_elsewhere, one, titles)
    samples.each(run.ask_to_leave, (*runs, *ends))
    samples.each(run.format_progress, runs)
    for state in (StepState.REFUSED, StepState.SKIPPED, StepState.UNKNOWN, StepState.NOT_SENT):
        samples.show(run.describe_blocked, replace(EXTEND, number=1, state=state))
    samples.each(run.format_reading, runs[2:])
    for one in (*ends, sample_run()):
        samples.show(run.describe_result, one.plan, one.plan.steps)
        samples.show(run.describe_run, one.plan)
        samples.show(run.describe_rest, one.plan)
    samples.show(run.describe_run, replace(ends[3].plan, is_running=True))
    for counts in ({StepState.RECORDED: 2}, {StepState.RECORDED: 1, StepState.NOT_SENT: 1}):
        line = RunLine("3f2a" * 8, "north", "", "apply a.csv", NOW, False, True, counts)
        samples.show(run.format_run_state, line)
    for steps in ((failed,), (replace(ADD, state=StepState.UNKNOWN),)):
        samples.show(run.describe_commands, "3f2a" * 8, steps)


def render_service(samples: TextSamples) -> None:
    """Show what is said of the service, and errors."""
    samples.show(service.describe_read_only, "north")
    samples.show(service.describe_read_only, "north", "Nothing can be restored")
    for offset_s in (-150, 150, 48 * 3600 - 60, 48 * 3600, -400 * 86_400):
        samples.show(service.describe_clock_doubt, offset_s)
        samples.show(service.describe_clock, offset_s)
    refused = errors.RefusedError("Name exists.", code=-3, hint="Choose another name.")
    for kind in (errors.UnreachableError, errors.ResultUnknownError, errors.StoreDamagedError):
        one = kind("It took longer than 10 s.", hint="Try again.")
        for function in (service.format_error, service.format_sentences):
            samples.show(function, one)
    for function in (service.format_meaning, service.format_titled_meaning, service.format_error):
        samples.show(function, refused)


def render_input(samples: TextSamples) -> None:
    """Show what is said of typed dates and weekdays, and of fields that break a rule."""
    typed = (
        *("", "soon", "1/12/2026", "31.13.2026", "2026-02-30", "2026-12-01 24:00", "25:00"),
        *("+1m", "-3d", "+6h 9:00", "1969-12-31", "+999999y", "2027-03-28 02:30", "12pm", "13pm"),
    )
    for words in typed:
        samples.lines.setdefault("a date that cannot be read", []).append(
            f"{words or '(nothing)'}: {read_moment(words, ZONE, NOW).error}"
        )
    for words in ("2026-12-31", "+30d", "+1mo eom", "eoy", "next fri 6pm"):
        moment = read_moment(words, ZONE, NOW, end=True, end_ms=NOW + 41 * DAY_MS)
        samples.lines.setdefault("the note of a date", []).append(
            f"{words}: {moment.note or '(no note)'}"
        )
    for words in ("funday", "1-9", "fri-mon", "mon,,tue"):
        try:
            found = f"{words}: {format_weekdays(sorted(parse_weekdays(words)))}"
        except ValueError as problem:
            found = f"{words}: {problem}"
        samples.lines.setdefault("weekdays", []).append(found)
    wrong = (
        *({"remoteType": 9}, {"startDate": 0}, {"endDate": None}, {"endDate": 2**63}),
        *({"endDate": 1, "startDate": 2}, {"remoteType": 4, "weekDay": [8]}, {"addType": None}),
        *({"remoteName": ""}, {"remoteName": "a\u200bb"}, {"remoteName": "a\ufffd"}),
        {"remoteNumber": ""},
        {"remoteUserNo": 2**64},
        {"isCoerced": 9},
    )
    for more in wrong:
        samples.show(rules.violations, Remote.read({**LIMITED, **more}))


RENDERED: Mapping[str, Callable[[TextSamples], None]] = {
    "Numbers, sizes and ages": render_amounts,
    "Remotes": render_remotes,
    "People": render_people,
    "Shortened access": render_shortenings,
    "Replaced fobs": render_replacements,
    "Changed elsewhere": render_elsewhere,
    "Changes": render_operations,
    "Plans": render_plans,
    "Runs": render_runs,
    "Service and errors": render_service,
    "Input": render_input,
}


def render() -> str:
    """Return the document."""
    parts = ["# Texts with sample values\n\nWritten by `python -m tests.texts`.\n"]
    for title, fill in RENDERED.items():
        samples = TextSamples()
        fill(samples)
        parts.append(f"## {title}\n")
        for name, lines in samples.lines.items():
            # The same words for other samples are read once.
            shown = "\n".join(f"- {line}".rstrip() for line in dict.fromkeys(lines))
            parts.append(f"### {name}\n\n{shown}\n")
    parts += ["## Keys\n", *render_keys(), "## Constant texts of the interface\n"]
    return "\n".join((*parts, *render_constants()))


def find_unrendered() -> list[str]:
    """Return the public functions of the text modules that the document does not show."""
    shown = TextSamples()
    for fill in RENDERED.values():
        fill(shown)
    return [
        f"{module.__name__}.{name}"
        for module in MODULES
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
        and not name.startswith("_")
        and name not in WITHOUT_TEXT | shown.lines.keys()
    ]


def format_template(text: ast.JoinedStr | ast.Constant) -> str:
    """Return a string as its source has it, with a short name in place of each value."""
    if isinstance(text, ast.Constant):
        return str(text.value)
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else f"{{{_name_of(part)}}}"
        for part in text.values
    )


def _name_of(value: ast.AST) -> str:
    """Return the name of a value in a template: of a call, what is called; of a key, its id."""
    match value:
        case ast.FormattedValue(value=inner):
            return _name_of(inner)
        case ast.Call(func=ast.Name(id="key"), args=[ast.Constant(value=str(name))]):
            return name
        case ast.Call(func=ast.Name(id="clean" | "quoted" | "cut"), args=[inner, *_]):
            return _name_of(inner)
        case ast.Call(func=function):
            return _name_of(function)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_")
    return "..."


def _internal(node: ast.Assert | ast.Call | ast.Assign) -> Iterator[ast.AST]:
    """Yield the strings that no user reads: selectors, patterns, names of tasks, search words."""
    match node:
        case ast.Assert(msg=ast.AST() as message):
            yield message
        case ast.Assign(targets=[ast.Name(id="SETTINGS")], value=words):
            yield words
        case ast.Call(func=ast.Name(id="on" | "Signal" | "AttributeError"), args=arguments):
            yield from arguments
        case ast.Call(func=ast.Attribute(attr="compile" | "query_one"), args=arguments):
            yield from arguments
        case ast.Call(keywords=keywords):
            internal = ("classes", "description", "group")
            yield from (one.value for one in keywords if one.arg in internal)


def find_constants(file: Path) -> Iterator[str]:
    """Yield the strings of several words that a module holds, in the order of its lines."""
    tree = ast.parse(file.read_text("utf-8"))
    skipped: set[int] = set()  # docstrings, and the parts of f-strings
    texts = list[ast.JoinedStr | ast.Constant]()
    for one in ast.walk(tree):
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
            skipped.add(id(one.value))
        elif isinstance(one, ast.Assert | ast.Call | ast.Assign):
            skipped |= {id(inner) for part in _internal(one) for inner in ast.walk(part)}
        elif isinstance(one, ast.JoinedStr):
            skipped |= {id(part) for part in one.values}
            texts.append(one)
        elif isinstance(one, ast.Constant) and isinstance(one.value, str):
            texts.append(one)
    texts = [one for one in texts if id(one) not in skipped]
    for one in sorted(texts, key=lambda one: (one.lineno, one.col_offset)):
        words = " ".join(format_template(one).split())
        is_style = {*words.split()} <= STYLES
        if " " in words and any(word.isalpha() for word in words.split()) and not is_style:
            yield words


def render_constants() -> Iterator[str]:
    """Yield the section of each module of the interface that holds texts."""
    root = Path(lockterm.__file__).parent
    files = chain.from_iterable((root / name).rglob("*.py") for name in UI_PACKAGES)
    for file in sorted(files):
        if lines := [f"- {words}" for words in dict.fromkeys(find_constants(file))]:
            yield "\n".join((f"### {file.relative_to(root)}\n", *lines, ""))


def render_keys() -> Iterator[str]:
    """Yield the section of each place with keys: what the footer and the help call them."""
    for place in PLACES.values():
        lines = [f"- {key.verb}: {key.sentence}".rstrip(": ") for key in place.own]
        if lines:
            yield "\n".join((f"### Keys {place.words}\n", *lines, ""))


if __name__ == "__main__":
    DOCUMENT.write_text(render(), "utf-8")
