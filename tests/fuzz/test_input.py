"""Whatever a terminal answers, cut anywhere and however late: no key of it, and none is lost."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.message import Message

from lockterm.terminal.input_tokens import (
    ANSWER_S,
    ESCAPE_DELAY_S,
    HOLD_S,
    Char,
    Escaped,
    InputTokenizer,
    Paste,
    Sequence,
    String,
    Token,
)
from lockterm.terminal.render_barrier import ASK
from lockterm.terminal.terminal_input import EscapedKey, TerminalInput
from tests.long import examples

EXAMPLES = 400
ESCAPE = Char("\x1b")

numbers = st.integers(0, 9999).map(str)
parameters = st.lists(numbers, min_size=1, max_size=40).map(";".join)
printable = st.text(
    st.characters(codec="utf-8", min_codepoint=0x20, exclude_characters="\x7f"), max_size=60
)
ends = st.sampled_from(["\x07", "\x1b\\"])


def in_control(before: str, final: str) -> st.SearchStrategy[str]:
    return parameters.map(lambda told: f"\x1b[{before}{told}{final}")


def in_string(*begins: str) -> st.SearchStrategy[str]:
    told = printable.filter(lambda text: not any("\x80" <= char <= "\x9f" for char in text))
    return st.builds("{}{}{}".format, st.sampled_from(begins), told, ends)


answers = st.one_of(
    in_control("?", "c"),  # primary device attributes
    in_control(">", "c"),
    in_control("=", "c"),
    in_control("?", "$y"),  # a mode
    in_control("?", "n"),
    in_control("?", "u"),  # kitty's flags
    in_control("?", "S"),  # graphics
    in_control("?", "R"),
    in_control(">", "m"),
    in_control("", "x"),  # DECREPTPARM
    in_control("", "q"),
    in_control("9;", "t"),  # the window
    in_control("99;", "&w"),  # the locator
    st.builds("\x1b[{};{}R".format, numbers, numbers),
    st.builds("\x1b[{};{}$y".format, numbers, numbers),
    st.sampled_from(["\x1b[0n", "\x1b[3n", "\x1b[I", "\x1b[O", "\x1b[M !!", "\x1b[Mqq~"]),
    st.builds("\x1b[<{};{};{}M".format, numbers, numbers, numbers),
    st.builds("\x1b[{};{};{}M".format, numbers, numbers, numbers),
    in_string("\x1b]4;1;rgb:", "\x1b]10;", "\x1b]11;rgb:", "\x1b]52;c;", "\x1b]l", "\x1b]L"),
    in_string("\x1bP>|", "\x1bP!|", "\x1bP1$r", "\x1bP0$r", "\x1bP1+r", "\x1bP0+r", "\x1bP1$u"),
    in_string("\x1b_G", "\x1bP2$s", "\x1bP1!~", "\x1bP@kitty-cmd"),
)
"""All that terminals answer, to anybody's questions."""

letters = st.text("nqedxHPOXMQ?:<>[]0123456789 é長", min_size=1, max_size=3).map(
    lambda text: (text, [Char(char) for char in text])
)
"""Keys, with what they are."""
others = st.sampled_from(["\r", "\t", "\x7f", "\x11", "\x13"]).map(lambda key: (key, [Char(key)]))
functions = st.sampled_from(
    ["\x1b[A", "\x1b[Z", "\x1bOP", "\x1bOQ", "\x1b[5~", "\x1b[1;5C", "\x1b[3$", "\x1b[[A"]
).map(lambda key: (key, [Sequence(key)]))
pastes = st.text("ab\x1b\r\n[]~長", max_size=20).map(
    lambda text: (f"\x1b[200~{text}\x1b[201~", [Paste(text)])
)
alt = st.sampled_from("nqedHMazbfD\r\x7f\x08é").map(
    lambda key: (f"\x1b{key}", [Escaped(Char(key), 0.0)])
)
"""Keys with alt; where they are cut, they are an Escape and the key."""
alt_functions = st.sampled_from(["\x1b\x1b[D", "\x1b\x1b[3~", "\x1b\x1bOd"]).map(
    lambda key: (key, [Escaped(Sequence(key[1:]), 0.0)])
)
keys = st.one_of(letters, others, functions, pastes, alt, alt_functions)
sent = st.lists(st.one_of(keys, answers), min_size=1, max_size=12)


@dataclass
class Terminal:
    """A tokenizer on a clock of its own."""

    tokenizer: InputTokenizer
    now_s: float = 0.0

    def wait(self, seconds: float) -> list[Token]:
        end_s, given = self.now_s + seconds, []
        while (due_s := self.tokenizer.due_s) is not None and due_s <= end_s:
            given += self.tokenizer.tick(due_s)
        self.now_s = end_s
        return given

    def read(self, data: bytes) -> list[Token]:
        return self.tokenizer.feed(data, self.now_s)


def as_read(chunks: list[tuple[bytes, float]]) -> list[Token]:
    """The tokens of chunks, each with the seconds that pass before the next."""
    terminal, given = Terminal(InputTokenizer()), []
    for data, seconds in chunks:
        given += terminal.read(data)
        given += terminal.wait(seconds)
    return given + terminal.wait(60.0)


def cut(data: bytes, draw: st.DataObject) -> list[tuple[bytes, float]]:
    """In chunks, with pauses between them."""
    places = draw.draw(st.lists(st.integers(0, len(data)), max_size=12))
    bounds = sorted({0, *places, len(data)})
    pauses = st.sampled_from([0.0, 0.02, 0.09, 0.3, 2.0, 9.0])
    chunks = [data[start:end] for start, end in pairwise(bounds)]
    return [(chunk, draw.draw(pauses)) for chunk in chunks]


def meant(parts: list[str | tuple[str, list[Token]]]) -> list[Token]:
    return [token for part in parts if isinstance(part, tuple) for token in part[1]]


def is_answer(token: Token) -> bool:
    """A complete answer: nobody takes it for a key."""
    known = ("\x1b[A", "\x1b[Z", "\x1bOP", "\x1bOQ", "\x1b[5~", "\x1b[1;5C", "\x1b[3$", "\x1b[[A")
    known += ("\x1b[D", "\x1b[3~", "\x1bOd")
    return isinstance(token, String) or (isinstance(token, Sequence) and token.text not in known)


OPEN = re.compile(rb"\x1b(?:\[\[?|\]|_|O[0-9;]*|P[0-9;>!@]*)?\Z")
"""Behind an ESC, what may be a key still."""


TITLE = re.compile(rb"\][lL]")
"""What is taken for typed behind an Escape that was given: nobody asks for titles of windows."""


def _at_once(token: Token) -> Token:
    return Escaped(token.key, 0.0) if isinstance(token, Escaped) else token


def _without(tokens: list[Token]) -> list[Token]:
    keys = [token.key if isinstance(token, Escaped) else token for token in tokens]
    return [key for key in keys if key not in (ESCAPE, Char("P"))]


@examples(5_000)
@given(sent, st.data())
def test_keys_come_out_exactly(
    parts: list[str | tuple[str, list[Token]]], draw: st.DataObject
) -> None:
    data = "".join(part if isinstance(part, str) else part[0] for part in parts).encode()
    chunks = cut(data, draw)
    calm, late, sent = [], [], 0
    for chunk, pause in chunks:
        sent += len(chunk)
        tail = OPEN.search(data[:sent]) if sent < len(data) else None
        calm.append((chunk, min(pause, 0.02) if tail else pause))
        most_s = 0.3 if tail and (tail[0] != b"\x1b" or data[sent : sent + 1] == b"O") else 9.0
        most_s = 0.02 if tail and TITLE.match(data, sent) else most_s
        late.append((chunk, min(pause, most_s)))
    given = [token for token in as_read(calm) if not is_answer(token)]
    assert [_at_once(token) for token in given] == meant(parts), calm
    # Where it is cut behind an ESC for long, that is the Escape key, and P the key, and no more.
    given = [token for token in as_read(late) if not is_answer(token)]
    assert _without(given) == _without(meant(parts)), late


@examples(EXAMPLES)
@given(st.lists(st.tuples(st.binary(max_size=30), st.sampled_from([0.0, 0.2, 30.0])), max_size=9))
@example([(b"\x1b[48;;;;t\x1b[99999999999999999999u\xff\xfe\x9b", 0.2)])
def test_any_bytes_are_taken_and_escape_and_quit_work_after(
    chunks: list[tuple[bytes, float]],
) -> None:
    """No bytes can take the keyboard away, but a paste that has not ended."""
    terminal = Terminal(InputTokenizer())
    for data, pause in chunks:
        terminal.read(data)
        terminal.wait(pause)
    if b"\x1b[200~" in b"".join(data for data, _ in chunks):
        return
    terminal.wait(HOLD_S)
    given = terminal.read(b"\r\r\r\x11") + terminal.wait(60)
    assert given[-1] == Char("\x11")


def test_an_escape_that_is_late_and_what_belongs_to_it() -> None:
    long = ESCAPE_DELAY_S * 2
    assert as_read([(b"\x1b", long), (b"[?64;1;2c", 0), (b"n", 0)]) == [
        ESCAPE,
        Sequence("\x1b[?64;1;2c"),
        Char("n"),
    ]
    assert as_read([(b"\x1b", long), (b"]11;rgb:1/2/3\x07n", 0)]) == [
        ESCAPE,
        String("\x1b]11;rgb:1/2/3"),
        Char("n"),
    ]
    assert as_read([(b"\x1b", long), (b"P", 0.2), (b">", 0.2), (b"|xterm(388)\x1b\\", 0)]) == [
        ESCAPE,
        String("\x1bP>|xterm(388)"),
    ]
    typed = [ESCAPE, *map(Char, "P>")]
    assert as_read([(b"\x1b", 3), (b"P", 1), (b">", 1)]) == typed, "typed by a person"
    assert as_read([(b"\x1b", 3), (b"[", 1), (b"j", 1)]) == [ESCAPE, *map(Char, "[j")]


def test_keys_after_escape_are_typed_when_no_sequence_follows() -> None:
    assert as_read([(b"\x1bO5", 60)]) == [Escaped(Char("O"), 0.0), Char("5")]
    assert as_read([(b"\x1b\t", 60)]) == [Escaped(Char("\t"), 0.0)]


def test_a_string_that_never_ends_is_ended_by_a_key() -> None:
    begun = (b"\x1b]11;rgb:12", 0.1)
    for key in (b"\r", b"\t", b"\x11"):
        assert as_read([begun, (key, 0)]) == [Char(key.decode())]
    assert as_read([begun, (b"\x1b[A", 0)]) == [Sequence("\x1b[A")]
    late = (begun[0], 60.0)
    assert as_read([late, (b"n", 0), (b"n", 0)]) == [Char("n"), Char("n")]
    assert as_read([late, (b"34/5678/9abc\x1b\\", 0), (b"n", 0)]) == [
        String("\x1b]11;rgb:1234/5678/9abc"),
        Char("n"),
    ]


def test_a_string_is_whole_or_nothing() -> None:
    """What was cut by a key, or is longer than any answer, means nothing."""
    assert as_read([(b"\x1bP>|tm", 0.3), (b"ux 3.3a\x1b", 0.3), (b"\\", 0)]) == [
        String("\x1bP>|tmux 3.3a")
    ]
    assert as_read([(b"\x1bP>|x\rn", 0)]) == [Char("\r"), Char("n")]
    assert as_read([(b"\x1b]11;" + b"9" * 5000 + b"\x07n", 0)]) == [Char("n")]


def messages(data: bytes, term: str = "xterm") -> list[Message]:
    terminal = TerminalInput(ESCAPE_DELAY_S, term)
    given = list(terminal.feed(data, 0.0))
    while terminal.due_s is not None:
        given += terminal.tick(terminal.due_s)
    return given


HOW_DRAWN = "\x1b[H\u00e1\u00e4\x1b[06n\r\x1b[K"


@pytest.mark.parametrize("question", [ASK, "\x1b[6n", HOW_DRAWN, "\x1b[?2026$p"])
@pytest.mark.parametrize("told", ["\x1b[0n", "\x1b[12;40R", "\x1b[?2026;2$y"])
@given(at=st.integers(1, 4), pause=st.floats(0, 0.8))
def test_an_answer_that_is_owed_gives_no_escape_wherever_it_is_cut(
    question: str, told: str, at: int, pause: float
) -> None:
    terminal = TerminalInput(ESCAPE_DELAY_S, "xterm")
    terminal.note_written(question, 0.0)
    given = [*terminal.feed(told[:at].encode(), 0.1), *terminal.tick(0.1 + pause)]
    given += terminal.feed(told[at:].encode(), 0.1 + pause)
    assert not [one for one in given if isinstance(one, events.Key)]
    assert [one.key for one in terminal.feed(b"\x1b", 0.95)] == []  # type: ignore[attr-defined]
    assert [one.key for one in terminal.tick(1.06)] == ["escape"], "it owes nothing any more"  # type: ignore[attr-defined]


def test_escape_does_not_wait_for_long_for_a_terminal_that_does_not_answer() -> None:
    terminal = TerminalInput(ESCAPE_DELAY_S, "xterm")
    terminal.note_written(ASK, 0.0)
    assert list(terminal.feed(b"\x1b", 0.2)) == []
    assert terminal.due_s == ANSWER_S
    (both,) = terminal.feed(b"n", 0.25)
    assert isinstance(both, EscapedKey) and both.are_two
    assert list(terminal.feed(b"\x1b", 0.3)) == []
    assert [one.key for one in terminal.feed(b"n", 0.5)] == ["escape", "n"]  # type: ignore[attr-defined]
    assert list(terminal.feed(b"\x1b", 2.0)) == []
    assert terminal.due_s == 2.0 + ESCAPE_DELAY_S


@examples(EXAMPLES)
@given(st.lists(st.one_of(answers, st.from_regex(r"\x1b\[[0-9;:<?]{0,12}[ -~]", fullmatch=True))))
def test_no_answer_is_a_message_that_types(told: list[str]) -> None:
    """Also not by way of what numbers would mean as keys: only named keys come of sequences."""
    for each in told:
        for message in messages(each.encode()):
            if isinstance(message, events.Key) and not re.search(r"[u~]\Z", each):
                assert message.character is None, (each, message)


@pytest.mark.parametrize(
    ("sent", "key", "character"),
    [
        ("\n", "enter", "\r"),
        ("\x1b[1;3D", "alt+left", None),
        ("\x1b[1;9D", "alt+left", None),
        ("\x1b[1;7C", "alt+ctrl+right", None),
        ("\x1b[3;3~", "alt+delete", None),
        ("\x1b[5;7~", "alt+ctrl+pageup", None),
        ("\x1b[127;3u", "alt+backspace", None),
        ("\x1b[27;3;100~", "alt+d", None),
        ("\x1b[A", "up", None),
        ("\x1b[1;5C", "ctrl+right", None),
        ("\x1bOP", "f1", None),
        ("\x1b[[B", "f2", None),
        ("\x1b[3$", "shift+delete", None),
        ("\x1b[115;5u", "ctrl+s", None),
        ("\x1b[97;2;65u", "A", "A"),
        ("\x1b[97;1:1u", "a", "a"),
        ("\x1b[13u", "enter", "\r"),
        ("\x1b[27;5;115~", "ctrl+s", None),
        ("\x1bOj", "asterisk", "*"),
        ("?", "question_mark", "?"),
        ("長", "長", "長"),
    ],
)
def test_keys_have_their_names(sent: str, key: str, character: str | None) -> None:
    (message,) = messages(sent.encode())
    assert isinstance(message, events.Key)
    assert (message.key, message.character) == (key, character)


@pytest.mark.parametrize(
    "sent", ["\x1b[97;1:3u", "\x1b[99~", "\x1b[1114112u", "\x1b[55296u", "\x1b[48;24;80;0;0t"]
)
def test_unknown_sequences_yield_no_key(sent: str) -> None:
    assert messages(sent.encode()) == []


def test_no_sequence_of_textuals_table_gives_an_escape() -> None:
    for sequence in ANSI_SEQUENCES_KEYS:
        if sequence.startswith(("\x1b[", "\x1bO")):
            given = [one for one in messages(sequence.encode()) if isinstance(one, events.Key)]
            assert len(given) <= 1, sequence
            assert "escape" not in [one.key for one in given], sequence


@pytest.mark.parametrize("term", ["xterm", "screen-256color", "tmux-256color"])
@pytest.mark.parametrize(
    ("sent", "name"),
    [
        *((b"\x1b\x7f", "alt+backspace"), (b"\x1b\x08", "alt+backspace")),
        *((b"\x1bd", "alt+d"), (b"\x1bb", "alt+b"), (b"\x1bf", "alt+f"), (b"\x1bO", "alt+O")),
        *((b"\x1b\x1b[D", "alt+left"), (b"\x1b\x1bOd", "alt+ctrl+left")),
    ],
)
def test_an_escape_and_a_key_in_one_read_are_one_key_in_a_field(
    sent: bytes, name: str, term: str
) -> None:
    (both,) = messages(sent, term)
    assert isinstance(both, EscapedKey)
    assert [key.key for key in both.keys(in_text=True)] == [name]
    is_char = not sent.startswith(b"\x1b\x1b")
    outside = [key.key for key in both.keys(in_text=False)]
    assert outside == (["escape", both.key.key] if is_char and term != "xterm" else [name])


@pytest.mark.parametrize(("pause_s", "are_two"), [(0.0, False), (0.01, False), (0.03, True)])
def test_a_pause_shows_that_an_escape_and_a_key_are_two(pause_s: float, are_two: bool) -> None:
    terminal = TerminalInput(ESCAPE_DELAY_S, "xterm")
    assert list(terminal.feed(b"\x1b", 5.0)) == []
    (both,) = terminal.feed(b"j", 5.0 + pause_s)
    assert isinstance(both, EscapedKey)
    assert len(both.keys(in_text=False)) == (2 if are_two else 1)
    assert len(both.keys(in_text=True)) == 1


def test_a_report_behind_an_escape_leaves_it_the_escape_key() -> None:
    """The mouse moves, and what it points to is sent, while a person presses Escape."""
    for report in (b"\x1b[<35;5;5M", b"\x1b[I", b"\x1b[200~x\x1b[201~"):
        first, *_ = messages(b"\x1b" + report)
        assert isinstance(first, events.Key) and first.key == "escape"
    assert messages(b"\x1b\x1b[99~") == [], "a key nobody knows is none of Escape's"


def test_shift_and_tab_on_the_linux_console() -> None:
    (key,) = TerminalInput(ESCAPE_DELAY_S, "linux").feed(b"\x1b\t", 0.0)
    assert isinstance(key, events.Key)
    assert key.key == "shift+tab"
    (both,) = messages(b"\x1b\t")
    assert isinstance(both, EscapedKey) and not both.are_two
