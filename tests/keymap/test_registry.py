"""The registry of keys is what screens and widgets really bind."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import _character_to_key
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Button, Input, TextArea

import lockterm
from lockterm.app import LocktermApp
from lockterm.app.first_run_app import FirstRunApp
from lockterm.keymap.check import FIXED_KEYS, RESERVED_KEYS
from lockterm.keymap.keys import FIRST_RUN_IDS, PLACES, PRIORITY, in_help, known
from lockterm.keymap.names import EDITING, SENDABLE, spelled, written


def classes() -> Iterator[type[DOMNode]]:
    """Every screen, widget and app of lockterm."""
    for module in pkgutil.walk_packages(lockterm.__path__, "lockterm."):
        if module.name.rpartition(".")[2] != "__main__":
            importlib.import_module(module.name)
    found = [LocktermApp, FirstRunApp]
    pending: list[type] = [Screen, Widget]
    while pending:
        for one in pending.pop().__subclasses__():
            pending.append(one)
            if one.__module__.startswith("lockterm.") and one not in found:
                found.append(one)
    return iter(sorted(found, key=lambda one: one.__name__))


def own_bindings(node: type[DOMNode]) -> list[Binding]:
    """The bindings of a class that are lockterm's: those of Textual's classes are its own.

    Textual's are what a field does with the text in it, tab and shift+tab, enter on a button,
    ctrl+c: nobody may take them away, so that they need no id.
    """
    textuals = {
        (binding.key, binding.action)
        for base in inspect.getmro(node)
        if base.__module__.startswith("textual.")
        for binding in Binding.make_bindings(base.__dict__.get("BINDINGS", ()))
    }
    assert node._merged_bindings is not None
    return [
        binding
        for _, binding in node._merged_bindings
        if binding.id or (binding.key, binding.action) not in textuals
    ]


def test_every_key_a_person_can_press_has_an_id() -> None:
    without = [
        f"{node.__name__}: {binding.key} {binding.action}"
        for node in classes()
        for binding in own_bindings(node)
        if not binding.id
    ]
    assert without == []


def test_the_registry_is_what_is_bound() -> None:
    told = {
        place: {name: keys.split(",") for name, keys in PLACES[place].keys.items()}
        for place in PLACES
    }
    found: set[str] = set()
    for node in classes():
        bound: dict[str, list[str]] = {}
        for binding in own_bindings(node):
            bound.setdefault(str(binding.id), []).append(binding.key)
        if node is FirstRunApp:
            assert set(bound) == {*FIRST_RUN_IDS, *PRIORITY}
        elif bound:
            here = {place for place, keys in told.items() if keys == bound}
            assert here, f"the keys of {node.__name__} are those of no place"
            found |= here
    assert found | {"plain_text"} == set(PLACES)


def test_every_binding_says_its_key_by_itself_and_has_a_verb() -> None:
    for node in classes():
        for binding in own_bindings(node):
            assert binding.description, f"{node.__name__}: {binding.id} has no verb"
            assert binding.key_display is None, "it would go on naming the old key"


def test_the_keys_through_everything_come_first_and_no_others() -> None:
    for app in (LocktermApp, FirstRunApp):
        first = {str(binding.id) for _, binding in app._merged_bindings or () if binding.priority}
        assert first == set(PRIORITY)


def test_an_id_is_below_the_same_heading_wherever_it_is() -> None:
    assert set(in_help()) == set(known())
    for place in PLACES.values():
        for task, keys in place.tasks.items():
            assert {in_help()[key.id][0] for key in keys} == {task}


def test_the_order_of_the_line_of_keys_is_said_without_gaps() -> None:
    for place in PLACES.values():
        lines = sorted(key.line for key in place.own if key.line)
        assert lines == list(range(1, len(lines) + 1)), place.words


def test_what_is_bound_is_an_action_of_its_screen_or_widget() -> None:
    for node in classes():
        for binding in own_bindings(node):
            name = binding.action.partition("(")[0]
            owner = LocktermApp if name.startswith("app.") else node
            assert hasattr(owner, f"action_{name.removeprefix('app.')}"), (node, binding.id)


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
    assert {key for key in screen if key in SENDABLE} == set(FIXED_KEYS)
    assert {binding.key for binding in Binding.make_bindings(Button.BINDINGS)} <= set(RESERVED_KEYS)
