"""Wrong keys in the configuration are refused before anything is drawn, with their line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lockterm.config import Options, Settings, load_settings
from lockterm.errors import ConfigError
from tests.terminal.pty_session import clean_environment

PROFILE = '[profiles.site]\nbase_url = "http://127.0.0.1:1"\n\n'


def settled(tmp_path: Path, keys: str) -> Settings:
    file = tmp_path / "config.toml"
    file.write_text(f"{PROFILE}[keys]\n{keys}\n")
    return load_settings(file, Options(), {})


def test_keys_are_read_as_people_write_them(tmp_path: Path) -> None:
    """Also without the quotes around an id, which TOML takes for tables."""
    settings = settled(tmp_path, '"remotes.delete" = "x, Del"\nremotes.add = "B"\napp.help = "F1"')
    assert settings.keymap == {
        "remotes.delete": ("x", "delete"),
        "remotes.add": ("B",),
        "app.help": ("f1",),
    }
    assert settings.origins["keys.app.help"] == f"{tmp_path / 'config.toml'}, line 7"


@pytest.mark.parametrize(
    ("keys", "line", "sentence"),
    [
        (
            '# mine\n"remotes.delte" = "x"',
            6,
            "remotes.delte is not an action; did you mean remotes.de",
        ),
        ('"app.help" = "f1"\n\nremotes.add = "j"', 7, "remotes.add uses j, which is the key of"),
        ('remotes.add = "e"\n"remotes.add" = "f"', 6, "remotes.add occurs twice."),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, keys: str, line: int, sentence: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        settled(tmp_path, keys)
    assert caught.value.message.startswith(f"{tmp_path / 'config.toml'}, line {line}: {sentence}")


def test_without_chosen_keys_nothing_is_checked(tmp_path: Path) -> None:
    """What is not chosen costs nothing at the start."""
    code = (
        "import sys, pathlib\n"
        "from lockterm.config import Options, load_settings\n"
        "load_settings(pathlib.Path(sys.argv[1]), Options(), {})\n"
        "print(*[name for name in sys.modules if name.startswith('lockterm.keymap.')])\n"
        "print(*[name for name in sys.modules if name.split('.')[0] in ('textual', 'rich')])"
    )
    file = tmp_path / "config.toml"
    for keys, imported in (("", False), ('remotes.add = "Z"', True)):
        file.write_text(f"{PROFILE}[keys]\n{keys}\n")
        told = subprocess.run(
            [sys.executable, "-c", code, str(file)],
            env=clean_environment(tmp_path),
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout.splitlines()
        assert bool(told[0]) is imported
        assert told[1] == "", "no screens are needed to check keys"
