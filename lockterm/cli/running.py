"""Running an app of lockterm to its end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App, ReturnType

    from lockterm.app import LocktermApp
    from lockterm.config import Look, Settings
    from lockterm.config.profiles import Profiles
    from lockterm.operations.first_page import FirstPage
    from lockterm.paths import Paths
    from lockterm.terminal.signals import SignalGuard


def show(
    settings: Settings,
    paths: Paths,
    guard: SignalGuard,
    profiles: Profiles | None = None,
    before: LocktermApp | None = None,
    first: FirstPage | None = None,
) -> LocktermApp:
    """Run the app on a profile to its end.

    Args:
        settings: With a profile.
        paths: Where lockterm keeps its files.
        guard: Watches for signals.
        profiles: Those that can be switched to; None in the demo.
        before: The app that was switched from: its look and its messages are taken over.
        first: The page that was asked for already; None: none was.

    Returns:
        The app, which knows what is to follow.
    """
    from lockterm.app import LocktermApp

    assert settings.profile is not None
    look = before.look if before is not None else settings.look
    app = LocktermApp(
        settings.profile,
        paths,
        look=look,
        keymap=settings.keymap,
        open_lock=settings.open_lock,
        is_last=settings.is_last,
        profiles=profiles,
        first=first,
    )
    if before is not None:
        app.notices.log = before.notices.log
    run_app(app, look, guard)
    return app


def run_app(app: App[ReturnType], look: Look, guard: SignalGuard) -> ReturnType | None:
    """Run any app of lockterm to its end; returns what it ended with."""
    # A loop of our own: asyncio.run would wait at its end for look-ups of names that hang.
    loop = asyncio.new_event_loop()
    try:
        with guard.watching(app):
            return app.run(mouse=look.mouse, loop=loop)
    finally:
        close_loop(loop)


def close_loop(loop: asyncio.AbstractEventLoop) -> None:
    """End what an HTTP stack left to be closed later, and close a loop."""

    async def end() -> None:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await loop.shutdown_asyncgens()

    try:
        loop.run_until_complete(end())
    finally:
        loop.close()


def exit_code(app: App[Any], guard: SignalGuard) -> int:
    """That of a signal, 1 for a bug, or 0."""
    return guard.exit_code or app.return_code or 0
