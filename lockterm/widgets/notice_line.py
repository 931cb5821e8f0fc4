"""What must not be overlooked: the service is gone, or a change is not settled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from lockterm.keymap.spoken import key
from lockterm.models.operation import CALL_WORDS, STATE_WORDS, Operation
from lockterm.text import clean

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo


class NoticeLine(Widget):
    """A line for each; nothing at all while all is well."""

    link: reactive[str] = reactive("", layout=True)
    """What to say while the service is out of reach or asks for a pause; empty: neither."""

    unsettled: reactive[tuple[Operation, ...]] = reactive((), layout=True)
    """The operations that are not settled, the oldest first."""

    has_keys: reactive[bool] = reactive(True, layout=True)
    """Whether the keys for an operation work here; in a form they are typed into its fields."""

    def __init__(self, zone: ZoneInfo, now_ms: Callable[[], int]) -> None:
        super().__init__()
        self._zone = zone
        self._now_ms = now_ms

    def render(self) -> Content:
        """The service, then the oldest unsettled operation."""
        lines: list[Content] = []
        if self.link:
            word, _, rest = self.link.partition("  ")
            lines.append(Content.assemble((f"{word}  ", "bold"), rest))
        if self.unsettled:
            first = self.unsettled[0]
            more = f"  (1 of {len(self.unsettled)})" if len(self.unsettled) > 1 else ""
            words = outcome_words(first, self._zone, self._now_ms()) + more
            lines.append(Content.assemble(("UNSETTLED  ", "bold"), words, *self._keys()))
        return Content("\n").join(lines)

    def _keys(self) -> tuple[str | tuple[str, str], ...]:
        if not self.has_keys:
            return (". Settle it outside of this form.",)
        return (
            *((f"  {key('outcome.check')}", "bold"), " check"),
            *((f"  {key('outcome.send_again')}", "bold"), " send again"),
            *((f"  {key('outcome.give_up')}", "bold"), " give up"),
        )

    def watch_link(self) -> None:
        """Take no room while there is nothing to say."""
        self.display = bool(self.link or self.unsettled)

    watch_unsettled = watch_link


def outcome_words(operation: Operation, zone: ZoneInfo, now_ms: int) -> str:
    """What was sent, when, and what was read since, as one line."""
    target = f"{clean(operation.remote_name, 24)} " if operation.remote_name else ""
    verb = CALL_WORDS.get(operation.call, clean(operation.call))
    sent = _clock(operation.sent_ms or operation.prepared_ms, zone, now_ms)
    words = f"{verb} {target}on {clean(operation.lock_name, 24)}, sent {sent}: "
    words += STATE_WORDS[operation.state]
    if operation.read_ms is not None:
        words += f", read {_clock(operation.read_ms, zone, now_ms)}"
    return words


def _clock(ms: int, zone: ZoneInfo, now_ms: int) -> str:
    from lockterm.moments import day, stamp

    whole = stamp(ms, zone)
    return whole[11:] if day(ms, zone) == day(now_ms, zone) else whole
