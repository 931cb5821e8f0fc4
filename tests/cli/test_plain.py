"""The options that are read without click mean what click takes them for."""

from __future__ import annotations

from contextlib import suppress
from unittest.mock import patch

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm.cli.commands import lockterm
from lockterm.cli.plain import plain_options
from lockterm.config import Options

WORDS = ("1001", "", "-1", "--", "demo", "info", "--help", "-V", "x=y", "north campus")
NAMES = ("--profile", "--base-url", "--lock", "--read-only", "--no-mouse", "--quiet", "--loc")
ARGUMENTS = st.sampled_from(
    (*WORDS, *NAMES, *(f"{name}={word}" for name in NAMES for word in WORDS))
)


def by_click(arguments: list[str]) -> Options | None:
    """What click hands to the UI; None where it does something else."""
    shown: list[Options] = []
    with (
        patch("lockterm.cli.ui.run_ui", shown.append),
        patch.object(lockterm, "get_command", return_value=click.Command("another")),
        suppress(click.ClickException),
    ):
        lockterm.main(arguments, standalone_mode=False)
    return shown[0] if shown else None


@given(st.lists(ARGUMENTS, max_size=6))
def test_what_is_read_is_what_click_reads(arguments: list[str]) -> None:
    options = plain_options(arguments)
    assert options is None or options == by_click(arguments)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ([], Options()),
        (["--lock", "7", "--read-only"], Options(lock="7", read_only=True)),
        (["--base-url=http://x", "--no-mouse"], Options(base_url="http://x", no_mouse=True)),
        (["--lock", "7", "--lock=8"], Options(lock="8")),
        (["--quiet", "--profile", "x"], Options(quiet=True, profile="x")),
        (["demo"], None),
        (["--lock"], None),
        (["--lock", "--read-only"], None),
        (["--read-only=yes"], None),
    ],
)
def test_plain_options_are_read_and_all_else_is_left(
    arguments: list[str], options: Options | None
) -> None:
    assert plain_options(arguments) == options
