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
from lockterm.keymap.hints import written
from lockterm.keymap.keys import footer_group
from lockterm.screens.help import HelpScreen
from lockterm.screens.history import HistoryScreen
from lockterm.screens.locks import LocksScreen
from lockterm.screens.messages import MessagesScreen
from lockterm.screens.palette import NEAR, NONE, Palette
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.voice import VoiceScreen
from lockterm.service.running import RunningService
from lockterm.widgets.actions import actions_of, titled
from lockterm.widgets.key_line import KeyLine
from tests.screens.running_app import Clock, Starter, settled, until
from tests.screens.site import HOSTILE, LOCKS, MAIN_GATE, fill_book, shown, words
from tests.screens.snapshots import assert_picture


async def whole_help(pilot: Pilot[int]) -> str:
    """Open help, read all of it, close it."""
    await pilot.press("question_mark")
    await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
    await pilot.pause()
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
async def test_help_names_every_key_that_works_on_every_screen(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service, size=(99, 40)) as pilot:
        app = pilot.app
        for key, kind in ((None, LocksScreen), ("v", VoiceScreen), ("enter", RemotesScreen)):
            if key is not None:
                await pilot.press(key)
            await until(pilot, lambda kind=kind: isinstance(app.screen, kind))
            await settled(pilot)
            actions = actions_of(app.screen)
            bound = {
                written(key)
                for key, binding in app.screen.active_bindings.items()
                if binding.node is app.screen
            }
            told = {key for action in actions for key in action.keys}
            assert bound - told <= {"ctrl+c", "super+c"}
            text = await whole_help(pilot)
            for action in actions:
                keys = ", ".join(action.keys)
                keys = keys if action.enabled else f"({keys})"
                assert f"{keys} {action.binding.description}".lower() in text.lower()
                for sentence in (action.sentence, action.reason):
                    assert sentence.lower() in text.lower()
            if kind is VoiceScreen:
                await pilot.press("escape")
                await until(pilot, lambda: isinstance(app.screen, LocksScreen))
                await settled(pilot)


async def test_help_says_why_and_where(lockterm_app: Starter, service: RunningService) -> None:
    async with lockterm_app(service, read_only=True) as pilot:
        text = await whole_help(pilot)
        assert "Not available now: No lock is selected" in text
        assert "profile demo read-only" in text
        assert f"service {service.base_url}" in text
        assert "Europe/Berlin" in text


async def test_narrow_help_begins_sentences_with_their_verbs(
    lockterm_app: Starter, service: RunningService
) -> None:
    async with lockterm_app(service, 1001, size=(60, 20)) as pilot:
        await pilot.press("question_mark")
        await settled(pilot)
        assert "Detail. Show every field of the selected" in shown(pilot.app)


async def test_footer_shows_no_key_that_a_field_takes_when_it_has_the_focus(
    lockterm_app: Starter, service: RunningService
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        assert "/ find" in shown(pilot.app).splitlines()[-1]
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        await pilot.press("slash", "plus", "minus", "at", "backslash", "underscore", "w")
        await settled(pilot)
        assert pilot.app.screen.query_one(Input).value == "/+-@\\_w"
        assert shown(pilot.app).splitlines()[-1] == "esc show all  f5 refresh  f1 help"
        keys = {key for action in actions_of(pilot.app.screen) for key in action.keys}
        assert {key for key in keys if len(key) == 1} == set()


@pytest.mark.parametrize(
    ("width", "footer"),
    [
        (
            80,
            "enter open  a add  / find  F all locks  W expiring  H history  q quit  ? help",
        ),
        (60, "enter open  a add  / find  F all locks  W expiring  ? help"),
    ],
)
async def test_footer_of_the_locks_names_the_global_keys(
    lockterm_app: Starter, service: RunningService, width: int, footer: str
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service, size=(width, 24)) as pilot:
        await settled(pilot)
        assert shown(pilot.app).splitlines()[-1] == footer
        await pilot.press("space")
        await settled(pilot)
        footer = shown(pilot.app).splitlines()[-1]
        assert footer.startswith("space mark  v set voice  Y copy to"), "marks go first"
        await pilot.press("escape")
        await settled(pilot)
        footer = shown(pilot.app).splitlines()[-1]
        await pilot.click(KeyLine, offset=(footer.index("all locks"), 0))
        await until(pilot, lambda: len(pilot.app.screen_stack) == 2)


@pytest.mark.parametrize("key", ["", "enter", "v", "F", "W", "H", "question_mark"])
async def test_footer_has_the_same_order_on_every_screen(
    lockterm_app: Starter, service: RunningService, key: str
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service, size=(200, 50)) as pilot:
        await pilot.press(*filter(None, [key]))
        await settled(pilot)
        footer = shown(pilot.app).splitlines()[-1]
        places = []
        for action in actions_of(pilot.app.screen):
            chip = f"{action.keys[0]} {action.binding.description}"
            if action.binding.show and chip in footer:
                places.append((footer.index(chip), footer_group(action.binding.id), chip))
        groups = [group for _, group, chip in sorted(places) if not chip.endswith("help")]
        assert len(groups) > 1 and groups == sorted(groups), footer
        assert footer.endswith("help") or key == "question_mark"


def test_groups_of_the_footer_are_act_move_find_and_more() -> None:
    names = ("remotes.add", "remotes.next_page", "row.page_down", "remotes.find", "remotes.back")
    assert [footer_group(name) for name in names] == [0, 1, 1, 2, 3]
    assert [footer_group(name) for name in ("app.history", "form.save", None)] == [3, 0, 0]


@pytest.mark.long
async def test_help_picture(lockterm_app: Starter, service: RunningService) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service) as pilot:
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        await settled(pilot)
        assert_picture(pilot.app, "help-80x24")


@pytest.mark.long
async def test_help_says_of_coerced_and_by_what_the_contract_says(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service, 1001) as pilot:
        helped = await whole_help(pilot)
        assert "Via: GW, BT" in helped and "via the gateway" in helped
        assert "flag for a coerced remote" in helped and "duress" not in helped


def test_a_title_keeps_the_letters_of_its_verb() -> None:
    verbs = {titled(Binding("y", "copy", verb)) for verb in ("copy URL", "copy MD5", "add")}
    assert verbs == {"Copy URL", "Copy MD5", "Add"}


def offered(pilot: Pilot[int]) -> list[str]:
    """The names in the palette."""
    options = pilot.app.screen.query_one(OptionList).options
    return [str(option.prompt).partition("  ")[0] for option in options]


async def open_palette(pilot: Pilot[int]) -> None:
    await pilot.press("ctrl+p")
    await until(pilot, lambda: isinstance(pilot.app.screen, Palette))
    await settled(pilot)


def palette_lines(pilot: Pilot[int]) -> list[str]:
    """The rows inside the frame of the palette, without the frame."""
    lines = shown(pilot.app).splitlines()
    top = next(place for place, line in enumerate(lines) if "Palette" in line)
    left, right = lines[top].index("╭"), lines[top].index("╮")
    inside = [line[left + 1 : right] for line in lines[top + 1 :] if line[left : left + 1] == "│"]
    return [line[1:-1] for line in inside]


@pytest.mark.parametrize(("size", "least"), [((80, 24), 12), ((60, 20), 9), ((120, 40), 12)])
async def test_palette_shows_a_line_for_each_action_and_describes_the_selected_one(
    lockterm_app: Starter, service: RunningService, size: tuple[int, int], least: int
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service, size=size) as pilot:
        await settled(pilot)
        await open_palette(pilot)
        lines = palette_lines(pilot)
        keyed = [line[:-1] for line in lines if re.search(r"^\S.*  \S+(, \S+)*.$", line)]
        assert len(keyed) >= least
        assert keyed[0].startswith("Open ") and keyed[0].endswith(" enter")
        assert any(re.search("^Remove +x, del$", line) for line in keyed), "the keys are aligned"
        assert lines[-2].startswith("Show the remotes of the selected lock")
        await pilot.press("down")
        await settled(pilot)
        assert palette_lines(pilot)[-2].startswith("Add a lock to the lock book by its ID")
        assert palette_lines(pilot)[:-2] == lines[:-2], "no row moves"
        await pilot.press(*"mark range")
        await settled(pilot)
        lines = palette_lines(pilot)
        assert re.search(r"^\(Mark range\) +S.$", lines[2]), "where no color shows it, too"
        below = " ".join(" ".join(lines[-2:]).split())
        assert below == ("Not available now: First press space to mark the first row of the range.")
        assert below not in " ".join(lines[:-2])


async def test_palette_runs_a_clicked_action_and_keeps_its_keys_aligned_after_a_resize(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service) as pilot:
        await open_palette(pilot)
        await pilot.press(*"histor")
        await pilot.resize_terminal(60, 20)
        await settled(pilot)
        assert re.search("^History +H.$", palette_lines(pilot)[2])
        await pilot.click(OptionList, offset=(3, 0))
        await until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))


async def test_help_is_searched_and_shows_all_again(
    lockterm_app: Starter, service: RunningService
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        await pilot.press("question_mark", "slash", *"end date")
        await until(pilot, lambda: "Set a new end date" in words(pilot.app))
        await settled(pilot)
        assert "Add a remote" not in words(pilot.app)
        assert "timbre" not in words(pilot.app)
        await pilot.press("enter")
        await settled(pilot)
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
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, RemotesScreen))


@pytest.mark.parametrize(
    ("look", "expired", "starts"), [(FULL_LOOK, "×", "»"), (Look(ascii=True), "x", "+")]
)
async def test_help_has_two_columns_and_the_icons_of_the_look(
    lockterm_app: Starter, service: RunningService, look: Look, expired: str, starts: str
) -> None:
    async with lockterm_app(service, 1003, look, size=(100, 60)) as pilot:
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        await pilot.press("end")
        await settled(pilot)
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
        await pilot.press("home")
        await settled(pilot)
        lines = shown(pilot.app).splitlines()
        assert any(re.search(r"^ +a +add +Add a remote to this lock$", line) for line in lines)


async def test_help_gives_a_shared_reason_once(
    lockterm_app: Starter, service: RunningService
) -> None:
    async with lockterm_app(service) as pilot:
        text = await whole_help(pilot)
        reason = "There are no unconfirmed changes."
        assert text.count(reason) == 1
        assert "(c) check result Check whether" in text
        assert "(X) dismiss Dismiss the unconfirmed change" in text


async def test_the_palette_offers_the_same_actions_and_runs_them(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, *(Lock(n, name=text) for n, text in enumerate(HOSTILE[:4], 1)))
    async with lockterm_app(service) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(pilot.app.screen, Palette))
        await until(pilot, lambda: pilot.app.screen.query_one(OptionList).option_count > 5)
        names = offered(pilot)
        assert names.count("(Remove)") + names.count("Remove") == 1, "one entry, for both its keys"
        assert "Open by ID" in names
        await pilot.press(*"open by id")
        await until(
            pilot,
            lambda: (
                pilot.app.screen.query_one(OptionList).option_count == 1
                and "Open by ID" in words(pilot.app)
            ),
        )
        await pilot.press("enter")
        await until(pilot, lambda: "Open the remotes of which lock?" in words(pilot.app))


@pytest.mark.long
async def test_enter_typed_at_once_runs_what_was_typed_or_nothing(
    lockterm_app: Starter, service: RunningService
) -> None:
    async with lockterm_app(service, 1004) as pilot:

        def burst(*keys: str) -> None:
            for key in keys:
                pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))

        burst("ctrl+p", *"zzqq", "enter")  # an action has a z in it
        await until(pilot, lambda: "No matches" in words(pilot.app))
        assert isinstance(pilot.app.screen, Palette)
        burst("escape", "ctrl+p", *"history", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))


async def test_ctrl_c_says_which_key_quits(lockterm_app: Starter, service: RunningService) -> None:
    async with lockterm_app(service) as pilot:
        for key in ("ctrl+c", "o", "ctrl+c"):  # in a field too, with nothing marked to copy
            await pilot.press(key)
            await pilot.pause()
        told = [message.text for message in pilot.app.messages]
        assert set(told) == {"Press ctrl+q to quit lockterm from any screen."}


@pytest.mark.long
async def test_no_cursor_blinks_anywhere(lockterm_app: Starter, service: RunningService) -> None:
    async with lockterm_app(service) as pilot:
        for key in ("ctrl+p", "o", "a"):
            await pilot.press(key)
            await until(pilot, lambda: isinstance(pilot.app.focused, Input))
            await pilot.pause()
            focused = pilot.app.focused
            assert isinstance(focused, Input)
            assert not focused.cursor_blink
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(pilot.app.screen, LocksScreen))


async def open_messages(pilot: Pilot[int], key: str = "M") -> None:
    await pilot.press(key)
    await until(pilot, lambda: isinstance(pilot.app.screen, MessagesScreen))
    await settled(pilot)


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


@pytest.mark.long
async def test_messages_on_a_wide_terminal(
    lockterm_app: Starter, service: RunningService, clock: Clock
) -> None:
    async with lockterm_app(service, size=(120, 40)) as pilot:
        await told(pilot, clock)
        assert_picture(pilot.app, "messages-120x40")


async def told(pilot: Pilot[int], clock: Clock) -> None:
    """Have the notices told, a minute apart, and open the messages."""
    for text, title, severity in NOTICES:
        pilot.app.notify(text, title=title, severity=severity)
        clock.now_s += 61
    await open_messages(pilot, "f2")


async def test_messages_are_kept_newest_first(
    lockterm_app: Starter, service: RunningService, clock: Clock
) -> None:
    async with lockterm_app(service) as pilot:
        await told(pilot, clock)
        rows = shown(pilot.app).splitlines()
        assert rows[2].startswith(" 20 Nov 09:02  error    Refused by the service")
        assert rows[4].startswith(" 20 Nov 09:00  notice   Edit Anna Weber: Recorded")
        assert "or edit the remote that has it." in words(pilot.app), "the whole text is below"
        assert_picture(pilot.app, "messages-80x24")
        await pilot.press("y")
        assert pilot.app.clipboard == (
            "20 Nov 2026 09:02:02 +01:00 error: Refused by the service: " + NOTICES[-1][0]
        )
        pilot.app.notify("Recorded by the service.", title="Added Anna Weber")
        await until(pilot, lambda: "notice   Added Anna Weber: Recorded" in shown(pilot.app))
        own = "or edit the remote that has it."
        await until(pilot, lambda: own in words(pilot.app))  # the cursor stays
        await pilot.press("M")
        await until(pilot, lambda: isinstance(pilot.app.screen, LocksScreen))


@pytest.mark.long
async def test_no_messages_and_hostile_ones(lockterm_app: Starter, service: RunningService) -> None:
    async with lockterm_app(service) as pilot:
        await open_messages(pilot)
        assert "No messages yet" in words(pilot.app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, LocksScreen))
        for text in HOSTILE:
            pilot.app.notify(text, title=text)
        await open_messages(pilot)
        for _ in HOSTILE:
            await pilot.press("down")
            assert all(char.isprintable() or char in "\n\u200d" for char in shown(pilot.app))


@pytest.mark.long
async def test_over_a_question_the_palette_says_of_no_word_that_nothing_has_it(
    lockterm_app: Starter, service: RunningService
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        await pilot.press("C")
        await until(pilot, lambda: "Delete all" in words(pilot.app))
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(pilot.app.screen, Palette))
        await settled(pilot)
        assert "No exact match" not in words(pilot.app)


async def test_the_palette_finds_by_every_word_settings_and_the_locks(
    lockterm_app: Starter, service: RunningService
) -> None:
    """What was chosen last stands first; what is merely like an action is not done by enter."""
    fill_book(lockterm_app, Lock(1001, name="Main gate"), Lock(1002, name="[b]Dock"))
    async with lockterm_app(service) as pilot:
        await settled(pilot)

        async def found(query: str) -> list[str]:
            await pilot.press("ctrl+p")
            await until(pilot, lambda: isinstance(pilot.app.screen, Palette))
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
        await pilot.press("enter", "enter")
        await settled(pilot)
        assert isinstance(pilot.app.screen, Palette), "enter does no guess"
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))
        await settled(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, LocksScreen))
        assert (await found("1002")) == ["Remotes of [b]Dock"]
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, RemotesScreen))
        await settled(pilot)
        await found("history")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))
        await settled(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, RemotesScreen))
        assert (await found(""))[0] == "History"
    assert lockterm_app.app(service).choices.get("palette") == ["app.history"]
