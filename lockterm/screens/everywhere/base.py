"""What the screens over all locks have in common: what their keys do with a row."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from textual import on

from lockterm.screens.base import LocktermScreen
from lockterm.screens.everywhere.results import Results
from lockterm.screens.everywhere.site import Site
from lockterm.screens.everywhere.table import OnLock
from lockterm.widgets.find_line import FindLine
from lockterm.widgets.line_table import LineTable

EMPTY_BOOK = "The lock book is empty: there is no lock that could be read."


class AllLocksScreen(LocktermScreen[None]):
    """Remotes of all locks of the book; its kinds say which, and what stands where there are none.

    Args:
        operations: The one door to service and store.
    """

    @abstractmethod
    def search(self, site: Site, needle: str) -> Iterator[OnLock | None]:
        """What is to be shown; see ``results.Search``."""

    @abstractmethod
    def words(self) -> tuple[str, str]:
        """What stands where nothing is found: a sentence, and the keys that lead on."""

    @property
    def results(self) -> Results:
        """What is shown."""
        return self.query_one(Results)

    def on_screen_resume(self) -> None:
        """What was opened from here may have been changed."""
        self.results.look_again()

    def write_again(self) -> None:
        self.results.find()

    def problems(self, site: Site) -> Iterator[OnLock]:
        """The locks that could not be read just now, each as a row that says so."""
        for one in site.asked.values():
            if one is not None and one.problem:
                words = f"not read: {one.problem}" if one.listing is None else one.problem
                known = site.locks[one.lock.lock_id].listing
                if one.listing is None and known is not None:
                    words += f"; what was {site.age_of(known)} is shown"
                yield OnLock(one.lock, self.operations.zone(one.lock), problem=words)

    @on(LineTable.Chosen)
    def _clicked(self) -> None:
        self.action_open()

    # --- actions -------------------------------------------------------------------------------

    def why_not(self, action: str) -> str:
        """What is opened has to be there, and so have the locks that are read."""
        results = self.results
        if action == "open" and results.current is None:
            return "Nothing is under the cursor."
        is_empty = results.is_loaded and results.error is None and not results.site.locks
        return EMPTY_BOOK if action == "read" and is_empty else ""

    def action_open(self) -> None:
        """Show every field of a remote; of one without an id, or of a lock, the lock's remotes."""
        row = self.results.current
        if row is None:
            return
        self.results.note_opened(row.lock)
        if row.remote is not None and row.remote.id is not None:
            from lockterm.screens.remotes.detail import RemoteDetailScreen

            title = row.remote.remote_name or f"remote {row.remote.id}"
            screen = RemoteDetailScreen(self.operations, row.lock, row.remote.id, title)
            self.app.push_screen(screen)
        else:
            from lockterm.screens.remotes import RemotesScreen

            self.app.push_screen(RemotesScreen(self.operations, row.lock))

    def action_find(self) -> None:
        self.query_one(FindLine).open()

    def action_read(self) -> None:
        self.results.read_all()

    def action_back(self) -> None:
        self.dismiss(None)
