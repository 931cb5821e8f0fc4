"""The main job, by keys alone: each step with what it has to show.

Screens are known by words that stay; in ASCII a dot in the middle is a hyphen.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.matrix.reading import Expected

SAVE, PALETTE, QUIT = "\x13", "\x10", "\x11"
"""ctrl+s, ctrl+p, ctrl+q."""

ALT_KEYS = ("\x1b\x7f", "\x1bf", "\x1bd", "\x1b[1;3A", "\x1b[1;7C", "\x1b[3;3~", "\x1b\x1b[C")
"""Alt+Backspace, which deletes a word, and others that do nothing at the end of a text."""

EDGE = "(?:(?<=^ )|(?<=[│|] ))"  # of the line, or of a frame in the middle
"""The left edge of a form, which a large terminal has in a frame."""

LOCK, NAME, NUMBER = "Main gate", "Night crew", "N-77"
_STATE = (
    r"^[⠀ >*](?:[·.]|[×x].* expired|[!¡i].* (?:until |to |\d+ \w{3} \d{4})"
    r"|[»+].* starts |[?].* (?:no weekdays|weekdays \?))"
)
"""Each row begins with the sign of its state, and says it where it is not open."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the job."""

    name: str
    keys: tuple[str, ...]
    shows: Expected
    gone: str = ""
    """What is to have left the screen."""
    again: bool = False
    """Whether the keys may be pressed once more: the one that destroys does nothing before the
    terminal says that it shows the question, or has not answered for two seconds, and a letter does
    nothing in the second after a form was left."""
    rest_s: float = 0.0
    """For so many seconds after its screen came no further key is pressed."""


def dialog(*words: str, stands_out: str = "", others: str = "", dimmed: str = "") -> Expected:
    """A dialog, whole, over the keys of its screen."""
    return Expected(
        words, dialog=True, dimmed=dimmed, stands_out=stands_out, others=others, help=False
    )


def _form(*words: str, stands_out: str = "", others: str = "", notice: str = "") -> Expected:
    """A form, in which ``?`` is typed."""
    return Expected(words, notice, stands_out=stands_out, others=others, help=False)


def asked(question: str, *words: str, keep: str, act: str) -> Expected:
    """A question whose harmless answer has the focus."""
    return dialog(question, *words, f"{keep} +{act.strip()}", stands_out=keep, others=act)


def answering(keep: str, act: str) -> Expected:
    """The same, with the focus on the answer that acts."""
    return dialog(stands_out=act, others=keep)


_FIRST = Expected(
    (r"page 1 of \d", "137 remotes"), stands_out=r"Night crew 1\b", others="Omar", rows=_STATE
)
_ON_THE_FOUND = Expected((r"page 1 of \d", "137 remotes"), stands_out="Daniel Kim", others="Omar")

JOB: tuple[Step, ...] = (
    Step("start", (), Expected(("The lock book is empty", "Add each lock once by its ID"))),
    Step(
        "lock form",
        ("a",),
        _form("Add a lock", "Lock ID", "such as 1001", "Ctrl.S save", stands_out="Lock ID"),
    ),
    Step(
        "lock named",
        ("1001", "tab"),
        _form(
            "The service knows this lock, with 137 remotes",
            LOCK,
            stands_out=f"{EDGE}Name",
            others="Lock ID",
        ),
    ),
    Step(
        "lock filled in",
        ("tab", "nordriegel", "tab", "NR-450"),
        _form(
            "nordriegel",
            "NR-450",
            "Vendor and model determine",
            stands_out=EDGE + "Model",
            others=f"{EDGE}Name",
        ),
    ),
    Step(
        "lock book",
        (SAVE,),
        Expected((f"{LOCK} +1001", "1 lock"), stands_out=f"{LOCK} +1001", others="1 lock"),
    ),
    Step("remotes", ("enter",), _FIRST),
    Step(
        "cursor",
        ("j",),
        Expected((r"page 1 of \d",), stands_out="Omar Haddad", others=r"Night crew 1\b"),
    ),
    Step("next page", ("n",), Expected((r"page 2 of \d", "starts in", "expired"), rows=_STATE)),
    Step("previous page", ("p",), _FIRST),
    Step(
        "search line",
        ("/",),
        Expected(
            (r"Find: ", r"page 1 of \d"), stands_out="(?<=Find: ) ", others="Find:", help=False
        ),
    ),
    Step(
        "found",
        (*"daniel",),
        Expected(
            (
                r"1 (?:match in the first|in) \d\d of 137",
                "Enter(?: searches the|:) rest",
                "Daniel Kim",
            ),
            stands_out="(?<=daniel) ",
            others="Find:",
            help=False,
        ),
        gone="Omar",
    ),
    Step("all again", ("escape",), _ON_THE_FOUND),
    Step(
        "detail",
        ("enter",),
        Expected(
            ("Field +Value", r"Name +Daniel Kim", "recurring", "[+]00:00", "Status +normal"),
            stands_out="Name +Daniel",
            others="Number",
        ),
    ),
    Step("back to the remotes", ("escape",), _ON_THE_FOUND),
    Step(
        "form",
        ("a",),
        _form(
            "Add a remote",
            r"\( \) permanent +\( \) time-limited",
            "Required: Name, Number",
            stands_out=f"{EDGE}Name",
            others=f"{EDGE}Number",
        ),
    ),
    Step(
        "form filled in",
        (NAME, "tab", "N-77", "tab", "3", "4", "tab", "tab", "+30d", "tab", "mon-fri"),
        _form(
            r"\(\*\) recurring",
            r"\[x\] Mon.*\[ \] Sun",
            r"in (?:30|29) days",
            "Ready",
            stands_out=f"{EDGE}Weekdays",
            others=f"{EDGE}Number",
        ),
    ),
    Step(
        "review",
        (SAVE,),
        asked(
            f"Add {NAME} to {LOCK}",
            "N-77",
            "Mon-Fri",
            "in (?:30|29) days",
            keep="Keep editing",
            act=f"Add {NAME}",
        ),
    ),
    Step("review, yes", ("right",), answering("Keep editing", f"Add {NAME}")),
    Step("saved", ("enter",), Expected((NUMBER,), f"Added {NAME} .N-77.: Recorded by")),
    Step(
        "edit",
        ("e",),
        _form(
            "Edit Night c",
            "You have not changed anything yet",
            stands_out=f"{EDGE}Name",
            others=f"{EDGE}Number",
        ),
    ),
    Step(
        "edited, by words too",
        ("end", " x", *ALT_KEYS, "2"),
        _form(f"{NAME} 2", "Ready", stands_out=f"{EDGE}Name"),
    ),
    Step(
        "difference",
        (SAVE,),
        asked(
            f"Change {NAME}, number N-77, on {LOCK}",
            f"Name: {NAME} -> {NAME} 2",
            keep="Keep editing",
            act=f"Change {NAME}",
        ),
    ),
    Step("difference, yes", ("right",), answering("Keep editing", "Change")),
    Step("changed", ("enter",), Expected((NUMBER,), f"Changed {NAME} 2 .N-77.")),
    Step(
        "renew",
        ("w",),
        _form(
            "You have not changed anything yet",
            "in (?:30|29) days",
            stands_out=f"{EDGE}End",
            others=f"{EDGE}Start",
        ),
    ),
    Step("another end", ("+60d",), _form("in (?:90|89) days", "Ready", stands_out=f"{EDGE}End")),
    Step(
        "renewal",
        (SAVE,),
        asked(
            f"Renew {NAME} 2, number N-77",
            "End: .* -> ",
            "in (?:90|89) days",
            keep="Keep editing",
            act=f"Renew {NAME} 2",
        ),
    ),
    Step("renewal, yes", ("right",), answering("Keep editing", "Renew")),
    Step("renewed", ("enter",), Expected((NUMBER,), f"Changed {NAME} 2 .N-77.")),
)
"""From the start to a remote that was added, changed and renewed."""
