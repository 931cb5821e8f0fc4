"""Fixtures for the form: a running app, and the form opened over it."""

from __future__ import annotations

import asyncio
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
from tests.faults.catalogue import applied_unheard, close
from tests.faults.proxy import Exchange, FaultProxy
from tests.screens import someone_else
from tests.screens.running_app import Starter, settled, until
from tests.servers import port_of

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
        """Make a call as someone else, and return its data."""
        return someone_else.post(self.service, name, **parameters)

    def add(self, **fields: Any) -> int:
        """Add a remote to the gate as someone else, and return its ID."""
        needed = {"lockId": 1001, "remoteNumber": "T-1", "remoteType": 1, "addType": 1}
        return int(self.call("add", **needed | fields)["remoteId"])

    def total(self) -> int:
        """Return how many remotes the gate has."""
        return len(someone_else.page(self.service, 1001, size=200))


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


@pytest.fixture
async def proxy(service: RunningService) -> AsyncIterator[FaultProxy]:
    """A proxy before the service, which can lose answers."""
    async with FaultProxy(port_of(service)).running() as running:
        yield running


def lose(proxy: FaultProxy, call: str, *, applies: bool) -> None:
    """Lose the answers to a call, after the service has applied it or before."""
    proxy.arm(call, applied_unheard if applies else close)


def hold(proxy: FaultProxy, call: str) -> asyncio.Event:
    """Hold the requests of a call until the event that is returned."""
    released = asyncio.Event()

    async def play(exchange: Exchange) -> None:
        await released.wait()
        answer = await exchange.apply()
        await exchange.send(answer.head + b"\r\n\r\n" + answer.body)

    proxy.arm(call, play)
    return released
