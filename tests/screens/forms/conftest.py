"""Fixtures for the form: a running app, and the form opened over it."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from lockterm.domain.locks import Lock
from lockterm.screens.modal import LocktermModal
from lockterm.screens.remote_form import RemoteForm, RemoteSaved
from lockterm.service.running import RunningService
from tests.screens.conftest import clock, lockterm_app, plain_terminal, update_pictures
from tests.screens.running_app import Starter, settled, until
from tests.servers import port_of

__all__ = ["clock", "lockterm_app", "plain_terminal", "update_pictures"]

GATE = Lock(1001, name="Main gate")
KEYS = {
    " ": "space",
    "-": "minus",
    ":": "colon",
    ",": "comma",
    "+": "plus",
    ".": "full_stop",
    "{": "left_curly_bracket",
    "}": "right_curly_bracket",
    '"': "quotation_mark",
}


def call(service: Any, name: str, **parameters: Any) -> Any:
    """One POST to the service, past the app: what someone else does, or what it holds now."""
    request = urllib.request.Request(
        f"{service.base_url}/api/v1/bluetooth-remote/{name}",
        json.dumps(parameters).encode(),
        {"Content-Type": "application/json"},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request) as answer:
        return json.load(answer)["data"]


def total(service: Any) -> int:
    """How many remotes the gate has."""
    url = f"{service.base_url}/api/v1/bluetooth-remote/list?lockId=1001"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url) as answer:
        return int(json.load(answer)["data"]["total"])


def add(service: Any, **fields: Any) -> int:
    """Add a remote to the gate, past the app."""
    needed = {"lockId": 1001, "remoteNumber": "T-1", "remoteType": 1, "addType": 1}
    return int(call(service, "add", **needed | fields)["remoteId"])


@dataclass
class Form:
    """The form in a running app, and what it closed with."""

    pilot: Pilot[int]
    screen: RemoteForm
    closed: list[RemoteSaved | None] = field(default_factory=list)

    async def press(self, *keys: str) -> None:
        """Press keys; ``'text`` types a text, quicker than it is painted."""
        for key in keys:
            if key.startswith("'"):
                self.post(key)
                await self.pilot.pause()
            else:
                await self.pilot.press(key)
        await settled(self.pilot)

    async def burst(self, *keys: str) -> None:
        """Press keys all at once, as they come over a line that was stalled."""
        self.post(*keys)
        await settled(self.pilot)

    def post(self, *keys: str) -> None:
        """Have keys come, and wait for nothing."""
        app = self.pilot.app
        for key in keys:
            for char in key[1:] if key.startswith("'") else [key]:
                name = KEYS.get(char, char)
                event = events.Key(name, char if len(char) == 1 else None)
                event.set_sender(app)
                app.post_message(event)

    async def fill(self, **typed: str) -> None:
        """Put values in, as a draft would."""
        self.screen.fields.fill(typed)
        await settled(self.pilot)

    async def agree(self) -> None:
        """Go to the verb of the dialog and press it."""

        def is_painted() -> bool:
            screen = self.pilot.app.screen
            return isinstance(screen, LocktermModal) and screen.painted_s is not None

        await until(self.pilot, is_painted)
        await self.pilot.press("right", "enter")
        await settled(self.pilot)

    @property
    def dialog(self) -> str:
        """The words of the dialog above the form; empty: there is none."""
        screen = self.pilot.app.screen
        if not screen.is_modal:
            return ""
        return "\n".join(str(node.content) for node in screen.query("Label, .details Static"))

    @property
    def status(self) -> str:
        """The line above the keys."""
        return str(self.screen.query_one("#status").render())

    def error(self, name: str) -> str:
        """What is said to be wrong with a field."""
        return self.screen.fields.row(name).error

    def note(self, name: str) -> str:
        """What a field was understood as."""
        return self.screen.fields.row(name).note


Opener = Callable[..., Any]


@dataclass
class Gate:
    """The lock whose remotes have a form, at a service that others use too."""

    service: RunningService
    open: Opener

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Open a form; arguments as for ``open_form``."""
        return self.open(self.service, *args, **options)

    def call(self, name: str, **parameters: Any) -> Any:
        """Carry out a call as someone else, and return its data."""
        return call(self.service, name, **parameters)

    def add(self, **fields: Any) -> int:
        """Add a remote to the gate as someone else, and return its ID."""
        return add(self.service, **fields)

    def total(self) -> int:
        """Return how many remotes the gate has."""
        return total(self.service)


@pytest.fixture
def gate(service: RunningService, open_form: Opener) -> Gate:
    """Return the gate of a fresh service."""
    return Gate(service, open_form)


@pytest.fixture
def open_form(lockterm_app: Starter) -> Opener:
    """Opens the form over a running app, as an async context manager."""

    @asynccontextmanager
    async def opened(
        service: Any,
        remote_id: int | None = None,
        focus_field: str | None = None,
        size: tuple[int, int] = (80, 24),
        **profile: Any,
    ) -> AsyncIterator[Form]:
        async with lockterm_app(service, size=size, **profile) as pilot:
            operations = pilot.app.operations  # type: ignore[attr-defined]
            remote = await operations.remotes.detail(remote_id) if remote_id is not None else None
            form = Form(pilot, RemoteForm(operations, GATE, remote, focus_field))
            pilot.app.push_screen(form.screen, form.closed.append)
            await settled(pilot)
            yield form

    return opened


@dataclass
class Line:
    """A line to the service that loses the answer to a call, after or before it was applied."""

    service: RunningService
    base_url: str = ""
    lose: str = ""
    """The call whose answer is lost: the last part of its path."""
    applies: bool = True
    """Whether the request still reaches the service."""
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    """Requests wait for it."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                (
                    int(line.split(b":")[1])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length:")
                ),
                0,
            )
            body = await reader.readexactly(length)
            await self.gate.wait()
            lost = bool(self.lose) and f"/{self.lose} ".encode() in head
            if lost and not self.applies:
                return
            port = port_of(self.service)
            behind, to_service = await asyncio.open_connection("127.0.0.1", port)
            try:
                to_service.write(head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1) + body)
                answer = await behind.read()
            finally:  # also where the test ends meanwhile
                to_service.close()
            if not lost:
                writer.write(answer)
                await writer.drain()
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()


@pytest.fixture
async def line(service: RunningService) -> AsyncIterator[Line]:
    """A line to the service that can lose answers."""
    made = Line(service)
    made.gate.set()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield made
    made.gate.set()
    server.close()
    await server.wait_closed()
