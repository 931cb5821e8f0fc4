"""A million remotes on one lock: a page at any depth comes from an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lockterm.service import remote_table
from lockterm.service.running import RunningService
from lockterm.service.storage import SqliteDatabase
from tests.conftest import NOW_MS
from tests.service.conftest import REMOTE, Caller, calling

pytestmark = pytest.mark.long

MANY = 1_000_000
LOCK = 7
SIZE = 100
PORTION = 50_000
INSERT = """
WITH RECURSIVE turn(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM turn WHERE n + 1 < {end})
INSERT INTO remote (id, lock_id, name, number, type, add_type, start_ms, end_ms, weekdays,
                    coerced, extra_data, api_user_id, created_ms, updated_ms)
SELECT 3 * n + 1, ?, 'Remote ' || n, 'M-' || n, 1, 1, 0, 0, '[]', 0, '{{}}', 1, 0, 0 FROM turn
"""


@pytest.fixture(scope="module")
def api(new_database: Callable[[], Path | str]) -> Iterator[Caller]:
    place = new_database()
    database = place if isinstance(place, str) else None
    service = RunningService(
        sample_data=False, clock=lambda: NOW_MS, database=database, migrate=True
    )
    with service.app.state.site.database.writing() as db:
        for first in range(0, MANY, PORTION):
            db.execute(INSERT.format(first=first, end=first + PORTION), (LOCK,))
        db.execute("ANALYZE")
        remote_table.recount(db, LOCK)
        db.execute("ANALYZE")
        db.go_on_after_ids()
    with service, calling(service) as api:
        yield api


def names_on(api: Caller, page_no: int) -> list[object]:
    return [item["remoteName"] for item in api.page(LOCK, pageNo=page_no, pageSize=SIZE)["list"]]


def test_the_deepest_page_takes_no_more_work_than_the_first(api: Caller) -> None:
    last = MANY // SIZE
    assert names_on(api, 1)[0] == "Remote 0"
    assert names_on(api, last)[-1] == f"Remote {MANY - 1}"
    assert names_on(api, last // 2) == [f"Remote {n}" for n in range(MANY // 2 - SIZE, MANY // 2)]
    if not isinstance(api.service.app.state.site.database, SqliteDatabase):
        return  # it counts no steps; that every query searches an index is tested below
    steps = dict.fromkeys((1, last // 2, last), 0)
    for page_no in steps:

        def count(page_no: int = page_no) -> None:
            steps[page_no] += 1

        with api.service.app.state.site.database.reading() as db:
            db.set_progress_handler(count, 100)
        names_on(api, page_no)
        with api.service.app.state.site.database.reading() as db:
            db.set_progress_handler(None, 0)
    # In hundreds of SQLite's instructions. With OFFSET alone the last page takes a million more.
    assert steps[1] > 0
    assert max(steps.values()) < 4 * steps[1] + 100, steps


def test_pages_and_total_stay_right_after_changes_in_the_middle(api: Caller) -> None:
    gone = {*range(0, 500), *range(499_900, 501_100), *range(700_000, 700_010)}
    database = api.service.app.state.site.database
    with database.writing() as db:
        for n in gone:
            remote_table.delete(db, 3 * n + 1, LOCK)
    api.done(f"{REMOTE}delete", remoteId=3 * 600_000 + 1)
    gone.add(600_000)
    new_id = api.add(LOCK, "Newest")
    kept = [n for n in range(MANY) if n not in gone]
    page = api.page(LOCK, pageNo=1, pageSize=SIZE)
    assert page["total"] == len(kept) + 1
    for page_no in (1, 2, 4989, 4995, 4996, 6000, 9982, page["pages"]):
        expected = [f"Remote {n}" for n in kept[(page_no - 1) * SIZE : page_no * SIZE]]
        expected += ["Newest"] if page_no == page["pages"] else []
        assert names_on(api, page_no) == expected, page_no
    assert new_id == 3 * MANY - 1
    with database.reading() as db:
        counts = db.execute("SELECT * FROM remote_count ORDER BY shift, bucket").fetchall()
    with database.writing() as db:
        remote_table.recount(db, LOCK)
        assert db.execute("SELECT * FROM remote_count ORDER BY shift, bucket").fetchall() == counts


def test_every_query_searches_an_index(api: Caller) -> None:
    database = api.service.app.state.site.database
    with database.reading() as db:
        for query, values in (
            (remote_table.PAGE_QUERY, (LOCK, LOCK, LOCK, 0, SIZE, 0)),
            (remote_table.COUNT_QUERY, (LOCK, 8, 0, 255)),
            (f"SELECT id FROM remote WHERE lock_id = ? AND {db.same_name}", (LOCK, "x")),
        ):
            if isinstance(database, SqliteDatabase):
                plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {query}", values)]
                assert any(step.startswith("SEARCH") for step in plan), (query, plan)
                assert not any(step.startswith("SCAN remote") for step in plan), (query, plan)
            else:
                plan = [row[0] for row in db.execute(f"EXPLAIN {query}", values)]
                assert any("Index Cond" in step for step in plan), (query, plan)
                assert not any("Seq Scan on remote" in step for step in plan), (query, plan)
        largest = db.execute("SELECT max(remotes) FROM remote_count WHERE shift = 8").fetchone()[0]
    assert largest <= 256, "OFFSET never skips more than this"
