"""What keys are for: the headings under which help shows them."""

from __future__ import annotations

from collections.abc import Mapping

from textual.binding import Binding

MOVING = "Moving"
EDITING = "In the text of a field"
"""What a field does with its text: Textual's own keys, which nobody can choose."""

TASKS: Mapping[str, tuple[str, ...]] = {
    "Remotes: add, look at, change": (
        "remotes.add",
        "remotes.detail",
        "remotes.edit",
        "remotes.renew",
        "remotes.user_number",
        "remotes.delete",
        "remotes.clear",
        "remote.edit",
        "remote.renew",
        "remote.user_number",
        "remote.delete",
    ),
    "Locks: open, add, change": (
        "locks.open",
        "locks.open_by_id",
        "locks.add",
        "locks.edit",
        "locks.remove",
    ),
    "Voice": ("remotes.voice", "locks.voice", "voice.set", "voice.vendor_model"),
    "Changes that were sent": ("history.open", "history.restore", "operation.restore"),
    "Profiles: switch, add, change": (
        "profiles.open",
        "profiles.add",
        "profiles.edit",
        "profiles.default",
        "profiles.remove",
        "welcome.demo",
        "welcome.connect",
    ),
    "This form": (
        "form.save",
        "form.check",
        "form.test",
        "form.more",
        "form.leave",
        "option.choose",
        "option.clear",
    ),
    "Finding and paging": (
        "remotes.find",
        "remotes.next_page",
        "remotes.previous_page",
        "remotes.first_page",
        "remotes.last_page",
        "remotes.go_to_page",
        "remotes.page_size",
        "remotes.table",
        "remotes.refresh",
        "remote.refresh",
        "locks.find",
        "locks.show_all",
        "locks.refresh",
        "voice.find",
        "voice.refresh",
        "history.find",
        "history.outcomes",
        "history.one_lock",
        "history.next",
        "history.previous",
        "history.refresh",
        "operation.refresh",
        "profiles.refresh",
        "find.leave",
        "find.close",
    ),
    "Copy and export": (
        "remotes.copy",
        "remote.copy",
        "voice.copy_url",
        "voice.copy_md5",
        "voice.fetch",
        "history.export",
        "operation.copy",
        "messages.copy",
    ),
    "Dialogs": (
        "columns.show",
        "columns.down",
        "columns.up",
        "columns.sort",
        "columns.usual",
        "columns.use",
        "dialog.cancel",
        "list.choose",
    ),
    MOVING: (
        "row.up",
        "row.down",
        "row.page_up",
        "row.page_down",
        "row.first",
        "row.last",
        "help.page_up",
        "help.page_down",
        "tree.fold",
        "tree.unfold",
        "tree.toggle",
        "field.previous",
        "field.next",
        "option.previous",
        "option.next",
        "dialog.previous",
        "dialog.next",
        "dialog.page_up",
        "dialog.page_down",
        "remotes.back",
        "remote.back",
        "voice.back",
        "history.back",
        "operation.back",
        "restore.leave",
        "profiles.close",
        "messages.close",
        "help.close",
    ),
    "Outcomes": ("outcome.check", "outcome.send_again", "outcome.give_up"),
    "Everywhere": (
        "app.help",
        "app.palette",
        "app.messages",
        "app.history",
        "app.profiles",
        "app.quiet",
        "app.mouse",
        "app.theme",
        "app.redraw",
        "app.quit",
        "app.quit_always",
    ),
    EDITING: (),
}
"""Heading -> the ids below it, in their order."""

_TASK_OF = {name: task for task, names in TASKS.items() for name in names}


_BY_HAND = frozenset({"row", "tree", "list", "field", "option", "dialog", "help"})


def is_by_hand(binding: Binding) -> bool:
    """Whether it moves a cursor or a focus, as no command does: only keys are of use for it."""
    return binding.id is None or binding.id.partition(".")[0] in _BY_HAND


def task_of(binding: Binding) -> str:
    """The heading of a binding. Textual's own have no id: they go between fields, or edit text."""
    if binding.id is None:
        return MOVING if binding.action.startswith("app.focus_") else EDITING
    return _TASK_OF.get(binding.id, MOVING)


def place_of(binding: Binding) -> int:
    """Where a binding stands below its heading; what has no id stands last."""
    names = TASKS[task_of(binding)]
    return names.index(binding.id) if binding.id in names else len(names)
