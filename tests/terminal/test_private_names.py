"""Private names of Textual stand in ``lockterm/terminal`` alone: there a new version is tried.

Tests ask public names: a private one of lockterm, or of their own, is used by itself alone.
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import lockterm.app
import lockterm.screens
import lockterm.widgets

OURS = (lockterm.app, lockterm.screens, lockterm.widgets)

ITSELF = ("self", "cls", "super()")

TESTS = Path(__file__).parent.parent

OF_OTHERS = {
    # What Textual has left to do: a test waits until it is done, and not for a time.
    *("_batch_count", "_callbacks", "_dirty_widgets", "_layout_required", "_on_timer_update"),
    *("_recompose_required", "_repaint_required", "_result_callbacks", "_scroll_required"),
    # What it paints, and where that goes.
    *("_compositor", "_display", "_driver", "_styles_cache"),
    # What it makes of bindings, keys and stylesheets, of which it tells nothing else.
    *("_character_to_key", "_merged_bindings", "_parse_rules"),
    # Where Rich keeps how wide texts are, which lockterm may teach it.
    *("_is_single_cell_widths", "_split_cells"),
    # The standard library: an end without any tidying, one with it, and an event loop at rest
    # and with its timers.
    *("_exit", "_run_exitfuncs", "_ready", "_scheduled"),
}
"""Private names of Textual, Rich and the standard library for which there is no public way."""


def modules() -> Iterator[ModuleType]:
    for package in OURS:
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield import_module(found.name)


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def is_itself(node: ast.expr) -> bool:
    return ast.unparse(node) in ITSELF


@cache
def classes_of(module: str) -> dict[str, ast.ClassDef]:
    """The classes of a module by their qualified names; parsed once for all of them."""
    found = {}

    def look(node: ast.AST, within: str) -> None:
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.ClassDef):
                found[within + each.name] = each
                look(each, f"{within}{each.name}.")
            elif not isinstance(each, ast.expr):
                look(each, within)

    look(ast.parse(inspect.getsource(sys.modules[module])), "")
    return found


@cache
def private_names(kind: type) -> frozenset[str]:
    """What a class defines, or uses of itself, with one underscore before it."""
    found = set()
    for node in ast.walk(classes_of(kind.__module__)[kind.__qualname__]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and is_private(node.attr) and is_itself(node.value):
            found.add(node.attr)
    return frozenset(filter(is_private, found))


def names_within(kind: type, *packages: str) -> set[str]:
    """The private names of those classes of its MRO that belong to one of the packages."""
    bases = [one for one in kind.__mro__ if f"{one.__module__}.".startswith(packages)]
    return {name for one in bases for name in private_names(one)}


def test_a_screen_or_widget_has_no_private_name_of_textual_by_intent_or_by_accident() -> None:
    ours = [f"{package.__name__}." for package in OURS]  # a mixin alone has nothing of Textual
    found = {
        kind.__qualname__: taken
        for module in modules()
        for kind in vars(module).values()
        if inspect.isclass(kind) and kind.__module__ == module.__name__
        if (taken := names_within(kind, *ours) & names_within(kind, "textual."))
    }
    assert not found


def test_nothing_private_is_used_of_anything_else() -> None:
    found = []
    for module in modules():
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Attribute) and is_private(node.attr):
                if not is_itself(node.value):
                    found.append(f"{module.__name__}:{node.lineno} {ast.unparse(node)}")
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [*node.module.split("."), *(one.name for one in node.names)]
                if node.module.startswith("textual") and any(map(is_private, names)):
                    found.append(f"{module.__name__}:{node.lineno} {ast.unparse(node)}")
    assert not found


def taken_in_tests(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of what is private and not of who takes it, imported and patched too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            if is_private(node.attr) and not is_itself(node.value):
                yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            yield from ((node.lineno, one.name) for one in node.names if is_private(one.name))
        elif isinstance(node, ast.Call):
            names = (str(one.value) for one in node.args[1:2] if isinstance(one, ast.Constant))
            for name in filter(is_private, names):
                if ast.unparse(node.func).endswith("attr"):
                    yield node.lineno, name


def test_tests_come_through_the_door() -> None:
    found = [
        (name, f"{file.relative_to(TESTS)}:{line}")
        for file in sorted(TESTS.rglob("*.py"))
        for line, name in taken_in_tests(ast.parse(file.read_text()))
    ]
    assert [one for one in found if one[0] not in OF_OTHERS] == []
    assert {name for name, _ in found} >= OF_OTHERS, "no test takes them any more"
