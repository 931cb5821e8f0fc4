"""The parts of ``styles.tcss``, each read when something that it is for is made.

Parsing all of them takes longer than importing the first screen, which shows few.
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
"""In the wheel the styles lie in the package, in a checkout beside it."""

_HEADING = "\n/* --- "
"""What begins a section; names of classes follow, with commas between."""


def sections() -> dict[str, str]:
    """Names of classes, as they stand in a heading -> what is said there of widgets of these."""
    _, *parts = PATH.read_text("utf-8").split(_HEADING)
    titled = (part.partition(" -") for part in parts)
    return {names: rules.partition("*/")[2] for names, _, rules in titled}


class Styles:
    """Puts the sections into a stylesheet."""

    def __init__(self) -> None:
        self._waiting = {
            name: (place, names, rules)
            for place, (names, rules) in enumerate(sections().items())
            for name in names.split(", ")
        }
        self._seen: set[type[Widget]] = set()

    def put_into(self, stylesheet: Stylesheet, widgets: Iterable[Widget]) -> None:
        """Add what is said of widgets that are made; before they are styled.

        Args:
            stylesheet: The app's.
            widgets: Those that come next.
        """
        for kind in {type(widget) for widget in widgets} - self._seen:
            self._seen.add(kind)
            for base in kind.__mro__:
                if base.__name__ in self._waiting:
                    place, names, rules = self._waiting.pop(base.__name__)
                    # Whenever it is read: of equal rules the one that stands later in the file
                    # holds. Once more under the same name, for another class, it adds nothing.
                    stylesheet.add_source(rules, (str(PATH), names), tie_breaker=place)
