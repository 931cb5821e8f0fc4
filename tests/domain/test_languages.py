"""The names of languages, for the codes that a service sends."""

from __future__ import annotations

import pytest

from lockterm.domain.languages import name_of


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("de-DE", ("German", "Deutsch", "German (Germany)", "Deutsch (Deutschland)")),
        ("zh_Hant", ("Chinese", "中文", "Chinese (Traditional)", "中文 (繁體)")),
        ("DE-abc", ("German", "", "German", "")),  # the CLDR does not have the region
    ],
)
def test_name_of_returns_all_names(code: str, names: tuple[str, ...]) -> None:
    found = name_of(code)
    assert (found.english, found.own, found.english_full, found.own_full) == names


@pytest.mark.parametrize("code", ["", "d", "xx", "zz-DE", "deutsch", "d\xe9", "de" * 21])
def test_name_of_returns_none_when_a_code_is_unknown(code: str) -> None:
    assert name_of(code) is None
