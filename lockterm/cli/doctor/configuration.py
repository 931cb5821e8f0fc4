"""The doctor's look at the settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from lockterm.cli.doctor.finding import Finding, sentence_of
from lockterm.config import Options, Settings, load_settings
from lockterm.config.file import read_config
from lockterm.errors import ConfigError


def configuration_findings(
    config_file: Path, options: Options, environ: Mapping[str, str], settings: Settings
) -> Iterator[Finding]:
    """What the settings come to, and which other profiles could not be used."""
    profile = settings.profile
    if profile is None:
        yield Finding(
            "wrong",
            "configuration",
            f"No service is known: write a profile into {config_file}, or give --base-url.",
        )
        return
    yield Finding("ok", "configuration", f"The profile {profile.name} is on {profile.base_url}.")
    for warning in profile.warnings:
        yield Finding("note", "configuration", warning)
    config = read_config(config_file)
    for name in config.profiles if config else ():
        try:
            load_settings(config_file, replace(options, profile=name), environ)
        except ConfigError as error:
            yield Finding("note", "configuration", sentence_of(error))
