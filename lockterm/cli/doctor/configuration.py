"""The doctor's look at the settings."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path

from lockterm.cli.doctor.finding import Finding
from lockterm.config import Options, Settings, load_settings
from lockterm.config.file import read_config
from lockterm.config.zone_data import describe_zone_data, zone_data
from lockterm.errors import ConfigError


def configuration_findings(
    config_file: Path, options: Options, environ: Mapping[str, str], settings: Settings
) -> Iterator[Finding]:
    """What the settings come to, and which other profiles could not be used.

    Unknown keys and wrong values of the profile in use are an error before this is reached.
    """
    config = read_config(config_file)
    if config is None:
        yield Finding("OK", f"There is no {config_file}: nothing has to be there.")
    else:
        mode = stat.S_IMODE(config_file.stat().st_mode)
        facts = {"file": str(config_file), "mode": f"{mode:04o}", "profiles": len(config.profiles)}
        if mode & 0o022:
            sentence = f"Others can change {config_file}, and so where lockterm connects to."
            yield Finding("WARN", sentence, f"Run: chmod 600 {config_file}", facts)
        else:
            sentence = f"{config_file} ({mode:04o}) has no unknown keys."
            yield Finding("OK", sentence, facts=facts)
    data = zone_data()
    facts = {"timeZones": asdict(data)}
    yield Finding("OK", f"Time zones are of {describe_zone_data(data)}.", facts=facts)
    profile = settings.profile
    if profile is None:
        advice = f"Try lockterm demo, give --base-url, or write a profile into {config_file}."
        yield Finding("FAIL", "No service is known.", advice)
        return
    chosen = {"profile": profile.name, "baseUrl": profile.base_url, "readOnly": profile.read_only}
    read_only = ", read-only" if profile.read_only else ""
    sentence = f"The profile {profile.name} is on {profile.base_url}{read_only}."
    yield Finding("OK", sentence, facts=chosen)
    for warning in profile.warnings:
        yield Finding("WARN", warning)
    for name in config.profiles if config else ():
        try:
            load_settings(config_file, replace(options, profile=name), environ)
        except ConfigError as error:
            yield Finding("WARN", error.message, error.hint)
