"""The counters that the service shows to Prometheus at ``/metrics``, for one or all processes.

If PROMETHEUS_MULTIPROC_DIR is set when prometheus_client is imported, each process counts in files
in that directory. The files remain when the process ends.
"""

from __future__ import annotations

import os
from functools import cache

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

_BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

disable_created_metrics()


class Figures:
    """Counters of requests and failed reloads. Create this object before the workers start."""

    def __init__(self) -> None:
        own = self._registry = CollectorRegistry()
        requests = Counter(
            "lockterm_requests", "Answered requests", ("endpoint", "code"), registry=own
        )
        seconds = Histogram(
            "lockterm_request_seconds",
            "Time until the answer was given",
            ("endpoint",),
            registry=own,
            buckets=_BOUNDS_S,
        )
        # The lookup by labels takes longer than the counting.
        self._requests, self._seconds = cache(requests.labels), cache(seconds.labels)
        self._failed_reloads = Counter(
            "lockterm_token_reloads_failed", "Files of tokens with errors", registry=own
        )
        self._first_process = os.getpid()
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            self._registry = CollectorRegistry()
            MultiProcessCollector(self._registry)

    def count(self, endpoint: str, code: int, seconds: float) -> None:
        """Count an answered request.

        Args:
            endpoint: The path of the endpoint.
            code: The code of the answer.
            seconds: The time from the request to the end of the answer, in seconds.
        """
        self._requests(endpoint, code).inc()
        self._seconds(endpoint).observe(seconds)

    def count_failed_reload(self) -> None:
        """Count a failed reload of the tokens, but only in the process that created the counters.

        All workers reload the same file, so the failure is counted once.
        """
        if os.getpid() == self._first_process:
            self._failed_reloads.inc()

    def text(self) -> bytes:
        """Return all counters in Prometheus' text format."""
        return generate_latest(self._registry)
