"""A plan in a large terminal: the progress as a bar with badges, and the problems in a panel."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from lockterm.domain.plan import Run, StepState
from lockterm.screens.plan.table import MOST_LINES, PlanProgress, ProblemsPane
from tests.operations.runs.planning import add, update
from tests.screens.running_app import Clock, Demo, shown, until
from tests.screens.site import HOSTILE, LOCKS, press, words
from tests.screens.test_plan import agreed, app_of, ended, on_plan, plan_shown, remotes, unanswered

SIZE = (100, 30)


def progress(pilot: Pilot[int]) -> list[str]:
    """Return the two lines of the progress; none if it is hidden."""
    widget = on_plan(pilot).query_one(PlanProgress)
    return str(widget.render()).splitlines() if widget.display else []


def problems(pilot: Pilot[int]) -> list[str]:
    """Return the lines of the panel; none if it is hidden."""
    widget = on_plan(pilot).query_one(ProblemsPane)
    return str(widget.render()).splitlines() if widget.display else []


async def test_progress_is_a_bar(demo: Demo, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    demo.fill_book(*LOCKS)
    steps = [add(1003, number) for number in range(1, 9)]
    async with demo.held(hold_from=4, size=SIZE) as (way, pilot):
        await plan_shown(pilot, steps)
        assert not progress(pilot)
        await agreed(pilot)
        parts = ("3 of 8 done", "1 under way")
        await until(pilot, lambda: way.held and all(p in "".join(progress(pilot)) for p in parts))
        bar, badges = progress(pilot)
        assert bar.count("█") == (bar.count("█") + bar.count("░")) * 3 // 8
        assert bar.endswith("37 %  3 of 8 done")
        assert badges.split() == ["3", "recorded", "1", "under", "way", "4", "left"]
        length = bar.count("█") + bar.count("░")
        clock.now_s += 9
        pace = "3 of 8 done, 20 steps/min, about 15 s left"
        await until(pilot, lambda: progress(pilot)[0].endswith(pace))
        bar = progress(pilot)[0]
        assert bar.count("█") + bar.count("░") == length, "the bar stays where it is"
        assert pace in shown(pilot) and not on_plan(pilot).query_one("#what", Static).display
        painted, asked = list[None](), list[None]()
        show_run = PlanProgress.show_run

        def noted(widget: PlanProgress, run: Run | None) -> None:
            asked.append(None)
            show_run(widget, run)

        monkeypatch.setattr(PlanProgress, "show_run", noted)
        widget = on_plan(pilot).query_one(PlanProgress)
        monkeypatch.setattr(widget, "refresh", lambda *_, **__: painted.append(None))
        await until(pilot, lambda: len(asked) > 3)
        assert not painted, "nothing new is not painted"
        monkeypatch.undo()
        await pilot.resize_terminal(100, 29)
        await until(pilot, lambda: not progress(pilot))
        assert "3 of 8 done, 5 left (1 under way), 20 steps/min" in words(pilot.app)
        await pilot.resize_terminal(*SIZE)
        await until(pilot, lambda: progress(pilot))
        await pilot.press("s")
        await until(pilot, lambda: "Stopping after the steps" in words(pilot.app))
        way.release.set()
        await ended(pilot)
        assert not progress(pilot) and "4 steps recorded. 4 steps left." in words(pilot.app)


async def test_problems_are_listed_with_their_reasons(demo: Demo) -> None:
    demo.fill_book(*LOCKS)
    taken = str(remotes(demo.service, 1003)[0].remote_name)
    steps = [add(1003, 1, remoteName=taken), *(add(1003, number) for number in range(2, 5))]
    async with demo(size=SIZE) as pilot:
        await plan_shown(pilot, steps)
        assert not problems(pilot)
        await agreed(pilot)
        await ended(pilot)
        (line,) = problems(pilot)
        assert line.startswith(f"! refused      {taken} (A-1), Server room: The lock already has")
        assert "Problems 1" in shown(pilot)
        await press(pilot, "i")
        assert not problems(pilot), "the list has only problems now"
        await press(pilot, "i")
        assert problems(pilot)
        await pilot.resize_terminal(99, 30)
        await until(pilot, lambda: not problems(pilot))
        await pilot.resize_terminal(*SIZE)
        await until(pilot, lambda: problems(pilot))


async def test_problems_without_room_are_counted_and_hostile_reasons_do_nothing(demo: Demo) -> None:
    demo.fill_book(*LOCKS)
    texts = [text.encode(errors="replace").decode() for text in HOSTILE]
    left = [
        replace(
            add(1001, number, remoteName=text),
            remote_name=text,
            number=2 + number,
            state=StepState.NOT_SENT,
            message=text,
        )
        for number, text in enumerate(texts)
    ]
    async with demo(size=SIZE) as pilot:
        await plan_shown(pilot, [add(1003, 1)], left)
        lines = problems(pilot)
        assert (
            len(lines) == MOST_LINES == on_plan(pilot).query_one(ProblemsPane).content_size.height
        )
        assert lines[-1] == f"{len(texts) - MOST_LINES + 1} more; i shows only problems"
        assert lines[-1] in shown(pilot)
        assert not any(char in shown(pilot) for char in "\x1b\x9b\u202e\x07")


async def test_verification_is_said_beside_the_bar(demo: Demo) -> None:
    steps = [update(one, remotes(demo.service, one)[0], remoteName="Anna") for one in (1002, 1003)]
    async with unanswered(demo.starter, demo.service, steps, SIZE) as (pilot, _):
        await until(pilot, lambda: "Verifying 2 results for at most" in words(pilot.app))
        assert progress(pilot)[0].endswith("  0 %  0 of 2 done")
        assert progress(pilot)[1].split() == ["2", "unconfirmed", "2", "verifying"]
        assert [line[:15] for line in problems(pilot)] == ["? unconfirmed  "] * 2
        await pilot.press("s")
        await ended(pilot)
        assert app_of(pilot).operations.run_under_way is None and len(problems(pilot)) == 2
