"""A plan: shown, agreed to, carried out, and what became of each of its steps."""

from lockterm.screens.plan.screen import PlanScreen

__all__ = ["PlanScreen"]
