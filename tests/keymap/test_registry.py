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
from lockterm.keymap.hints import EDITING, SENDABLE, spelled, written
from lockterm.keymap.keys import FIRST_RUN_IDS, PLACES, PRIORITY, in_help, known
from lockterm.screens.palette import Palette
from lockterm.screens.remote_form.inputs import JsonEditor
from lockterm.widgets.text_input import SingleLineInput


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
    """The bindings of a class that can be chosen: those of Textual's classes cannot.

    Textual's are what a field does with the text in it, tab and shift+tab, enter on a button,
    ctrl+c. Nobody may take them away, so they need no ID; nor do the keys with alt by which our
    fields edit, and those of the palette, which are Textual's own of a field above a list.
    """
    textuals = {
        (binding.key, binding.action)
        for base in inspect.getmro(node)
        if base.__module__.startswith("textual.") or base in (SingleLineInput, JsonEditor, Palette)
        for binding in Binding.make_bindings(base.__dict__.get("BINDINGS", ()))
    }
    assert node._merged_bindings is not None
    return [
        binding
        for _, binding in node._merged_bindings
        if binding.id or (binding.key, binding.action) not in textuals
    ]


def test_every_key_a_person_can_press_has_an_id_a_verb_and_an_action() -> None:
    for node in classes():
        for binding in own_bindings(node):
            what = f"{node.__name__}: {binding.key} {binding.action}"
            assert binding.id and binding.description, what
            assert binding.key_display is None, f"{what} would go on naming the old key"
            name = binding.action.partition("(")[0]
            owner = LocktermApp if name.startswith("app.") else node
            assert hasattr(owner, f"action_{name.removeprefix('app.')}"), what
    for app in (LocktermApp, FirstRunApp):
        first = {str(binding.id) for _, binding in app._merged_bindings or () if binding.priority}
        assert first == set(PRIORITY), "the keys through everything come first, and no others"


def test_the_registry_is_what_is_bound() -> None:
    told = {
        place: {name: list(keys) for name, keys in PLACES[place].keys.items()} for place in PLACES
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


MEANINGS = {
    "go on with what is under the cursor, or with what was filled in": {
        *("open", "detail", "choose", "set", "plan", "carry_out", "save", "use", "next", "enter"),
    },
    "open by something else": {"open_by_id", "open_by_person"},
    "the way out": {"back", "leave", "close", "cancel", "show_all", "quit", "clear"},
    "up, or the one before": {"up", "previous", "previous_page", "page_up", "first", "fold"},
    "down, or the next": {"down", "next", "next_page", "page_down", "last", "unfold", "leave"},
    "change": {"edit", "vendor_model"},
    "away with it": {"delete", "remove", "clear", "clean", "destroy"},
    "this one, or not": {"mark", "choose", "toggle", "show", "page_down"},  # help has no lines
    "every one, or none": {"all", "mark_all"},
    "read again": {"refresh", "read", "check"},
    "only some of them": {"filter", "outcomes", "problems"},
    "write a file here": {"export", "fetch"},
    "add again": {"restore"},
    "another copy": {"copies"},
    "another one in its place": {"replace", "taken"},
    "copy": {"copy", "copy_url"},
    "as usual": {"usual", "default"},
    "help": {"help", "close"},
    "messages": {"messages", "close"},
}
"""What a key means -> the ends of the ids that are this at one place or another."""


def test_a_key_means_the_same_wherever_it_works() -> None:
    """A habit from one screen does nothing else on another."""
    ends: dict[str, set[str]] = {}
    for place in PLACES.values():
        for name, keys in place.keys.items():
            for key in keys:
                ends.setdefault(key, set()).add(name.rpartition(".")[2])
    differing = {
        key: found
        for key, found in ends.items()
        if len(found) > 1 and not any(found <= meant for meant in MEANINGS.values())
    }
    assert differing == {}


def test_places_agree_on_headings_positions_and_the_keys_that_everybody_knows() -> None:
    assert set(in_help()) == set(known())
    for place in PLACES.values():
        for task, keys in place.tasks.items():
            assert {in_help()[key.id][0] for key in keys} == {task}
        lines = sorted(key.line for key in place.own if key.line)
        assert lines == list(range(1, len(lines) + 1)), place.words
    keys = [(key.id, key.keys.split(",")) for place in PLACES.values() for key in place.own]
    assert all(("f1" in found) == (name in ("app.help", "help.close")) for name, found in keys)
    reads = {"refresh", "read"}
    assert all("f5" in found for name, found in keys if name.rpartition(".")[2] in reads)


def test_keys_are_those_that_terminals_send_by_the_names_of_textual() -> None:
    keys = [keys for keys in ANSI_SEQUENCES_KEYS.values() if isinstance(keys, tuple)]
    assert {key.value for one in keys for key in one} >= SENDABLE
    for character in map(chr, range(33, 127)):
        assert spelled(character) == _character_to_key(character)
        assert written(spelled(character)) == character
        assert spelled(_character_to_key(character)) == spelled(character)


def test_no_key_of_textual_can_be_taken_away() -> None:
    screen = {binding.key for binding in Binding.make_bindings(Screen.BINDINGS)}
    assert {key for key in screen if key in SENDABLE} == set(FIXED_KEYS)
    assert {binding.key for binding in Binding.make_bindings(Button.BINDINGS)} <= set(RESERVED_KEYS)
    edits = {
        binding.key
        for field in (Input, TextArea, SingleLineInput, JsonEditor)
        for binding in Binding.make_bindings(field.BINDINGS)
    }
    moves_on = {"up", "down", "enter", "pageup", "pagedown", "ctrl+c"}
    assert (edits & SENDABLE) - moves_on == EDITING, "what a field takes for its text"
