"""Imports stand at the head of a module; those inside of functions are counted."""

from __future__ import annotations

import ast
from pathlib import Path

import lockterm
from lockterm import screens

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
