"""An import stands inside of a function only where a start gains by it."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import lockterm
from lockterm.service.running import RunningService
from tests.cli.first_frame import connecting, imported, imported_for_replay

PACKAGE = Path(lockterm.__file__).parent

OTHER_STARTS = (
    "lockterm.__main__, lockterm.cli.commands",  # a command
    "lockterm.__main__, lockterm.cli.ui, lockterm.app.first_run_app",  # the first run
    "lockterm.__main__, lockterm.cli.ui, lockterm.screens.remotes, lockterm.api.client",
    "lockterm.__main__, lockterm.cli.ui, lockterm.operations.journal_store, lockterm.store.cache",
    "lockterm.__main__, lockterm.cli.ui, lockterm.screens.outcomes",
    "lockterm.__main__, lockterm.cli.ui, lockterm.screens.history, lockterm.screens.remote_form",
    "lockterm.__main__, lockterm.cli.ui, lockterm.screens.marked.commands",
    "lockterm.__main__, lockterm.cli.ui, lockterm.operations.voices",
)
"""What is imported at those that need no terminal; the last ones go on to the second page, to what
is behind the first frame, and to what a first key opens."""

REASONS = {
    **{
        ("lockterm.__main__", what): "garbage is not collected meanwhile"
        for what in ("lockterm.cli.ending", "lockterm.cli.plain", "lockterm.errors")
    },
    ("lockterm.api.trust", "certifi"): "an early request may trust the profile's authorities alone",
    ("lockterm.service.app", "postgres_storage"): "psycopg is an extra",
    ("lockterm.cli.running", "lockterm.app"): "the demo's service starts while Textual is imported",
}
"""The module and what it imports -> why it does so inside of a function all the same."""


@pytest.fixture(scope="module")
def starts(tmp_path_factory: pytest.TempPathFactory) -> list[set[str]]:
    """The modules that there are at the moments of a start for which somebody waits."""
    with RunningService() as service:
        _, book = imported(tmp_path_factory.mktemp("book"), service.base_url)
        lock = imported(tmp_path_factory.mktemp("lock"), service.base_url, "--lock", "1001")
        home = tmp_path_factory.mktemp("connection")
        connection = connecting(home, service.base_url, "--lock", "1001")
        home = tmp_path_factory.mktemp("replay")
        replay = imported_for_replay(home, service.base_url, "--lock", "1001")
    return [book, connection, *lock, replay, *map(_imported_by, OTHER_STARTS)]


def _imported_by(modules: str) -> set[str]:
    code = f"import sys, {modules}\nprint(*sys.modules)"
    command = [sys.executable, "-c", code]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


@cache
def _inside_of_functions() -> tuple[tuple[str, int, str], ...]:
    """Each import inside of a function: its module, its line and what it imports."""
    found = list[tuple[str, int, str]]()
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        module = ".".join(parts).removesuffix(".__init__")
        inside: set[ast.stmt] = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                statements = (one for one in ast.walk(node) if isinstance(one, ast.stmt))
                inside.update(
                    one for one in statements if isinstance(one, ast.Import | ast.ImportFrom)
                )
        for one in inside:
            if isinstance(one, ast.ImportFrom):
                found.append((module, one.lineno, one.module or ""))
            elif isinstance(one, ast.Import):
                found += [(module, one.lineno, name.name) for name in one.names]
    return tuple(found)


@pytest.mark.long
def test_no_import_stands_inside_of_a_function_but_where_a_start_gains(
    starts: list[set[str]],
) -> None:
    at_a_start = set().union(*starts)
    wrong = []
    for module, line, target in _inside_of_functions():
        gains = any(module in start and target not in start for start in starts)
        is_of_a_command = module.startswith("lockterm.cli.") and module not in at_a_start
        if not (gains or is_of_a_command or (module, target) in REASONS):
            wrong.append(f"{module}, line {line}: {target}")
    assert sorted(wrong) == []


@pytest.mark.long
def test_each_reason_is_of_an_import_that_there_is() -> None:
    assert {(module, target) for module, _, target in _inside_of_functions()} >= REASONS.keys()
