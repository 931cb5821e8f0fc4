"""What is to be read first, what gives way, and what is counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lockterm.domain.notices import AGAIN_MS, STANDING, NoticeLog

SEVERITIES = ("information", "warning", "error")


def said(log: NoticeLog, severity: str, title: str, at_ms: int = 0) -> None:
    log.stand(log.keep(severity, title, "", at_ms))


def titles(log: NoticeLog) -> list[str]:
    """What is shown one after the other, with how many more there are each time."""
    read = []
    while (shown := log.shown) is not None:
        read.append(f"{shown.title} +{log.more}")
        log.take_off()
    return read


def test_errors_are_read_first_and_none_is_passed_over() -> None:
    log = NoticeLog()
    said(log, "error", "no answer")
    said(log, "information", "copied")
    said(log, "information", "copied again")
    said(log, "error", "refused")
    said(log, "warning", "too early")
    assert titles(log) == ["refused +4", "no answer +3", "too early +2", "copied again +1"]
    assert (log.more, log.shown) == (0, None)
    said(log, "information", "added")
    assert titles(log) == ["added +0"], "what has been read is not counted again"
    for severity, title in [("warning", "damaged"), ("warning", "odd"), ("information", "copied")]:
        said(log, severity, title)
    assert titles(log) == ["copied +2", "odd +1", "damaged +0"], "warnings behind newer news"


def test_equal_notices_are_counted_and_shown_once() -> None:
    log = NoticeLog()
    for at_ms, title in enumerate(["gone", "back", "gone", "gone"]):
        said(log, "error", title, at_ms)
    assert [(one.what, one.at_ms) for one in log.messages] == [("back", 1), ("gone, 3 times", 3)]
    assert titles(log) == ["gone +1", "back +0"]
    said(log, "error", "gone", 4 + AGAIN_MS)
    assert [one.what for one in log.messages] == ["back", "gone, 3 times", "gone"], "another time"
    said(log, "warning", "gone", 4 + AGAIN_MS)
    assert log.messages[-1].what == "gone", "not graver for having been said before"


def test_the_log_keeps_the_newest_500_and_says_a_sentence_once() -> None:
    log = NoticeLog()
    for number in range(502):
        said(log, "information", str(number))
    assert [one.title for one in log.messages] == [str(number) for number in range(2, 502)]
    assert [log.once("who knows"), log.once("who knows"), log.once("!")] == ["who knows", "", "!"]


@given(st.lists(st.tuples(st.sampled_from(SEVERITIES), st.sampled_from("abcdefgh"))))
def test_nothing_that_was_said_is_lost(notices: list[tuple[str, str]]) -> None:
    log = NoticeLog()
    for severity, title in notices:
        said(log, severity, title)
        shown = log.shown
        assert shown is not None and shown.is_error >= (severity == "error")
    told = [(one.severity, one.title) for one in log.messages for _ in range(one.times)]
    assert sorted(told) == sorted(notices)
    assert len({one.number for one in log.messages}) == len(log.messages)
    newest_first = [title for severity, title in reversed(notices) if severity == "error"]
    errors = [*dict.fromkeys(newest_first)][:STANDING]
    read = titles(log)
    assert [name[0] for name in read[: len(errors)]] == errors
    assert log.more == 0
