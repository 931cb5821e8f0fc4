"""The words of the pager for each state of the remotes screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lockterm.domain.glyphs import separator
from lockterm.domain.remote_states import describe_state
from lockterm.domain.text.amount import format_count
from lockterm.keymap.hints import key
from lockterm.screens.remotes.page_view import PageView
from lockterm.widgets.pager import with_age
from lockterm.widgets.state_panel import in_a_line

if TYPE_CHECKING:
    from lockterm.domain.remotes import RemotePage
    from lockterm.screens.remotes.columns import SortOrder

PagerWords = tuple[
    str, int | None, str, tuple[str, ...], tuple[tuple[str, str], ...], tuple[str, ...]
]
"""What ``Pager.show`` takes: words, when what is shown was read, more words; what to say in place
of the first where there is less room, the longest first; of both where there is more; and without
the age where there is no room for it."""


def pager_words(
    view: PageView,
    matching: int,
    order: SortOrder | None = None,
    marked: str = "",
    name: str = "",
    counts: Sequence[str] = (),
) -> PagerWords:
    """The pager's line.

    Args:
        view: What is shown.
        matching: How many rows there are; with a search, how many match.
        order: What they are sorted by. It is said in every state, and of what: one page that is
            sorted is not the list.
        marked: How many remotes are marked, in words; before all else, for that is never left out.
        name: The whole name of the remote under the cursor, where its row has not room for it.
        counts: How many of what was read have which state, in words, the longest first.
    """
    before, at_ms, after, shorter, fuller = _of_the_list(view, matching, order, counts)
    dot, forms, ageless = separator(), (before, *shorter), tuple[str, ...]()
    first = dot.join(filter(None, (marked, name)))
    if first:
        fuller = tuple((f"{first}{dot}{one}", end) for one, end in fuller)
        named = [f"{first}{dot if one else ''}{one}" for one in forms]
        if name and (at_ms is None or view.state.stale or view.state.slow or view.unlisted):
            # That rows are old, or what was found, comes before a name.
            named += [f"{marked}{dot}{one}" if marked else one for one in forms]
        elif name and view.page is not None:
            ageless = (f"{first}{dot}page {_place(view.page)}", first)
        forms = tuple(named)
    return forms[0], at_ms, after, forms[1:], fuller, ageless


def _of_the_list(
    view: PageView, matching: int, order: SortOrder | None, counts: Sequence[str]
) -> tuple[str, int | None, str, tuple[str, ...], tuple[tuple[str, str], ...]]:
    dot = separator()
    if view.is_narrowed:
        forms = _search_forms(view, matching, order)
        return forms[0], None, "", forms[1:], ()
    page = view.page
    if view.state.seen is None or page is None:
        return "", None, "", (), ()
    after, prefix = "", ""
    fuller: tuple[tuple[str, str], ...] = ()
    ends: tuple[str, ...]
    if view.state.slow:
        loading = f"loading page {view.wanted:,} ...{dot}"
        ends = (f"{loading}updated ", loading)
    elif view.state.error is not None:
        wanted = "" if view.wanted == page.page_no else f"page {view.wanted:,} not loaded: "
        again = f"{key('remotes.refresh')} tries again"
        prefix, ends = (
            "STALE, ",
            tuple(
                dot.join((f"{wanted}{why[:1].lower()}{why[1:]}", again, end))
                for why in in_a_line(view.state.error)
                for end in ("updated ", "")
            ),
        )
    else:
        prefix = "LIST BEHIND, " if view.unlisted is not None else ""
        total = format_count(page.total, "remote")
        size = f"{page.page_size} a page"
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
        if order is None and view.state.seen.steady_ms is not None:
            # Behind the age, where a flip changes a few digits.
            (before,) = _page_forms(prefix, page, None, ends[1:2])
            fuller = tuple((before, f"{after}{dot}{words}") for words in counts)
    forms = _page_forms(prefix, page, order, ends)
    return (*with_age(forms[0], view.state.seen.steady_ms, after), forms[1:], fuller)


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
        *(f"{prefix}page {place}{dot}{what}{order.words}{dot}{end}" for end in ends),
        f"{prefix}page {place}{dot}{what}{order.words}{dot}{last}",
        f"{prefix}{place}{dot}{what}{order.words}{dot}{last}",
        f"{prefix}{place}{dot}{what}{order.brief}{dot}{last}",
    )


def _search_forms(view: PageView, matching: int, order: SortOrder | None) -> tuple[str, ...]:
    dot = separator()
    found, page = view.found, view.page
    if found is not None:
        total, searched = found.total, f"searched {found.searched:,}"
        end = f", {found.ended}" if found.ended else ""
        end = f" ...{dot}escape stops" if found.running else end
    else:
        total, count = page.total if page else 0, len(page.remotes) if page else 0
        searched, end = f"searched {count}", f"{dot}enter for the rest" if count < total else ""
    only = "" if view.only is None else f"{describe_state(view.only)}: "
    match = f"{only}{matching} of {total:,} match"
    words = f"{match}, {searched}{end}"
    if order is None:
        short = f"{only}{matching} of {total:,}"
        brief = end.replace(" for the", ":").removesuffix(f"{dot}escape stops")
        shorter = f"{match}, {searched}{brief}"
        return words, shorter, f"{short}, {searched}{brief}", f"{short}{brief}"
    by = order.brief.removeprefix("sorted ")
    return (
        f"{words}{dot}found rows {order.words}",
        f"{words}{dot}found rows {order.brief}",
        f"{match}, {order.brief}, {searched}{end}",
        f"{only}{matching} of {total:,}, {by}, {searched}{end.replace(' for', ':')}",
    )
