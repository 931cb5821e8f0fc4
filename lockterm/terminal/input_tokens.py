"""Splits the terminal's input into keys, control sequences and pastes.

A terminal sends keys and its answers to queries in one stream, in pieces of any size and with any
delay. Only their form distinguishes keys from answers. Therefore, one rule applies throughout:
input that begins as a control sequence is never typed text, even if the sequence is cut, unknown,
long or late.

One byte is ambiguous: ESC is the Escape key, and begins each sequence. It counts as the key if
nothing follows for a short time. This time is longer while the terminal has not answered a query.
If the rest of a sequence arrives even later, it is recognized by its form and dropped. In this
case, the beginning of the sequence was reported as the Escape key. Terminals send ESC and a key
together for alt. Multiplexers send the Escape key and the next key in the same way. Therefore, the
ESC and the key become one token, and its meaning depends on the focus.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from enum import Enum, auto

ESCAPE_DELAY_S = 0.1
"""Seconds after which an ESC without more input is the Escape key."""

ANSWER_S = 1.0
"""Seconds after a query during which an ESC may begin the answer to the query."""

HOLD_S = 0.5
"""Seconds to wait for more input after ESC and a key that may also begin an answer."""

UNTYPED_S = 2.0
"""Seconds to wait instead of ``HOLD_S`` if the key does nothing in lockterm."""

LATE_S = 10.0
"""Seconds after an Escape key during which the rest of a cut sequence is recognized by its form.

After a longer pause, a single byte is a key even if a string is incomplete; see :class:`String`.
"""

LONGEST = 128
"""Maximum length of a control sequence with a meaning; longer sequences are dropped."""

_ESC = 0x1B
_PASTE_END = b"\x1b[201~"

# As bytes, because ``re`` compiles and caches each at its first use; the first frame needs few.
_SS3 = rb"\x1bO[0-9;]{0,5}[A-DFHMP-Sa-dj-y]"
_SS3_PART = rb"\x1bO[0-9;]{0,5}\Z"
_STRING = rb"\x1b(?:\][0-9lLI]|P[0-?!$+@|]|[_^][!-~])"
"""The unambiguous beginning of a string: OSC, DCS, APC or PM, as in terminals' answers."""
_STRING_PART = rb"\x1b[\]_^P]\Z"
_RXVT_KEY = rb"(?:[235678]|2[34])\Z"
"""Matches the numbers after which a dollar sign ends the sequence of a key in rxvt.

The report of a mode does not match, because it has more than a number before its dollar sign.
"""

_LATE_CSI = rb"\x1b\[(?:[0-?]|[A-DFHIMOP-SZ]|\[[A-E])"
_LATE_SS3 = rb"\x1bO[A-DFHMP-Sa-d]"
_LATE_STRING = rb"\x1b(?:\][0-9]|P(?:[>!]\||[0-9;]+[$+!]|@k)|_G)"
_LATE_PART = rb"\x1b(?:\[\[?|\]|_|O|P(?:[0-9;]+|[>!@])?)\Z"
_OWN_KEYS = (b"\x1bP", b"\x1bO")
"""Ambiguous input: it may be Escape and a key of lockterm, or the beginning of a sequence."""

_BEFORE_FINAL = rb"[ -?]*"
_STRING_END = re.compile(rb"[\x00-\x1f]")
_STRING_END_8_BIT = re.compile(rb"[\x00-\x1f\x9c]")
_EIGHT_BIT = {0x90: b"\x1bP", 0x9B: b"\x1b[", 0x9D: b"\x1b]"}


@dataclass(frozen=True)
class _Text:
    text: str


class Char(_Text):
    """A key that is one character. ESC means the Escape key, and U+FFFD means an invalid byte."""


class Sequence(_Text):
    """A complete control sequence with its ESC: a key, a mouse report or an answer."""


class Paste(_Text):
    """Pasted text, from which only NUL characters were removed."""


class String(_Text):
    """A complete answer with a terminator (OSC, DCS, APC, PM), from its ESC up to the terminator.

    The tokenizer drops an answer of more than ``LONGEST`` bytes.
    """


@dataclass(frozen=True, slots=True)
class Escaped:
    """A key just after an ESC: a key with alt, or the Escape key and another key."""

    key: Char | Sequence
    """The key after the ESC."""
    pause_s: float
    """Seconds from the ESC to the key; 0 if both arrived in the same piece of input."""


Token = Char | Sequence | String | Paste | Escaped

_ESCAPE = Char("\x1b")


class _State(Enum):
    GROUND = auto()
    CONTROL = auto()
    """The input is inside a control sequence, after ``ESC [``."""
    MOUSE = auto()
    """The input is inside a mouse report: three more bytes follow ``ESC [ M``."""
    STRING = auto()
    """The input is inside an answer with a terminator: OSC, DCS, APC, PM."""
    PASTE = auto()


class InputTokenizer:
    """A tokenizer without I/O: it receives bytes and times, and returns tokens.

    Args:
        escape_delay_s: Seconds after which an ESC without more input is the Escape key.
        escape_tab_is_backtab: Whether ESC and tab mean shift+tab, as on the Linux console.
    """

    def __init__(
        self, escape_delay_s: float = ESCAPE_DELAY_S, *, escape_tab_is_backtab: bool = False
    ) -> None:
        self._escape_delay_s = escape_delay_s
        self._escape_tab_is_backtab = escape_tab_is_backtab
        self.owed: deque[float] = deque()
        """The times until which answers to queries are expected, on the clock of :meth:`feed`. The
        sender of each query appends a time."""
        self._state = _State.GROUND
        self._held = b""
        """The unprocessed input."""
        self._given = b""
        """Input that was reported as keys, but may be the beginning of a late sequence."""
        self._body = b""
        """The content of a control sequence after ``ESC [``, or of a string with its introducer."""
        self._pasted: list[bytes] = []
        self._string_end = _STRING_END
        self._now_s = self._last_s = self._escape_s = self._read_s = 0.0
        self._pause_s = 0.0
        """Seconds from the held ESC to the input after it."""
        self._escaped_s: float | None = None
        """Seconds from an earlier ESC to the current sequence, or None if there was no such ESC."""
        self.due_s: float | None = None
        """The time to call :meth:`tick`, on the clock of :meth:`feed`; None if not needed."""

    def feed(self, data: bytes, now_s: float) -> list[Token]:
        """Return the tokens that are complete with this input.

        New input takes precedence over time limits. If input has arrived and :meth:`tick` is due,
        call this method first.

        Args:
            data: Bytes of the terminal, cut anywhere.
            now_s: The time of reading in seconds, on any monotonic clock.
        """
        self._now_s = now_s
        quiet_s, self._last_s = now_s - self._last_s, now_s
        if quiet_s > LATE_S:
            if self._state is _State.STRING and len(data) == 1:
                self._state = _State.GROUND  # its end will not come: a person is typing
            if not self._held:
                self._given = b""
        if self._held == b"\x1b":
            self._pause_s = now_s - self._read_s
        elif not self._held:
            self._read_s, self._pause_s = now_s, 0.0
        self._held += data
        self.due_s = None
        tokens: list[Token] = []
        while self._held and self._take(tokens):
            self._read_s, self._pause_s = now_s, 0.0
        return tokens

    def tick(self, now_s: float) -> list[Token]:
        """Return the held input as keys, if it has waited long enough for more input.

        Args:
            now_s: The time in seconds on the clock of :meth:`feed`.

        Returns:
            Usually an empty list; otherwise, the Escape key and perhaps the key after it.
        """
        if self.due_s is None or now_s < self.due_s:
            return []
        self._now_s, self.due_s = now_s, None
        whole = self._given + self._held
        whole = whole[whole.startswith(b"\x1b\x1b") :]
        if not self._given and self._held[0] == _ESC:
            self._escape_s = now_s
        tokens = self._typed()
        self._held = b""
        self._given = whole if whole == b"\x1b" or re.match(_LATE_PART, whole) else b""
        return tokens

    def _typed(self) -> list[Token]:
        """Return the held input as keys."""
        chars = [Char(char) for char in self._held.decode("utf-8", "replace")]
        tokens: list[Token] = []
        if not self._given and chars[0] == _ESCAPE and chars[1:] and chars[1] != _ESCAPE:
            self._give(tokens, Escaped(chars[1], self._pause_s))
            del chars[:2]
        return [*tokens, *chars]

    # --- the next token --------------------------------------------------------------------------

    def _take(self, tokens: list[Token]) -> bool:
        """Process the beginning of the held input, and add complete tokens to ``tokens``.

        Returns:
            Whether to continue with the next part of the input; False if more input is needed.
        """
        if self._state is _State.CONTROL:
            return self._take_control(tokens)
        if self._state is _State.MOUSE:
            return self._take_mouse()
        if self._state is _State.STRING:
            return self._take_string(tokens)
        if self._state is _State.PASTE:
            return self._take_paste(tokens)
        if self._given:
            return self._take_late(tokens)
        first = self._held[0]
        if first == _ESC:
            return self._take_escape(tokens)
        if first in _EIGHT_BIT:
            return self._take_eight_bit(tokens)
        return self._take_char(tokens)

    def _take_char(self, tokens: list[Token]) -> bool:
        if (found := _first_char(self._held)) is None:
            return False
        char, size = found
        self._held = self._held[size:]
        if not "\x80" <= char <= "\x9f":
            tokens.append(Char(char))
        return True

    def _take_escape(self, tokens: list[Token]) -> bool:
        held = self._held
        if len(held) == 1:
            while self.owed and self.owed[0] <= self._now_s:
                self.owed.popleft()
            owed_s = self.owed[-1] - self._now_s if self.owed else 0.0
            return self._wait(max(self._escape_delay_s, owed_s))
        if (second := held[1:2]) == b"\x1b":
            return self._take_twice(tokens)
        if second == b"[":
            return self._begin(_State.CONTROL, held[2:])
        if second == b"\\":  # the terminator of a string that has already ended
            self._held = held[2:]
        elif second == b"\t" and self._escape_tab_is_backtab:
            self._give(tokens, Sequence("\x1b[Z"))
            self._held = held[2:]
        elif found := re.match(_SS3, held):
            self._give(tokens, Sequence(found[0].decode()))
            self._held = held[found.end() :]
        elif re.match(_STRING, held):
            return self._begin_string(held)
        elif re.match(_SS3_PART, held):
            return self._wait(HOLD_S)
        elif re.match(_STRING_PART, held):
            return self._wait(HOLD_S if held in _OWN_KEYS else UNTYPED_S)
        else:
            return self._take_escaped(tokens)
        return True

    def _take_twice(self, tokens: list[Token]) -> bool:
        """Process ESC ESC; see :meth:`_take` for the result.

        If a sequence follows in time, the first ESC means the Alt modifier. Otherwise it is the
        Escape key.
        """
        if len(self._held) == 2:
            return self._wait(self._escape_delay_s)
        if self._held[2:3] in (b"[", b"O") and self._pause_s < self._escape_delay_s:
            self._escaped_s = self._pause_s
        else:
            tokens.append(_ESCAPE)
        self._held = self._held[1:]
        return True

    def _take_escaped(self, tokens: list[Token]) -> bool:
        """Process an ESC and a character after it; see :meth:`_take` for the result."""
        if self._pause_s >= self._escape_delay_s or self._held[1] in _EIGHT_BIT:
            self._give(tokens, _ESCAPE)
            self._held = self._held[1:]
        elif (found := _first_char(self._held[1:])) is None:
            return False
        else:
            self._give(tokens, Escaped(Char(found[0]), self._pause_s))
            self._held = self._held[1 + found[1] :]
        return True

    def _give(self, tokens: list[Token], token: Token | None) -> None:
        """Add a token, combined with an earlier ESC if there was one.

        Args:
            tokens: The list to which the token is added.
            token: The token; None for a sequence without a meaning.
        """
        pause_s, self._escaped_s = self._escaped_s, None
        if pause_s is not None and isinstance(token, Sequence):
            token = Escaped(token, pause_s)
        elif pause_s is not None:
            tokens.append(_ESCAPE)
        if token is not None:
            tokens.append(token)

    def _take_late(self, tokens: list[Token]) -> bool:
        """Process input after a reported Escape key; see :meth:`_take` for the result.

        The input is the next key, or the rest of a cut sequence.
        """
        whole = self._given + self._held
        rest = whole[2:]
        if re.match(_LATE_CSI, whole):
            return self._begin(_State.CONTROL, rest)
        if re.match(_LATE_STRING, whole):
            return self._begin_string(whole)
        if found := re.match(_LATE_SS3, whole):
            tokens.append(Sequence(found[0].decode()))
            self._given, self._held = b"", whole[found.end() :]
            return True
        if not re.match(_LATE_PART, whole):
            self._given = b""
        elif whole not in _OWN_KEYS:
            return self._wait(HOLD_S if whole[1:2] == b"P" else UNTYPED_S)
        elif self._now_s - self._escape_s < 2 * HOLD_S:
            return self._wait(HOLD_S)
        else:  # it was probably typed; a late rest of a sequence is still recognized by its form
            tokens.append(Char(self._held.decode()))
            self._given, self._held = whole, b""
        return True

    def _take_eight_bit(self, tokens: list[Token]) -> bool:
        """Process an 8-bit control code; see :meth:`_take` for the result.

        On a terminal that is not set to UTF-8, the byte may also be a letter. Only the form of the
        next bytes shows whether it is a control code or a letter.
        """
        whole = _EIGHT_BIT[self._held[0]] + self._held[1:]
        if re.match(_LATE_CSI, whole):
            return self._begin(_State.CONTROL, whole[2:])
        if re.match(_LATE_STRING, whole):
            return self._begin_string(whole, _STRING_END_8_BIT)
        if re.match(_LATE_PART, whole):
            return self._wait(HOLD_S)
        return self._take_char(tokens)

    def _begin(self, state: _State, rest: bytes) -> bool:
        self._state, self._held = state, rest
        self._given = self._body = b""
        return True

    def _begin_string(self, whole: bytes, ends: re.Pattern[bytes] = _STRING_END) -> bool:
        self._begin(_State.STRING, whole[2:])
        self._body, self._string_end = whole[:2], ends
        return True

    def _wait(self, seconds: float) -> bool:
        self.due_s = self._now_s + seconds
        return False

    # --- inside a sequence -----------------------------------------------------------------------

    def _take_control(self, tokens: list[Token]) -> bool:
        held = self._held
        if self._body == b"[":  # a function key of the Linux console has one letter more
            self._state = _State.GROUND
            is_key = b"A" <= held[:1] <= b"E"
            self._give(tokens, Sequence(f"\x1b[[{chr(held[0])}") if is_key else None)
            self._held = held[is_key:]
            return True
        end = found.end() if (found := re.match(_BEFORE_FINAL, held)) else 0
        dollar = held.find(b"$", 0, end)
        if dollar >= 0 and re.match(_RXVT_KEY, self._body + held[:dollar]):
            end = dollar
        self._body = (self._body + held[:end])[: LONGEST + 1]
        if end == len(held):
            self._held = b""
            return False
        final, self._held = held[end : end + 1], held[end + 1 :]
        self._state, whole = _State.GROUND, None
        if not (final == b"$" or b"@" <= final <= b"~"):
            self._held = held[end:]  # the sequence was cut, and the next bytes are not part of it
        elif final == b"[" and not self._body:
            self._state, self._body = _State.CONTROL, b"["
            return True
        elif final == b"M" and not self._body:
            self._state = _State.MOUSE
        elif self._body + final == b"200~":
            self._state = _State.PASTE
        elif len(self._body) <= LONGEST:
            whole = Sequence(f"\x1b[{self._body.decode()}{final.decode()}")
        self._give(tokens, whole)
        return True

    def _take_mouse(self) -> bool:
        """Drop a mouse report in the legacy format; return whether input is left.

        lockterm does not use this format, because it has no positions beyond column 223.
        """
        count = len(self._body)
        report = self._held[: 3 - count]
        end = next((at for at, byte in enumerate(report) if byte < 0x20), len(report))
        self._body += report[:end]
        self._held = self._held[end:]
        if end < len(report) or len(self._body) == 3:
            self._state = _State.GROUND
        return bool(self._held)

    def _take_string(self, tokens: list[Token]) -> bool:
        found = self._string_end.search(self._held)
        end = found.start() if found else len(self._held)
        self._body = (self._body + self._held[:end])[: LONGEST + 1]
        self._held = self._held[end:]
        if found is None:
            return False
        size = 1
        if found[0] == b"\x1b":
            if len(self._held) == 1:
                return False
            size = 2 if self._held[1:2] == b"\\" else 0
        elif found[0] not in (b"\x07", b"\x9c"):
            size = 0
        # Without a terminator, a key or another sequence has cut the string.
        if size and len(self._body) <= LONGEST:
            tokens.append(String(self._body.decode("utf-8", "replace")))
        self._held = self._held[size:]
        self._state = _State.GROUND
        return True

    def _take_paste(self, tokens: list[Token]) -> bool:
        end = self._held.find(_PASTE_END)
        if end < 0:
            keep = len(self._held) - len(_PASTE_END) + 1
            if keep > 0:
                self._pasted.append(self._held[:keep])
                self._held = self._held[keep:]
            return False
        self._pasted.append(self._held[:end])
        text = b"".join(self._pasted).decode("utf-8", "replace").replace("\x00", "")
        self._pasted.clear()
        self._state, self._held = _State.GROUND, self._held[end + len(_PASTE_END) :]
        tokens.append(Paste(text))
        return True


def _first_char(data: bytes) -> tuple[str, int] | None:
    """Return the first character and its number of bytes; None if the character is incomplete."""
    size = 1 if data[0] < 0xC2 else 2 if data[0] < 0xE0 else 3 if data[0] < 0xF0 else 4
    try:
        return data[:size].decode(), size
    except UnicodeDecodeError as error:
        if len(data) < size and error.reason == "unexpected end of data":
            return None
        return "\N{REPLACEMENT CHARACTER}", error.end
