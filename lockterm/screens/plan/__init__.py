"""The screen of a plan: its review, confirmation and run, and the result of each step."""

from lockterm.screens.plan.screen import PlanScreen

__all__ = ["PlanScreen"]
