"""The command ``lockterm people``, which shows the people of all locks and what they can open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from lockterm.cli.all_locks import list_unread, read_all, to_counts_json
from lockterm.cli.exit_codes import DONE, FAILED, UNREACHABLE, UsageError, notify
from lockterm.cli.manual import UNREAD, list_exit_codes
from lockterm.cli.options import FILE_PATH, Format, reads
from lockterm.cli.output import put, put_csv, put_json, put_table
from lockterm.cli.session import Session
from lockterm.config import Options
from lockterm.domain import markup
from lockterm.domain.listing import split_needle
from lockterm.domain.people import (
    People,
    PeopleSearch,
    count_people,
    describe_bounds,
    describe_person_state,
    describe_similar,
    format_numbers,
    format_person,
)
from lockterm.domain.safe_text import clean
from lockterm.operations.all_locks import describe_reads
from lockterm.operations.export import may_replace, write_file
from lockterm.operations.people import CSV_COLUMNS, TITLE, PeopleReport

_PEOPLE_CODES = list_exit_codes(
    5,
    _1="no person matches, or a file cannot be written",
    _2="an argument or a setting is wrong, or the lock book is empty",
    _3="a lock could not be read; the others are listed",
)

_MANUAL = f"""\
lockterm treats remotes with the same name as one person; case and accents count. It lists the
people with every word of TEXT in their name or numbers. {UNREAD}
\b
Similar names are shown, never joined:
  spelling       they differ in case, accents, dashes or spaces
  one letter     a letter is different, missing or moved by one place
  same number    two names have a remote with the same number

\b
Examples:
  lockterm people
  lockterm people weber --csv > weber.csv
  lockterm people --html people.html --markdown people.md

Until and State use the dates of the lists, not the reported status. A file is replaced only if it
is such a page.
--json prints text, locks, read, notRead (lockId, name, why), and people: a list of name, numbers,
locks (a number), similar (name, why) and remotes (lock, remoteId, number, type, start, end, state,
read).

{_PEOPLE_CODES}"""
"""The part of the help text after the options."""


@click.command(epilog=_MANUAL)
@click.argument("text", metavar="[TEXT]", default="")
@click.option(
    "--html",
    metavar="FILE",
    type=FILE_PATH,
    help="Write an HTML page to this file. [default: none]",
)
@click.option(
    "--markdown",
    "md",
    metavar="FILE",
    type=FILE_PATH,
    help="Write a Markdown page to this file. [default: none]",
)
@reads
def people(options: Options, text: str, form: Format, html: Path | None, md: Path | None) -> int:
    """Show who can open which locks."""
    for path, is_ours in ((html, markup.is_page), (md, _is_page)):
        if path is not None and not may_replace(path, is_ours):
            raise UsageError(
                f"{clean(path)} is not a page of lockterm. Nothing was written.",
                hint="Name another file.",
            )
    with Session(options) as session:
        operations = session.operations
        found = People(operations.now_ms())
        locks = read_all(session)
        for one in locks:
            for block in one.listing.blocks if one.listing is not None else ():
                found.add(one.lock.lock_id, one.lock.zone, block.raws(), block.ends)
        found.compare_letters()
        search = PeopleSearch([person for person in found.sort() if person is not None])
        for _ in search.prepare():
            pass
        shown = [search.people[at] for part in search.find(split_needle(text)) for at in part]
        report = PeopleReport(operations, found, shown, locks, text)
        if form is not Format.TABLE or html is not None or md is not None:
            for _ in report.collect():
                pass
        if html is not None:
            _write(html, report.as_html(), markup.is_page)
        if md is not None:
            _write(md, report.as_markdown(), _is_page)
        if form is Format.JSON:
            put_json({"text": text, **to_counts_json(locks), "people": report.as_json()})
        elif form is Format.CSV:
            put_csv(CSV_COLUMNS, report.csv_rows())
        else:
            now_ms = operations.now_ms()
            zones = {one.lock.zone: operations.zone(one.lock) for one in locks}
            if shown and html is None and md is None:
                put_table(
                    ("Name", "Locks", "Number", "Until", "State", "Similar"),
                    [
                        (
                            format_person(one),
                            one.locks,
                            format_numbers(one),
                            describe_bounds(one.bounds(now_ms), zones.__getitem__),
                            describe_person_state(one, now_ms)[0],
                            describe_similar(found.similar(one), 3),
                        )
                        for one in shown
                    ],
                )
            put(f"{count_people(shown)}. {describe_reads(locks, 0)}.")
    if list_unread(locks):
        return UNREACHABLE
    return FAILED if text and not shown else DONE


def _is_page(content: bytes) -> bool:
    """Return whether the content of a file is empty, or is a Markdown page of this command."""
    return not content or content.startswith(f"# {TITLE}\n".encode())


def _write(path: Path, content: bytes, is_ours: Callable[[bytes], bool]) -> None:
    write_file(path, content, may_replace=is_ours)
    notify(f"Page written to {clean(path)}.")
