"""When a remote opens, in words."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from lockterm.domain import dates, glyphs
from lockterm.domain.dates import format_weekdays
from lockterm.domain.remotes import Remote
from lockterm.domain.text.validity import SHORT, describe_never_opens, describe_validity
from lockterm.domain.validity import (
    COERCED,
    Phase,
    RemoteState,
    has_unreadable_period,
    never_opens,
    phase_of,
    state_of,
)
from lockterm.terminal.widths import is_doubtful
from lockterm.widgets.line_table import CURSOR, MARK, STATES
from tests.domain.test_rules import wild

BERLIN = ZoneInfo("Europe/Berlin")
NOW = 1_795_248_000_000
DAY = dates.DAY_MS
FEBRUARY = 1_801_436_400_000
"""2027-02-01, 00:00 in Berlin."""


def remote(kind: int, start: int, end: int, status: int = 1, days: tuple[int, ...] = ()) -> Remote:
    period = {"remoteType": kind, "startDate": start, "endDate": end, "weekDay": list(days)}
    return Remote.read({"id": 1, **period, "status": status})


@pytest.mark.parametrize(
    ("shown", "short", "state"),
    [
        (remote(1, 0, 0), "always", "active"),
        (remote(1, 0, 0, 2), "always", "status invalid"),
        (remote(2, NOW - DAY, NOW + 41 * DAY), "until 1 Jan 2027", "active"),
        (remote(2, NOW - DAY, NOW + 41 * DAY, 2), "until 1 Jan 2027", "status invalid"),
        (remote(2, NOW - DAY, NOW + 9 * dates.HOUR_MS), "until 18:00 today", "< 7 days"),
        (remote(2, NOW + 2 * DAY, NOW + 3 * DAY), "starts in 2 days", "upcoming"),
        (remote(2, NOW + 2 * DAY, NOW + 3 * DAY, 2), "starts in 2 days", "upcoming"),
        (remote(2, NOW - 9 * DAY, NOW - 3 * DAY, 2), "expired 3 days ago", "expired"),
        (remote(2, NOW - 9 * DAY, NOW - 3 * DAY), "expired 3 days ago", "status normal"),
        (
            remote(4, NOW - DAY, NOW + 40 * DAY, days=(1, 2, 3, 4, 5)),
            "Mon-Fri, until 31 Dec 2026",
            "active",
        ),
        (
            remote(4, NOW - DAY, NOW + 40 * DAY, days=(1, 2, 3, 5)),
            "Mon-Wed Fri, until 31 Dec 2026",
            "active",
        ),
        (remote(4, NOW - DAY, NOW + 40 * DAY), "no weekdays, until 31 Dec 2026", "unclear"),
        (remote(4, NOW + DAY, NOW + 40 * DAY), "no weekdays, from 22 Nov 2026", "upcoming"),
        (remote(4, NOW - 9 * DAY, NOW - DAY, 2), "expired 24 hours ago", "expired"),
        (remote(2, NOW - DAY, FEBRUARY), "until 31 Jan 2027 24:00", "active"),
        (remote(2, NOW - DAY, FEBRUARY + 1000), "until 1 Feb 2027", "active"),
        (remote(2, NOW - DAY, NOW + 15 * dates.HOUR_MS), "until 24:00 today", "< 7 days"),
        (
            remote(4, NOW - DAY, FEBRUARY, days=(1, 2, 3, 4, 5)),
            "Mon-Fri, until 31 Jan 2027",
            "active",
        ),
        (remote(8, NOW - DAY, NOW + 40 * DAY, 7), "unknown type 8", "status 7"),
    ],
)
def test_validity_in_a_table(shown: Remote, short: str, state: str) -> None:
    found = describe_validity(shown, NOW, BERLIN)
    assert (found.short, found.word) == (short, state)
    assert bool(found.disagreement) == (state in ("status normal", "status invalid"))


SOON = NOW + 7 * DAY
LATER = NOW + 30 * DAY


@pytest.mark.parametrize(
    ("shown", "state"),
    [
        (remote(1, 0, 0), RemoteState.OPEN),
        (remote(1, 0, 0, 2), RemoteState.UNCLEAR),
        (remote(2, NOW, NOW + 1), RemoteState.WEEK),
        (remote(2, NOW - DAY, SOON), RemoteState.WEEK),
        (remote(2, NOW - DAY, SOON + 1), RemoteState.MONTH),
        (remote(4, NOW - DAY, LATER, days=(1,)), RemoteState.MONTH),
        (remote(4, NOW - DAY, LATER + 1, days=(1,)), RemoteState.OPEN),
        (remote(2, NOW + 1, SOON), RemoteState.AHEAD),
        (remote(2, NOW + 1, SOON, 2), RemoteState.AHEAD),
        (remote(2, NOW - DAY, NOW, 2), RemoteState.ENDED),
        (remote(2, NOW - DAY, NOW - 2 * dates.MINUTE_MS), RemoteState.ENDED),
        (remote(2, NOW - DAY, NOW - 2 * dates.MINUTE_MS - 1), RemoteState.DISAGREE),
        (remote(2, NOW - DAY, SOON, 2), RemoteState.DISAGREE),
        (remote(2, NOW + 2, NOW + 1), RemoteState.UNCLEAR),
        (remote(8, NOW - DAY, SOON), RemoteState.UNCLEAR),
        (remote(2, NOW - DAY, SOON, 7), RemoteState.UNCLEAR),
        (Remote.read({"remoteType": 1}), RemoteState.UNCLEAR),
    ],
)
def test_the_state_of_a_remote_at_a_moment(shown: Remote, state: RemoteState) -> None:
    assert state_of(shown, NOW) is state


def test_each_state_has_its_own_sign_and_look() -> None:
    for signs in (glyphs.UNICODE, glyphs.ASCII):
        glyphs.use(signs)
        told = [*(state.sign for state in RemoteState), COERCED]
        assert len({*told}) == len(told)
        assert {cell_len(sign) for sign in told} == {1}
        assert not any(is_doubtful(sign) for sign in told)
        assert not {MARK, CURSOR} & {*told}, "these stand beside them"
    assert all(sign.isascii() for sign in told)
    assert {state.look for state in RemoteState} | {"coerced"} == {*STATES}
    assert max(len(state.word) for state in RemoteState) <= 12


def test_period_excludes_its_end_and_has_words() -> None:
    shown = remote(2, NOW, NOW + 1)
    phases = [phase_of(shown, at) for at in (NOW - 1, NOW, NOW + 1)]
    assert phases == [Phase.AHEAD, Phase.NOW, Phase.OVER]
    shown = remote(4, NOW - DAY, NOW + 40 * DAY, days=(1, 2, 3, 4, 5))
    assert describe_validity(shown, NOW, BERLIN).words == (
        "Mon-Fri, until 31 Dec 2026 09:00 +01:00, in 40 days"
    )


@given(wild, st.integers(0, 2**62))
def test_every_remote_has_words_that_fit(shown: Remote, now_ms: int) -> None:
    found = describe_validity(shown, now_ms, BERLIN)
    assert len(found.short) <= SHORT == 30
    assert len(found.word) <= 12
    assert found.state is state_of(shown, now_ms)
    assert found.words.isprintable()
    if has_unreadable_period(shown):
        assert {phase_of(shown, at) for at in (0, 2**62)} == {Phase.UNCLEAR}
    elif shown.remote_type != 1:
        assert shown.start_ms and shown.end_ms


@example([1, 3, 5, 6], 20)  # "starts in 20 minutes" leaves no room for them
@example([7], 59)
@given(st.lists(st.integers(1, 7), min_size=1, unique=True), st.integers(1, 60 * 24 * 800))
def test_weekdays_are_in_sight_before_the_start(days: list[int], minutes: int) -> None:
    start = NOW + minutes * dates.MINUTE_MS
    short = describe_validity(remote(4, start, start + 10**9, days=tuple(days)), NOW, BERLIN).short
    count = f"{len(days)} weekday{'' if len(days) == 1 else 's'}"
    forms = (format_weekdays(days, short=True), count)
    assert any(short.startswith(f"{form}, ") for form in forms), short
    assert len(short) <= SHORT


@pytest.mark.parametrize(
    ("fields", "short", "words"),
    [
        ({"endDate": "next week"}, "end cannot be read", "end cannot be read"),
        ({"endDate": None}, "end unknown", "end unknown"),
        ({"endDate": 0}, "no end", "no end"),
        ({"startDate": 1.5}, "start cannot be read", "start cannot be read"),
        ({"endDate": str(NOW + 41 * DAY)}, "until 1 Jan 2027", "until 1 Jan 2027"),
        (
            {"remoteType": 4, "weekDay": None},
            "weekdays ?, until 1 Jan",
            "weekdays unknown, until 1 Jan 2027",
        ),
        ({"remoteType": 4, "weekDay": []}, "no weekdays", "no weekdays, until 1 Jan 2027"),
    ],
)
def test_what_did_not_come_is_not_taken_for_none(
    fields: dict[str, object], short: str, words: str
) -> None:
    raw = {"remoteType": 2, "startDate": NOW - DAY, "endDate": NOW + 41 * DAY, "status": 1}
    found = describe_validity(Remote.read(raw | fields), NOW, BERLIN)
    assert found.short.startswith(short)
    assert words in found.words


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (remote(4, FEBRUARY, FEBRUARY + 3 * DAY, days=(4, 5)), True),  # Monday to Wednesday
        (remote(4, FEBRUARY, FEBRUARY + 3 * DAY, days=(3,)), False),
        (remote(4, FEBRUARY, FEBRUARY + 3 * DAY + 1, days=(4,)), False),
        (remote(4, FEBRUARY, FEBRUARY + 7 * DAY, days=(7,)), False),
        (remote(4, FEBRUARY - 3 * DAY, FEBRUARY, days=(1, 2)), True),  # Friday to Sunday
        (remote(4, FEBRUARY, FEBRUARY + 3 * DAY), False),
        (remote(4, 0, DAY, days=(1,)), False),
        (remote(4, FEBRUARY, 0, days=(4,)), False),
        (remote(4, FEBRUARY, FEBRUARY, days=(4,)), False),
        (remote(2, FEBRUARY, FEBRUARY + 3 * DAY, days=(4,)), False),
    ],
)
def test_never_opens_is_true_only_when_no_weekday_is_in_the_period(
    wanted: Remote, expected: bool
) -> None:
    assert never_opens(wanted, BERLIN, 0) is expected


@pytest.mark.parametrize(
    ("days", "now_ms", "words"),
    [
        ((1, 2), FEBRUARY + 2 * DAY, "No Mon or Tue before the end, so this remote will not"),
        ((1, 2), FEBRUARY - DAY, ""),  # it opens on Monday, at the start
        ((5, 6, 7), FEBRUARY - 1, "No Fri-Sun between start and end, so this remote will not"),
        ((4,), FEBRUARY + 2 * DAY, ""),
        ((1,), FEBRUARY + 4 * DAY, ""),  # it is over, which is another warning
    ],
)
def test_describe_never_opens_counts_only_the_rest_of_the_period(
    days: tuple[int, ...], now_ms: int, words: str
) -> None:
    wanted = remote(4, FEBRUARY, FEBRUARY + 4 * DAY, days=days)  # Monday to Thursday
    told = describe_never_opens(wanted, now_ms, BERLIN)
    assert told.startswith(words)
    assert bool(told) == bool(words)
