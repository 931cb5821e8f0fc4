"""The parts of a request: the base URL, the headers, and the encoded body.

These functions apply the rules of the configuration to the profile again, because code may create a
profile without the configuration file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

from lockterm import __version__
from lockterm.config import values
from lockterm.errors import ConfigError, RuleViolationError

if TYPE_CHECKING:
    from lockterm.config import Profile


CONNECT_S = 5.0
"""Maximum duration of connecting, in seconds. The TLS handshake that follows has the same limit."""

CONNECT_SHARE = 0.45
"""Maximum share of an attempt's time for connecting. The TLS handshake has the same limit. With
this limit, both end before the attempt times out. If the attempt were canceled during a handshake,
httpcore would not close the socket."""


def connect_limit_s(within_s: float) -> float:
    """Return the limit in seconds for connecting, which applies again to the TLS handshake.

    Args:
        within_s: The time limit of the attempt in seconds.
    """
    return min(CONNECT_S, CONNECT_SHARE * within_s)


def checked_base_url(profile: Profile) -> str:
    """Return the profile's base URL without a final slash.

    Raises:
        ConfigError: The value is not a base URL. The message never shows a password.
    """
    try:
        return values.base_url(profile.base_url)[0]
    except ValueError as error:
        hint = "Write the URL as https://host, https://host:port or https://host/prefix."
        raise ConfigError(values.as_sentence(f"base_url {error}"), hint=hint) from None


def checked_headers(profile: Profile) -> dict[str, str]:
    """Check that the profile's headers can be sent, and return them.

    Raises:
        ConfigError: A name or value cannot be sent, or only lockterm may set the header. The
            message contains the name of the header, never its value.
    """
    for name, value in profile.headers.items():
        try:
            values.header_name(name)
            values.header_value(value)
        except ValueError as error:
            raise ConfigError(values.as_sentence(f"The header {name!r} {error}")) from None
    return dict(profile.headers)


def sent_headers(profile: Profile) -> dict[str, str]:
    """Return the headers that lockterm sends with every request.

    Raises:
        ConfigError: A header of the profile cannot be sent; see :func:`checked_headers`.
    """
    return {
        **checked_headers(profile),
        "Accept": "application/json",
        "Accept-Encoding": "gzip",
        "User-Agent": f"lockterm/{__version__}",
    }


JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


def encode_body(
    parameters: Mapping[str, Any], encoding: Literal["json", "form"]
) -> tuple[str, bytes]:
    """Return the content type and the body of a POST request.

    The contract defines the names of the parameters, but not their encoding. In a form, an object
    or an array is sent as JSON text.

    Raises:
        RuleViolationError: A value cannot be sent as Unicode JSON. Nothing was sent.
    """
    texts = {name: _json(name, value) for name, value in parameters.items()}
    if encoding == "json":
        members = (f"{json.dumps(name)}:{text}" for name, text in texts.items())
        return JSON, ("{" + ",".join(members) + "}").encode()
    fields = {
        name: value if isinstance(value, str) else texts[name] for name, value in parameters.items()
    }
    return FORM, urlencode(fields).encode()


def _json(name: str, value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()
    except UnicodeEncodeError:
        reason = "has a character that is not Unicode"
    except RecursionError:
        reason = "is nested too deeply"
    except ValueError:
        reason = "has a number that JSON does not allow"
    else:
        return text
    raise RuleViolationError({name: f"{name} {reason}."})
