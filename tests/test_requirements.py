"""The locked versions fit what is asked for, and each file of theirs is told by its hash alone."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
RUNS, SERVES, TESTS = "requirements.txt", "requirements-postgres.txt", "requirements-test.txt"
BUILDS = "requirements-build.txt"
ASKED: dict[str, list[str]] = {
    RUNS: PROJECT["dependencies"],
    SERVES: [*PROJECT["dependencies"], *EXTRAS["postgres"]],
    TESTS: [*PROJECT["dependencies"], *EXTRAS["postgres"], *EXTRAS["test"]],
    BUILDS: PYPROJECT["build-system"]["requires"],
}
_LOCKED = re.compile(
    r"(?P<name>[a-z0-9-]+)==(?P<version>\S+)( ; (?P<marker>.*?))?(?P<hashes>( \\\n"
    r"    --hash=sha256:[0-9a-f]{64})+)\n"
)


def locked(file: str) -> dict[str, str]:
    """Each package of a file -> its version; nothing else may be in it, such as an index."""
    text = re.sub(r"^#.*\n", "", (ROOT / file).read_text("ascii"), flags=re.MULTILINE)
    found = list(_LOCKED.finditer(text))
    assert "".join(one[0] for one in found) == text
    return {one["name"]: one["version"] for one in found}


@pytest.mark.parametrize("file", ASKED)
def test_what_is_asked_for_is_locked_to_a_version_that_fits(file: str) -> None:
    versions = locked(file)
    for asked in map(Requirement, ASKED[file]):
        if asked.name == PROJECT["name"]:  # one of its own extras
            continue
        assert asked.specifier.contains(versions[asked.name]), f"make {file} anew: {asked}"


def test_compose_installs_locked_versions_alone() -> None:
    text = (ROOT / "tests/service/compose.yaml").read_text("utf-8").replace("\\\n", " ")
    others, own = (set(found.split()) for found in re.findall(r"pip install ([^&\n]*)", text))
    assert {"--require-hashes", "-r", f"/source/{SERVES}"} <= others
    assert {"--no-deps", "/source"} <= own


def test_what_runs_is_what_is_tested_and_built() -> None:
    assert locked(RUNS).items() <= locked(SERVES).items() <= locked(TESTS).items()
    (backend,) = (one for one in ASKED[BUILDS] if one.startswith("hatchling"))
    assert backend == f"hatchling=={locked(BUILDS)['hatchling']}"
    both = locked(BUILDS).keys() & locked(RUNS).keys()
    assert all(locked(BUILDS)[name] == locked(RUNS)[name] for name in both)


PAGES_WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[1:]))  # an import of these raises ModuleNotFoundError
from lockterm.cli.commands import lockterm
from lockterm.cli.man import pages
assert pages(lockterm)
"""


def test_manual_pages_are_built_when_only_the_build_packages_are_installed() -> None:
    """The wheel has them, and pip builds it in an environment with those packages alone."""
    absent = locked(TESTS).keys() - locked(BUILDS).keys()
    modules = [name for name, of in packages_distributions().items() if absent & {*map(plain, of)}]
    assert "textual" in modules and "click" not in modules
    command = [sys.executable, "-c", PAGES_WITHOUT, *modules]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr


def plain(name: str) -> str:
    """Return a distribution's name as the locked files spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()
