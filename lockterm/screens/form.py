"""What every form has in common."""

from __future__ import annotations

from textual.widget import Widget

from lockterm.screens.base import LocktermScreen, ResultT


class FormScreen(LocktermScreen[ResultT]):
    """A screen with fields to type into."""

    is_form = True

    @property
    def focus_chain(self) -> list[Widget]:
        """The widgets that Tab visits, in the order of the form.

        Textual orders them by their places on the screen. A row that was just shown has no place
        there before the next layout, so a Tab that follows at once would pass it by.
        """
        places = {widget: place for place, widget in enumerate(self.walk_children())}
        return sorted(super().focus_chain, key=places.__getitem__)
