"""The screens and dialogs, which call ``lockterm.operations`` instead of using HTTP or SQL.

This module imports each screen at its first use, as ``textual.widgets`` does. For example, the
expression ``screens.HistoryScreen`` imports the module of the history screen. If lockterm imported
all screens at startup, the imports would take a quarter of the startup time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lockterm.screens.all_locks import AllLocksSearchScreen as AllLocksSearchScreen
    from lockterm.screens.all_locks.expiring import ExpiringScreen as ExpiringScreen
    from lockterm.screens.all_locks.people import PeopleScreen as PeopleScreen
    from lockterm.screens.all_locks.search import PersonScreen as PersonScreen
    from lockterm.screens.changes_elsewhere import ElsewhereScreen as ElsewhereScreen
    from lockterm.screens.copy import CopyScreen as CopyScreen
    from lockterm.screens.dialogs.choice import ChoiceModal as ChoiceModal
    from lockterm.screens.dialogs.choice import ask_only as ask_only
    from lockterm.screens.dialogs.confirm import ConfirmModal as ConfirmModal
    from lockterm.screens.dialogs.confirm import NumberModal as NumberModal
    from lockterm.screens.dialogs.destroy import DestroyModal as DestroyModal
    from lockterm.screens.field_modal import CleanModal as CleanModal
    from lockterm.screens.form_drafts import offer_abandoned as offer_abandoned
    from lockterm.screens.help import HelpScreen as HelpScreen
    from lockterm.screens.history import HistoryScreen as HistoryScreen
    from lockterm.screens.import_file import FileScreen as FileScreen
    from lockterm.screens.locks import LocksScreen as LocksScreen
    from lockterm.screens.locks.form import LockForm as LockForm
    from lockterm.screens.locks.form import OpenLockModal as OpenLockModal
    from lockterm.screens.locks.form import removal as removal
    from lockterm.screens.locks.pane import LockPane as LockPane
    from lockterm.screens.messages import MessagesScreen as MessagesScreen
    from lockterm.screens.palette import Palette as Palette
    from lockterm.screens.plan.opening import ask_to_leave_run as ask_to_leave_run
    from lockterm.screens.plan.opening import open_undo as open_undo
    from lockterm.screens.plan.opening import open_undo_last as open_undo_last
    from lockterm.screens.plan.opening import report_end as report_end
    from lockterm.screens.plan.opening import screen_of_run as screen_of_run
    from lockterm.screens.plan.screen import PlanScreen as PlanScreen
    from lockterm.screens.profiles import ProfilesScreen as ProfilesScreen
    from lockterm.screens.profiles.form import ProfileForm as ProfileForm
    from lockterm.screens.remote_form import RemoteForm as RemoteForm
    from lockterm.screens.remote_form import RemoteSaved as RemoteSaved
    from lockterm.screens.remote_form.marked import MarkedForm as MarkedForm
    from lockterm.screens.remote_form.marked import NewEnd as NewEnd
    from lockterm.screens.remote_form.marked import NewExtra as NewExtra
    from lockterm.screens.remote_form.marked import NewValidity as NewValidity
    from lockterm.screens.remote_form.saving import ask_whether_it_is as ask_whether_it_is
    from lockterm.screens.remote_form.screen import values_like as values_like
    from lockterm.screens.remotes import RemotesScreen as RemotesScreen
    from lockterm.screens.remotes.detail import RemoteDetailScreen as RemoteDetailScreen
    from lockterm.screens.remotes.dialogs import ClearModal as ClearModal
    from lockterm.screens.remotes.dialogs import ColumnsModal as ColumnsModal
    from lockterm.screens.remotes.dialogs import DeleteModal as DeleteModal
    from lockterm.screens.remotes.dialogs import ReplaceModal as ReplaceModal
    from lockterm.screens.remotes.dialogs import numbers_of as numbers_of
    from lockterm.screens.remotes.marked import MarkedCommands as MarkedCommands
    from lockterm.screens.remotes.pane import RemotePane as RemotePane
    from lockterm.screens.unconfirmed import NoticeLine as NoticeLine
    from lockterm.screens.unconfirmed import Outcomes as Outcomes
    from lockterm.screens.voice import VoiceScreen as VoiceScreen

_NAMES = {
    "all_locks": "AllLocksSearchScreen",
    "all_locks.expiring": "ExpiringScreen",
    "all_locks.people": "PeopleScreen",
    "all_locks.search": "PersonScreen",
    "changes_elsewhere": "ElsewhereScreen",
    "copy": "CopyScreen",
    "dialogs.choice": "ask_only ChoiceModal",
    "dialogs.confirm": "ConfirmModal NumberModal",
    "dialogs.destroy": "DestroyModal",
    "field_modal": "CleanModal",
    "form_drafts": "offer_abandoned",
    "help": "HelpScreen",
    "history": "HistoryScreen",
    "import_file": "FileScreen",
    "locks": "LocksScreen",
    "locks.form": "LockForm OpenLockModal removal",
    "locks.pane": "LockPane",
    "messages": "MessagesScreen",
    "palette": "Palette",
    "plan.opening": "ask_to_leave_run open_undo open_undo_last report_end screen_of_run",
    "plan.screen": "PlanScreen",
    "profiles": "ProfilesScreen",
    "profiles.form": "ProfileForm",
    "remote_form": "RemoteForm RemoteSaved",
    "remote_form.marked": "MarkedForm NewEnd NewExtra NewValidity",
    "remote_form.saving": "ask_whether_it_is",
    "remote_form.screen": "values_like",
    "remotes": "RemotesScreen",
    "remotes.detail": "RemoteDetailScreen",
    "remotes.dialogs": "ClearModal ColumnsModal DeleteModal numbers_of ReplaceModal",
    "remotes.marked": "MarkedCommands",
    "remotes.pane": "RemotePane",
    "unconfirmed": "NoticeLine Outcomes",
    "voice": "VoiceScreen",
}
"""Maps the name of each module of this package to the names, separated by spaces, of the classes
and functions that other modules use."""

MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
"""Maps the name of a class or function to the module of this package that defines it."""


def __getattr__(name: str) -> object:
    """Return a class or function that ``MODULES`` lists, after importing its module if needed."""
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{MODULES[name]}"), name)
