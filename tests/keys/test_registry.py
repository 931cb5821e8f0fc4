"""The registry of keys is what screens and widgets really bind."""

from __future__ import annotations

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.binding import Binding
from textual.keys import _character_to_key
from textual.screen import Screen
from textual.widgets import Button, Input, TextArea

from lockterm.app import LocktermApp
from lockterm.first_run_app import FirstRunApp
from lockterm.keymap.check import _FIXED, _KEPT
from lockterm.keymap.names import EDITING, SENDABLE, spelled, written
from lockterm.keymap.places import FIRST, PLACES, THROUGH, known
from lockterm.widgets.tasks import TASKS
from tests.keys.bound import PLACE_OF, classes, own_bindings


def test_every_key_a_person_can_press_has_an_id() -> None:
    without = [
        f"{node.__name__}: {binding.key} {binding.action}"
        for node in classes()
        for binding in own_bindings(node)
        if not binding.id
    ]
    assert without == []


def test_the_registry_is_what_is_bound() -> None:
    for node in classes():
        bound: dict[str, list[str]] = {}
        for binding in own_bindings(node):
            bound.setdefault(str(binding.id), []).append(binding.key)
        if not bound:
            continue
        if node is FirstRunApp:
            assert set(bound) == {*FIRST, *THROUGH}
            continue
        assert node.__name__ in PLACE_OF, f"say in PLACE_OF where the keys of {node.__name__} are"
        place = PLACES[PLACE_OF[node.__name__]]
        told = {name: keys.split(",") for name, keys in place.keys.items()}
        assert bound == told, node.__name__
    assert set(PLACE_OF.values()) | {"plain_text"} == set(PLACES)


def test_every_binding_says_its_key_by_itself_and_has_a_verb() -> None:
    for node in classes():
        for binding in own_bindings(node):
            assert binding.description, f"{node.__name__}: {binding.id} has no verb"
            assert binding.key_display is None, "it would go on naming the old key"


def test_the_keys_through_everything_come_first_and_no_others() -> None:
    for app in (LocktermApp, FirstRunApp):
        first = {str(binding.id) for _, binding in app._merged_bindings or () if binding.priority}
        assert first == set(THROUGH)


def test_every_id_is_below_one_heading_of_help() -> None:
    below = [name for names in TASKS.values() for name in names]
    assert sorted(below) == sorted(known())


def test_keys_are_those_that_terminals_send() -> None:
    sent = {
        key.value
        for keys in ANSI_SEQUENCES_KEYS.values()
        if isinstance(keys, tuple)
        for key in keys
    }
    assert sent >= SENDABLE


def test_names_of_characters_are_those_of_textual() -> None:
    for code in range(33, 127):
        character = chr(code)
        assert spelled(character) == _character_to_key(character)
        assert written(spelled(character)) == character
        assert spelled(_character_to_key(character)) == spelled(character)


def test_what_a_field_takes_for_its_text_is_known() -> None:
    edits = {
        binding.key
        for field in (Input, TextArea)
        for binding in Binding.make_bindings(field.BINDINGS)
    }
    moves_on = {"up", "down", "enter", "pageup", "pagedown", "ctrl+c"}
    assert (edits & SENDABLE) - moves_on == EDITING


def test_no_key_of_textual_can_be_taken_away() -> None:
    screen = {binding.key for binding in Binding.make_bindings(Screen.BINDINGS)}
    assert {key for key in screen if key in SENDABLE} == set(_FIXED)
    assert {binding.key for binding in Binding.make_bindings(Button.BINDINGS)} <= set(_KEPT)
