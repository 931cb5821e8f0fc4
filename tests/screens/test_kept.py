"""Until the service answers, what was last read is shown, dimmed and with its age."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from textual.widgets import Tree

from lockterm.domain.locks import Lock
from lockterm.screens.remotes.detail import RemoteDetailScreen
from lockterm.screens.remotes.table import RemotesTable
from lockterm.screens.voice import VoiceScreen
from tests.screens.running_app import Demo, settled, shown, until

GATE = Lock(1001, name="Main gate", vendor="nordriegel", model="NR-450")


@asynccontextmanager
async def silence(base_url: str) -> AsyncIterator[None]:
    """A service that takes requests and never answers, where the other one was."""
    parts = urlsplit(base_url)

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(take, parts.hostname, parts.port)
    try:
        yield
    finally:
        server.close()
        await server.wait_closed()


@pytest.mark.long
async def test_what_was_last_read_is_shown_until_the_service_answers(demo: Demo) -> None:
    async with demo(1001) as pilot:
        remote = pilot.app.screen.current
        await pilot.app.push_screen(RemoteDetailScreen(pilot.app.operations, GATE, remote.id, "x"))
        await settled(pilot)
        await pilot.app.push_screen(VoiceScreen(pilot.app.operations, GATE))
        await settled(pilot)
    demo.service.stop()
    demo.clock.now_s += 3 * 3600
    async with silence(demo.service.base_url):
        app = demo.app(1001, timeout_s=60)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await until(pilot, lambda: "Omar Haddad" in shown(pilot))
            await until(pilot, lambda: "loading page 1 ... · updated 3 h ago" in shown(pilot))
            assert app.screen.query_one(RemotesTable).has_class("-stale")
            detail = RemoteDetailScreen(app.operations, GATE, remote.id, "x")
            await app.push_screen(detail)
            await until(pilot, lambda: remote.remote_number in shown(pilot))
            await until(pilot, lambda: "updated 3 h ago" in shown(pilot))
            await app.push_screen(VoiceScreen(app.operations, GATE))
            await until(pilot, lambda: "Deutsch" in shown(pilot))
            await until(pilot, lambda: "OLD, read at" in shown(pilot))
            # Packs and voices are kept apart, and either may be there first.
            await until(pilot, lambda: bool(app.screen.query_one(Tree).root.children))
