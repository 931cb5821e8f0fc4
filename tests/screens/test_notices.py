"""Notices: above the keys, on every screen, for as long as it takes to read them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from lockterm.app import notices as shown_notices
from lockterm.config.look import Look
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.dialogs.destroy import DestroyModal
from lockterm.screens.help import HelpScreen
from lockterm.screens.messages import MessagesScreen
from lockterm.screens.modal import LocktermModal
from lockterm.screens.palette import Palette
from lockterm.screens.remote_form import RemoteForm
from lockterm.screens.remotes import RemotesScreen
from lockterm.widgets.header_footer import NotificationLine
from tests.long import telling
from tests.screens.running_app import Demo, settled, shown, strips, until
from tests.screens.site import press, press_to, settled_when

pytestmark = pytest.mark.usefixtures("unhurried")


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No notice goes because its time is over."""
    for severity in shown_notices.LEAST_S:
        monkeypatch.setitem(shown_notices.LEAST_S, severity, 6000.0)


def lines(pilot: Pilot[Any]) -> list[str]:
    return shown(pilot).splitlines()


def last_line(pilot: Pilot[Any]) -> str:
    return lines(pilot)[-1]


def notice(pilot: Pilot[Any]) -> str:
    """The line for notices: above the keys, or in place of them where there is a dialog."""
    return lines(pilot)[-1 if pilot.app.screen.is_modal else -2]


@pytest.mark.long
@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ((), RemotesScreen),
        (("d",), DestroyModal),
        (("C",), DestroyModal),
        (("ctrl+p",), Palette),
    ],
)
@pytest.mark.parametrize("size", telling([(60, 20)], [(80, 24), (60, 20)]))
async def test_a_notice_takes_its_line_and_no_other(
    demo: Demo, size: tuple[int, int], keys: tuple[str, ...], kind: type[Any]
) -> None:
    async with demo(1001, size=size) as pilot:
        await press_to(pilot, kind, *keys)
        before, focused = lines(pilot), pilot.app.focused
        pilot.app.notify("Recorded by the service.", title="Deleted Anna Weber (A-2041)")
        await until(pilot, lambda: notice(pilot).startswith("▌ Deleted Anna Weber (A-2041): R"))
        now, place = lines(pilot), -1 if pilot.app.screen.is_modal else -2
        now[place] = before[place]
        assert now == before
        assert pilot.app.focused is focused
        *_, line = pilot.app.screen.query(NotificationLine)
        assert line.layer in pilot.app.screen.layers
        pilot.app.clear_notifications()
        await until(pilot, lambda: lines(pilot) == before)


@pytest.mark.parametrize(
    "keys",
    [("a", "A"), ("space", "w"), ("I",), ("escape", "a"), ("C",), ("d",), ("u",), ("ctrl+p",)],
    ids=" ".join,
)
@pytest.mark.parametrize("size", telling([(60, 20)], [(60, 20), (80, 24), (120, 40)]))
async def test_notice_covers_no_field_or_button_of_forms_and_dialogs(
    demo: Demo, size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    async with demo(1001, size=size) as pilot:
        await press(pilot, *keys)
        screen, before = pilot.app.screen, lines(pilot)
        pilot.app.notify("It means this, too. " * 8, title="Not answered", severity="warning")
        await settled_when(pilot, lambda: "Not answered" in shown(pilot))
        line = screen.query_one(NotificationLine).region
        assert line.height > 1
        used = [node for node in screen.query("Button, Input, .dialog, KeyLine") if node.region]
        assert not [node for node in used if line.overlaps(screen.find_widget(node).visible_region)]
        focused = pilot.app.focused
        assert focused is None or focused.region in screen.region
        pilot.app.clear_notifications()
        await until(pilot, lambda: lines(pilot) == before)


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_long_notice_has_half_of_the_screen(demo: Demo, size: tuple[int, int]) -> None:
    more = "The service does not report whether the change has reached the lock."
    path = f"/srv/{'of-the-whole-site/' * 6}remotes of 2026-11-20.csv"
    async with demo(1001, size=size) as pilot:
        before = lines(pilot)
        for title, seen in (
            ("Set the voice of Main gate to en-US Grace", "of Main gate to en-US Grace"),
            (f"Changed {'Anna ' * 30}", "Changed Anna Anna Anna"),
        ):
            pilot.app.notify(f"Recorded by the service. {more}", title=title)
            await until(pilot, lambda title=title: title[:12] in "".join(lines(pilot)[-3:-1]))
            said = " ".join(line.removeprefix("▌ ") for line in lines(pilot)[-3:-1])
            assert seen in said and ": Recorded by the service. " in said
            assert notice(pilot).endswith("more")
        pilot.app.clear_notifications()
        await until(pilot, lambda: lines(pilot) == before)
        pilot.app.notify(f"Written to {path} with all 137 remotes.", title="Exported")
        await until(pilot, lambda: notice(pilot).startswith("▌ "))
        parts = [line[2:].rstrip() for line in lines(pilot)[:-1] if line.startswith("▌ ")]
        assert len(parts) > 1
        assert path.replace(" ", "") in "".join(parts).replace(" ", ""), "a path is never cut"
        assert lines(pilot)[-1] == before[-1], "the keys stay"
        assert lines(pilot)[: -1 - len(parts)] == before[: -1 - len(parts)]
        pilot.app.clear_notifications()
        await until(pilot, lambda: lines(pilot) == before)
        pilot.app.notify("It means this, too. " * 60, title="It " * 60, severity="warning")
        await until(pilot, lambda: notice(pilot).startswith("▌ "))
        height = sum(line.startswith("▌ ") for line in lines(pilot))
        assert height <= size[1] // 2
        if height == size[1] // 2:
            assert notice(pilot).endswith("F2 more") and "…" in notice(pilot)


@pytest.mark.long
async def test_a_notice_outlives_a_dialog_but_not_its_screen(demo: Demo) -> None:
    async with demo(1003) as pilot:
        before = lines(pilot)
        await press(pilot, "d")
        pilot.app.notify("", title="Added Anna")
        await until(pilot, lambda: last_line(pilot) == "▌ Added Anna")
        await press(pilot, "escape")
        assert notice(pilot) == "▌ Added Anna" and last_line(pilot) == before[-1]
        await press_to(pilot, HelpScreen, "question_mark")
        assert "Added Anna" not in shown(pilot)
        pilot.app.notify("", title="Added Ben")
        pilot.app.notify("", title="Not added", severity="error")
        await until(pilot, lambda: notice(pilot).startswith("▌ ! Error  Not added"))
        await press_to(pilot, RemotesScreen, "escape")
        assert notice(pilot).startswith("▌ ! Error  Not added"), "an error is read first"
        assert not pilot.app.notice_log.more
        pilot.app.clear_notifications()
        await until(pilot, lambda: lines(pilot) == before)
        form = await press_to(pilot, RemoteForm, "a")
        pilot.app.notify("", title="Added Carl")
        form.dismiss()
        await settled_when(pilot, lambda: isinstance(pilot.app.screen, RemotesScreen))
        assert notice(pilot) == "▌ Added Carl"


async def test_error_stays_until_a_later_key(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    async with demo(1003) as pilot:
        monkeypatch.setattr(shown_notices, "READ_S", math.inf)
        table = pilot.app.screen.query_one("#table")
        pilot.app.notify("No answer came.", title="Delete Anna", severity="error")
        await pilot.press("j", "j", "k")
        pilot.app.notify("", title="Copied the number")
        await settled(pilot)
        assert table.cursor_row == 1, "each key has done what it does"  # type: ignore[attr-defined]
        assert notice(pilot).startswith("▌ ! Error  Delete Anna: No answer came.")
        assert notice(pilot).endswith("F2 1 more")
        monkeypatch.setattr(shown_notices, "READ_S", 0.0)
        monkeypatch.setattr(shown_notices, "CELLS_A_SECOND", math.inf)
        pilot.app.notify("The name is taken.", title="Add Ben", severity="error")
        for told in ("▌ ! Error  Add Ben", "▌ ! Error  Delete Anna", "▌ Copied the number"):
            await until(pilot, lambda told=told: notice(pilot).startswith(told))
            while notice(pilot).startswith(told) and "Error" in told:
                await press(pilot, "j")


@pytest.mark.long
async def test_error_stays_while_text_is_typed(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who types a name looks at the field, and not at what comes meanwhile."""
    monkeypatch.setattr(shown_notices, "READ_S", 0.0)
    monkeypatch.setattr(shown_notices, "CELLS_A_SECOND", math.inf)
    async with demo(1003) as pilot:
        await press(pilot, "slash")
        pilot.app.notify("The name is taken.", title="Add Ben", severity="error")
        await until(pilot, lambda: notice(pilot).startswith("▌ ! Error  Add Ben"))
        await press(pilot, *"anna")
        assert notice(pilot).startswith("▌ ! Error  Add Ben")
        await pilot.press("backspace")
        await until(pilot, lambda: "Add Ben" not in notice(pilot))


@pytest.mark.long
async def test_a_key_shows_all_of_it_and_the_line_is_free(demo: Demo) -> None:
    async with demo(1003) as pilot:
        keys = notice(pilot), last_line(pilot)
        for severity in ("information", "warning", "error"):
            pilot.app.notify("It means this. " * 20, title="It", severity=severity)  # type: ignore[arg-type]
        await until(pilot, lambda: "F2 2 more" in notice(pilot))
        await pilot.press("a", "f2")  # in a form too
        await settled_when(pilot, lambda: isinstance(pilot.app.screen, MessagesScreen))
        assert "Esc close" in last_line(pilot)
        await press(pilot, "escape", "escape")
        assert (notice(pilot), last_line(pilot)) == keys
        pilot.app.notify("It means this. " * 20, title="It")
        await until(pilot, lambda: ": It means this. …" in notice(pilot))
        assert notice(pilot).endswith("F2 more")
        await pilot.click(NotificationLine)
        await until(pilot, lambda: isinstance(pilot.app.screen, MessagesScreen))


async def test_information_disappears(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    async with demo(1003) as pilot:
        keys = notice(pilot), last_line(pilot)
        for severity in ("information", "warning"):
            monkeypatch.setitem(shown_notices.LEAST_S, severity, 0.0)
            pilot.app.notify("", title=".", severity=severity)  # type: ignore[arg-type]
        await until(pilot, lambda: notice(pilot) == keys[0] and not pilot.app.notice_log.more)


async def test_notice_after_the_end_does_not_crash_the_app(demo: Demo) -> None:
    """A run can end, and report it, after the technician chose to quit."""
    async with demo(1003) as pilot:
        pilot.app.exit()
        pilot.app.notify("It means this.", title="It")
    assert [entry.title for entry in pilot.app.messages] == ["It"]


async def test_keys_typed_in_one_burst_do_the_same_while_notices_come_and_go(demo: Demo) -> None:
    """Text into a form, a question and its answer, with a notice before each key."""
    typed = [*"aNew one", "tab", *"N-1", "tab", "1", "ctrl+s"]
    async with demo(1003) as pilot:
        app = pilot.app
        for place, key in enumerate(typed):
            severity = ("information", "warning", "error")[place % 3]
            app.notify("It means this.", title=f"Notice {place}", severity=severity)  # type: ignore[arg-type]
            if place % 4 == 3:
                app.clear_notifications()
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await settled_when(pilot, lambda: isinstance(app.screen, ConfirmModal))
        assert "Add New one to lock 1003" in shown(pilot) and "N-1" in shown(pilot)


@pytest.mark.parametrize(
    ("look", "mark"), [(Look(colors=0), "▌"), (Look(ascii=True), "|"), (Look(quiet=True), "|")]
)
async def test_severity_has_a_sign_and_a_word(demo: Demo, look: Look, mark: str) -> None:
    async with demo(1003, look) as pilot:
        for severity, word in (
            ("information", ""),
            ("warning", "! Warning  "),
            ("error", "! Error  "),
        ):
            pilot.app.notify("", title="Anna", severity=severity)  # type: ignore[arg-type]
            await until(pilot, lambda word=word: notice(pilot).startswith(f"{mark} {word}Anna"))
        styles = [segment.style for segment in strips(pilot.app.screen)[-2] if segment.text.strip()]
        assert all(style is not None and style.reverse for style in styles), "and by its shape"


async def test_what_is_said_as_a_screen_comes_adds_no_line_of_keys_to_it(demo: Demo) -> None:
    async with demo(1001) as pilot:
        pilot.app.action_help()
        pilot.app.notify("Recorded by the service.", title="Deleted Anna Weber (A-2041)")
        await until(pilot, lambda: notice(pilot).startswith("▌ Deleted Anna"))
        assert isinstance(pilot.app.screen, HelpScreen)
        assert len(pilot.app.screen.query(NotificationLine)) == 1


@pytest.mark.long
@pytest.mark.parametrize("keys", [("d",), ("C",), (":",)])
async def test_help_and_messages_open_over_a_dialog(demo: Demo, keys: tuple[str, ...]) -> None:
    async with demo(1001) as pilot:
        app = pilot.app
        await press(pilot, *keys)
        dialog = app.screen
        assert isinstance(dialog, LocktermModal)
        app.notify("Long " * 30, title="Told")
        await until(pilot, lambda: notice(pilot).endswith("…  F2 more"))
        for key, kind in (("f2", MessagesScreen), ("f1", HelpScreen)):
            await pilot.press(key)
            await until(pilot, lambda kind=kind: isinstance(app.screen, kind))
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is dialog)
        await settled(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not dialog)
        assert not any(demo.counted(call) for call in ("delete", "clear"))


@pytest.mark.long
async def test_messages_open_over_the_palette(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await press_to(pilot, MessagesScreen, "ctrl+p", *"new", "f2")
        await press_to(pilot, Palette, "escape")
        assert "new" in shown(pilot)
