"""The sections of ``styles.tcss``, each of which is parsed when a widget first needs it.

Parsing all sections takes longer than importing the first screen, which needs only a few.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.css.stylesheet import Stylesheet
    from textual.widget import Widget

_HERE = Path(__file__).parent.parent
PATH = next(path for path in (_HERE / "styles.tcss", _HERE.parent / "styles.tcss") if path.exists())
"""The path of the style sheet, which is inside the package in a wheel and beside the package in a
checkout."""

_HEADING = "\n/* --- "
"""The text that starts a section. The names of widget classes follow, separated by commas."""


def sections() -> dict[str, str]:
    """Return the rules of each section, by the names of widget classes in its heading."""
    _, *parts = PATH.read_text("utf-8").split(_HEADING)
    titled = (part.partition(" -") for part in parts)
    return {names: rules.partition("*/")[2] for names, _, rules in titled}


class Styles:
    """The sections that were not added to the app's style sheet yet."""

    def __init__(self) -> None:
        self._waiting = {
            name: (place, names, rules)
            for place, (names, rules) in enumerate(sections().items())
            for name in names.split(", ")
        }
        self._seen: set[type[Widget]] = set()

    def put_into(self, stylesheet: Stylesheet, widgets: Iterable[Widget]) -> None:
        """Add the rules for new widgets to the style sheet, before the widgets are styled.

        Args:
            stylesheet: The app's style sheet.
            widgets: The new widgets.
        """
        for kind in {type(widget) for widget in widgets} - self._seen:
            self._seen.add(kind)
            for base in kind.__mro__:
                if base.__name__ in self._waiting:
                    place, names, rules = self._waiting.pop(base.__name__)
                    # The tie breaker keeps the file's order for rules of equal weight, whenever
                    # they are read. Adding a section again under the same name, for another class,
                    # has no effect.
                    stylesheet.add_source(rules, (str(PATH), names), tie_breaker=place)
