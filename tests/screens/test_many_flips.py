"""Flipping on and on keeps the pages that were seen last, and no more."""

from __future__ import annotations

import gc

import pytest

from lockterm.domain.remotes import Remote, RemotePage
from lockterm.operations.remotes import MOST_PAGES
from tests.screens.running_app import Starter, settled, shown
from tests.screens.site import canned
from tests.screens.test_long_search import page

FLIPS, SIZE = 36, 20


def alive(kind: type) -> int:
    gc.collect()
    return sum(isinstance(one, kind) for one in gc.get_objects())


@pytest.mark.long
async def test_as_many_pages_are_kept_after_many_flips_as_after_some(
    lockterm_app: Starter,
) -> None:
    counts: list[tuple[int, int]] = []
    async with canned({"/list": page}) as server, lockterm_app(server, 7) as pilot:
        before = alive(RemotePage), alive(Remote)
        for flip in range(1, FLIPS + 1):
            await pilot.press("n")
            await settled(pilot)
            if flip in (MOST_PAGES + 4, FLIPS):
                counts.append((alive(RemotePage) - before[0], alive(Remote) - before[1]))
        assert f"page {FLIPS + 1} of 600" in shown(pilot)
    (some_pages, some), (many_pages, many) = counts
    assert many_pages <= max(some_pages, MOST_PAGES) and many <= max(some, MOST_PAGES * SIZE)
    assert many <= (MOST_PAGES + 2) * SIZE
