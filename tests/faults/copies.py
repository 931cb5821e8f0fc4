"""Copies of the service that are behind it, in the proxy: what they answer was true once.

The time is a virtual one, and the service's own clock and ``Date`` go by it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from random import Random
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from lockterm.service import remote_table
from lockterm.service.remotes import as_record
from tests.api.fault_server import http
from tests.faults.proxy import Exchange, FaultProxy, decoded
from tests.faults.site import Site
from tests.operations.virtual import VirtualTimer

REFUSED = {"errcode": 7, "errmsg": "There is no such remote.", "description": ""}
TAKEN = {"errcode": -3, "errmsg": "The bluetooth remote name exists", "description": ""}


@dataclass
class Copies:
    """What the reads of one lock are answered from.

    Args:
        site: The real service.
        lock_id: The lock.
        timer: What the time is.
        service_ms: The service's clock at the timer's beginning.
    """

    site: Site
    lock_id: int
    timer: VirtualTimer
    service_ms: Callable[[], int]
    chance: Random
    history: list[tuple[float, list[dict[str, Any]]]] = field(default_factory=list)
    """What there was, since when."""
    lag_s: tuple[float, ...] = (0.0,)
    """How far each copy is behind; one after the other is asked."""
    empty: tuple[float, float] = (0.0, 0.0)
    """From when till when every copy shows nothing, as during a failover."""
    shifting: tuple[float, float] = (0.0, 0.0)
    """From when till when one remote is missing, as it went from a page to one that was read."""
    _asked: int = 0

    def note(self) -> None:
        """Take what the service has now into what copies will show."""
        database = self.site.service.app.state.site.database
        rows = remote_table.page(database, self.lock_id, 0, 1000).remotes
        now_ms = self.service_ms()
        self.history.append((self.timer.now_s(), [dict(as_record(row, now_ms)) for row in rows]))

    @property
    def truth(self) -> list[dict[str, Any]]:
        """What the service has."""
        return self.history[-1][1]

    def _shown(self) -> list[dict[str, Any]]:
        now_s = self.timer.now_s()
        if self.empty[0] <= now_s < self.empty[1]:
            return []
        self._asked += 1
        at_s = now_s - self.lag_s[self._asked % len(self.lag_s)]
        known = [records for since_s, records in self.history if since_s <= at_s]
        records = known[-1] if known else self.history[0][1]
        if records and self.shifting[0] <= now_s < self.shifting[1]:
            left_out = self.chance.randrange(len(records))
            return [one for index, one in enumerate(records) if index != left_out]
        return records

    def stand_before(self, proxy: FaultProxy) -> None:
        """Answer the reads that come through a proxy."""
        for call, answer in (
            ("list", self._list),
            ("detail", self._detail),
            ("checkRemoteName", self._check_name),
        ):
            proxy.arm(call, self._play(answer))

    def _play(self, answer: Callable[[Exchange], dict[str, Any]]) -> Any:
        async def play(exchange: Exchange) -> None:
            exchange.keep = True
            body = json.dumps(answer(exchange))
            date = formatdate(self.service_ms() / 1000, usegmt=True)
            await exchange.send(http(body, 200, f"Date: {date}", "Content-Type: application/json"))

        return play

    def _list(self, exchange: Exchange) -> dict[str, Any]:
        query = dict(parse_qsl(urlsplit(exchange.target).query))
        number, size, records = int(query["pageNo"]), int(query["pageSize"]), self._shown()
        page = {
            "list": records[(number - 1) * size : number * size],
            **{"pageNo": number, "pageSize": size},
            **{"pages": -(-len(records) // size), "total": len(records)},
        }
        return {"errcode": 0, "errmsg": "no error", "description": "", "data": page}

    def _detail(self, exchange: Exchange) -> dict[str, Any]:
        wanted = int(decoded(exchange)["remoteId"])
        found = [record for record in self._shown() if record["id"] == wanted]
        if not found:
            return REFUSED
        info = {"lockId": self.lock_id, "lockName": "", "lockAlias": ""}
        return {
            "errcode": 0,
            "errmsg": "",
            "description": "",
            "data": found[0] | {"lockInfo": info},
        }

    def _check_name(self, exchange: Exchange) -> dict[str, Any]:
        name = decoded(exchange)["remoteName"]
        if any(record["remoteName"] == name for record in self._shown()):
            return TAKEN
        return {"errcode": 0, "errmsg": "", "description": "", "data": {}}
