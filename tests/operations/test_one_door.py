"""No write leaves by another way than the journal: by the import graph, and counted."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import grimp
import pytest

import lockterm
from lockterm.api.client import LockService
from lockterm.domain.operation import OperationState
from lockterm.errors import LocktermError
from tests.faults.calls import CALLS, Scene
from tests.faults.catalogue import catalogue
from tests.faults.proxy import WRITES, call_of
from tests.faults.site import Site, verify_step
from tests.long import sample

ROOT = Path(lockterm.__file__).parent
DOOR = "lockterm.operations"


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("lockterm", exclude_type_checking_imports=True, cache_dir=None)


def outside(names: set[str], *packages: str) -> set[str]:
    return {name for name in names if not name.startswith(packages)}


def test_only_the_door_knows_the_journal_and_the_writes(graph: grimp.ImportGraph):
    importers = graph.find_modules_that_directly_import("lockterm.store.journal")
    assert importers == {f"{DOOR}.journal_store"}
    writing = graph.find_modules_that_directly_import("lockterm.api.writes")
    assert outside(writing, "lockterm.api") == {f"{DOOR}.writes", f"{DOOR}.resolution"}


def test_only_the_client_speaks_http(graph: grimp.ImportGraph):
    for path in ROOT.rglob("*.py"):
        name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
        if not name.startswith(("lockterm.api", "lockterm.service")):
            imported = re.findall(r"^\s*(?:import|from) (\w+)", path.read_text(), re.MULTILINE)
            assert not {"httpx", "httpcore", "urllib3", "requests"} & set(imported), name


def test_only_one_module_sends_writes():
    """Reads reach the client through ``service``; a write there would be in no journal."""
    assert callable(LockService.send)
    found = set()
    for path in ROOT.rglob("*.py"):
        if not {"api", "service"} & set(path.relative_to(ROOT).parts):
            code = path.read_text()
            assert not re.search(r"\bTransport\b", code), path
            found |= {path.name for _ in re.finditer(r"\w*service\w*\.send\b", code)}
    assert found == {"sending.py"}


def test_only_the_journal_changes_its_table():
    changing = re.compile(r"(INSERT (OR \w+ )?INTO|UPDATE|DELETE FROM|REPLACE INTO) operations\b")
    found = {path.name for path in ROOT.rglob("*.py") if changing.search(path.read_text())}
    assert found == {"journal.py"}


@pytest.mark.long
@pytest.mark.sampled
async def test_every_write_at_the_service_is_a_row(site: Site):
    """All calls, well and in faults of each kind: as many requests as rows say were sent."""
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        quick = [fault for fault in catalogue() if fault.play and not fault.endless]
        for fault in [None, *sample(quick[::3], 4)]:
            lock_id = site.new_lock()
            for call in [*WRITES[:3], *WRITES[4:], "clear"]:
                scene = Scene(lock_id, site.remotes(lock_id)[2 if call == "delete" else 1])
                if fault and not fault.at_accept and not hasattr(fault.play, "before_body"):
                    proxy.arm(call, fault.play, 1)
                work = CALLS[call](operations, scene)
                if call == "clear":  # without the number that was seen
                    work.close()
                    work = operations.writes.clear_remotes(lock_id)
                try:
                    await work
                except LocktermError:
                    await verify_step(operations)
                    for one in await operations.journal.list_unconfirmed(lock_id):
                        await operations.resolution.give_up(one)
        rows = Counter(
            row.call
            for row in await operations.journal.history()
            if row.state is not OperationState.NOT_SENT
        )
        asked = Counter(call for call in proxy.asked if call in WRITES)
        assert rows == asked and set(rows) == set(WRITES)
        at_the_service = Counter(call_of(path) for _, path in site.service.requests)
        for call in WRITES:
            assert at_the_service[call] <= rows[call]
            assert len(proxy.applied(call)) <= rows[call]
