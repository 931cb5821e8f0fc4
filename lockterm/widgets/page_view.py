"""What the remotes screen knows of the service's list, and words where it has no rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lockterm.errors import LocktermError
from lockterm.keymap.spoken import said
from lockterm.text import clean

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote, RemotePage
    from lockterm.operations import Seen

MOST_FOUND = 500
"""A search ends with so many remotes found: nobody reads on."""

MOST_SHOWN = 200
"""A page shows no more rows: so many are asked for at the most."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a search through the whole list has come to."""

    remotes: tuple[Remote, ...] = ()
    """What matches, in the order of the list."""
    searched: int = 0
    """How many remotes were looked at."""
    total: int = 0
    """How many the service says there are."""
    running: bool = True
    ended: str = ""
    """Why it ended before the end of the list; empty: it did not."""
    at_ms: int = 0
    """When it began."""


@dataclass(frozen=True, slots=True, eq=False)
class PageView:
    """All that is painted, as one value: nothing, a page, a page with an error, or what was found.

    The five states of a table: ``seen`` is None and ``trouble`` too: loading; an empty page: empty;
    a ``needle`` without rows: nothing matches; ``trouble`` without ``seen``: error; with it: stale.
    """

    seen: Seen[RemotePage] | None = None
    """The page that is shown; None before the first."""
    loading: int | None = None
    """The number of the page that is taking its time; None: none is."""
    kept: bool = False
    """Whether the page is one from an earlier time, shown until the service answers."""
    trouble: LocktermError | None = None
    """Why the last load failed; None: it did not."""
    missed: int = 0
    """The number of the page that it was to load."""
    needle: str = ""
    """What is searched for; empty: nothing."""
    found: Found | None = None
    """What a search of the whole list has found; None: only this page was searched."""

    @property
    def page(self) -> RemotePage | None:
        """The page that is shown."""
        return self.seen.value if self.seen else None


def state_words(
    view: PageView, lock: str, *, may_add: bool, may_restore: bool = False
) -> tuple[str, str]:
    """What stands where there are no rows: the state, and the next key.

    Args:
        view: What is shown; without rows.
        lock: The lock's name, clean.
        may_add: Whether a remote can be added.
        may_restore: Whether the history has what was deleted from here.
    """
    if view.needle:
        return _nothing_matches(view)
    if view.trouble is not None and view.seen is None:
        error = view.trouble
        sentence = " ".join(filter(None, (clean(error.message, 400), clean(error.hint, 300))))
        keys = said("{remotes.refresh}  try again      escape  back to the locks")
        return f"{clean(error.title)}\n\n{sentence}", keys
    if view.page is None:
        return f"Loading the remotes of {lock} ...", "escape  back to the locks"
    if view.page.unreadable:
        count = view.page.unreadable
        words = f"The service sent {count} records that cannot be read."
        return words, said("{remotes.refresh}  try again")
    if view.page.total:
        keys = said("{remotes.first_page}  first page      {remotes.refresh}  try again")
        return "There is nothing on this page.", keys
    add = said("Press {remotes.add} to add one.") if may_add else ""
    if may_restore:
        words = f"No remotes on this lock now; the history has what was deleted from here. {add}"
        return words.strip(), "H  history, where R adds it again      escape  back to the locks"
    return f"No remotes on this lock yet. {add}".strip(), "escape  back to the locks"


def _nothing_matches(view: PageView) -> tuple[str, str]:
    needle, found, page = clean(view.needle, 60), view.found, view.page
    if found is not None and found.running:
        return f"Nothing matches “{needle}” so far: searched {found.searched:,}.", "escape  stop"
    if found is not None:
        searched = f"{found.searched:,} of {found.total:,} remotes were searched"
        why = f", {found.ended}" if found.ended else ""
        return f"Nothing matches “{needle}”: {searched}{why}.", "escape  show all"
    if page is None:
        return "Nothing was loaded yet.", "escape  show all"
    rest = page.total - len(page.remotes)
    if rest > 0:
        words = f"Nothing on this page matches “{needle}”."
        return words, f"enter  search the other {rest:,}      escape  show all"
    return f"Nothing matches “{needle}”.", "escape  show all"
