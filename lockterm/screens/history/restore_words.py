"""A restore in words: what it is about, what its button does, what became of each remote."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo

from lockterm.domain import dates
from lockterm.domain.text import clean
from lockterm.operations.restore import Plan, RestoreStatus, settle_first


@dataclass(frozen=True, slots=True)
class RestoreWords:
    """Every sentence is safe to show."""

    plan: Plan
    lock_title: str
    """As it came."""

    def question(self, zone: tzinfo) -> str:
        """Which remotes of which lock, and when they went."""
        operation, count = self.plan.operation, len(self.plan.remotes)
        at = dates.stamp(operation.prepared_ms, zone)
        done = "cleared" if operation.call == "clear" else "deleted"
        who = f"{count:,} remotes" if count > 1 else self.name(0)
        return f"{who} of {clean(self.lock_title, 40)}, {done} {at}"

    def name(self, index: int) -> str:
        """What a remote is called."""
        return clean(self.plan.remotes[index].remote.remote_name or "the remote", 40)

    def state(self, index: int) -> str:
        """What became of a remote, and why."""
        outcome = self.plan.outcomes[index]
        separator = " " if outcome.status is RestoreStatus.RESTORED else ": "
        return separator.join(filter(None, (outcome.status.value, clean(outcome.words, 200))))

    def verb(self) -> str:
        """What the button does."""
        plan, due = self.plan, self.plan.due
        to = f"to {clean(self.lock_title, 24)}"
        refused = bool(due) and plan.outcomes[due[0]].status is RestoreStatus.REFUSED
        if len(plan.remotes) == 1:
            return "Try again" if refused else f"Restore {clean(self.name(0), 24)} {to}"
        if refused:
            return f"Retry the {len(due):,} that {'was' if len(due) == 1 else 'were'} refused"
        if plan.having(RestoreStatus.RESTORED, RestoreStatus.REFUSED):
            return f"Restore the other {len(due):,} {to}"
        return f"Restore {len(due):,} {'remote' if len(due) == 1 else 'remotes'} {to}"

    def counts(self) -> str:
        """How many have which status."""
        found = {status: len(self.plan.having(status)) for status in RestoreStatus}
        return "   ".join(f"{count:,} {status.value}" for status, count in found.items() if count)

    def why_not(self) -> str:
        """Why nothing can be sent now; empty: it can."""
        if self.plan.held:
            return f"One remote of it is not settled. {settle_first()}"
        if not self.plan.due:
            left = "else can" if self.plan.having(RestoreStatus.IMPOSSIBLE) else "is left to"
            return f"Nothing {left} be restored."
        return ""

    def done(self) -> str:
        """That all of it is there again, as far as the service says."""
        found = len(self.plan.having(RestoreStatus.RESTORED))
        who = f"All {found:,} are" if found > 1 else f"{self.name(0)} is"
        if found < len(self.plan.remotes):
            who = f"{found:,} of {len(self.plan.remotes):,} are"
        return f"{who} on {clean(self.lock_title, 40)} again: recorded by the service."
