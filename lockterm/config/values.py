"""The rules for the value of each setting.

Each rule is a function that returns the checked value, or raises a ``ValueError``. The message of
the error is the end of a sentence. The caller writes the file, the line and the name of the setting
before the message: ``config.toml, line 4: page_size must be "auto" or a whole number from 1 to
200``.
"""

from __future__ import annotations

import difflib
import ipaddress
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from lockterm.config.profile import FIT, MAX_PAGE_SIZE, BodyEncoding
from lockterm.config.zones import is_zone, normalize_zone
from lockterm.errors import describe_os_error
from lockterm.safe_files import written_by_others

INT64 = range(-(2**63), 2**63)
"""The range of whole numbers that TOML, the service and the store allow."""
PORTS = {"http": 80, "https": 443}
"""Maps URL schemes to their default ports."""

LONGEST_TIMEOUT_S = 600
MOST_CALLS_PER_MINUTE = 100_000
MOST_PRESETS, LONGEST_PRESET = 5, 16
"""Maximum number of new end dates that forms offer, and maximum number of characters of each date.

Within these limits, all new end dates fit beside the field.
"""
HEADERS_OF_OUR_OWN = frozenset({
    "accept", "accept-encoding", "connection", "content-encoding", "content-length",
    "content-type", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade", "user-agent",
})  # fmt: skip
"""Headers that a profile cannot set, because they control the transfer of requests and answers."""

COLORS = ("red", "yellow", "green", "blue")
"""The possible colors of a profile. Each theme has its own shade of each color."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_USUAL_VARIABLE = re.compile(r"[A-Z]{1,12}(_[A-Z0-9]{1,12}){0,5}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HOST = re.compile(r"[^\s/\\%<>\"'`{}|^\[\]@?#,;:]+")
_SHORTENED = 60
"""Maximum number of characters of a value in a message."""
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


def text(value: object) -> str:
    """Check that a value is a text without control characters, and return it."""
    if not isinstance(value, str):
        raise ValueError(f"must be text in quotes, not {_kind(value)}")
    if not value.isprintable():
        raise ValueError("contains control characters")
    return value


def boolean(value: object) -> bool:
    """Check that a value is ``true`` or ``false``, and return it."""
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {_kind(value)}")
    return value


def presets(value: object) -> tuple[str, ...]:
    """Check the number and the length of the new end dates that forms offer, and return them.

    This rule does not check whether each text is a date; ``lockterm.cli.running`` checks that.
    """
    if not isinstance(value, list) or not value:
        raise ValueError('must be a list of texts, such as ["+30d", "eom"]')
    if len(value) > MOST_PRESETS:
        raise ValueError(f"must have at most {MOST_PRESETS} texts")
    texts = tuple(text(one).strip() for one in value)
    for one in texts:
        if not 1 <= len(one) <= LONGEST_PRESET:
            raise ValueError(f"must have texts of 1 to {LONGEST_PRESET} characters")
    return texts


def one_of(*known: str) -> Callable[[object], str]:
    """Return a rule (a function that checks a value) that accepts only the given words."""

    def check(value: object) -> str:
        if text(value) not in known:
            raise ValueError(f"must be {' or '.join(map(repr, known))}")
        return str(value)

    return check


def switch(value: str) -> bool:
    """Return the value of a yes-or-no environment variable, such as ``1``, ``no`` or ``off``."""
    word = value.strip().lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError(f"is {value!r}. Write 1 or 0")


def lock_id(value: str) -> int:
    """Return the lock ID in a typed text, after checking that it is positive and fits 64 bits."""
    number = int(value) if re.fullmatch(r"[0-9]{1,19}", value.strip()) else 0
    if not 1 <= number < INT64.stop:
        raise ValueError(f"is {shorten(value)}, but a lock ID must be a whole number, such as 1001")
    return number


def profile_name(name: str) -> str:
    """Check that a profile name is not blank and is printable, and return it."""
    if not name.strip() or not name.isprintable():
        raise ValueError("is not a valid name for a profile")
    return name


def account(value: object) -> str:
    """Check that the name of an account is empty or printable, and return it."""
    name = text(value)
    if name and not name.strip():
        raise ValueError("is not a valid name for an account")
    return name


def color(value: object) -> str:
    """Check that the color of a profile is empty or one of :data:`COLORS`, and return it."""
    name = text(value)
    if name and name not in COLORS:
        raise ValueError(f"{shorten(name)} is not a profile color{suggestion(name, COLORS)}")
    return name


def variable(name: str) -> str:
    """Check that a text is a valid name for an environment variable, and return it."""
    if not _VARIABLE.fullmatch(name):
        # The error does not repeat the name, because the text may be the secret itself.
        raise ValueError(
            "is not a valid name for an environment variable. Use letters, digits and _"
        )
    return name


def shown_variable(name: str) -> str:
    """Return a phrase for an environment variable, for an error message.

    The phrase contains the name only if it looks like the name of a variable. Otherwise, the user
    may have pasted the secret itself after ``env:``.
    """
    return f"variable {name}" if _USUAL_VARIABLE.fullmatch(name) else "variable it names"


def page_size(value: object) -> int | Literal["auto"]:
    """Check that a page size is ``auto`` or a number from 1 to 200, and return it."""
    if value == FIT:
        return FIT
    if type(value) is not int or not 1 <= value <= MAX_PAGE_SIZE:
        raise ValueError(f'must be "{FIT}" or a whole number from 1 to {MAX_PAGE_SIZE}')
    return value


def timeout_s(value: object) -> float:
    """Check that a timeout is more than 0 and at most 600 seconds, and return it in seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"must be a number of seconds, not {_kind(value)}")
    if not 0 < value <= LONGEST_TIMEOUT_S:
        raise ValueError(f"must be more than 0 and at most {LONGEST_TIMEOUT_S} seconds")
    return float(value)


def calls_per_minute(value: object) -> int:
    """Check the maximum number of calls per minute of a run, and return it; 0 means no limit."""
    if type(value) is not int or not 0 <= value <= MOST_CALLS_PER_MINUTE:
        raise ValueError(f"must be a whole number from 0 to {MOST_CALLS_PER_MINUTE}")
    return value


def body(value: object) -> BodyEncoding:
    """Check that an encoding is ``json`` or ``form``, and return it."""
    if value == "json":
        return "json"
    if value == "form":
        return "form"
    raise ValueError('must be "json" or "form"')


def ca_file(value: object, relative_to: Path) -> str:
    """Check that a CA file is readable, and that other users cannot replace it.

    Args:
        value: The path of the file; may be empty.
        relative_to: The directory to which a relative path refers.

    Returns:
        The path, joined to ``relative_to``; empty if the value is empty.
    """
    name = text(value)
    if not name:
        return ""
    try:
        path = relative_to / Path(name).expanduser()
    except RuntimeError:
        raise ValueError(f"is {shorten(name)}, but that home directory does not exist") from None
    if not path.is_file() or not os.access(path, os.R_OK):
        raise ValueError(f"is {path}, which is not a readable file")
    try:
        why = written_by_others(path)
    except OSError as error:
        why = describe_os_error(error)
    if why:
        raise ValueError(f"is {path}, which other users could replace: {why}")
    return str(path)


def header_name(name: str) -> str:
    """Check that a profile may set the header with this name, and return the name."""
    if not _HEADER_NAME.fullmatch(name):
        raise ValueError("is not a valid name for a header")
    if name.lower() in HEADERS_OF_OUR_OWN:
        raise ValueError("is set by lockterm itself")
    return name


def header_value(value: str) -> str:
    """Check that a header can carry a value, and return the value.

    The message of an error never contains the value, because it is a secret.
    """
    if not value.isascii() or not value.isprintable() or value != value.strip():
        raise ValueError(
            "has characters that a header cannot have, or a space at its beginning or end"
        )
    return value


_OFFSET_ZONE = re.compile(r"GMT ?(?P<offset>[+-] ?\d\d?(?::?\d\d)?)", re.ASCII | re.IGNORECASE)


def timezone(value: object) -> str:
    """Check that this machine knows a time zone, and return its normalized name.

    See :func:`lockterm.config.zones.normalize_zone`.
    """
    name = text(value)
    if found := normalize_zone(name):
        return found
    raise ValueError(f"{name!r} is not a time zone" + _zones_like(name))


def machine_zone() -> str | None:
    """Return the IANA name of this machine's time zone; None if it is unknown."""
    named = os.environ.get("TZ", "").removeprefix(":")
    if named:  # an offset in TZ has its sign reversed, so only names are taken
        return named if is_zone(named) and ":" not in named else None
    for link in ("/etc/localtime", "/var/db/timezone/localtime"):
        name = os.path.realpath(link).rpartition("zoneinfo/")[2]
        if not name.startswith("/") and is_zone(name):
            return name
    try:
        name = Path("/etc/timezone").read_text("ascii").strip()
    except (OSError, ValueError):
        return None
    return name if is_zone(name) else None


def base_url(value: object) -> tuple[str, str | None]:
    """Check the base URL of a service.

    Returns:
        The URL without slashes at its end, and a warning. The warning is None if the connection is
        encrypted or stays on this machine.
    """
    url = text(value)
    if url != url.strip() or " " in url:
        raise ValueError("contains spaces")
    if "@" in url.partition("://")[2].partition("/")[0] or ("@" in url and "://" not in url):
        raise ValueError("contains a user name or password. Use a header of the profile instead")
    # The other errors repeat the typed text only if it cannot contain a password or a token.
    shown = "" if set(url) & set("@?#\N{FULLWIDTH COMMERCIAL AT}") else f"{shorten(url)} "
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError(f"{shown}is not a URL. Write https://HOST[:PORT][/PATH]") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{shown}is not a web address. Write https://HOST[:PORT][/PATH]")
    if "?" in url or "#" in url:
        raise ValueError("contains a ? or #, but lockterm appends the paths of the API to the URL")
    if "%" in parts.hostname:
        raise ValueError(
            f"{shown}contains a zone ID, which lockterm cannot use. Write a host name or"
            " another address"
        )
    if not _is_host(parts.hostname) or port == 0 or "\\" in url:
        raise ValueError(f"{shown}contains no host. Write https://HOST[:PORT][/PATH]")
    if not url.isascii():
        raise ValueError(
            f"{shown}contains characters that are not ASCII. Write the host as xn--...,"
            " and the path with %XX"
        )
    warning = None
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        warning = (
            f"{parts.netloc} is not encrypted. Anyone on the network can read and"
            " change what is sent. Use https."
        )
    return url.rstrip("/"), warning


def origin_of(url: str) -> tuple[str, str | None, int | None]:
    """Return the scheme, host and port of a URL, which are equal for URLs of the same server.

    Raises:
        ValueError: The host or port is invalid.
    """
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or PORTS.get(parts.scheme)


def is_loopback(host: str) -> bool:
    """Return whether a host name or address refers to this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_host(host: str) -> bool:
    if ":" in host:
        try:
            return ipaddress.ip_address(host).version == 6
        except ValueError:
            return False
    return len(host) <= 253 and ".." not in host and bool(_HOST.fullmatch(host))


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return a suggestion to append to a message about an unknown word: ``; did you mean "x"?``.

    If no known word is similar, the suggestion lists all known words.
    """
    names = sorted(known)
    begun = [name for name in names if word and name.startswith(word)]
    close = begun or difflib.get_close_matches(word, names, n=1)
    if close:
        return f'; did you mean "{close[0]}"?'
    return f"; known are {', '.join(names)}" if names else ""


def as_sentence(sentence: str) -> str:
    """Return a sentence with a period at the end, unless the sentence is a question."""
    return sentence if sentence.endswith("?") else f"{sentence}."


def zone_of_offset(name: str) -> str:
    """Return the end of an error message that suggests a zone in place of one such as ``GMT+2``.

    The result is empty for a name without an offset.
    """
    match = _OFFSET_ZONE.fullmatch(name.strip())
    zone = normalize_zone(match["offset"]) if match else ""
    if not zone:
        return ""
    return f"did you mean {zone}? A city, such as Europe/Berlin, also follows daylight saving time"


def _zones_like(name: str) -> str:
    if meant := zone_of_offset(name):
        return f"; {meant}"
    by_lower = {zone.lower(): zone for zone in available_timezones()}
    wanted = name.strip().replace(" ", "_").lower()
    same = [by_lower[wanted]] if wanted in by_lower else []
    cities = [zone for low, zone in by_lower.items() if low.rpartition("/")[2] == wanted]
    close = (
        same
        or cities
        or [by_lower[low] for low in difflib.get_close_matches(wanted, by_lower, n=3)]
    )
    if close:
        return f"; did you mean {' or '.join(sorted(close))}?"
    return "; write an IANA name such as Europe/Berlin, or an offset such as +02:00"


def shorten(value: str) -> str:
    """Return a value for a message: shortened, in quotes, with control characters escaped."""
    return repr(value if len(value) <= _SHORTENED else value[: _SHORTENED - 3] + "...")


def _kind(value: object) -> str:
    kinds = {dict: "a table", list: "a list", str: "text", bool: "true or false"}
    return kinds.get(type(value), "a number" if isinstance(value, int | float) else "a date")
