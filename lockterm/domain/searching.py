"""The rules for searching remotes, both in the list of one lock and in the lists of all locks."""

from __future__ import annotations

from datetime import tzinfo
from typing import Any

from lockterm.domain.names import fold_text
from lockterm.domain.remotes import AddType, Remote, RemoteType, word
from lockterm.domain.text.validity import describe_validity_briefly

_SEARCHED = ("remoteName", "remoteNumber", "id", "extraData")
"""The contract's names of the fields that are searched."""


def find_missing_words(needle: str, remote: Remote) -> list[str]:
    """Return the words of a search text that a remote does not contain, ignoring case and accents.

    A word may be part of the name, the number, the ID, or any key, text or number in the extra
    data. Fields that do not have the contract's type are searched too. The texts that tables show
    for types and dates are not searched, because Jan and May are also names of people.

    Args:
        needle: The search text, as typed.
        remote: The remote as the service returned it.

    Returns:
        The missing words, in the form of :func:`fold_text`; empty if the remote matches.
    """
    name, number, remote_id = remote.remote_name, remote.remote_number, remote.id
    own = fold_text(f"{name or ''}\n{number or ''}\n{'' if remote_id is None else remote_id}")
    missing = [word for word in fold_text(needle).split() if word not in own]
    if missing and (remote.extra_data or remote.odd):  # the slowest part
        more = fold_text("\n".join(_more_texts(remote)))
        missing = [word for word in missing if word not in more]
    return missing


def is_found(needle: str, remote: Remote) -> bool:
    """Return whether a remote contains every word of a search text; false for an empty text."""
    return bool(fold_text(needle).strip()) and not find_missing_words(needle, remote)


def search_text(remote: Remote) -> str:
    """Return the searched texts of a remote on one line, in the form of :func:`fold_text`.

    A searched word contains no spaces, so it cannot match across two texts.
    """
    name, number, remote_id = remote.remote_name, remote.remote_number, remote.id
    texts = [name or "", number or "", "" if remote_id is None else str(remote_id)]
    if remote.extra_data or remote.odd:
        texts += _more_texts(remote)
    return " ".join(fold_text(" ".join(texts)).split())


def _more_texts(remote: Remote) -> list[str]:
    """Return the texts in the extra data, and in searched fields whose value has a wrong type."""
    texts: list[str] = []
    todo: list[Any] = [remote.odd[name] for name in _SEARCHED if name in remote.odd]
    todo.append(remote.extra_data)
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, dict):
            todo += value
            todo += value.values()
        elif isinstance(value, list):
            todo += value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            texts.append(str(value))
    return texts


def list_column_texts(remote: Remote) -> tuple[str, ...]:
    """Return the texts in a remote's columns for type, way of adding and coerced flag.

    :func:`has_words` searches these texts, and also the texts for the dates and the status, which
    ``describe_validity_briefly`` returns.
    """
    return (
        word(RemoteType, remote.remote_type),
        word(AddType, remote.add_type),
        "coerced" if remote.is_coerced == 1 else "",
    )


def has_words(needle: str, remote: Remote, zone: tzinfo, now_ms: int) -> bool:
    """Return whether a remote contains every word of a search text.

    Unlike :func:`is_found`, this function also searches the texts of the table's columns.
    """
    missing = find_missing_words(needle, remote)
    if not missing:
        return True
    texts = fold_text(
        "\n".join((*list_column_texts(remote), *describe_validity_briefly(remote, now_ms, zone)))
    )
    return all(word in texts for word in missing)
