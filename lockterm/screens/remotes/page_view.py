"""What the remotes screen knows of the service's list: its rows, and words where it has none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from itertools import islice
from typing import TYPE_CHECKING

from lockterm.domain.glyphs import quoted
from lockterm.domain.names import fold_text
from lockterm.domain.remote_states import StateFilter, describe_state, has_state
from lockterm.domain.searching import column_words, missing_words
from lockterm.domain.text import clean
from lockterm.domain.text.validity import describe_validity_briefly
from lockterm.keymap.hints import with_keys
from lockterm.operations.load_state import LoadState
from lockterm.widgets.state_panel import error_words

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote, RemotePage
    from lockterm.operations import Seen
    from lockterm.operations.recorded import Unlisted
    from lockterm.screens.remotes.columns import SortOrder

MOST_FOUND = 500
"""A search ends with so many remotes found: nobody reads on."""

MOST_SHOWN = 200
"""A page shows no more rows: so many are asked for at the most."""


# Each is new to the reactive that holds it; comparing long values would take time.
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


# Each is new to the reactive that holds it; comparing long values would take time.
@dataclass(frozen=True, slots=True, eq=False)
class PageView:
    """All that is painted, as one value: nothing, a page, a page with an error, or what was found.

    The five states of a table: no page and no error: loading; an empty page: empty; a ``needle``
    without rows: nothing matches; an error without a page: error; with one: stale.
    """

    state: LoadState[RemotePage] = field(default_factory=LoadState)
    """The page that is shown, and what has become of the last load."""
    wanted: int = 0
    """The number of the page that takes its time, or could not be loaded."""
    needle: str = ""
    """What is searched for; empty: nothing."""
    only: StateFilter | None = None
    """Of which state remotes are shown alone; None: of any."""
    found: Found | None = None
    """What a search of the whole list has found; None: only this page was searched."""
    unlisted: Unlisted | None = None
    """What the journal knows and the page does not show yet; None: nothing."""
    replayed: Seen[RemotePage] | None = None
    """The page whose rows stood on the terminal at the start; None: there was none."""

    @property
    def page(self) -> RemotePage | None:
        """The page that is shown."""
        return self.state.value

    @property
    def page_no(self) -> int:
        """The number of the page that is shown; 0: none is."""
        return self.page.page_no if self.page is not None else 0

    @property
    def is_replayed(self) -> bool:
        """Whether the rows are those that stood on the terminal at the start."""
        seen = self.state.seen
        return seen is not None and seen is self.replayed and self.state.error is None

    def has_rows_of(self, other: PageView) -> bool:
        """Whether the rows are those of another view, which are not painted again then."""
        mine, others = (
            (one.state.seen, one.needle, one.only, one.found, one.unlisted) for one in (self, other)
        )
        return all(one is another for one, another in zip(mine, others, strict=True))

    @property
    def is_narrowed(self) -> bool:
        """Whether not all are shown, but what was asked for."""
        return bool(self.needle) or self.only is not None

    def has(self, remote: Remote, zone: tzinfo, now_ms: int) -> bool:
        """Whether a remote is what was asked for."""
        is_one = has_state(remote, self.only, now_ms)
        return is_one and (not self.needle or remote_matches(self.needle, remote, zone, now_ms))

    @property
    def last_page(self) -> int:
        """The number of the list's last page, as far as it is known."""
        return max(self.page.pages, 1) if self.page else 1

    @property
    def known(self) -> Sequence[Remote]:
        """The remotes of the page, those found, and those that were just added from here."""
        found = self.found.remotes if self.found else ()
        added = self.unlisted.added if self.unlisted else ()
        return (*(self.page.remotes if self.page else ()), *found, *added)

    def is_deleted(self, remote: Remote) -> bool:
        """Whether a remote was deleted from here and the list still has it."""
        if self.unlisted is None or remote.id is None:
            return False
        from lockterm.operations.recorded import DELETED

        return self.unlisted.words.get(remote.id) == DELETED

    def rows(self, order: SortOrder | None, zone: tzinfo, now_ms: int) -> Sequence[Remote]:
        """The remotes to show: those of the page or those found, as far as they match.

        No more than the first :data:`MOST_SHOWN` of a page: a service may send any number, and a
        table of thousands keeps the keys waiting. What is sorted is what was loaded.

        Args:
            order: By what they are sorted; None: the service's order.
            zone: In which times are told, and compared with what is searched for.
            now_ms: As of when.
        """
        if self.found is not None:
            return _ordered(self.found.remotes, order, zone, now_ms)
        remotes = self.page.remotes if self.page else ()
        if self.unlisted is not None:
            changed = self.unlisted.changed
            remotes = tuple(changed.get(one.id or 0, one) for one in remotes)
            remotes += self.unlisted.added
        if not self.is_narrowed:
            return _ordered(remotes, order, zone, now_ms)[:MOST_SHOWN]
        matching = (one for one in remotes if self.has(one, zone, now_ms))
        return _ordered(list(islice(matching, MOST_FOUND)), order, zone, now_ms)


def _ordered(
    remotes: Sequence[Remote], order: SortOrder | None, zone: tzinfo, now_ms: int
) -> Sequence[Remote]:
    if order is None:
        return remotes
    from lockterm.screens.remotes.order import sorted_remotes

    return sorted_remotes(remotes, order, now_ms, zone)


def remote_matches(needle: str, remote: Remote, zone: tzinfo, now_ms: int) -> bool:
    """Whether a remote has every word that was typed, in what it is or in its columns' words."""
    missing = missing_words(needle, remote)
    if not missing:
        return True
    words = fold_text(
        "\n".join((*column_words(remote), *describe_validity_briefly(remote, now_ms, zone)))
    )
    return all(word in words for word in missing)


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
    if view.is_narrowed:
        return _nothing_matches(view)
    if view.state.error is not None and view.page is None:
        keys = with_keys("{remotes.refresh}  try again      escape  back to the locks")
        return error_words(view.state.error), keys
    if view.page is None:
        return f"Loading the remotes of {lock} ...", "escape  back to the locks"
    if view.page.unreadable:
        count = view.page.unreadable
        words = f"The service sent {count} records that cannot be read."
        return words, with_keys("{remotes.refresh}  try again")
    if view.page.total:
        keys = with_keys("{remotes.first_page}  first page      {remotes.refresh}  try again")
        return "There is nothing on this page.", keys
    add = with_keys("Press {remotes.add} to add one.") if may_add else ""
    if may_restore:
        words = f"No remotes on this lock now; the history has what was deleted from here. {add}"
        keys = "{app.history}  history, where {history.restore} adds it again      "
        return words.strip(), with_keys(f"{keys}escape  back to the locks")
    return f"No remotes on this lock yet. {add}".strip(), "escape  back to the locks"


def _nothing_matches(view: PageView) -> tuple[str, str]:
    found, page = view.found, view.page
    needle = " and ".join(
        (
            *([describe_state(view.only)] if view.only is not None else ()),
            *([quoted(clean(view.needle, 60))] if view.needle else ()),
        )
    )
    if found is not None and found.running:
        return (
            f"Nothing matches {needle} so far: searched {found.searched:,}.",
            "escape  stop",
        )
    if found is not None:
        searched = f"{found.searched:,} of {found.total:,} remotes were searched"
        why = f", {found.ended}" if found.ended else ""
        return f"Nothing matches {needle}: {searched}{why}.", "escape  show all"
    if page is None:
        return "Nothing was loaded yet.", "escape  show all"
    rest = page.total - len(page.remotes)
    if rest > 0:
        words = f"Nothing on this page matches {needle}."
        return words, f"enter  search the other {rest:,}      escape  show all"
    return f"Nothing matches {needle}.", "escape  show all"
