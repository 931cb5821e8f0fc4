"""What can be chosen for keys, and what is refused: what passes leaves every action in reach."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from lockterm.cli.keys import key_rows
from lockterm.keymap import Keymap, hints
from lockterm.keymap.check import WrongKeyError, check, gave_way
from lockterm.keymap.hints import SENDABLE, is_typed, spelled
from lockterm.keymap.keys import PLACES, PRIORITY, is_by_hand, known, stacks
from lockterm.keymap.keys.shared import KeyContext
from tests.long import examples

CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789?/.:;<>-+*#!$%&()[]{}"
KEYS = st.one_of(st.sampled_from(CHARACTERS), st.sampled_from(sorted(SENDABLE)))
CHOSEN = st.dictionaries(
    st.sampled_from(sorted(known())),
    st.lists(KEYS, min_size=1, max_size=3).map(",".join),
    min_size=1,
    max_size=6,
)


def is_typing(stack: tuple[KeyContext, ...]) -> bool:
    """Whether a field has the focus."""
    return stack[0].is_inner and stack[0].is_typed_into


def is_needed(name: str) -> bool:
    """Whether an action has to be in reach while text is typed."""
    return name in PRIORITY or any(
        name in place.keys for place in PLACES.values() if place.is_typed_into
    )


def reached(stack: tuple[KeyContext, ...], keymap: Keymap) -> dict[str, str]:
    """Key -> the id it reaches where these places are active, as Textual looks for it."""
    found: dict[str, str] = {}
    through = {name: keys for name, keys in stack[-1].keys.items() if name in PRIORITY}
    for names in (through, *(place.keys for place in stack)):
        for name, usual in names.items():
            for key in keymap.get(name, usual):
                if name in PRIORITY or not (is_typing(stack) and is_typed(key)):
                    found.setdefault(key, name)
    return found


@examples(300, suppress_health_check=[HealthCheck.filter_too_much])
@given(CHOSEN)
def test_what_is_not_refused_leaves_every_action_in_reach(chosen: dict[str, str]) -> None:
    try:
        keymap = check(chosen)
    except WrongKeyError as error:
        assert error.name in chosen
        return
    hints.use(keymap)
    try:
        for stack in stacks():
            before, now = reached(stack, {}), reached(stack, keymap)
            must = {name for name in before.values() if not is_typing(stack) or is_needed(name)}
            without = {name for name in keymap if name not in chosen and not keymap[name]}
            assert not any(is_by_hand(name) or is_needed(name) for name in without)
            must -= without
            assert must <= set(now.values())
            for name in must & set(keymap):
                told = spelled(hints.key(name))
                assert now.get(told) == name or told in known()[name], "sentences name that key"
            for key in ("tab", "shift+tab", "ctrl+c"):
                assert key not in now
            if "escape" in before:
                assert now["escape"] == before["escape"], "escape leads out as ever"
            assert {name for key, name in now.items() if key == "enter"} <= {
                name for place in stack for name in place.keys if "enter" in place.keys[name]
            }
    finally:
        hints.use({})


REFUSED = [
    ({"remotes.dlete": "x"}, "is not an action; did you mean remotes.delete?"),
    ({"delete": "x"}, "is not an action; did you mean"),
    ({"fly": "x"}, "is not an action"),
    ({"remotes.delete": ""}, "has no key"),
    ({"remotes.delete": "x,,z"}, "contains an extra comma"),
    ({"remotes.delete": ["x"]}, "must be keys in quotes"),
    ({"remotes.delete": 1}, "must be keys in quotes"),
    ({"remotes.delete": "x, x"}, "lists x twice"),
    ({"remotes.delete": "del,delete"}, "lists del twice"),
    ({"remotes.delete": "pagedwn"}, "is not a key; did you mean pagedown?"),
    ({"remotes.delete": "ctrl+i"}, "is the same as tab"),
    ({"remotes.delete": "ctrl+m"}, "is the same as enter"),
    ({"remotes.delete": "Ctrl-H"}, "is the same as backspace"),
    ({"remotes.delete": "ctrl+["}, "is the same as escape"),
    ({"remotes.delete": "shift+enter"}, "is the same as enter"),
    ({"remotes.delete": "ctrl+enter"}, "is the same as enter"),
    ({"remotes.delete": "alt+x"}, "arrives as escape and another key"),
    ({"remotes.delete": "ctrl+shift+x"}, "is sent by few terminals"),
    ({"remotes.delete": "tab"}, "goes to the next field everywhere"),
    ({"remotes.delete": "ctrl+c"}, "copies the selection"),
    ({"remotes.delete": "escape"}, "leaves every screen"),
    ({"remotes.delete": "enter"}, "answers dialogs"),
    ({"remotes.delete": "j"}, "is the key of row.down in a table"),
    ({"remotes.delete": "ctrl+q"}, "is the key of app.quit_always"),
    ({"remotes.delete": "x", "remotes.add": "x"}, "is the key of remotes.delete"),
    ({"find.close": "f5,escape", "app.history": "f5"}, "is the key of find.close"),
    ({"form.save": "s"}, "which types text in fields"),
    ({"form.save": "ctrl+u"}, "which types text in fields"),
    ({"app.quit_always": "f10,z"}, "which types text in fields"),
    ({"app.palette": "colon"}, "which types text in fields"),
    ({"dialog.cancel": "f9"}, "must keep escape"),
    ({"remotes.back": "backspace"}, "must keep escape"),
]


@pytest.mark.parametrize(("chosen", "sentence"), REFUSED, ids=lambda value: str(value)[:50])
def test_mistakes_are_refused(chosen: dict[str, object], sentence: str) -> None:
    with pytest.raises(WrongKeyError) as caught:
        check(chosen)
    assert sentence in str(caught.value)
    assert caught.value.name == list(chosen)[-1], "the last one written is at fault"


CHOSEN_WELL = [
    ({"remotes.delete": "x"}, {"remotes.delete": ("x",)}),
    ({"remotes.delete": "x, Del"}, {"remotes.delete": ("x", "delete")}),
    ({"app.help": "F1,?"}, {"app.help": ("f1", "question_mark")}),
    ({"remotes.add": "e", "remotes.edit": "a"}, {"remotes.add": ("e",), "remotes.edit": ("a",)}),
    ({"remotes.next_page": "PgDn", "row.page_down": "ctrl+f"}, None),
    ({"app.quit_always": "F10"}, {"app.quit_always": ("f10",)}),
    ({"remotes.page_size": ","}, {"remotes.page_size": ("comma",)}),
    ({"locks.find": "ctrl+f"}, {"locks.find": ("ctrl+f",)}),
    ({"form.save": "s,f9"}, {"form.save": ("s", "f9")}),
]


@pytest.mark.parametrize(("chosen", "keymap"), CHOSEN_WELL, ids=lambda value: str(value)[:50])
def test_sensible_choices_are_taken(chosen: dict[str, object], keymap: Keymap | None) -> None:
    assert check(chosen) == keymap or keymap is None


GIVEN_WAY = [
    ({"remotes.renew": "i"}, "remotes.filter", (), "i is configured for remotes.renew"),
    (
        {"remotes.table": "f5"},
        "remotes.refresh",
        ("r",),
        "default key of remotes.refresh, which",
    ),
    ({"remotes.delete": "e"}, "remotes.edit", (), "has no key; the palette finds it"),
    ({"row.down": "n"}, "remotes.next_page", ("right", "l"), "has right,l"),
]


@pytest.mark.parametrize(("chosen", "name", "left", "told"), GIVEN_WAY)
def test_a_choice_goes_before_a_usual_key_of_this_version(
    chosen: dict[str, str], name: str, left: tuple[str, ...], told: str
) -> None:
    """Or a new version with a new key would not start for who had chosen that key before."""
    keymap = check(chosen)
    assert keymap[name] == left
    assert any(told in sentence for sentence in gave_way(chosen, keymap))


def test_resolving_hint_names_the_palette_when_keys_are_taken() -> None:
    all_lost = "Ctrl+P finds what checks the change or sends it again or dismisses it."
    one_lost = "c checks the change, A sends it again, or Ctrl+P finds what dismisses it."
    try:
        for lost, words in (
            ((), "c checks the change, A sends it again, or X dismisses it."),
            (("give_up",), one_lost),
            (("check", "send_again", "give_up"), all_lost),
        ):
            hints.use({f"outcome.{name}": () for name in lost})
            assert hints.settling() == words
    finally:
        hints.use({})


ROOT = Path(__file__).parents[2]


def test_the_keys_of_readme_and_documentation_are_keys() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    table = readme.partition("| key | action |\n|---|---|\n")[2].partition("\n\n")[0]
    cells = [line.split(" | ")[0] for line in table.splitlines()]
    told = {key for cell in cells for key in re.findall("`(.+?)`", cell)}
    assert len(cells) == 10
    known = {key for row in key_rows({}) for key in row.keys}
    assert {hints.written(hints.spelled(key)) for key in told} - known == set()
    page = (ROOT / "docs/how-to/customize-keys.md").read_text("utf-8")
    assert check(tomllib.loads(page.partition("```toml\n[keys]\n")[2].partition("```")[0]))
