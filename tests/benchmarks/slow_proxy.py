"""A link with latency: a TCP proxy that holds every chunk back for a while, in both directions."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit


class SlowProxy:
    """``with SlowProxy(base_url, latency_s=0.15) as proxy: proxy.base_url``.

    Args:
        base_url: The service behind it.
        latency_s: The round trip it adds, in seconds; half of it in each direction.
    """

    def __init__(self, base_url: str, latency_s: float) -> None:
        parts = urlsplit(base_url)
        self._host, self._port = parts.hostname, parts.port
        self._one_way_s = latency_s / 2
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.base_url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        server = self._run(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(self._host, self._port)
        await asyncio.gather(self._pipe(reader, back), self._pipe(there, writer))

    async def _pipe(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while chunk := await source.read(65536):
            await asyncio.sleep(self._one_way_s)
            sink.write(chunk)
        sink.close()
