"""``lockterm remotes ...``: the commands and their options; the work is imported when one runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from lockterm.cli import manual
from lockterm.cli.completing import locks
from lockterm.cli.options import (
    OF_A_SERVICE,
    form_of,
    how_of,
    merged,
    takes,
    takes_form,
    takes_how,
)
from lockterm.config import Options

Command = TypeVar("Command", bound=Callable[..., Any])

LAST_ID = 2**63 - 1
_FLAG = click.Choice(("default", "yes", "no"))

the_lock = click.argument("lock", metavar="LOCK", shell_complete=locks)
the_remote = click.argument("remote", metavar="REMOTE", type=click.IntRange(0, LAST_ID))

_CHANGEABLE = {
    "remoteName": click.option("--name", metavar="TEXT", help="Its name."),
    "remoteType": click.option(
        "--type", type=click.Choice(("permanent", "time-limited", "recurring")), help="Its type."
    ),
    "startDate": click.option("--start", metavar="TIME", help="From when it opens."),
    "endDate": click.option("--end", metavar="TIME", help="Until when it opens."),
    "weekDay": click.option("--days", metavar="DAYS", help="On which weekdays it opens."),
    "isCoerced": click.option("--coerced", type=_FLAG, help="Whether it is a coerced remote."),
    "extraData": click.option("--extra-data", metavar="JSON", help="An object of one's own."),
}
"""Contract field -> the option for it, of what an update can change (4.4)."""

_ON_CREATION = {
    "remoteNumber": click.option("--number", metavar="TEXT", help="Its number."),
    "addType": click.option(
        "--via", type=click.Choice(("bluetooth", "gateway")), help="How it was added. [bluetooth]"
    ),
    "remoteUserNo": click.option("--user-number", metavar="INT", help="Its user number."),
    "remoteRight": click.option("--admin-right", type=_FLAG, help="Administrator authorization."),
    "mac": click.option("--mac", metavar="TEXT", help="Its MAC address."),
    "electricQuantity": click.option("--battery", metavar="INT", help="Its battery level."),
    "businessId": click.option("--business-id", metavar="INT", help="A business association."),
    "firmwareInfo": click.option("--firmware-info", metavar="JSON", help="An object."),
}
"""The same of what only an add takes (4.1)."""


def _takes_fields(fields: Mapping[str, Callable[[Command], Command]]) -> Callable[..., Any]:
    def decorate(command: Command) -> Command:
        for option in reversed(list(fields.values())):
            command = option(command)
        return command

    return decorate


def _given(given: dict[str, Any]) -> dict[str, str]:
    """Contract field -> text as in the form, of the options that were given."""
    from lockterm.cli.remote_typing import FLAGS, OPTIONS, TYPES, VIAS

    numbers = {"remoteType": TYPES, "addType": VIAS, "isCoerced": FLAGS, "remoteRight": FLAGS}
    found: dict[str, str] = {}
    for field, option in OPTIONS.items():
        value = given.pop(option.removeprefix("--").replace("-", "_"), None)
        if value is not None:
            found[field] = numbers[field][value] if field in numbers else value
    return found


@click.group(no_args_is_help=False, epilog=manual.REMOTES)
def remotes() -> None:
    """List, add, change and delete the remotes of a lock."""


@remotes.command("list", epilog=manual.LIST)
@the_lock
@click.option("--page", type=click.IntRange(1, LAST_ID), help="Which page. [1]")
@click.option("--page-size", type=click.IntRange(1, 200), help="Remotes a page. [the profile's]")
@click.option("--all", "everything", is_flag=True, help="All of them.")
@takes_form
@takes(*OF_A_SERVICE)
@click.pass_context
def list_remotes(context: click.Context, /, lock: str, **given: Any) -> int:
    """List the remotes of a lock."""
    options, form = merged(context.obj, given), form_of(given)
    if given["everything"] and (given["page"] or given["page_size"]):
        raise click.UsageError("--all has no pages: leave out --page and --page-size", context)
    from lockterm.cli.remote_reading import run_list

    page_no = given.pop("page") or 1
    return run_list(options, lock, form, page_no=page_no, **given)


@remotes.command(epilog=manual.EXIT_CODES)
@the_lock
@the_remote
@takes_form
@takes(*OF_A_SERVICE)
@click.pass_obj
def show(options: Options, /, lock: str, remote: int, **given: Any) -> int:
    """Show every field of a remote."""
    from lockterm.cli.remote_reading import run_show

    return run_show(merged(options, given), lock, remote, form_of(given))


@remotes.command(epilog=manual.ADD)
@the_lock
@_takes_fields(
    {"remoteName": _CHANGEABLE["remoteName"], "remoteNumber": _ON_CREATION["remoteNumber"]}
    | _CHANGEABLE
    | _ON_CREATION
)
@takes_how
@takes(*OF_A_SERVICE)
@click.pass_obj
def add(options: Options, /, lock: str, **given: Any) -> int:
    """Add a remote to a lock."""
    from lockterm.cli.remote_writing import run_add

    return run_add(merged(options, given), lock, _given(given), how_of(given))


@remotes.command(epilog=manual.UPDATE)
@the_lock
@the_remote
@_takes_fields(_CHANGEABLE)
@takes_how
@takes(*OF_A_SERVICE)
@click.pass_context
def update(context: click.Context, /, lock: str, remote: int, **given: Any) -> int:
    """Change a remote."""
    options, typed = merged(context.obj, given), _given(given)
    if not typed:
        raise click.UsageError("Say what to change, such as --end +30d", context)
    from lockterm.cli.remote_writing import run_update

    return run_update(options, lock, remote, typed, how_of(given))


@remotes.command(epilog=manual.DELETE)
@the_lock
@the_remote
@takes_how
@takes(*OF_A_SERVICE)
@click.pass_obj
def delete(options: Options, /, lock: str, remote: int, **given: Any) -> int:
    """Delete a remote, after asking."""
    from lockterm.cli.remote_writing import run_delete

    return run_delete(merged(options, given), lock, remote, how_of(given))


@remotes.command(epilog=manual.CLEAR)
@the_lock
@takes_how
@takes(*OF_A_SERVICE)
@click.pass_obj
def clear(options: Options, /, lock: str, **given: Any) -> int:
    """Delete all remotes of a lock, after asking."""
    from lockterm.cli.remote_writing import run_clear

    return run_clear(merged(options, given), lock, how_of(given))


@remotes.command(epilog=manual.EXIT_CODES)
@the_lock
@the_remote
@click.argument("number", metavar="NUMBER", type=click.IntRange(-(2**63), LAST_ID))
@takes_how
@takes(*OF_A_SERVICE)
@click.pass_obj
def user_number(options: Options, /, lock: str, remote: int, number: int, **given: Any) -> int:
    """Set the user number of a remote.

    The service has no way to read it back.
    """
    from lockterm.cli.remote_writing import run_user_number

    return run_user_number(merged(options, given), lock, remote, number, how_of(given))


@remotes.command(epilog=manual.EXIT_CODES)
@the_lock
@click.argument("name", metavar="NAME")
@click.option("--json", "as_json", is_flag=True, help="JSON.")
@takes(*OF_A_SERVICE)
@click.pass_obj
def check_name(options: Options, /, lock: str, name: str, as_json: bool, **given: Any) -> int:
    """Ask whether a name is free on a lock.

    The exit code is 1 where it is taken.
    """
    from lockterm.cli.remote_reading import run_check_name

    return run_check_name(merged(options, given), lock, name, as_json=as_json)
