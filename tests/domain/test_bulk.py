"""One change of many remotes: each is planned or told why not, and nothing else becomes another."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lockterm.domain import bulk, rules
from lockterm.domain.bulk import Target, Wanted
from lockterm.domain.dates import DAY_MS, MINUTE_MS
from lockterm.domain.plan import Action, Step, StepState
from lockterm.domain.remotes import UPDATED, Remote, RemoteStatus, RemoteType
from lockterm.domain.text.plan import describe_step_notes
from lockterm.domain.text.validity import OPENS_ALWAYS
from tests.domain.test_rules import NOW, as_remote, sound, wild

soon = st.integers(NOW - 1000 * DAY_MS, NOW + 1000 * DAY_MS)

typed = st.sampled_from(["+30d", "+1mo", "2027-01-31 18:00", "eom", "1/2/2027", "", "soon"])
wishes: st.SearchStrategy[tuple[frozenset[str], Wanted]] = st.one_of(
    st.tuples(
        st.just(frozenset({"endDate"})),
        st.builds(lambda text, own: bulk.new_end(text, from_own=own), typed, st.booleans()),
    ),
    st.tuples(
        st.just(frozenset({"remoteType", "startDate", "endDate", "weekDay"})),
        st.builds(
            bulk.new_validity,
            st.sampled_from([None, 1, 2, 4]),
            typed,
            typed,
            st.none() | st.sets(st.integers(1, 7)),
        ),
    ),
    st.tuples(st.just(frozenset({"isCoerced"})), st.builds(bulk.coerced, st.integers(0, 2))),
    st.tuples(
        st.just(frozenset({"extraData"})),
        st.builds(bulk.extra_set, st.sampled_from(["a", "b"]), st.integers() | st.text(max_size=3)),
    ),
    st.tuples(
        st.just(frozenset({"extraData"})),
        st.builds(bulk.extra_removed, st.sampled_from(["a", "b"])),
    ),
)


def targets(remotes: Sequence[Remote]) -> list[Target]:
    return [
        Target(1001 + at % 2, Remote.read({**remote.raw, "id": at}), UTC)
        for at, remote in enumerate(remotes, 1)
    ]


def after(step: Step) -> dict[str, Any]:
    """What the remote is once the step was carried out, as its sender works it out."""
    before = Remote.read(step.before)
    wanted = Remote.read({**step.before, **step.wanted})
    return {**step.before, **rules.changes(before, wanted).body()}


@given(st.lists(wild | sound().map(as_remote), max_size=6), wishes)
def test_each_remote_is_planned_once_or_has_a_reason(
    remotes: list[Remote], wish: tuple[frozenset[str], Wanted]
) -> None:
    """And no field becomes another that was not asked for."""
    marked = targets(remotes)
    planned = bulk.change_each(marked, wish[1], NOW)
    found = [*planned.steps, *planned.left]
    assert sorted((one.lock_id, one.remote_id or 0) for one in found) == sorted(
        (one.lock_id, one.remote.id or 0) for one in marked
    )
    raws = {one.remote.id: one.remote.raw for one in marked}
    assert all(step.before == raws[step.remote_id] for step in found)
    assert all(step.state is StepState.REFUSED and step.message for step in planned.left)
    for step in planned.steps:
        assert bool(step.wanted) == (step.action is Action.UPDATE)
        assert step.action in (Action.UPDATE, Action.KEEP)
        before, now = Remote.read(step.before), Remote.read(after(step))
        if step.action is Action.UPDATE:
            assert rules.differing(before, now)
        for field in UPDATED:
            if field.name not in wish[0] and field.name not in before.odd:
                assert rules.is_same(field, field.of(before), field.of(now)), field.name


@pytest.mark.parametrize("days", ["1,2,3,4,5", [1, "2"], None, ...])
def test_plan_refuses_to_overwrite_unreadable_weekdays(days: Any) -> None:
    """Another end sends the weekdays with it: none of them would be sent."""
    raw = {"id": 7, "remoteType": 4, "startDate": NOW, "endDate": NOW + DAY_MS, "weekDay": days}
    remote = Remote.read({name: value for name, value in raw.items() if value is not ...})
    planned = bulk.change_each(targets([remote]), bulk.new_end("+30d", from_own=True), NOW)
    assert planned.steps == []
    assert "weekdays" in planned.left[0].message
    with_days = bulk.new_validity(None, days=[1, 2])
    (step,) = bulk.change_each(targets([remote]), with_days, NOW).steps
    assert step.wanted == {"weekDay": [1, 2]}


@given(st.lists(sound().map(as_remote), min_size=1, max_size=6), st.integers(1, 90), soon)
def test_days_count_from_its_own_end_and_from_now_when_that_has_passed(
    remotes: list[Remote], days: int, end: int
) -> None:
    remotes = [
        Remote.read({**one.raw, "startDate": end - DAY_MS, "endDate": end})
        if one.remote_type != 1
        else one
        for one in remotes
    ]
    planned = bulk.change_each(targets(remotes), bulk.new_end(f"+{days}d", from_own=True), NOW)
    for step in planned.steps:
        since_ms = end if end > NOW else NOW - NOW % MINUTE_MS
        assert step.wanted["endDate"] == since_ms + days * DAY_MS
    permanent = [remote for remote in remotes if remote.remote_type == 1]
    assert len(planned.left) == len(permanent)


def test_what_opens_without_an_end_is_agreed_to_and_what_ends_before_its_start_refused() -> None:
    fields = {"remoteType": 2, "startDate": NOW, "endDate": NOW + DAY_MS, "remoteName": "A"}
    marked = targets([Remote.read(fields)])
    (step,) = bulk.change_each(marked, bulk.new_validity(1), NOW).steps
    assert describe_step_notes(step, UTC, NOW) == [OPENS_ALWAYS]
    for action in (Action.ADD, Action.UPDATE, Action.DELETE, Action.VOICE):
        noted = Step(0, action, 7, 1, "Anna", note="The row has no lockId.")
        assert describe_step_notes(noted, UTC, NOW)[-1:] == [noted.note]
    planned = bulk.change_each(marked, bulk.new_end("2020-01-01", from_own=False), NOW)
    assert [one.message for one in planned.left] == ["The end must be after the start."]
    deleted = [(one.action, one.remote_id, one.before) for one in bulk.delete_each(marked).steps]
    assert deleted == [(Action.DELETE, 1, marked[0].remote.raw)]


@pytest.mark.parametrize(
    ("typed", "minute"), [("2026-12-31", "23:59"), ("2026-12-31 18:00", "18:00")]
)
def test_new_validity_ends_with_the_day_when_no_time_is_typed(typed: str, minute: str) -> None:
    fields = {"remoteType": 2, "startDate": NOW, "endDate": NOW + DAY_MS}
    marked = targets([Remote.read(fields)])
    for wish in (bulk.new_validity(2, end=typed), bulk.new_end(typed, from_own=True)):
        (step,) = bulk.change_each(marked, wish, NOW).steps
        end = datetime.fromtimestamp(step.wanted["endDate"] / 1000, UTC)
        assert f"{end:%Y-%m-%d %H:%M}" == f"2026-12-31 {minute}"


kinds, statuses = st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 3, None])


@given(st.lists(st.tuples(kinds, soon, statuses), max_size=8), soon)
def test_delete_expired_takes_exactly_what_status_and_dates_call_expired(
    given: list[tuple[int, int, int | None]], until: int
) -> None:
    assume(all(abs(end - NOW) > 5 * MINUTE_MS for _, end, _ in given))  # clocks may differ
    remotes = [
        Remote.read({
            **{"remoteType": kind, "status": status, "weekDay": [1]},
            **{"startDate": end - DAY_MS, "endDate": end},
        })
        for kind, end, status in given
    ]  # fmt: skip
    planned = bulk.delete_expired(targets(remotes), until, NOW)
    late = {
        number: status
        for number, (kind, end, status) in enumerate(given, 1)
        if kind != RemoteType.PERMANENT and end <= min(until, NOW)
    }
    deleted = {number for number, status in late.items() if status == RemoteStatus.INVALID}
    assert {step.remote_id for step in planned.steps} == deleted
    assert {step.action for step in planned.steps} <= {Action.DELETE}
    assert planned.skipped == {"unclear": len(late) - len(deleted)}
