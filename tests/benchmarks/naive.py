"""A client as one would write it first: Textual and httpx imported, then the page is asked for."""

import sys

import httpx
from textual import work
from textual.app import App, ComposeResult
from textual.widgets import DataTable, Footer


class Naive(App[None]):
    """The first page of lock 1001 of the service whose address is given."""

    BINDINGS = [("q", "quit", "quit")]

    def compose(self) -> ComposeResult:
        yield DataTable(cursor_type="row")
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(DataTable).add_columns("Name", "Number", "Type", "Start", "End", "State")
        self.load()

    @work
    async def load(self) -> None:
        page = {"lockId": 1001, "pageNo": 1, "pageSize": 20}
        async with httpx.AsyncClient(base_url=sys.argv[1]) as client:
            answer = await client.get("/api/v1/bluetooth-remote/list", params=page)
        keys = ("remoteName", "remoteNumber", "remoteType", "startDate", "endDate", "status")
        for remote in answer.json()["data"]["list"]:
            self.query_one(DataTable).add_row(*(str(remote.get(key)) for key in keys))


if __name__ == "__main__":
    Naive().run()
