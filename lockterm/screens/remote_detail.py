"""One remote, field by field."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.reactive import var

from lockterm.errors import LocktermError, Refused, StoreError
from lockterm.keymap.spoken import said
from lockterm.models.locks import Lock
from lockterm.operations import Operations, Seen
from lockterm.screens.base import SOON_S
from lockterm.screens.remote_actions import RemoteActions
from lockterm.text import clean
from lockterm.validity import validity
from lockterm.widgets.details_table import DetailsTable
from lockterm.widgets.pager import Pager
from lockterm.widgets.remote_fields import remote_fields
from lockterm.widgets.state_panel import StatePanel

if TYPE_CHECKING:
    from lockterm.models.operation import Operation
    from lockterm.models.remotes import Remote


class RemoteDetailScreen(RemoteActions):
    """Every field of a remote as the service tells it now.

    Args:
        operations: The one door to service and store.
        lock_entry: The lock it belongs to.
        remote_id: Which remote.
        title: What it is called as long as its detail was not read.
    """

    IDS = "remote"
    BINDINGS = [
        Binding("e", "edit", "edit", id="remote.edit", tooltip="Change this remote"),
        Binding(
            "d,delete",
            "delete",
            "delete",
            id="remote.delete",
            tooltip="Delete this remote, after asking",
        ),
        Binding("w", "renew", "renew", id="remote.renew", tooltip="Give it another end"),
        Binding(
            "u", "user_number", "user no", id="remote.user_number", tooltip="Set its user number"
        ),
        Binding(
            "y", "copy", "copy", id="remote.copy", tooltip="Copy the value under the cursor, whole"
        ),
        Binding("r", "refresh", "refresh", id="remote.refresh", tooltip="Read it again"),
        Binding(
            "escape,backspace",
            "back",
            "back",
            id="remote.back",
            tooltip="Go back to the remotes",
        ),
    ]

    seen: var[Seen[Remote] | None] = var(None, init=False)
    """The remote as it was last read; None before."""

    trouble: var[LocktermError | None] = var(None, init=False)
    """Why it could not be read; None: it could."""

    def __init__(
        self, operations: Operations, lock_entry: Lock, remote_id: int, title: str
    ) -> None:
        super().__init__(operations, lock_entry)
        self.remote_id = remote_id
        self._called = title
        self._is_kept = False
        """Whether what is shown is of an earlier time, until the service answers."""

    def crumbs(self) -> tuple[str, ...]:
        """Below the lock's remotes."""
        return ("Locks", self.lock_entry.title, "Remotes", self._called)

    def compose_body(self) -> ComposeResult:
        """The fields, or words in their place; how old they are."""
        yield DetailsTable(id="fields")
        yield StatePanel(f"Reading {clean(self._called, 60)} ...", id="state")
        yield Pager(self.operations.now_ms, id="pager")

    # --- loading -------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Read it."""
        self.query_one(DetailsTable).display = False
        self.load_remote()

    @work(exclusive=True, group="remote")
    async def load_remote(self) -> None:
        """Read the remote; until the service answers, show what was last read."""
        slow = self.set_timer(SOON_S, self._show_kept)
        try:
            remote = await self.operations.remote(self.remote_id)
        except LocktermError as error:
            if not _is_gone(error):
                self.seen = self.seen or await self.operations.cached_remote(self.remote_id)
            self.trouble = error
            return
        finally:
            slow.stop()
        self._is_kept = False
        self.set_reactive(RemoteDetailScreen.trouble, None)
        self.seen = Seen(remote, self.operations.now_ms())
        await self._learn_names(remote)

    async def _show_kept(self) -> None:
        if self.seen is None:
            kept = await self.operations.cached_remote(self.remote_id)
            if self.seen is None and self.trouble is None and kept is not None:
                self._is_kept = True
                self.seen = kept

    async def _learn_names(self, remote: Remote) -> None:
        """Fill in the names of the lock where the lock book has none (2.3, lockInfo)."""
        info, lock_id = remote.lock_info, self.lock_entry.lock_id
        if info is None or info.lock_id != lock_id:
            return
        try:
            known = {lock.lock_id: lock for lock in await self.operations.locks()}
            entry = known.get(lock_id, self.lock_entry)
            named = replace(
                entry,
                name=entry.name or info.lock_name or "",
                alias=entry.alias or info.lock_alias or "",
            )
            if named != entry and lock_id in known:
                await self.operations.save_lock(named)
        except StoreError:  # the locks screen says so; the fields are there all the same
            return
        for screen in self.app.screen_stack:
            if isinstance(screen, RemoteActions) and screen.lock_entry.lock_id == lock_id:
                screen.lock_entry = named
                screen.show_crumbs()

    # --- watchers ------------------------------------------------------------------------------

    def watch_seen(self) -> None:
        """Paint the fields."""
        self._paint()

    def watch_trouble(self) -> None:
        """Paint what went wrong."""
        self._paint()

    def _paint(self) -> None:
        table, panel = self.query_one(DetailsTable), self.query_one(StatePanel)
        gone = self.trouble is not None and _is_gone(self.trouble)
        table.display = self.seen is not None and not gone
        table.set_class(self._is_kept or self.trouble is not None, "-stale")
        panel.display = not table.display
        if self.seen is not None and not gone:
            self._show_fields(self.seen.value)
            table.focus()
        elif self.trouble is not None and gone:
            panel.say(
                f"{clean(self._called, 60)} is gone\n\nThe service says:"
                f" {clean(self.trouble.message, 300)}",
                said("escape  back to the remotes      {remote.refresh}  look again"),
            )
        elif self.trouble is not None:
            keys = said("{remote.refresh}  try again      escape  back to the remotes")
            panel.say_error(self.trouble, keys)
        self._show_age()
        self.refresh_bindings()

    def _show_fields(self, remote: Remote) -> None:
        zone, now_ms = self.operations.zone(self.lock_entry), self.operations.now_ms()
        fields = remote_fields(remote, validity(remote, now_ms, zone), zone, now_ms)
        self.query_one(DetailsTable).show_fields(fields)
        self._called = remote.remote_name or self._called
        self.show_crumbs()

    def _show_age(self) -> None:
        pager = self.query_one(Pager)
        if self.seen is None:
            pager.show("")
            return
        words = "updated "
        if self.trouble is not None:
            again = said("{remote.refresh} tries again")
            words = f"STALE · {clean(self.trouble.title, 40).lower()} · {again} · {words}"
        pager.show(words, self.seen.at_ms)

    def show_notices(self, offline: str, unsettled: tuple[Operation, ...]) -> None:
        """The service was lost or is back: what failed is tried again by itself."""
        super().show_notices(offline, unsettled)
        if self.may_read_again and self.trouble is not None and not _is_gone(self.trouble):
            self.load_remote()
        self.refresh_bindings()

    # --- what the keys act on ------------------------------------------------------------------

    @property
    def current(self) -> Remote | None:
        """This remote, once it was read and as long as it is there."""
        gone = self.trouble is not None and _is_gone(self.trouble)
        return self.seen.value if self.seen is not None and not gone else None

    def after_write(self, remote_id: int | None) -> None:
        """Read it again, if it may have changed."""
        if remote_id in (None, self.remote_id):
            self.load_remote()

    # --- actions -------------------------------------------------------------------------------

    def action_copy(self) -> None:
        """Copy the value under the cursor."""
        from lockterm.widgets.clipboard import copy

        field = self.query_one(DetailsTable).selected
        if field is not None and field.raw:
            copy(self.app, field.raw, field.label.lower() or "value", lines="\n" in field.shown)

    def action_refresh(self) -> None:
        """Read it again."""
        self.load_remote()

    def action_back(self) -> None:
        """Go back to the remotes."""
        self.dismiss(None)


def _is_gone(error: LocktermError) -> bool:
    """Whether the service answered that there is no such remote, as far as can be told (7)."""
    return isinstance(error, Refused) and error.status in (200, 404, 410)
