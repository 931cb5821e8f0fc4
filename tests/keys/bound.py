"""The bindings that lockterm really has, by the places of the registry."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget

import lockterm
from lockterm.app import LocktermApp
from lockterm.first_run_app import FirstRunApp

PLACE_OF = {
    "ChoiceModal": "dialog",
    "ColumnsModal": "columns",
    "ConfirmModal": "confirm",
    "CheckedConfirm": "confirm",
    "ClearModal": "confirm",
    "DeleteModal": "confirm",
    "DownloadModal": "dialog",
    "NumberModal": "dialog",
    "OpenLockModal": "dialog",
    "VendorModelModal": "dialog",
    "WhichRemote": "dialog",
    "LocktermModal": "dialog",
    "LocksScreen": "locks",
    "LockForm": "lock_form",
    "RemotesScreen": "remotes",
    "RemoteDetailScreen": "remote",
    "RemoteForm": "remote_form",
    "VoiceScreen": "voice",
    "HistoryScreen": "history",
    "OperationDetailScreen": "operation",
    "RestoreScreen": "restore",
    "MessagesScreen": "messages",
    "HelpScreen": "help",
    "ProfilesScreen": "profiles",
    "ProfileForm": "profile_form",
    "WelcomeScreen": "welcome",
    "RowTable": "table",
    "DetailsTable": "table",
    "HistoryTable": "table",
    "LocksTable": "table",
    "PacksTable": "table",
    "ProfilesTable": "table",
    "RemotesTable": "table",
    "VoiceTree": "tree",
    "Choices": "list",
    "TextInput": "text",
    "OptionLine": "options",
    "Marks": "options",
    "Choice": "choice",
    "FindLine": "find",
    "SearchLine": "find",
    "LocktermApp": "app",
}
"""Class -> where of the registry its keys stand."""


def classes() -> Iterator[type[DOMNode]]:
    """Every screen, widget and app of lockterm."""
    for module in pkgutil.walk_packages(lockterm.__path__, "lockterm."):
        if module.name.rpartition(".")[2] != "__main__":
            importlib.import_module(module.name)
    found = [LocktermApp, FirstRunApp]
    pending: list[type] = [Screen, Widget]
    while pending:
        for one in pending.pop().__subclasses__():
            pending.append(one)
            if one.__module__.startswith("lockterm.") and one not in found:
                found.append(one)
    return iter(sorted(found, key=lambda one: one.__name__))


def own_bindings(node: type[DOMNode]) -> list[Binding]:
    """The bindings of a class that are lockterm's: those of Textual's classes are its own.

    Textual's are what a field does with the text in it, tab and shift+tab, enter on a button,
    ctrl+c: nobody may take them away, so that they need no id.
    """
    textuals = {
        (binding.key, binding.action)
        for base in inspect.getmro(node)
        if base.__module__.startswith("textual.")
        for binding in Binding.make_bindings(base.__dict__.get("BINDINGS", ()))
    }
    assert node._merged_bindings is not None
    return [
        binding
        for _, binding in node._merged_bindings
        if binding.id or (binding.key, binding.action) not in textuals
    ]
