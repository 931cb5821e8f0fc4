"""The main job goes on: what destroys, the voice, and what tells about lockterm itself."""

from __future__ import annotations

from tests.matrix.job import JOB, LOCK, NAME, NUMBER, PALETTE, Step, answering, asked, dialog
from tests.matrix.job_sites import SITES
from tests.matrix.reading import Expected
from tests.matrix.terminals import FEW, Terminal

_LAST = (r"page (\d) of \1\b", "137 remotes")

MORE: tuple[Step, ...] = (
    Step(
        "user number",
        ("u",),
        dialog(
            f"New user number of {NAME} 2 on {LOCK}", "Number: N-77", "Cancel +Set the user number"
        ),
    ),
    Step("user number typed", ("7",), dialog(" 7 ", stands_out="(?<=7) ", others="Cancel")),
    Step("user number set", ("enter",), Expected((NUMBER,), f"Set user number 7 for {NAME} 2")),
    Step(
        "delete",
        ("d",),
        asked(
            f"Delete {NAME} 2 .N-77. from {LOCK}",
            "Valid: .*in (?:90|89) days",
            "State: active",
            "lockterm keeps a backup",
            keep="Keep",
            act=f"D +Delete {NAME} 2",
        ),
    ),
    Step("delete, arrows", ("right",), answering(f"D +Delete {NAME} 2", "Keep")),
    Step("kept", ("enter",), Expected(("138 remotes", "N-77"), stands_out=NAME)),
    Step("delete again", ("d",), dialog("State: active", stands_out="Keep")),
    Step("deleted", ("D",), Expected((LOCK,), f"Deleted {NAME} 2 .N-77. from {LOCK}"), again=True),
    Step(
        "clear",
        ("C",),
        dialog(
            f"Delete all 137 remotes of {LOCK}",
            f"To continue, type {LOCK} or 1001, then press Enter:",
            "Keep the remotes +D +Delete 137 remotes",
            dimmed="Delete 137 remotes",
        ),
    ),
    Step("clear, lock typed", ("1001",), dialog(r"press Enter: 1001 .*Delete 137 remotes")),
    Step("clear, not done", ("escape",), Expected(_LAST), gone="Delete all"),
    Step(
        "voice",
        ("v",),
        Expected(
            ("Voices of nordriegel", "en-US +English", "Voice now: unknown", "Pack +Updated"),
            stands_out="female +xiaoyan",
            others="male +zhiming",
        ),
    ),
    Step(
        "another voice",
        ("j",) * 4,
        Expected(("Grace",), stands_out="Grace +female", others="male +zhiming"),
    ),
    Step(
        "voice chosen",
        ("enter",),
        asked(
            f"Set the voice of {LOCK} .lock 1001.",
            "From +unknown",
            "To en-US Grace",
            keep="Keep",
            act="Set the voice",
        ),
    ),
    Step("voice chosen, yes", ("right",), answering("Keep", "Set the voice  ")),
    Step(
        "voice set",
        ("enter",),
        Expected(
            ("Grace +female +.set by you",),
            f"Set voice en-US grace on {LOCK}",
            stands_out="female +.set",
            others="male +zhiming",
        ),
    ),
    Step("back from the voices", ("escape",), Expected(_LAST)),
    Step(
        "history",
        ("H",),
        Expected(
            ("add +recorded", "change +recorded", "delete +recorded", "6 of 6 changes"),
            stands_out="voice +recorded",
            others="delete +recorded",
        ),
    ),
    Step("back from the history", ("escape",), Expected(_LAST)),
    Step(
        "messages",
        ("M",),
        Expected(
            (
                "Messages",
                "notice +Set voice",
                "notice +Deleted",
                "Set voice en-US grace.* Recorded by the service[.]",
            ),
            stands_out="notice +Set voice",
            others="notice +Deleted",
        ),
    ),
    Step("back from the messages", ("escape",), Expected(_LAST)),
    Step(
        "help",
        ("?",),
        Expected(("Help", r"\ba +(?:add +)?Add a remote to this lock", "Esc close"), help=False),
    ),
    Step("end of the help", ("end",), Expected(("time zone +UTC", "lockterm [0-9]"), help=False)),
    Step("back from the help", ("escape",), Expected(_LAST)),
    Step(
        "palette",
        (PALETTE,),
        dialog(
            "Find an action",
            "Add a remote to this lock",
            stands_out="Add +a(?= )",
            others="Edit +e(?= )",
        ),
    ),
    Step("back from the palette", ("escape",), Expected(_LAST), gone="Find an action"),
)
"""What it ends with."""

_RUN = ("2 steps recorded[.]",)
_NO_THEMES = (Step("no themes", ("T",), Expected(_RUN, "Theme: .*(colors|Low-bandwidth mode)")),)


def _themes(now: str) -> tuple[Step, ...]:
    return (
        Step(
            "themes",
            ("T",),
            dialog(
                "Which theme?", "Enter chooses, Esc cancels", stands_out=now, others="Esc cancels"
            ),
        ),
        Step(
            "another theme",
            ("j",),
            dialog("Which theme?", stands_out="[a-z]+-[a-z]+", others=now),
        ),
        Step("theme chosen", ("enter",), Expected(_RUN, stands_out="Site one", others="Site two")),
    )


def whole(terminal: Terminal) -> tuple[Step, ...]:
    """The job on a terminal: themes are chosen where there are colors for them."""
    return (
        JOB
        + MORE
        + SITES
        + (_themes(terminal.theme or "lockterm-dark") if terminal.colors > FEW else _NO_THEMES)
    )
