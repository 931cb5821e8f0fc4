"""Encoding the parameters of a POST, as JSON or as form fields."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlencode

from lockterm.errors import RuleViolation

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


def encode_body(
    parameters: Mapping[str, Any], encoding: Literal["json", "form"]
) -> tuple[str, bytes]:
    """The content type and the bytes of a POST's parameters.

    The contract names the parameters and not their encoding (section 4): as form fields, objects
    and arrays travel as JSON text.

    Raises:
        RuleViolation: A value cannot be sent as Unicode JSON; nothing was sent.
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
        reason = "has a number that JSON does not have"
    else:
        return text
    raise RuleViolation({name: f"{name} {reason}."})
