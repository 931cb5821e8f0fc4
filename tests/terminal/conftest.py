"""Fixtures: an empty home, and lockterm in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.terminal.pty_session import LOCKTERM, PtySession, clean_environment


@pytest.fixture
def lockterm(tmp_path: Path) -> Iterator[Callable[..., PtySession]]:
    """Start ``lockterm ARGUMENTS`` in a terminal, with a home of the test's own.

    ``env`` adds to the environment, and ``seen`` is what to wait for; the other keywords are those
    of ``PtySession``.
    """
    with ExitStack() as stack:

        def start(
            *arguments: str,
            env: dict[str, str] | None = None,
            size: tuple[int, int] = (80, 24),
            controlling: bool = True,
            seen: str | None = None,
        ) -> PtySession:
            environment = clean_environment(tmp_path, **(env or {}))
            session = stack.enter_context(
                PtySession([*LOCKTERM, *arguments], environment, size=size, controlling=controlling)
            )
            if seen is not None:
                session.wait_for(seen)
            return session

        yield start
