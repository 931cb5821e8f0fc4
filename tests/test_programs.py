"""A test whose program is missing: skipped and named, or failed where all programs are needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    ("option", "code", "end"), [((), 0, "1 skipped"), (("--need-programs",), 1, "1 failed")]
)
def test_pytest_names_program_when_it_is_missing(
    tmp_path: Path, option: tuple[str, ...], code: int, end: str
) -> None:
    file = tmp_path / "test_one.py"
    lines = ("from tests.programs import require", "def test_one():", "    require('nosuch', 'no')")
    file.write_text("\n".join(lines) + "\n")
    command = (sys.executable, "-m", "pytest", "-p", "tests.conftest", "-n1", *option, file)
    done = subprocess.run(
        [*command, f"--rootdir={ROOT}", f"--confcutdir={ROOT}", "-c", ROOT / "pyproject.toml"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert end in done.stdout
    assert "missing program: nosuch (apt-get install no)" in done.stdout
