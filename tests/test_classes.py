"""A class is whole: what it needs it has, rather than is; and its file can be read at once."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module
from pathlib import Path

import lockterm
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
