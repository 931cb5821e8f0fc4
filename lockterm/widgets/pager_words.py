"""The words of the pager for each state of the remotes screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockterm.keymap.spoken import key
from lockterm.text import clean
from lockterm.widgets.page_view import PageView

if TYPE_CHECKING:
    from lockterm.models.remotes import RemotePage
    from lockterm.widgets.remote_columns import Order

PagerWords = tuple[str, int | None, str, tuple[str, ...]]
"""What ``Pager.show`` takes: words, when what is shown was read, more words; and what to say in
place of the first where there is less room, the longest first."""


def pager_words(view: PageView, matching: int, order: Order | None = None) -> PagerWords:
    """The pager's line.

    Args:
        view: What is shown.
        matching: How many rows there are; with a search, how many match.
        order: What they are sorted by. It is said in every state, and of what: one page that is
            sorted is not the list.
    """
    if view.needle:
        forms = _search_forms(view, matching, order)
        return forms[0], None, "", forms[1:]
    page = view.page
    if view.seen is None or page is None:
        return "", None, "", ()
    at_ms, after, prefix = view.seen.at_ms, "", ""
    ends: tuple[str, ...]
    if view.loading is not None:
        loading = f"loading page {view.loading:,} ... · "
        ends = (f"{loading}updated ", loading)
    elif view.trouble is not None:
        wanted = "" if view.missed == page.page_no else f"page {view.missed:,} not loaded: "
        why = f"{wanted}{clean(view.trouble.title, 40)}".lower()
        again = f"{why} · {key('remotes.refresh')} tries again · "
        prefix, ends = "STALE, ", (f"{again}updated ", again)
    else:
        total = "1 remote" if page.total == 1 else f"{page.total:,} remotes"
        size = f"{page.page_size} a page"
        ends = (f"{total} · {size} · updated ", f"{total} · updated ", f"{total} · ", "updated ")
        after = f" · {page.unreadable} unreadable" if page.unreadable else ""
        if (count := len(page.remotes)) > matching:
            others = f"{key('remotes.find')} finds the others"
            after += f" · the first {matching:,} of {count:,} on this page: {others}"
    forms = _page_forms(prefix, page, order, ends)
    return forms[0], at_ms, after, forms[1:]


def _page_forms(
    prefix: str, page: RemotePage, order: Order | None, ends: tuple[str, ...]
) -> tuple[str, ...]:
    place = f"{page.page_no:,} of {max(page.pages, 1):,}"
    if order is None:
        return tuple(f"{prefix}page {place} · {end}" for end in ends)
    what = "this page " if page.pages > 1 else ""
    last = ends[-1].removesuffix("updated ")
    return (
        *(f"{prefix}page {place} · {what}{order.words} · {end}" for end in ends),
        f"{prefix}page {place} · {what}{order.words} · {last}",
        f"{prefix}{place} · {what}{order.words} · {last}",
        f"{prefix}{place} · {what}{order.brief} · {last}",
    )


def _search_forms(view: PageView, matching: int, order: Order | None) -> tuple[str, ...]:
    found, page = view.found, view.page
    if found is not None:
        total, searched = found.total, f"searched {found.searched:,}"
        end = f", {found.ended}" if found.ended else ""
        end = " ... · escape stops" if found.running else end
    else:
        total, count = page.total if page else 0, len(page.remotes) if page else 0
        searched, end = f"searched {count}", " · enter for the rest" if count < total else ""
    match = f"{matching} of {total:,} match"
    words = f"{match}, {searched}{end}"
    if order is None:
        short = f"{matching} of {total:,}"
        brief = end.replace(" for the", ":").removesuffix(" · escape stops")
        shorter = f"{match}, {searched}{brief}"
        return words, shorter, f"{short}, {searched}{brief}", f"{short}{brief}"
    by = order.brief.removeprefix("sorted ")
    return (
        f"{words} · found rows {order.words}",
        f"{words} · found rows {order.brief}",
        f"{match}, {order.brief}, {searched}{end}",
        f"{matching} of {total:,}, {by}, {searched}{end.replace(' for', ':')}",
    )
