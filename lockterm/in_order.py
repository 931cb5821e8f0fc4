"""Keys take effect in the order they were typed, also when a stalled link delivers many at once.

Textual hands each key to the widget that has the focus at that moment, while the keys before it may
still be on their way through the widgets: of ``tab`` and a name in one burst, the name would land
in the field that was left. Here the next key waits until the one before it has been dealt with.
"""

from __future__ import annotations

import asyncio
from collections import deque

from textual import events
from textual.app import App, ReturnType
from textual.message import Message

LOOK_S = 0.5
"""Seconds between two looks whether a key is still on its way."""

LOOKS = 6
"""So often a key may still be on its way; then it counts as lost with its widget.

Looks are counted, not seconds: where the terminal stalled, drawing stopped everything, and the key
had no more time than the clock's one look.
"""


class InOrder(App[ReturnType]):
    """An app that deals with one key, or one paste, at a time."""

    class Dealt(Message):
        """Follows a key through the same queues, so that it arrives when the key is done."""

    def __init__(self) -> None:
        super().__init__(watch_css=False)
        self._waiting: deque[events.Key | events.Paste] = deque()
        self._under_way: InOrder.Dealt | None = None
        self._lost: asyncio.TimerHandle | None = None

    async def on_event(self, event: events.Event) -> None:
        """Let a key wait for the one before it."""
        if not isinstance(event, (events.Key, events.Paste)) or event.is_forwarded:
            await super().on_event(event)
        elif self._under_way is not None:
            self._waiting.append(event)
        else:
            await self._deal(event)

    @property
    def is_dealing(self) -> bool:
        """Whether a key is on its way, or waits for one."""
        return self._under_way is not None

    def is_meant(self, event: events.Key | events.Paste) -> bool:
        """Whether a key is for what it would reach now."""
        return True

    async def _deal(self, event: events.Key | events.Paste) -> None:
        if not self.is_meant(event):
            return
        target = self.focused or self.screen
        await super().on_event(event)
        dealt = InOrder.Dealt()
        if target.post_message(dealt):
            self._under_way = dealt
            self._look(dealt, LOOKS)

    def _look(self, dealt: Dealt, looks: int) -> None:
        """Look again later; at the last look, go on without the key."""
        if looks == 0:
            self.post_message(dealt)
            return
        loop = asyncio.get_running_loop()
        self._lost = loop.call_later(LOOK_S, self._look, dealt, looks - 1)

    async def on_in_order_dealt(self, message: Dealt) -> None:
        """Go on with the next key."""
        if message is not self._under_way:
            return
        self._under_way = None
        if self._lost is not None:
            self._lost.cancel()
        while self._waiting and self._under_way is None:
            await self._deal(self._waiting.popleft())
