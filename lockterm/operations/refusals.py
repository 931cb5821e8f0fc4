"""Errors for writes and plans that lockterm itself refuses. If one is raised, nothing was sent."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lockterm.domain.glyphs import quoted
from lockterm.domain.operation import HELD_CALLS, Operation
from lockterm.domain.remotes import CALL_NAMES
from lockterm.domain.safe_text import clean
from lockterm.domain.text.operation import STATE_NAMES
from lockterm.errors import (
    LocktermError,
    MalformedAnswerError,
    NameTakenError,
    NoAnswerError,
    StoreDamagedError,
)
from lockterm.keymap.hints import key

if TYPE_CHECKING:
    from lockterm.domain.plan import Plan


NAME_CHECK = "name check"
LAST_READING = "last reading of the remote"
"""The names of two checks before a write, for :func:`before_sending`: that a name is free
(``NAME_CHECK``), and that a remote is unchanged (``LAST_READING``)."""


class PendingChangeError(LocktermError):
    """An error for a write that is blocked by an unconfirmed change on the same lock or remote."""

    title = "Blocked by an unconfirmed change"

    def __init__(self, operation: Operation, session: str, profile: str) -> None:
        who = "this session" if operation.session == session else f"session {operation.session}"
        where = "first"
        if operation.profile != profile:
            where = f'in profile {operation.profile} first, or run "lockterm unconfirmed adopt"'
        about, harm = f"on {operation.lock_name}", "Another change could repeat its effect."
        if operation.call not in HELD_CALLS:
            name = clean(operation.remote_name, 60) or f"remote {operation.remote_id}"
            about, harm = f"of {name} {about}", "The order of the two changes is uncertain."
        super().__init__(
            f"An earlier change {about} is unconfirmed"
            f" ({CALL_NAMES[operation.call]}, in {who}). {harm}",
            hint=f"Check the earlier change, send it again or dismiss it {where}.",
        )
        self.operation = operation


class OtherServiceError(LocktermError):
    """An error for a change that was sent to another service than the profile has now."""

    title = "Another service"

    def __init__(self, operation: Operation, profile: str, base_url: str) -> None:
        super().__init__(
            f"The change was sent to {operation.service}, but the profile {profile} now"
            f" uses {base_url}. Nothing was read or sent.",
            hint="To resolve the change, use a profile for that service, or dismiss it.",
        )
        self.operation = operation


class OtherAccountError(LocktermError):
    """An error for a change that was sent with credentials that may belong to another account."""

    title = "Another account"

    def __init__(self, operation: Operation) -> None:
        account = clean(operation.account or "", 60)
        super().__init__(
            f"The change was sent to the account {account}. The credentials have changed"
            " since then, so this may be another account. Nothing was sent.",
            hint="Open the lock, so that lockterm can recognize the account by its remotes. Or"
            " set account in the profile.",
        )
        self.operation = operation


class OtherPlanError(LocktermError):
    """An error for a plan that was made for another profile or another service."""

    title = "Another plan"

    def __init__(self, plan: Plan, profile: str, base_url: str) -> None:
        super().__init__(
            f"The plan {quoted(clean(plan.title, 60))} was made with the profile"
            f" {clean(plan.profile, 40)} for {clean(plan.service, 100)}, but this is the"
            f" profile {profile} for {base_url}. Nothing was read or sent.",
            hint="Use that profile, or make a new plan.",
        )


class OtherCredentialsError(LocktermError):
    """An error for a plan that was not stored with the present credentials of its profile.

    The earlier credentials may belong to another account.
    """

    title = "Other credentials"

    def __init__(self, plan: Plan) -> None:
        words = (
            "The credentials have changed since this run began."
            if plan.credentials
            else "An earlier version of lockterm began this run and stored no credentials."
        )
        super().__init__(
            f"{words} Nothing was sent.",
            hint="If the account is the same, repeat the command with --same-account.",
        )
        self.question = f"{words} Same account?"


class RunUnderWayError(LocktermError):
    """An error for a plan that is already running, in this session or another."""

    title = "Already running"

    def __init__(self, plan: Plan, session: str = "") -> None:
        super().__init__(
            f"The plan {quoted(clean(plan.title, 60))} is already running in"
            f" {f'session {clean(session, 60)}' if session else 'another session'}.",
            hint="Wait until the run has ended.",
        )


class AlreadyResolvedError(LocktermError):
    """An error for a change that should be sent again, but is no longer unconfirmed."""

    title = "Not sent again"

    def __init__(self, operation: Operation) -> None:
        super().__init__(f"The change is already resolved: {STATE_NAMES[operation.state]}.")
        self.operation = operation


@contextlib.contextmanager
def before_sending(check: str) -> Iterator[None]:
    """Return a context manager that adds "No change was sent" to an error of its block.

    The block is a check before a write.

    Args:
        check: The name of the check, such as ``name check``.
    """
    try:
        yield
    except (NoAnswerError, MalformedAnswerError) as error:
        what = "got no answer" if isinstance(error, NoAnswerError) else "failed"
        error.message = f"No change was sent, because the {check} {what}. {error.message}"
        raise


def just_added(name: str, remote_id: int | None) -> NameTakenError:
    """Return the error for a name that a new remote has, even if no list shows the remote yet."""
    which = "" if remote_id is None else f", as remote {remote_id}"
    return NameTakenError(
        f"You have just added {clean(name, 60)}{which}. The service may not list the remote yet.",
        hint="Look again in a minute, or choose another name.",
    )


def damaged_entry(operation: Operation) -> StoreDamagedError:
    """Return the error for an operation whose journal entry is damaged."""
    what = CALL_NAMES.get(operation.call, "change")
    where = operation.lock_name or f"lock {operation.lock_id}"
    return StoreDamagedError(
        f"The journal's entry {quoted(f'{what} on {where}')} is damaged: its changes"
        " and results cannot be read. Nothing was sent now.",
        hint=(
            "Check the list of the lock, then dismiss the change. In lockterm's UI:"
            f" {key('outcome.give_up')}."
        ),
    )
