"""The keys from the table ``[keys]`` of the configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lockterm.config.file import ConfigFile, read_config
from lockterm.config.values import as_sentence
from lockterm.errors import ConfigError
from lockterm.keymap import DEFAULT_KEYMAP, Keymap


def resolve_keys(file: ConfigFile, origins: dict[str, str], warnings: list[str]) -> Keymap:
    """Return the keymap that the configuration describes.

    It contains the actions with chosen keys. It also contains each action whose default key was
    chosen for another action, with the keys that are left.

    Args:
        file: The configuration.
        origins: Receives the origin of each setting.
        warnings: Receives a sentence for each action that loses a default key.

    Raises:
        ConfigError: An action ID or a key is unknown, or two actions have the same key.
    """
    if not file.keys:
        return DEFAULT_KEYMAP
    from lockterm.keymap.check import WrongKeyError, check, gave_way

    paths: dict[str, tuple[str, ...]] = {}
    chosen: dict[str, Any] = {}
    for path, value in _leaves(file.keys, ("keys",)):
        name = ".".join(path[1:])
        if name in paths:
            raise ConfigError(f"{file.place(*path)}: {name} occurs twice.", hint="Keep only one.")
        paths[name], chosen[name] = path, value
        origins[f"keys.{name}"] = file.place(*path)
    try:
        keymap = check(chosen)
    except WrongKeyError as error:
        place = file.place(*paths[error.name])
        raise ConfigError(as_sentence(f"{place}: {error}"), hint=error.hint) from None
    warnings += sorted(gave_way(chosen, keymap))
    return keymap


def keys_in(path: Path) -> Keymap:
    """Return the keymap of a configuration file, which need not exist.

    Raises:
        ConfigError: The file or its keys cannot be used.
    """
    file = read_config(path)
    return DEFAULT_KEYMAP if file is None else resolve_keys(file, {}, [])


def _leaves(
    table: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path and the value of each setting in nested tables.

    TOML reads the key ``remotes.delete`` as a table inside a table if it has no quotes.
    """
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value
