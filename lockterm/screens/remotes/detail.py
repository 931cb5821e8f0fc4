"""The screen that shows one remote, field by field."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.reactive import var

from lockterm import screens
from lockterm.domain.changes_elsewhere import ChangeElsewhere, describe_change
from lockterm.domain.glyphs import separator
from lockterm.domain.locks import Lock
from lockterm.domain.reading import in_sentence
from lockterm.domain.safe_text import clean
from lockterm.domain.text.remote import Detail, describe_remote
from lockterm.domain.text.service import format_meaning
from lockterm.domain.text.validity import describe_validity
from lockterm.errors import LocktermError, RefusedError, StoreError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Fetched, Operations
from lockterm.operations.list_state import LoadState, load
from lockterm.screens.remotes.actions import RemoteActions
from lockterm.screens.remotes.table import RemoteRow
from lockterm.terminal.key_queue import opening
from lockterm.widgets.actions import bindings
from lockterm.widgets.data_status import Pager, StatePanel, describe_error, in_a_line
from lockterm.widgets.details_table import DetailsTable

if TYPE_CHECKING:
    from lockterm.domain.operation import Operation
    from lockterm.domain.remotes import Remote
    from lockterm.screens.remotes.pane import RemotePane

_PANE = 36
"""The width of the panel beside the fields, as in the stylesheet, in cells."""


class RemoteDetailScreen(RemoteActions):
    """The screen with every field of a remote, as the service reports them.

    Args:
        operations: The operations on the service and the local store.
        lock_entry: The lock of the remote.
        remote_id: The ID of the remote.
        title: The title to show until the remote is read.
    """

    BINDINGS = bindings("remote")

    refresh_key = "remote.refresh"
    change_type = "Press {remote.edit} to change the type."

    lock_entry: Lock

    state: var[LoadState[Remote]] = var(LoadState, init=False)
    """The remote as last read, and the error if the latest reading failed."""

    def __init__(
        self, operations: Operations, lock_entry: Lock, remote_id: int, title: str
    ) -> None:
        super().__init__(operations)
        self.lock_entry = lock_entry
        self.remote_id = remote_id
        self._opened_as = self._called = title
        self._is_deleted = False
        self._elsewhere: ChangeElsewhere | None = None
        self._pane: RemotePane | None = None

    def breadcrumbs(self) -> tuple[str, ...]:
        return ("Locks", self.lock_entry.title, "Remotes", self._called)

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="remote"):
            yield DetailsTable(beside=_PANE, id="fields")
            yield StatePanel(f"Reading {clean(self._called, 60)} ...", id="state")
        yield Pager(self.operations.clock.steady_ms, id="pager")

    # --- loading -------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.query_one(DetailsTable).display = False
        self.load_remote()

    @work(exclusive=True, group="remote")
    async def load_remote(self) -> None:
        """Read the remote, and show its last known values until the service answers."""
        is_first = self.current is None

        async def read() -> Fetched[Remote]:
            remote = await self.operations.remotes.detail(self.remote_id)
            return Fetched.now(remote, self.operations.clock)

        def show(state: LoadState[Remote]) -> None:
            self.state = state

        read_cached = partial(self.operations.remotes.cached_detail, self.remote_id)
        with opening(self, clean(self._called, 60)) as opened:
            seen = await load(lambda: self.state, show, read, read_cached, kept_shown=opened.end)
            opened.has_failed = self.current is None
        if self.state.error is not None:
            self.keep_refusal(self.state.error)
        if seen is not None:
            await self._learn_names(seen.value)
            if is_first:
                with suppress(StoreError):  # the time of the last view is not essential
                    await self.operations.locks.note_opened(self.lock_entry)
        await self._look_for_change()

    async def _look_for_change(self) -> None:
        """Show the last change of the remote by others, if the local store has one."""
        changes = await self.operations.kept_lists.changes(self.lock_entry.lock_id)
        ours = (one for one in changes if one.remote_id == self.remote_id)
        if (change := next(ours, None)) is not None:
            self._elsewhere = change
            self.refresh_relative_times()

    def keep_refusal(self, error: LocktermError) -> None:
        """Add a refusal to the message log, unless the reason is that the remote is gone.

        In that case, the screen shows the error in full.
        """
        if not (isinstance(error, RefusedError) and error.is_gone):
            super().keep_refusal(error)

    async def _learn_names(self, remote: Remote) -> None:
        """Show the lock's name and alias from ``lockInfo`` if lockterm does not know them yet.

        If the lock book contains the lock, also store them there.
        """
        info, lock_id = remote.lock_info, self.lock_entry.lock_id
        if info is None or info.lock_id != lock_id:
            return
        try:
            known = {lock.lock_id: lock for lock in await self.operations.locks.all()}
            entry = known.get(lock_id, self.lock_entry)
            named = replace(
                entry,
                name=entry.name or info.lock_name or "",
                alias=entry.alias or info.lock_alias or "",
            )
            if named != entry and lock_id in known:
                await self.operations.locks.save(named)
        except StoreError:  # the locks screen shows the error; the fields need no names
            return
        for screen in self.screens_of(lock_id):
            screen.lock_entry = named
            screen.show_crumbs()

    # --- watchers ------------------------------------------------------------------------------

    def watch_state(self, old: LoadState[Remote], new: LoadState[Remote]) -> None:
        if not new.looks_like(old):
            self._paint()

    def write_again(self) -> None:
        self._paint()

    def refresh_relative_times(self) -> None:
        table = self.query_one(DetailsTable)
        if self.current is not None and (fields := self._fields(self.current)) != table.fields:
            table.show_fields(fields)
            self._show_pane()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_pane)

    def _show_pane(self) -> None:
        """Show the validity and the changes beside the fields, if the terminal is wide enough."""
        remote = self.current
        if self._pane is None:
            if remote is None or not self.has_class("-wide"):
                return
            pane = screens.RemotePane(self.operations, self.lock_entry.lock_id, has_fields=False)
            self._pane = pane
            self.query_one("#remote").mount(pane)
            pane.look_at_journal()
        self._pane.set_class(remote is None, "-gone")
        zone, now_ms = self.operations.zone(self.lock_entry), self.operations.now_ms()
        row = None if remote is None else RemoteRow.of(remote, zone, now_ms)
        self._pane.show_row(row, zone, now_ms)

    def _paint(self) -> None:
        table, panel = self.query_one(DetailsTable), self.query_one(StatePanel)
        remote, error = self.current, self.state.error
        table.display = remote is not None
        table.set_class(self.state.stale, "-stale")
        panel.display = not table.display
        if self.state.seen is None:
            self._called = self._opened_as
        if remote is not None:
            table.show_fields(self._fields(remote))
            self._called = remote.remote_name or self._called
        elif error is not None and self.is_gone:
            panel.say(
                (
                    f"{clean(self._called, 60)} no longer exists\n\nThe service reports:"
                    f" {format_meaning(error)}"
                ),
                {"Esc": "back to the remotes", "{remote.refresh}": "read again"},
            )
        elif error is not None:
            offers = {"{remote.refresh}": "try again", "Esc": "back to the remotes"}
            panel.say(describe_error(error), offers)
        self._show_pane()
        self.show_crumbs()
        self._show_age()
        self.refresh_bindings()

    def _fields(self, remote: Remote) -> Sequence[Detail]:
        zone, now_ms = self.operations.zone(self.lock_entry), self.operations.now_ms()
        fields = describe_remote(remote, describe_validity(remote, now_ms, zone), zone, now_ms)
        if (change := self._elsewhere) is None:
            return fields
        text = describe_change(change, zone, now_ms, with_head=False)
        return [*fields, Detail.of_text("Elsewhere", text)]

    def _show_age(self) -> None:
        pager, seen, error = self.query_one(Pager), self.state.seen, self.state.error
        if seen is None or self.is_gone:
            pager.show([("", None)])
            return
        text = "updated "
        if error is not None:
            again = with_keys("{remote.refresh} to try again")
            why = in_a_line(error)[0]
            text = separator().join(("STALE", in_sentence(why), again, text))
        pager.show([(text, "")], seen.steady_ms)

    def show_notices(self, connection_text: str, unconfirmed: tuple[Operation, ...]) -> None:
        """Show the notices. If the service is reachable again after an error, read the remote."""
        super().show_notices(connection_text, unconfirmed)
        if self.may_read_again(self.state.error):
            self.load_remote()
        self.refresh_bindings()

    # --- what the keys act on ------------------------------------------------------------------

    @property
    def current(self) -> Remote | None:
        """The remote as last read; None if it was not read yet, or if it is gone."""
        return None if self.is_gone else self.state.value

    @property
    def is_gone(self) -> bool:
        """Whether the service's last answer was that there is no such remote."""
        return isinstance(self.state.error, RefusedError) and self.state.error.is_gone

    def after_write(self, remote_id: int | None) -> None:
        """Read the remote again if ``remote_id`` is its ID, or None for all remotes of the lock."""
        if remote_id in (None, self.remote_id):
            self.load_remote()
            if self._pane is not None:
                self._pane.look_at_journal()

    def after_delete(self, remote_id: int | None) -> None:
        """Close this screen if its remote was deleted."""
        if remote_id != self.remote_id:
            return
        self._is_deleted = True
        if self.is_active:
            self.dismiss(None)

    def on_screen_resume(self) -> None:
        """Close this screen if the remote was deleted while another screen was on top."""
        if self._is_deleted and self.is_current:  # not if the delete has closed it just now
            self.dismiss(None)

    # --- actions -------------------------------------------------------------------------------

    def action_copy(self) -> None:
        self.query_one(DetailsTable).copy()

    def action_refresh(self) -> None:
        self.load_remote()

    def action_back(self) -> None:
        self.dismiss(None)
