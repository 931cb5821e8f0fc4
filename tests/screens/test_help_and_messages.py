"""Help, key line and palette tell the same; the message log keeps what was shown."""

from __future__ import annotations

import pytest
from textual import events
from textual.binding import Binding
from textual.notifications import SeverityLevel
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from lockterm.domain.locks import Lock
from lockterm.keymap.names import written
from lockterm.screens.help import HelpScreen
from lockterm.screens.history import HistoryScreen
from lockterm.screens.locks import LocksScreen
from lockterm.screens.messages import MessagesScreen
from lockterm.screens.palette import NEAR, NONE, Palette
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.voice import VoiceScreen
from lockterm.service.running import RunningService
from lockterm.widgets.actions import actions_of, titled
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
    return " ".join(" ".join(text).replace("▅", " ").split())


@pytest.mark.long
async def test_help_names_every_key_that_works_on_every_screen(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service, size=(120, 40)) as pilot:
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
                assert f"{', '.join(action.keys)} {action.binding.description.lower()}" in text
                sentence = action.sentence if action.enabled else action.reason
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


async def test_the_palette_offers_the_same_actions_and_runs_them(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, *(Lock(n, name=text) for n, text in enumerate(HOSTILE[:4], 1)))
    async with lockterm_app(service) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(pilot.app.screen, Palette))
        await until(pilot, lambda: pilot.app.screen.query_one(OptionList).option_count > 5)
        prompts = [str(option.prompt) for option in pilot.app.screen.query_one(OptionList).options]
        assert sum("Remove" in prompt for prompt in prompts) == 1, "one entry, for both its keys"
        assert any("Open by id" in prompt for prompt in prompts)
        await pilot.press(*"open by id")
        await until(
            pilot,
            lambda: (
                pilot.app.screen.query_one(OptionList).option_count == 1
                and "Open by id" in words(pilot.app)
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
        await until(pilot, lambda: "Added Anna Weber: Recorded" in shown(pilot.app))
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
            options = pilot.app.screen.query_one(OptionList).options
            return [str(option.prompt).partition("\n")[0] for option in options]

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
