"""A field that is added to the table of a remote's fields is everywhere; see ``domain.remotes``."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import lockterm

ENTRY = """    shelf_no: int | None = wire_field(
        "shelfNo", Kind.NUMBER, 25, "Shelf place", "shelf", "Where it lies.", **_UNLISTED,
        example="7",
    )
"""

SCRIPT = """
import asyncio, json
from dataclasses import replace
from datetime import UTC
from textual.app import App
from textual.widgets import Static
from lockterm.cli.commands import lockterm as command
from lockterm.cli.remotes import CSV_COLUMNS
from lockterm.domain.copies import read_backup
from lockterm.domain.operation import known_fields
from lockterm.domain.locks import Lock
from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.remotes import ADDED, Remote
from lockterm.domain.requests import NewRemote
from lockterm.domain.rules import new_remote
from lockterm.domain.typed_remote import read_typed, typed_of
from lockterm.domain.text.remote import find_differences
from lockterm.domain.text.operation import describe_fields
from lockterm.domain.text.remote import describe_backup, describe_losses, describe_remote
from lockterm.domain.text.validity import describe_validity
from lockterm.errors import RuleViolationError
from lockterm.screens.remote_form.fields import RemoteFields
from lockterm.screens.remote_form.saving import ask_to_add
from lockterm.widgets.form_field import FormField
from click.testing import CliRunner

class Form(App):
    def compose(self):
        yield RemoteFields(None, UTC, lambda: 0, {}, ())

async def form_and_question(reading):
    async with Form().run_test(size=(100, 60)) as pilot:
        labels = [row.label for row in pilot.app.query(FormField)]
        await pilot.app.push_screen(ask_to_add(Lock(1001), reading, 0, UTC))
        return labels, [str(one.render()) for one in pilot.app.screen.query(Static)]

def refused(make):
    try:
        make()
    except RuleViolationError as error:
        return error.reasons

def operation(call, body, before=()):
    return Operation(call, "demo", call, "/", body, 1001, "Main gate", 5, "Anna", before,
                     OperationState.CONFIRMED, "4711", 0)

typed = {**typed_of(None, UTC), "remoteName": "Anna", "remoteNumber": "A-1", "remoteType": "1"}
reading = read_typed({**typed, "shelfNo": "7"}, UTC, 0)
form, question = asyncio.run(form_and_question(reading))
request = new_remote(1001, reading.values)
told = Remote.read({"id": 5, **request.body()})
kept = {name: value for name, value in told.raw.items() if name != "shelfNo"}
deleted = operation("delete", {"remoteId": 5}, (kept,))
added = operation("add", request.body())
elsewhere = read_backup(deleted, {}, 0)
(restored,) = read_backup(deleted, known_fields([added]), 0)
print(json.dumps({
    "the form has it": form,
    "what is typed there is read": reading.values.shelf_no,
    "what is wrong there is said": read_typed({**typed, "shelfNo": "x"}, UTC, 0).errors,
    "the question shows it": question,
    "the request sends it": request.body(),
    "the rules know its limits": refused(
        lambda: new_remote(1001, replace(reading.values, shelf_no=2**63))),
    "the request has its limits": refused(
        lambda: NewRemote.checked({**request.body(), "shelfNo": 2**63})),
    "the request has its type": refused(
        lambda: NewRemote.checked({**request.body(), "shelfNo": True})),
    "the detail shows it": [
        (one.label, one.shown)
        for one in describe_remote(told, describe_validity(told, 0, UTC), UTC, 0)],
    "differences name it": list(map(str, find_differences(Remote(), told, UTC, ADDED))),
    "a history shows it": [(one.label, one.shown) for one in describe_fields(added, (), UTC, "")],
    "a deletion says that it is lost": describe_backup({}),
    "a restoring says that it is lost": describe_losses(elsewhere),
    "a restoring sends what is known": restored.request.body(),
    "the command has an option": CliRunner().invoke(command, ["remotes", "add", "-h"]).output,
    "the CSV has a column": CSV_COLUMNS,
}))
"""

PLACES = {
    "the form has it": "Shelf place",
    "what is typed there is read": "7",
    "what is wrong there is said": "shelfNo",
    "the question shows it": "Shelf place: 7",
    "the request sends it": '"shelfNo": 7',
    "the rules know its limits": "shelfNo",
    "the request has its limits": "shelfNo",
    "the request has its type": "shelfNo",
    "the detail shows it": '["Shelf place", "7"]',
    "differences name it": "Shelf place: none -> 7",
    "a history shows it": '["Shelf place", "7"]',
    "a deletion says that it is lost": "shelf place",
    "a restoring says that it is lost": "shelf place",
    "a restoring sends what is known": '"shelfNo": 7',
    "the command has an option": "--shelf INT",
    "the CSV has a column": "shelfNo",
}
"""A place -> what has to be there."""


def test_a_field_of_the_table_is_everywhere(tmp_path: Path) -> None:
    """Ask a lockterm whose table has one field more."""
    package = tmp_path / "lockterm"
    shutil.copytree(Path(lockterm.__file__).parent, package)
    table = package / "domain" / "remotes.py"
    source = table.read_text(encoding="utf-8")
    table.write_text(source.replace("    create_time:", f"{ENTRY}    create_time:"), "utf-8")
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    without = {
        place: told[place] for place in PLACES if PLACES[place] not in json.dumps(told[place])
    }
    assert without == {}


def test_no_other_module_lists_the_fields() -> None:
    """Seven that are used by no rule of their own: two in one file would be a list.

    The report on batteries shows the firmware beside the battery level.
    """
    package = Path(lockterm.__file__).parent
    words = r"firmware_?info|business_?id|remote_?right|battery|admin[ -]right"
    listing = set()
    for file in package.rglob("*.py"):
        if not file.is_relative_to(package / "service"):
            found = re.findall(words, file.read_text("utf-8").lower())
            fields = {
                re.sub("[_ -]", "", word).replace("electricquantity", "battery") for word in found
            }
            listing |= {str(file.relative_to(package))} if len(fields) > 1 else set()
    assert listing == {"domain/remotes.py", "cli/report.py"}
