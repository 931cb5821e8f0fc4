"""The main job goes on: more than one remote, more than one lock, and what a file says."""

from __future__ import annotations

from collections.abc import Mapping

from tests.matrix.job import EDGE, LOCK, SAVE, Step, answering, asked
from tests.matrix.reading import Expected

SAVE_AND_NEXT, READ_ALL, DELETE_ALL = "\x0e", "\x12", "\x15"
"""ctrl+n, ctrl+r, ctrl+u."""

SECOND = 1002, "Loading dock"
"""A lock of the sample data, by its id and its name."""
_HEAD = "lockId,remoteNumber,remoteName,remoteType,endDate\n"
FILES: Mapping[str, str] = {
    "bad.csv": f"{_HEAD}{SECOND[0]},S-1,Site one,2,12/31/26\n{SECOND[0]},S-2,Site two,5,\n",
    "other.csv": "Holder;Card;Yard\nRoof crew;04:A2;x\n",
    "site.csv": f"{_HEAD}{SECOND[0]},S-1,Site one,1,\n{SECOND[0]},S-2,Site two,1,\n",
}
"""What lies in the home directory."""

_PLAN, _QUESTION = "Plan > Loading", "Add 2 remotes on Loading dock"

SITES: tuple[Step, ...] = (
    Step(
        "another like it",
        ("+",),
        Expected(
            (
                "Add a remote",
                "Name +Ingrid Moen, temp 2",
                r"Number +A-24\d\d",
                "Ready[.]",
                "Ctrl.N save, next",
            ),
            stands_out=f"{EDGE}Name",
            others=f"{EDGE}Number",
            help=False,
        ),
    ),
    Step(
        "the next of the series",
        (SAVE_AND_NEXT, "right", "enter"),
        Expected(
            (
                "Recorded Ingrid Moen, temp 2[.] Added so far: 1[.]",
                "Name +Ingrid Moen, temp 3",
            ),
            stands_out=f"{EDGE}Name",
            others=f"{EDGE}Number",
            help=False,
        ),
    ),
    Step("back from the series", ("escape",), Expected(("138 remotes",), stands_out="temp 2")),
    Step("back to the locks", ("escape",), Expected((f"{LOCK} +1001", "1 lock"))),
    Step(
        "another lock",
        ("a",),
        Expected(("Add a lock", "Lock ID"), stands_out="Lock ID", help=False),
        again=True,
    ),
    Step(
        "a marked lock",
        (DELETE_ALL, str(SECOND[0]), "tab", SAVE, "space"),
        Expected(
            (rf"[*] ?{SECOND[1]} +{SECOND[0]}", "1 marked +2 locks", "Space mark", "Y copy to"),
            stands_out=f"{LOCK} +1001",
            others=f"{SECOND[1]} +{SECOND[0]}",
        ),
    ),
    Step(
        "copy to locks",
        ("Y",),
        Expected(
            (
                f"Copy all remotes of {LOCK} to which locks",
                rf"\[x\] +{SECOND[1]}",
                "1 lock marked",
                "Enter plan",
            ),
            stands_out=SECOND[1],
            others="Copy all remotes",
        ),
    ),
    Step(
        "found everywhere",
        ("F", "daniel", READ_ALL),
        Expected(
            (f"{LOCK} +Daniel Kim +A-", r"\d on 2 locks", "2 of 2 locks read"),
            stands_out="(?<=daniel) ",
            others="Find:",
            help=False,
        ),
    ),
    Step(
        "people",
        ("enter", "o"),
        Expected(
            ("All locks > People", r"Name +Locks +Number", r"\d+ people, \d+ remotes", "E export"),
            stands_out="Amelia Hart +\\d",
            others="Anton Petrov +\\d",
        ),
    ),
    Step(
        "what ends",
        ("W",),
        Expected((r"\[all \d+\] +expired \d+ +within 7 days \d+", r"\d+ on 2 locks", "n span")),
    ),
    Step(
        "what others changed",
        ("!",),
        Expected(("Changed elsewhere", "No changes by others", "read all locks")),
    ),
    Step(
        "the columns of another table",
        ("I", "~/other.csv", "enter"),
        Expected(
            (
                "Import > other[.]csv > Columns",
                "Holder +Roof crew +[?] no meaning yet",
                "Card +04:A2 +[?] no meaning yet",
                "3 columns have no meaning yet: Holder, Card, Yard",
                "Enter choose +x ignore",
            ),
            dimmed="plan",
            stands_out="Holder +Roof",
            others="Card +04:A2",
        ),
    ),
    Step(
        "the meaning of a column",
        ("enter",),
        Expected(
            ("What does Holder mean[?] Example: Roof crew", "first name: joined", "Enter chooses"),
            dialog=True,
            stands_out="name +",
            others="first name: ",
            help=False,
        ),
    ),
    Step(
        "the columns again",
        ("escape",),
        Expected(("Holder +Roof crew +[?] no meaning yet",), stands_out="Holder +Roof"),
    ),
    Step(
        "back from the columns",
        ("escape",),
        Expected(("File +~/other.csv", "Ctrl.O columns"), dimmed="no limit", help=False),
    ),
    Step(
        "what is wrong with a file",
        (DELETE_ALL, "~/bad.csv", "enter"),
        Expected(
            (
                "! 2 problems[.] Nothing was sent",
                "2 +endDate +12/31/26",
                "3 +remoteType +5 ",
                "line 2, column endDate.* are ambiguous",
            ),
            dimmed="no limit",
            stands_out="12/31/26 +Day",
            others="remoteType +5",
        ),
    ),
    Step(
        "the plan of a file",
        ("tab", "~/site.csv", "enter"),
        Expected(
            (
                _PLAN,
                r"2 to add: \d+ requests to the service, about ",
                "[+] +add .*Site two",
                "Site one .S-1., Load",
            ),
            stands_out="Site one +",
            others="Site two",
        ),
    ),
    Step(
        "the plan, asked",
        ("enter",),
        asked(_QUESTION, r"\d+ requests", keep="Cancel", act="Add 2 remotes"),
    ),
    Step("the plan, yes", ("right",), answering("Cancel", "Add 2 remotes")),
    Step(
        "the plan, run",
        ("enter",),
        Expected(
            (_PLAN, "2 steps recorded[.]", "[+] +recorded .*Site two"),
            stands_out="Site one +",
            others="Site two",
        ),
    ),
)
"""A series, locks that are marked, all locks at once, and a plan from a file."""
