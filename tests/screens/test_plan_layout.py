"""The columns of a plan and its confirmation, with long names in small terminals."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len, set_cell_size
from textual.pilot import Pilot

from lockterm.config.look import Look
from lockterm.domain.locks import Lock
from lockterm.domain.plan import Action, Step
from lockterm.domain.remotes import Remote
from lockterm.screens.dialogs.choice import ChoiceModal
from lockterm.screens.dialogs.destroy import DestroyModal
from lockterm.widgets.cells import cut, cut_apart, cut_lines, wrap
from tests.conftest import NOW_MS
from tests.operations.runs.planning import add, delete, update
from tests.screens.running_app import Demo, settled, shown
from tests.screens.site import DAY_MS, LOCKS, press, words
from tests.screens.test_plan import (
    asked,
    plan_shown,
)

NAMES = (
    "Oskar Nilsson, contractor card",
    "Oskar Nilsson, temporary card",
    "Oskar Nilsson",
    "Brandt & Sons cleaning, night shift",
    "Brandt & Sons cleaning, day shift",
    "王小明（设备维护部门外包人员）",
    "王小明（设备维护部门正式员工）",
)
LOCK_IDS = (1001, 1002, 1003)
LIMITED = {"remoteType": 2, "startDate": NOW_MS - DAY_MS, "endDate": NOW_MS + 41 * DAY_MS}
SIZES = ((60, 20), (80, 24))


def steps_of(count: int, *, locks: int = 3, is_added: bool = False) -> list[Step]:
    """Return steps that delete remotes, or delete and add them in turn."""
    steps = []
    for i in range(count):
        name, lock_id = NAMES[i % len(NAMES)], LOCK_IDS[i % locks]
        fields = {"remoteName": name, "remoteNumber": f"F-{2044 + i}", **LIMITED}
        if is_added and i % 2:
            steps.append(add(lock_id, i, **fields))
        else:
            steps.append(delete(lock_id, Remote.read({"id": 9000 + i, "status": 1, **fields})))
    return steps


def cells_between(line: str, start: int, end: int) -> str:
    """Return what stands in some cells of a line."""
    head = set_cell_size(line, start)
    return set_cell_size(line, end).removeprefix(head).strip()


def column(pilot: Pilot[int], title: str) -> list[str]:
    """Return the texts of a column in the visible rows."""
    lines = shown(pilot.app).splitlines()
    (at,) = (i for i, line in enumerate(lines) if line.startswith("   Step"))
    start = lines[at].index(f" {title} ") + 1 if title != "What" else lines[at].index(title)
    after = re.compile(r"\S").search(lines[at], start + len(title))
    end = after.start() if after else cell_len(lines[at]) + 40
    rows = [line for line in lines[at + 1 :] if re.match(r"[ >][-+~=] ", line)]
    return [cells_between(line, start, end) for line in rows]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("locks", [1, 3])
async def test_people_differ_before_a_deletion(
    demo: Demo, size: tuple[int, int], locks: int
) -> None:
    demo.fill_book(*LOCKS)
    async with demo(size=size) as pilot:
        await plan_shown(pilot, steps_of(len(NAMES), locks=locks))
        names = column(pilot, "Remote")
        assert len({*names}) == len(NAMES)
        room = {60: 14, 80: 18}[size[0]]
        assert all(
            cell_len(shown) >= min(room, cell_len(name)) - 2
            for shown, name in zip(names, NAMES, strict=True)
        )
        assert column(pilot, "Number") == [f"F-{2044 + i}" for i in range(len(NAMES))]
        assert {*column(pilot, "What")} <= {"31 Dec 26", "31 Dec 2026", "until 31 Dec 2026"}
        if locks == 1:
            assert " Lock " not in words(pilot.app) and "Plan > Main gate >" in words(pilot.app)
        else:
            assert column(pilot, "Lock")[1].startswith("Loading"[: {60: 7, 80: 12}[size[0]]])


@pytest.mark.parametrize("look", [Look(), Look(ascii=True), Look(quiet=True)])
async def test_cut_texts_end_with_an_ellipsis(demo: Demo, look: Look) -> None:
    demo.fill_book(*LOCKS)
    long = "Katarzyna Nowakowska-Wisniewska, Facility"
    steps = [
        update(LOCK_IDS[i % 3], Remote.read({"id": 9000 + i, "remoteName": f"F {i}"}), **fields)
        for i, fields in enumerate([{"remoteName": long}, {"isCoerced": 1, **LIMITED}] * 15)
    ]
    async with demo(look=look, size=(60, 20)) as pilot:
        await plan_shown(pilot, steps)
        texts = column(pilot, "What")
        mark = "~" if look.ascii or look.quiet else "…"
        assert len(texts) > 9
        assert all(mark in text for text in texts), texts


@pytest.mark.parametrize("count", [1, 20])
async def test_text_below_the_steps_is_cut_only_when_the_steps_take_the_lines(
    demo: Demo, count: int
) -> None:
    demo.fill_book(*LOCKS)
    step, *others = steps_of(count)
    notes = "This note is so long that three lines have no room for it. " * 5
    async with demo(size=(60, 20)) as pilot:
        await plan_shown(pilot, [replace(step, note=notes), *others])
        await settled(pilot)
        text = words(pilot.app)
        assert f"{NAMES[0]} (F-2044), Main gate: until 31 Dec 2026" in text
        end = r"… Enter run" if others else r"room for it\. Enter run"
        assert re.search(rf"Note: This note .*{end}", text)


@pytest.mark.parametrize("size", SIZES)
async def test_question_with_choices_is_shown_whole(demo: Demo, size: tuple[int, int]) -> None:
    question = "The name of 1 remote is already taken on the lock. Skip or rename?"
    async with demo(size=size) as pilot:
        pilot.app.push_screen(ChoiceModal(question, ((False, "Skip"), (True, "Rename"))))
        await settled(pilot)
        lines = re.findall("│(.*)│", shown(pilot.app))
        assert question in " ".join(" ".join(lines).split())


async def test_names_of_a_large_deletion_come_first_in_its_confirmation(demo: Demo) -> None:
    demo.fill_book(*LOCKS)
    async with demo() as pilot:
        await plan_shown(pilot, steps_of(30))
        await asked(pilot, DestroyModal)
        text = words(pilot.app).replace("│", "")
        assert sum(f"- {name} (F-" in text for name in NAMES) >= 6
        assert re.search(r"PgDn shows \d+ more lines", text)
        below = 0
        while match := re.search(r"PgDn shows (\d+) more line", words(pilot.app)):
            assert int(match[1]) != below
            below = int(match[1])
            await press(pilot, "pagedown")
        assert "lockterm keeps a backup." in words(pilot.app)
        assert "PgDn" not in words(pilot.app), "all of it was shown"


async def test_replacements_name_their_locks_in_the_confirmation(demo: Demo) -> None:
    demo.fill_book(*LOCKS, Lock(1004, "Garage"))
    steps = list[Step]()
    over = {"remoteType": 2, "startDate": NOW_MS - 9 * DAY_MS, "endDate": NOW_MS - DAY_MS}
    for lock_id in (1001, 1002, 1004):
        old = {"id": 7, "remoteName": "Jonas Weber", "remoteNumber": f"F-{lock_id}", **over}
        fields = {**old, "remoteNumber": "B-2"}
        del fields["id"]
        steps.append(delete(lock_id, Remote.read(old)))
        added = Step(0, Action.ADD, lock_id, None, "Jonas Weber", {**fields, "addType": 1}, old)
        steps.append(added)
    async with demo(size=(100, 30)) as pilot:
        await plan_shown(pilot, steps)
        await asked(pilot, DestroyModal)
        text = " ".join(words(pilot.app).replace("│", "").split())
        note = "Note for Jonas Weber (B-2) on Main gate, Loading dock, Garage: The end date"
        assert note in " ".join(str(pilot.app.screen.query_one(".details Static").content).split())
        assert "Remotes to be replaced: - Jonas Weber (F-1001), Main gate" in text
        assert "to be added" not in text


# --- cutting -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "forms"),
    [
        (NAMES[:3], ["Oskar N…contrac…", "Oskar N…tempora…", "Oskar Nilsson"]),
        (NAMES[3:5], ["Brandt…night s…", "Brandt…day shi…"]),
        (NAMES[5:], ["王小明（…外包人…", "王小明（…正式员…"]),
        (("Door 0000000000001", "Door 0000000000002"), ["Door 000000000…1", "Door 000000000…2"]),
        (("Door 000000000000…", "Door 0000000000001"), ["Door 0000000000…", "Door 000000000…1"]),
        (("Anna Weber", "Ben Nakamura-Montgomery"), ["Anna Weber", "Ben Nakamura-Mo…"]),
    ],
)
def test_cut_apart_shows_where_texts_differ(texts: tuple[str, ...], forms: list[str]) -> None:
    found = cut_apart(texts, 16)
    assert [found.get(text) or cut(text, 16) for text in texts] == forms
    assert all(cell_len(form) <= 16 for form in forms)


def test_cut_apart_keeps_forms_different_when_some_texts_begin_with_another() -> None:
    texts = [f"{NAMES[i]}{more}" for i in (0, 1) for more in ("", " 13", " 14")]
    for width in range(12, 30):
        found = cut_apart(texts, width)
        assert len({found.get(text) or cut(text, width) for text in texts}) == len(texts)


def test_cut_lines_counts_wide_characters_and_folds_long_words() -> None:
    assert cut_lines("one two three", 7, 2) == "one two three"
    assert cut_lines("one two three four", 7, 2) == "one two three…"
    assert cut_lines("one two, three four", 8, 1) == "one two…"
    assert cut_lines("长" * 8, 4, 4) == "长" * 8
    assert cut_lines("one two", 0, 0) == "one two", "before the first layout"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("- one two", ["- one two"]),
        ("- one two three", ["- one two", "  three"]),
        ("- 长长长长长长长", ["- 长长长", "  长长长", "  长"]),
        ("- 长长长 one", ["- 长长长", "  one"]),
        ("- abcdefghijklmnop q", ["- abcdefg", "  hijklmn", "  op q"]),
    ],
)
def test_wrap_indents_the_lines_below_the_first(text: str, lines: list[str]) -> None:
    assert wrap(text, 9, "  ") == lines


def test_wrap_ends_when_a_line_is_narrower_than_a_character() -> None:
    assert wrap("- 长长", 1, "  ")[-1] == "  长"


@pytest.mark.parametrize("size", SIZES)
async def test_long_names_in_a_confirmation_continue_below_themselves(
    demo: Demo, size: tuple[int, int]
) -> None:
    locks = [Lock(lock_id, f"北区三号楼{'设备维护' * 9}{lock_id}") for lock_id in LOCK_IDS]
    demo.fill_book(*locks)
    async with demo(size=size) as pilot:
        await plan_shown(pilot, steps_of(3))
        await press(pilot, "enter")
        lines = [line.strip("│ ") for line in shown(pilot.app).splitlines()]
        assert not {"-", ""} & {*lines[lines.index("Remotes to be deleted:") + 1 :][:3]}
        indents = [line.index("│") for line in shown(pilot.app).splitlines() if "设备" in line]
        assert len({*indents}) == 1
        assert "1001" in words(pilot.app), "the end of the lock's name is visible"
