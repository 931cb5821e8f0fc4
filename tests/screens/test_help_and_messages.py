"""Help, key line and palette tell the same; the message log keeps what was shown."""

from __future__ import annotations

import re

import pytest
from textual import events
from textual.binding import Binding
from textual.notifications import SeverityLevel
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from lockterm.config.look import FULL_LOOK, Look
from lockterm.domain.locks import Lock
from lockterm.keymap.hints import label
from lockterm.keymap.keys import footer_group
from lockterm.screens.help import HelpScreen
from lockterm.screens.history import HistoryScreen
from lockterm.screens.locks import LocksScreen
from lockterm.screens.messages import MessagesScreen
from lockterm.screens.palette import NEAR, NONE, Palette
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.voice import VoiceScreen
from lockterm.widgets.actions import actions_of, titled
from lockterm.widgets.header_footer import KeyLine
from tests.screens.running_app import Clock, Demo, settled, until
from tests.screens.site import HOSTILE, LOCKS, MAIN_GATE, press, press_to, shown, words
from tests.screens.snapshots import assert_picture


async def whole_help(pilot: Pilot[int]) -> str:
    """Open help, read all of it, close it."""
    await press_to(pilot, HelpScreen, "question_mark")
    text = []
    for _ in range(30):
        text += shown(pilot.app).splitlines()[1:-1]
        before = text[-1]
        await pilot.press("pagedown")
        await pilot.pause()
        if shown(pilot.app).splitlines()[-2] == before:
            break
    await pilot.press("escape")
    await until(pilot, lambda: not isinstance(pilot.app.screen, HelpScreen))
    return " ".join(re.sub("[▁-█]", " ", " ".join(text)).split())


@pytest.mark.long
async def test_help_names_every_key_that_works_on_every_screen(demo: Demo) -> None:
    async with demo(size=(99, 40), locks=(MAIN_GATE,)) as pilot:
        app = pilot.app
        for key, kind in ((None, LocksScreen), ("v", VoiceScreen), ("enter", RemotesScreen)):
            if key is not None:
                await pilot.press(key)
            await until(pilot, lambda kind=kind: isinstance(app.screen, kind))
            await settled(pilot)
            actions = actions_of(app.screen)
            bound = {
                label(key)
                for key, binding in app.screen.active_bindings.items()
                if binding.node is app.screen
            }
            told = {key for action in actions for key in action.keys}
            assert bound - told <= {"Ctrl+C", "Super+C"}
            text = await whole_help(pilot)
            for action in actions:
                keys = ", ".join(action.keys)
                keys = keys if action.enabled else f"({keys})"
                assert f"{keys} {action.binding.description}".lower() in text.lower()
                for sentence in (action.sentence, action.reason):
                    assert sentence.lower() in text.lower()
            if kind is RemotesScreen:  # as the contract says
                assert "Via: GW, BT" in text and "via the gateway" in text
                assert "flag for a coerced remote" in text and "duress" not in text
            if kind is VoiceScreen:
                await press(pilot, "escape")
                assert isinstance(app.screen, LocksScreen)


async def test_help_says_why_and_where(demo: Demo) -> None:
    async with demo(read_only=True) as pilot:
        text = await whole_help(pilot)
        assert "Not available now: No lock is listed" in text
        assert "profile demo read-only" in text
        assert f"service {demo.service.base_url}" in text
        assert "Europe/Berlin" in text


async def test_footer_shows_no_key_that_a_field_takes_when_it_has_the_focus(demo: Demo) -> None:
    async with demo(1001) as pilot:
        assert "/ find" in shown(pilot.app).splitlines()[-1]
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        await press(pilot, "slash", "plus", "minus", "at", "backslash", "underscore", "w")
        assert pilot.app.screen.query_one(Input).value == "/+-@\\_w"
        assert shown(pilot.app).splitlines()[-1] == "Esc show all  F5 refresh  F1 help"
        keys = {key for action in actions_of(pilot.app.screen) for key in action.keys}
        assert {key for key in keys if len(key) == 1} == set()


@pytest.mark.parametrize(
    ("width", "footer"),
    [
        (
            80,
            "Enter open  a add  / find  F all locks  W expiring  H history  q quit  ? help",
        ),
        (60, "Enter open  a add  / find  F all locks  W expiring  ? help"),
    ],
)
async def test_footer_of_the_locks_names_the_global_keys(
    demo: Demo, width: int, footer: str
) -> None:
    async with demo(size=(width, 24), locks=LOCKS) as pilot:
        await settled(pilot)
        assert shown(pilot.app).splitlines()[-1] == footer
        await press(pilot, "space")
        footer = shown(pilot.app).splitlines()[-1]
        assert footer.startswith("Space mark  v set voice  Y copy to"), "marks go first"
        await press(pilot, "escape")
        footer = shown(pilot.app).splitlines()[-1]
        await pilot.click(KeyLine, offset=(footer.index("all locks"), 0))
        await until(pilot, lambda: len(pilot.app.screen_stack) == 2)


async def test_footer_has_the_same_order_on_every_screen(demo: Demo) -> None:
    async with demo(size=(200, 50), locks=(MAIN_GATE,)) as pilot:
        for key in ("", "enter", "v", "F", "W", "H", "question_mark"):
            await press(pilot, *filter(None, [key]))
            footer = shown(pilot.app).splitlines()[-1]
            places = []
            for action in actions_of(pilot.app.screen):
                chip = f"{action.keys[0]} {action.binding.description}"
                if action.binding.show and chip in footer:
                    places.append((footer.index(chip), footer_group(action.binding.id), chip))
            groups = [group for _, group, chip in sorted(places) if not chip.endswith("help")]
            assert len(groups) > 1 and groups == sorted(groups), footer
            assert footer.endswith("help") or key == "question_mark"
            await press(pilot, *["escape"] * bool(key))


def test_groups_of_the_footer_are_act_move_find_and_more() -> None:
    names = ("remotes.add", "remotes.next_page", "row.page_down", "remotes.find", "remotes.back")
    assert [footer_group(name) for name in names] == [0, 1, 1, 2, 3]
    assert [footer_group(name) for name in ("app.history", "form.save", None)] == [3, 0, 0]


@pytest.mark.long
async def test_help_picture(demo: Demo) -> None:
    async with demo(locks=LOCKS) as pilot:
        await press_to(pilot, HelpScreen, "question_mark")
        assert_picture(pilot.app, "help-80x24")


def test_a_title_keeps_the_letters_of_its_verb() -> None:
    verbs = {titled(Binding("y", "copy", verb)) for verb in ("copy URL", "copy MD5", "add")}
    assert verbs == {"Copy URL", "Copy MD5", "Add"}


def offered(pilot: Pilot[int]) -> list[str]:
    """The names in the palette."""
    options = pilot.app.screen.query_one(OptionList).options
    return [str(option.prompt).partition("  ")[0] for option in options]


async def open_palette(pilot: Pilot[int]) -> None:
    await press_to(pilot, Palette, "ctrl+p")


def palette_lines(pilot: Pilot[int]) -> list[str]:
    """The rows inside the frame of the palette, without the frame."""
    lines = shown(pilot.app).splitlines()
    top = next(place for place, line in enumerate(lines) if "Palette" in line)
    left, right = lines[top].index("╭"), lines[top].index("╮")
    inside = [line[left + 1 : right] for line in lines[top + 1 :] if line[left : left + 1] == "│"]
    return [line[1:-1] for line in inside]


@pytest.mark.parametrize(("size", "least"), [((80, 24), 12), ((60, 20), 9), ((120, 40), 12)])
async def test_palette_shows_a_line_for_each_action_and_describes_the_selected_one(
    demo: Demo, size: tuple[int, int], least: int
) -> None:
    async with demo(size=size, locks=LOCKS) as pilot:
        await settled(pilot)
        await open_palette(pilot)
        lines = palette_lines(pilot)
        keyed = [line[:-1] for line in lines if re.search(r"^\S.*  \S+(, \S+)*.$", line)]
        assert len(keyed) >= least
        assert keyed[0].startswith("Open ") and keyed[0].endswith(" Enter")
        assert any(re.search("^Remove +x, Del$", line) for line in keyed), "the keys are aligned"
        assert lines[-2].startswith("Show the remotes of the selected lock")
        await press(pilot, "down")
        assert palette_lines(pilot)[-2].startswith("Add a lock to the lock book by its ID")
        assert palette_lines(pilot)[:-2] == lines[:-2], "no row moves"
        await press(pilot, *"mark range")
        lines = palette_lines(pilot)
        assert re.search(r"^\(Mark range\) +S.$", lines[2]), "where no color shows it, too"
        below = " ".join(" ".join(lines[-2:]).split())
        assert below == ("Not available now: First press Space to mark the first row of the range.")
        assert below not in " ".join(lines[:-2])


async def test_palette_runs_a_clicked_action_and_keeps_its_keys_aligned_after_a_resize(
    demo: Demo,
) -> None:
    async with demo(locks=LOCKS) as pilot:
        await open_palette(pilot)
        await pilot.press(*"histor")
        await pilot.resize_terminal(60, 20)
        await settled(pilot)
        assert re.search("^History +H.$", palette_lines(pilot)[2])
        await pilot.click(OptionList, offset=(3, 0))
        await until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))


async def test_help_is_searched_and_shows_all_again(demo: Demo) -> None:
    async with demo(1003) as pilot:
        await pilot.press("question_mark", "slash", *"end date")
        await until(pilot, lambda: "Set a new end date" in words(pilot.app))
        await settled(pilot)
        assert "Add a remote" not in words(pilot.app)
        assert "timbre" not in words(pilot.app)
        await press(pilot, "enter")
        assert pilot.app.focused is None, "keys scroll again"
        await pilot.press("escape")
        await until(pilot, lambda: "Add a remote" in words(pilot.app))
        assert isinstance(pilot.app.screen, HelpScreen)
        await pilot.press("slash", *"icons")
        await until(pilot, lambda: "a remote: expired" in words(pilot.app))
        await pilot.press("escape")
        await pilot.press("slash", *"zzqq")
        await until(pilot, lambda: "No matches found." in words(pilot.app))
        await pilot.press("escape")
        await until(pilot, lambda: "Add a remote" in words(pilot.app))
        await press_to(pilot, RemotesScreen, "escape")


@pytest.mark.parametrize(
    ("look", "expired", "starts"), [(FULL_LOOK, "×", "»"), (Look(ascii=True), "x", "+")]
)
async def test_help_has_two_columns_and_the_icons_of_the_look(
    demo: Demo, look: Look, expired: str, starts: str
) -> None:
    async with demo(1003, look, size=(100, 60)) as pilot:
        await press_to(pilot, HelpScreen, "question_mark")
        await press(pilot, "end")
        right = [line[48:] for line in shown(pilot.app).splitlines()]
        for icon, meaning in (
            (expired, "a remote: expired"),
            (starts, "a remote: starts later"),
            ("*", "in the margin of a row: the"),
            ("! refused", "a step of a plan: the"),
            ("? unconfirmed", "a step of a plan: sent, but"),
        ):
            assert any(re.search(f"^ *{re.escape(icon)} +{meaning}", line) for line in right), icon
        await pilot.resize_terminal(99, 60)
        await press(pilot, "home")
        lines = shown(pilot.app).splitlines()
        assert any(re.search(r"^ +a +add +Add a remote to this lock$", line) for line in lines)


async def test_help_gives_a_shared_reason_once(demo: Demo) -> None:
    async with demo() as pilot:
        text = await whole_help(pilot)
        reason = "There are no unconfirmed changes."
        assert text.count(reason) == 1
        assert "(c) check result Check whether" in text
        assert "(X) dismiss Dismiss the unconfirmed change" in text


@pytest.mark.long
async def test_enter_typed_at_once_runs_what_was_typed_or_nothing(demo: Demo) -> None:
    async with demo(1004) as pilot:

        def burst(*keys: str) -> None:
            for key in keys:
                pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))

        burst("ctrl+p", *"zzqq", "enter")  # an action has a z in it
        await until(pilot, lambda: "No matches" in words(pilot.app))
        assert isinstance(pilot.app.screen, Palette)
        burst("escape", "ctrl+p", *"history", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))


async def test_ctrl_c_says_which_key_quits_and_no_cursor_blinks(demo: Demo) -> None:
    async with demo() as pilot:
        await press(pilot, "ctrl+c")
        for key in ("ctrl+p", "o", "a"):  # in a field too, with nothing marked to copy
            await press(pilot, key, "ctrl+c")
            assert isinstance(pilot.app.focused, Input) and not pilot.app.focused.cursor_blink
            await press_to(pilot, LocksScreen, "escape")
        told = [message.text for message in pilot.app.messages]
        assert set(told) == {"Press Ctrl+Q to quit lockterm from any screen."}


async def open_messages(pilot: Pilot[int], key: str = "M") -> None:
    await press_to(pilot, MessagesScreen, key)


NOTICES: list[tuple[str, str, SeverityLevel]] = [
    ("Recorded by the service.", "Edit Anna Weber", "information"),
    ("Nothing was sent: locks.example.com refused the connection.", "Offline", "warning"),
    (
        "The lock has a remote of that name already. Choose another name, or edit the remote"
        " that has it.",
        "Refused by the service",
        "error",
    ),
]


async def told(pilot: Pilot[int], clock: Clock) -> None:
    """Have the notices told, a minute apart, and open the messages."""
    for text, title, severity in NOTICES:
        pilot.app.notify(text, title=title, severity=severity)
        clock.now_s += 61
    await open_messages(pilot, "f2")


async def test_messages_are_kept_newest_first(demo: Demo) -> None:
    async with demo() as pilot:
        await told(pilot, demo.clock)
        rows = shown(pilot.app).splitlines()
        assert rows[2].startswith(" 20 Nov 09:02  error    Refused by the service")
        assert rows[4].startswith(" 20 Nov 09:00  notice   Edit Anna Weber: Recorded")
        assert "or edit the remote that has it." in words(pilot.app), "the whole text is below"
        assert_picture(pilot.app, "messages-80x24")
        await pilot.resize_terminal(120, 40)
        await settled(pilot)
        assert_picture(pilot.app, "messages-120x40")
        await pilot.press("y")
        assert pilot.app.clipboard == (
            "20 Nov 2026 09:02:02 +01:00 error: Refused by the service: " + NOTICES[-1][0]
        )
        pilot.app.notify("Recorded by the service.", title="Added Anna Weber")
        await until(pilot, lambda: "notice   Added Anna Weber: Recorded" in shown(pilot.app))
        own = "or edit the remote that has it."
        await until(pilot, lambda: own in words(pilot.app))  # the cursor stays
        await press_to(pilot, LocksScreen, "M")


@pytest.mark.long
async def test_no_messages_and_hostile_ones(demo: Demo) -> None:
    async with demo() as pilot:
        await open_messages(pilot)
        assert "No messages yet" in words(pilot.app)
        await press_to(pilot, LocksScreen, "escape")
        for text in HOSTILE:
            pilot.app.notify(text, title=text)
        await open_messages(pilot)
        for _ in HOSTILE:
            await pilot.press("down")
            assert all(char.isprintable() or char in "\n\u200d" for char in shown(pilot.app))


async def test_the_palette_finds_by_every_word_settings_and_the_locks(demo: Demo) -> None:
    """What was chosen last stands first; what is merely like an action is not done by enter."""
    async with demo(locks=(Lock(1001, name="Main gate"), Lock(1002, name="[b]Dock"))) as pilot:
        await settled(pilot)

        async def found(query: str) -> list[str]:
            await press_to(pilot, Palette, "ctrl+p")
            await pilot.press(*query)
            await until(pilot, lambda: pilot.app.screen.query_one(Input).value == query)
            await settled(pilot)
            return offered(pilot)

        assert (await found("quit"))[0] == "Quit", "the verb goes before the sentence"
        await pilot.press("escape", "escape")
        assert "History" in await found("undo result"), "words of its sentence"
        await pilot.press("escape", "escape")
        settings = {"Theme", "Quiet", "Mouse", "Profiles", "(Page size)", "(Table)"}
        assert {*await found("settings")} == settings
        await pilot.press("escape", "escape")
        assert await found("rows lines") == ["(Page size)"]
        await pilot.press("enter")
        await until(pilot, lambda: "On the remotes of a lock, press #." in words(pilot.app))
        await pilot.press("escape", "escape")
        assert await found("1003") == [NONE], "another number is another lock"
        await pilot.press("escape", "escape")
        assert await found("histroy") == [NEAR, "History"]
        await press(pilot, "enter", "enter")
        assert isinstance(pilot.app.screen, Palette), "enter does no guess"
        await press_to(pilot, HistoryScreen, "down", "enter")
        await press_to(pilot, LocksScreen, "escape")
        assert (await found("1002")) == ["Remotes of [b]Dock"]
        await press_to(pilot, RemotesScreen, "enter")
        await found("history")
        await press_to(pilot, HistoryScreen, "enter")
        await press_to(pilot, RemotesScreen, "escape")
        assert (await found(""))[0] == "History"
    assert demo.app().choices.get("palette") == ["app.history"]
