"""The texts of the remotes screen: the pager, the empty state, and why a page cannot open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lockterm.domain.glyphs import quoted, separator
from lockterm.domain.reading import in_sentence
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import describe_elsewhere, format_count
from lockterm.domain.validity import describe_state
from lockterm.keymap.hints import key, with_keys
from lockterm.operations.list_state import ListState
from lockterm.widgets.data_status import KeyOffers, PagerForm, describe_error, in_a_line

if TYPE_CHECKING:
    from lockterm.domain.remotes import RemotePage
    from lockterm.screens.remotes.columns import SortOrder


def format_titles(state: ListState, counts: Sequence[str]) -> Sequence[str]:
    """Return titles for the frame, such as ``Remotes 137 · 114 active, 23 expired``.

    Args:
        state: The state of the list.
        counts: Texts about the number of loaded remotes in each state, the longest first.

    Returns:
        The titles, the longest first. The last title shows only the total.
    """
    title = "Remotes" if state.page is None else f"Remotes {state.page.total:,}"
    return [*(separator().join((title, words)) for words in counts), title]


def format_pager(
    state: ListState,
    matching: int,
    order: SortOrder | None,
    marked: str,
    name: str,
    counts: Sequence[str],
) -> tuple[Sequence[PagerForm], int | None]:
    """Return the pager's text in several forms, and the time at which the page was read.

    The pager uses the first form that fits. The time is in milliseconds on the steady clock; it is
    None if the pager does not show the age of the page.

    Args:
        state: The state of the list.
        matching: The number of rows; in a search, the number of matches.
        order: The sort order. The pager also shows whether this order applies to the page or to the
            whole list.
        marked: The number of marked remotes as text. This text comes first. Neither this text nor
            the number of remotes that others changed is ever left out.
        name: The full name of the selected remote if its row has no room for it, otherwise empty.
        counts: Texts about the number of loaded remotes in each state, the longest first.
    """
    forms, fuller = _of_the_list(state, matching, order, counts)
    seen, dot = state.load.seen, separator()
    at_ms = None
    if seen is not None and state.page is not None and not state.is_narrowed:
        at_ms = seen.steady_ms
    elsewhere = describe_elsewhere(len(state.elsewhere), key("app.elsewhere"))
    marked = dot.join(filter(None, (marked, elsewhere)))
    first = dot.join(filter(None, (marked, name)))
    if not first:
        return [*fuller, *forms], at_ms
    named = [(f"{first}{dot if one else ''}{one}", after) for one, after in (*fuller, *forms)]
    if name and (at_ms is None or state.load.stale or state.load.slow or state.unlisted):
        # That rows are old, or which remotes are missing, is more important than a name.
        named += [(f"{marked}{dot}{one}" if marked else one, after) for one, after in forms]
    elif name and state.page is not None:
        named += [(f"{first}{dot}page {_place(state.page)}", None), (first, None)]
    return named, at_ms


def _of_the_list(
    state: ListState, matching: int, order: SortOrder | None, counts: Sequence[str]
) -> tuple[Sequence[PagerForm], Sequence[PagerForm]]:
    """Return forms of the pager's text about the list, and longer forms to use if they fit."""
    dot = separator()
    if state.is_narrowed:
        return [(form, None) for form in _search_forms(state, matching, order)], ()
    page = state.page
    if state.load.seen is None or page is None:
        return [("", None)], ()
    after, prefix = "", ""
    fuller: Sequence[PagerForm] = ()
    ends: tuple[str, ...]
    if state.load.slow:
        loading = f"loading page {state.wanted:,} ...{dot}"
        ends = (f"{loading}updated ", loading)
    elif state.load.error is not None:
        wanted = "" if state.wanted == page.page_no else f"page {state.wanted:,} not loaded: "
        again = f"{key('remotes.refresh')} to try again"
        prefix, ends = (
            "STALE, ",
            tuple(
                dot.join((f"{wanted}{in_sentence(why)}", again, end))
                for why in in_a_line(state.load.error)
                for end in ("updated ", "")
            ),
        )
    else:
        prefix = "LIST BEHIND, " if state.unlisted is not None else ""
        total = format_count(page.total, "remote")
        size = f"{page.page_size} per page"
        ends = (
            f"{total}{dot}{size}{dot}updated ",
            f"{total}{dot}updated ",
            f"{total}{dot}",
            "updated ",
        )
        after = f"{dot}{page.unreadable} unreadable" if page.unreadable else ""
        if (count := len(page.remotes)) > matching:
            others = f"{key('remotes.find')} finds the others"
            after += f"{dot}the first {matching:,} of {count:,} on this page: {others}"
        if order is None and state.load.seen.steady_ms is not None:
            # After the age, so that a new page changes only a few digits.
            (before,) = _page_forms(prefix, page, None, ends[1:2])
            fuller = [(before, f"{after}{dot}{words}") for words in counts]
    return [(form, after) for form in _page_forms(prefix, page, order, ends)], fuller


def _place(page: RemotePage) -> str:
    return f"{page.page_no:,} of {max(page.pages, 1):,}"


def _page_forms(
    prefix: str, page: RemotePage, order: SortOrder | None, ends: tuple[str, ...]
) -> tuple[str, ...]:
    dot = separator()
    place = _place(page)
    if order is None:
        return tuple(f"{prefix}page {place}{dot}{end}" for end in ends)
    what = "this page " if page.pages > 1 else ""
    last = ends[-1].removesuffix("updated ")
    return (
        *(f"{prefix}page {place}{dot}{what}{order.description}{dot}{end}" for end in ends),
        f"{prefix}page {place}{dot}{what}{order.description}{dot}{last}",
        f"{prefix}{place}{dot}{what}{order.description}{dot}{last}",
        f"{prefix}{place}{dot}{what}{order.brief}{dot}{last}",
    )


def _search_forms(state: ListState, matching: int, order: SortOrder | None) -> tuple[str, ...]:
    dot = separator()
    found, page = state.found, state.page
    if found is not None:
        total, searched = found.total, found.searched
        end = f", {found.ended}" if found.ended else ""
        end = f" ...{dot}press Esc to stop" if found.running else end
    else:
        total, searched = page.total if page else 0, len(page.remotes) if page else 0
        end = f"{dot}Enter searches the rest" if searched < total else ""
    only = "" if state.only is None else f"{describe_state(state.only)}: "
    match = f"{only}{matching:,} of {total:,} match"
    short = f"{only}{matching:,} of {total:,}"
    if searched < total:
        matches = "1 match" if matching == 1 else f"{matching:,} matches"
        match = f"{only}{matches} in the first {searched:,} of {total:,}"
        short = f"{only}{matching:,} in {searched:,} of {total:,}"
    text = f"{match}{end}"
    if order is None:
        brief = end.replace(" searches the", ":").removesuffix(f"{dot}press Esc to stop")
        return text, f"{match}{brief}", f"{short}{brief}", f"{only}{matching:,}{brief}"
    by = order.brief.removeprefix("sorted ")
    return (
        f"{text}{dot}found rows {order.description}",
        f"{text}{dot}found rows {order.brief}",
        f"{match}, {order.brief}{end}",
        f"{short}, {by}{end.replace(' searches', ':')}",
    )


def describe_empty(
    state: ListState, lock: str, *, may_add: bool, may_restore: bool = False
) -> tuple[str, KeyOffers]:
    """Return a text about why the table is empty, and the keys to press next.

    Args:
        state: The state of the list.
        lock: The lock's name, without control characters.
        may_add: Whether adding a remote is possible now.
        may_restore: Whether the history has deleted remotes of this lock, which can be restored.
    """
    if state.is_narrowed:
        return _nothing_matches(state)
    if state.load.error is not None and state.page is None:
        offers = {"{remotes.refresh}": "try again", "Esc": "back to the locks"}
        return describe_error(state.load.error), offers
    if state.page is None:
        return f"Loading the remotes of {lock} ...", {"Esc": "back to the locks"}
    if state.page.unreadable:
        count = format_count(state.page.unreadable, "record")
        fact = f"The service sent {count} that cannot be read."
        return fact, {"{remotes.refresh}": "try again"}
    if state.page.total:
        offers = {"{remotes.first_page}": "first page", "{remotes.refresh}": "try again"}
        return "This page is empty.", offers
    add = with_keys("Press {remotes.add} to add one.") if may_add else ""
    if may_restore:
        fact = (
            f"This lock has no remotes now. The history lists the remotes that you deleted. {add}"
        )
        history = with_keys("history (there, {history.restore} restores)")
        return fact.strip(), {"{app.history}": history, "Esc": "back to the locks"}
    return f"No remotes on this lock yet. {add}".strip(), {"Esc": "back to the locks"}


def _nothing_matches(state: ListState) -> tuple[str, KeyOffers]:
    found, page = state.found, state.page
    needle = " and ".join(
        (
            *([describe_state(state.only)] if state.only is not None else ()),
            *([quoted(clean(state.needle, 60))] if state.needle else ()),
        )
    )
    if found is not None and found.running:
        return (
            f"No match for {needle} among {found.searched:,} remotes so far.",
            {"Esc": "stop"},
        )
    if found is not None:
        searched = f"{found.searched:,} of {found.total:,} remotes searched"
        why = f", {found.ended}" if found.ended else ""
        return f"No match for {needle}. {searched}{why}.", {"Esc": "show all"}
    if page is None:
        return "Nothing has been loaded yet.", {"Esc": "show all"}
    rest = page.total - len(page.remotes)
    if rest > 0:
        fact = f"No match for {needle} on this page."
        return fact, {"Enter": f"search the other {rest:,}", "Esc": "show all"}
    return f"No match for {needle}.", {"Esc": "show all"}


def why_no_page(state: ListState, action: str, at: int) -> str:
    """Return why a key cannot open another page; empty if the key can.

    Args:
        state: The state of the list.
        action: The name of the action that the key runs.
        at: The number of the current page.
    """
    if state.found is not None:
        return "These rows come from all pages. Press Esc to show the pages again."
    if state.page is None:
        return with_keys("Nothing has been loaded yet. Press {remotes.refresh} to try again.")
    if action in ("next_page", "last_page") and at >= state.last_page:
        return "This is the last page."
    if action in ("previous_page", "first_page") and at <= 1:
        return "This is the first page."
    if action == "go_to_page" and state.last_page <= 1:
        return "There is only one page."
    return ""
