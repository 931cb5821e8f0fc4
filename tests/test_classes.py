"""Classes are whole, files can be read at once, and imports stand at the head of a module."""

from __future__ import annotations

import ast
import inspect
import pkgutil
from importlib import import_module
from pathlib import Path

import lockterm
from lockterm import screens
from lockterm.errors import LocktermError

MOST_ABOVE = 3
"""Own classes above one, each a parent of the one below it: a screen of ours, with a list, over all
locks."""

MOST_LINES = 600
"""So many lines a file of lockterm may have."""


def above(kind: type) -> int:
    """How many of lockterm's classes stand above one, in the longest line."""
    own = (base for base in kind.__bases__ if base.__module__.startswith("lockterm."))
    return max((1 + above(base) for base in own), default=0)


def test_class_hierarchy_is_at_most_three_deep() -> None:
    found = pkgutil.walk_packages(lockterm.__path__, "lockterm.")
    modules = [import_module(one.name) for one in found if not one.name.endswith("__main__")]
    kinds = {kind for module in modules for _, kind in inspect.getmembers(module, inspect.isclass)}
    own = {kind for kind in kinds if not issubclass(kind, LocktermError)}
    assert [kind.__qualname__ for kind in own if above(kind) > MOST_ABOVE] == []


def test_no_file_has_more_lines_than_can_be_held_in_the_head() -> None:
    files = [*Path(lockterm.__file__).parent.rglob("*.py")]
    lines = {str(one): one.read_text("utf-8").count("\n") for one in files}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


MOST = 42
"""Imports inside of functions: of a command, a screen or a library that few starts need."""


def test_few_imports_are_inside_functions() -> None:
    found = {
        f"{path.name}:{one.lineno}"
        for path in Path(lockterm.__file__).parent.rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for one in ast.walk(function)
        if isinstance(one, ast.Import | ast.ImportFrom)
    }
    assert len(found) <= MOST, sorted(found)


def test_screens_are_typed_and_loaded_from_the_same_modules() -> None:
    """The package names each screen twice: for mypy, and for the import at its first use."""
    typed = {
        name.name: str(one.module).removeprefix("lockterm.screens.")
        for one in ast.walk(ast.parse(Path(screens.__file__).read_text("utf-8")))
        if isinstance(one, ast.ImportFrom) and str(one.module).startswith("lockterm.screens.")
        for name in one.names
    }
    assert typed == screens.MODULES
