"""Checks the input of the profile form, and converts it to settings for the configuration file.

The rules for the input are the rules of the configuration file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockterm.config import values
from lockterm.config.file import FROM_ENVIRONMENT, color_key
from lockterm.config.profiles import header_of

LABELS = {
    "name": "Profile name",
    "base_url": "Base URL",
    "timezone": "Time zone",
    "header": "Header",
    "variable": "from variable",
    "account": "Account",
    "ca_file": "CA file",
    "read_only": "Read-only",
    "color": "Color",
}
"""Maps the names of the form's fields to their labels, in the order of the form."""

READ_ONLY, WRITABLE = "no", "yes"
"""The values of the form's field ``read_only``: ``no`` forbids changes, ``yes`` allows changes.

Saved drafts contain these values. The form shows the opposite words as answers to "Read-only".
"""

UNCOLORED = "none"
"""The value of the color field for a profile without a color."""

_SUBJECTS = {
    "name": "The name",
    "base_url": "The base URL",
    "timezone": "The time zone",
    "header": "The header",
    "variable": "The variable",
    "account": "The account",
    "ca_file": "The CA file",
    "color": "The color",
}


@dataclass(frozen=True, slots=True)
class CheckedProfile:
    """The result of a check of the profile form."""

    errors: Mapping[str, str]
    """Maps the names of wrong fields to sentences about their errors, in the order of the form."""
    filed: Mapping[str, Any]
    """The profile's new settings for the file, including those that the form does not show."""


def typed_of(name: str, filed: Mapping[str, Any]) -> dict[str, str]:
    """Return the initial texts of the form's fields for a profile.

    Values of a wrong type become empty.

    Args:
        name: The name of the profile.
        filed: The settings of the profile in the file.
    """
    header, variable = header_of(filed)

    def text(key: str) -> str:
        value = filed.get(key, "")
        return value if isinstance(value, str) else ""

    return {
        "name": name,
        "base_url": text("base_url"),
        "timezone": text("timezone"),
        "header": header,
        "variable": variable,
        "account": text("account"),
        "ca_file": text("ca_file"),
        # A setting of a wrong type may mean read-only, so the user must allow changes.
        "read_only": WRITABLE if filed.get("read_only", False) is False else READ_ONLY,
        "color": text(color_key(filed)) or UNCOLORED,
    }


def check(
    typed: Mapping[str, str],
    filed: Mapping[str, Any],
    taken: Mapping[str, Any],
    relative_to: Path = Path(),
) -> CheckedProfile:
    """Check every field of the form, and return the errors and the settings for the file.

    Args:
        typed: The typed texts by name of the field.
        filed: The profile's current settings in the file.
        taken: A mapping whose keys are the names of other profiles, which cannot be used again.
        relative_to: The directory of the configuration file, to which relative paths refer.
    """
    errors: dict[str, str] = {}

    def checked(field: str, rule: Callable[[str], object]) -> None:
        try:
            rule(typed[field])
        except ValueError as error:
            errors[field] = values.as_sentence(f"{_SUBJECTS[field]} {error}")

    checked("name", values.profile_name)
    if not typed["name"]:
        errors["name"] = "A profile requires a name, such as north-campus."
    elif typed["name"] in taken:
        errors["name"] = f"A profile {values.shorten(typed['name'])} already exists."
    checked("base_url", values.base_url)
    if not typed["base_url"]:
        errors["base_url"] = (
            "A profile requires the address of a service: https://HOST[:PORT][/PATH]."
        )
    if typed["timezone"]:
        checked("timezone", values.timezone)
    if typed["header"]:
        checked("header", values.header_name)
        checked("variable", values.variable)
    elif typed["variable"]:
        errors["header"] = "Type the header that gets the value, such as Authorization."
    if typed["header"] and not typed["variable"]:
        errors["variable"] = "Type the environment variable that contains the value of the header."
    checked("account", values.account)
    if typed["ca_file"]:
        checked("ca_file", lambda name: values.ca_file(name, relative_to))
    elif filed.get("ca_only") is True:
        errors["ca_file"] = "Required, because ca_only is set in the file."
    if typed["color"] != UNCOLORED:
        checked("color", values.color)
    ordered = {field: errors[field] for field in LABELS if field in errors}
    return CheckedProfile(ordered, _filed(typed, filed))


def may_be_secret(field: str, text: str) -> bool:
    """Return whether the text of a field may contain a password or a header value by mistake."""
    if field == "base_url":
        return "@" in text or "?" in text
    if field == "variable":
        return values.shown_variable(text) != f"variable {text}"
    return field == "header" and text != "" and not text.replace("-", "").isalpha()


def _filed(typed: Mapping[str, str], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the profile's new settings for the file; unchanged settings keep their spelling.

    Args:
        typed: The typed texts by name of the field.
        before: The profile's current settings in the file.
    """
    was = typed_of(typed["name"], before)
    filed = dict(before)

    def put(field: str, value: object) -> None:
        kind = bool if field == "read_only" else str
        key = color_key(before) if field == "color" else field
        if typed[field] == was[field] and isinstance(before.get(key, kind()), kind):
            return
        if value:
            filed[key] = value
        else:
            filed.pop(key, None)

    put("base_url", typed["base_url"])
    put("timezone", typed["timezone"])
    put("account", typed["account"])
    put("ca_file", typed["ca_file"])
    put("read_only", typed["read_only"] == READ_ONLY)
    put("color", "" if typed["color"] == UNCOLORED else typed["color"])
    if (typed["header"], typed["variable"]) != (was["header"], was["variable"]):
        headers = {
            name: value
            for name, value in before.get("headers", {}).items()
            if name not in (was["header"], typed["header"])
        }
        if typed["header"]:
            headers[typed["header"]] = FROM_ENVIRONMENT + typed["variable"]
        filed["headers"] = headers
        if not headers:
            del filed["headers"]
    return filed
