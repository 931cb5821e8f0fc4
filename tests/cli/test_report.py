"""``lockterm report``: the HTML page on all locks, and the list of low batteries."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from lockterm.domain.locks import Lock
from lockterm.operations.batteries import PROBED
from tests.cli.conftest import Scripts, answer_changed, parse_csv
from tests.cli.test_all_locks import BOOK, all_but_the_dock, ending, half
from tests.faults.catalogue import reset
from tests.faults.proxy import Exchange, FaultProxy
from tests.programs import require

__all__ = ["half"]

# --- the page ------------------------------------------------------------------------------------

HOSTILE = "<script>document.title='owned'</script><img src=http://127.0.0.1:9/x>\x1b[31m"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


class _Tables(HTMLParser):
    """Collects the rows of each section of a page, and its tags."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.rows: dict[str, list[list[str]]] = {"": []}
        self.tags: set[str] = set()
        self._section, self._text = "", ""
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows[self._section].append([])
        if tag in ("td", "th", "h2"):
            self._text = ""

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "h2":
            self._section = self._text
            self.rows[self._section] = []
        if tag in ("td", "th"):
            self.rows[self._section][-1].append(self._text.strip())


def _read(file: Path) -> _Tables:
    return _Tables(file.read_text("utf-8"))


def test_report_page_counts_states_ends_and_changes(scripts: Scripts) -> None:
    scripts.keep([Lock(1004, name="Roof"), Lock(1003, name=HOSTILE, zone="Asia/Tokyo")])
    assert scripts.run("remotes", "clear", "1003", "--yes").returncode == 0
    added = ("remotes", "add", "1004", "--name", "Z", "--number", "Z", "--type", "permanent")
    assert scripts.run(*added).returncode == 0
    for name, days in (("over", -3), ("soon", 3), ("near", 20), ("late", 80), ("far", 200)):
        scripts.have(1004, remoteName=name, remoteNumber=name, **ending(days))
    scripts.have(1003, remoteName="tokyo", remoteNumber="T-1", **ending(10))
    file = scripts.home / "report.html"
    made = scripts.run("report", "--html", str(file))
    assert (made.returncode, made.stdout) == (0, "")
    assert made.stderr == f"lockterm: Report of 2 locks written to {file}.\n"
    assert file.stat().st_mode & 0o777 == 0o600
    page = _read(file)
    facts = {row[0]: row[1] for row in page.rows[""]}
    assert (facts["Profile"], facts["Locks read"], facts["Remotes"]) == ("site", "2 of 2", "7")
    assert {row[0]: row[1] for row in page.rows["Remotes by state"][1:]} == {
        "expired": "1",
        "expires within 7 days": "1",
        "expires within 30 days": "2",
        "active": "3",
    }
    titles, room, roof = page.rows["Remotes by lock"]
    assert titles == [
        *("Lock", "ID", "Remotes", "expired", "< 7 days", "< 30 days", "active", "List")
    ]
    assert roof[:-1] == ["Roof", "1004", "6", "1", "1", "1", "3"]
    assert room[0] == HOSTILE.replace("\x1b", "\ufffd") and room[2] == "1"
    assert roof[-1].startswith("read ")
    weeks = page.rows["Remotes that expire in the next 90 days"][1:]
    assert sum(int(row[1]) for row in weeks) == 4
    assert [int(row[1]) for row in weeks if row[1] != "0"] == [1, 1, 1, 1]
    changes = page.rows["Changes"]
    assert ["add", "1", "0", "0", "0"] in changes and ["clear", "1", "0", "0", "0"] in changes
    assert ["Roof", "1004", "1", "0", "0", "0"] in changes
    assert not {"script", "img", "link"} & page.tags


async def test_report_page_counts_a_lock_as_last_read_when_it_does_not_answer(
    scripts: Scripts, half: FaultProxy
) -> None:
    file = scripts.home / "report.html"

    async def rows(code: int) -> dict[str, list[list[str]]]:
        assert (await scripts.arun("report", "--html", str(file))).returncode == code
        return _read(file).rows

    first = await rows(3)
    dock = ["Loading dock", "1002", "no answer", "not counted"]
    assert first["Locks not read"][1:] == [dock]
    assert ["Loading dock", "1002", "-"] in [row[:3] for row in first["Remotes by lock"]]
    half.disarm("list")
    assert "Locks not read" not in await rows(0), "the earlier page was replaced"
    half.arm("list", all_but_the_dock)
    third = await rows(3)
    assert third["Locks not read"][1:] == [[*dock[:3], "counted as last read"]]
    assert ["Loading dock", "1002", "42"] in [row[:3] for row in third["Remotes by lock"]]


def test_report_page_replaces_no_other_file(scripts: Scripts) -> None:
    scripts.keep(BOOK)
    notes = scripts.file("notes.html", "<!DOCTYPE html>\n<p>mine</p>")
    words = "is not a page of lockterm. Nothing was sent or written."
    scripts.refuse("report", "--html", notes, words=words)
    assert Path(notes).read_text() == "<!DOCTYPE html>\n<p>mine</p>"
    assert not scripts.service.requests
    missing = str(scripts.home / "none/report.html")
    scripts.refuse("report", "--html", missing, words="cannot be written", code=1)
    scripts.refuse("report", "--html", "a.html", "--csv")
    scripts.refuse("report", "--html", "a.html", "--within", "soon")


_WIDTHS = {"print": 680, "screen": 1280}
"""Medium -> its width in pixels: a sheet of A4 without its margins, and a window."""
_MEASURE = """
<script>
document.title = [innerWidth, document.documentElement.scrollWidth,
  [...document.querySelectorAll("td, th, p, h1, h2, text")].filter(one =>
    one.getBoundingClientRect().right > innerWidth + 1 || one.scrollWidth > one.clientWidth + 1
    && one.clientWidth).length, getComputedStyle(document.body).backgroundColor].join(" ");
</script>
"""


def _browse(*arguments: str) -> str:
    """Run a headless browser, and return the page as the browser understood it."""
    browser = next(filter(shutil.which, BROWSERS), "")
    require(BROWSERS[0], BROWSERS[0], found=bool(browser))
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_report_page_is_complete_in_a_browser(scripts: Scripts) -> None:
    scripts.keep([Lock(1001, name="W" * 60), Lock(1005, name=HOSTILE)])
    file = scripts.home / "report.html"
    assert scripts.run("report", "--html", str(file)).returncode == 0
    log = scripts.home / "net.json"
    shown = _browse(f"--log-net-log={log}", "--dump-dom", file.as_uri())
    assert "owned" not in shown.partition("</title>")[0]
    assert _Tables(shown).rows == _read(file).rows
    assert "127.0.0.1:9" not in log.read_text(errors="replace"), "the page asked for a picture"
    # A copy that may run a script measures itself.
    measured = scripts.home / "measured.html"
    content = file.read_text("utf-8").replace("default-src 'none'", "script-src 'unsafe-inline'")
    content = content.replace("</body>", f"{_MEASURE}</body>")
    for medium, width in _WIDTHS.items():
        size = f"--window-size={width},900"
        measured.write_text(content.replace(f"@media {medium} {{", "@media all {"), "utf-8")
        title = _browse(size, "--dump-dom", measured.as_uri()).partition("</title>")[0]
        inner, whole, cut, _ = title.rpartition("<title>")[2].split(" ", 3)
        assert int(inner) == width
        assert int(whole) <= int(inner), f"the page is wider than {medium}"
        assert cut == "0", f"{cut} texts are cut in {medium}"
    printed = scripts.home / "report.pdf"
    _browse(f"--print-to-pdf={printed}", file.as_uri())
    assert printed.read_bytes().startswith(b"%PDF")


# --- batteries -----------------------------------------------------------------------------------


@pytest.fixture
def details(scripts: Scripts, proxy: FaultProxy) -> Callable[..., None]:
    """Add a remote to a roof for each of some fields, which the service adds to its details."""

    def details(*fields: dict[str, Any]) -> None:
        scripts.keep([Lock(1004, name="Roof")])
        ids = [
            scripts.have(remoteName=f"Name {number}", remoteNumber=f"N-{number}")
            for number in range(len(fields))
        ]

        async def spoil(exchange: Exchange) -> None:
            await answer_changed(
                exchange, lambda one: one["data"].update(fields[ids.index(one["data"]["id"])])
            )

        proxy.arm("detail", spoil)

    return details


Details = Callable[..., None]
REPORT = ("report", "--battery", "20")


LEVELS: list[dict[str, Any]] = [
    {"electricQuantity": 55},
    {"electricQuantity": 20, "firmwareInfo": {"version": "1.2\x1b[31m"}},
    {"electricQuantity": 3},
    {"electricQuantity": 21},
    {"electricQuantity": None},
    {"electricQuantity": -1},
    {"electricQuantity": "4"},
    {},
]


async def test_report_battery_lists_low_levels_and_counts_the_unknown(
    scripts: Scripts, details: Details
) -> None:
    details(*LEVELS)
    shown = await scripts.arun(*REPORT)
    assert (shown.returncode, shown.stderr) == (1, "")
    titles, first, second, end = shown.stdout.splitlines()
    assert titles.split() == ["Battery", "Lock", "ID", "Name", "Number", "Firmware"]
    assert first.split()[:3] == ["3", "%", "Roof"] and first.endswith("N-2     -")
    assert second.split()[:3] == ["20", "%", "Roof"] and '"version"' in second
    assert "\x1b" not in shown.stdout
    assert end == "2 remotes at or below 20 %, 8 of 8 remotes read, 4 without a battery level"
    told = json.loads((await scripts.arun(*REPORT, "--json")).stdout)
    low = [(one["level"], one["remote"]["remoteNumber"]) for one in told["low"]]
    assert low == [(3, "N-2"), (20, "N-1")]
    assert (told["withoutLevel"], told["remotesNotRead"]) == (4, 0)
    assert parse_csv((await scripts.arun("report", "--battery", "0", "--csv")).stdout) == []
    fine = await scripts.arun("report", "--battery", "2")
    assert (fine.returncode, fine.stdout.count("\n")) == (0, 1)


async def test_report_battery_says_once_when_the_service_reports_none(
    scripts: Scripts, details: Details
) -> None:
    details(*[{}] * 45)
    shown = await scripts.arun(*REPORT)
    assert (shown.returncode, shown.stdout) == (3, "")
    assert shown.stderr.startswith("lockterm: The service does not report battery levels. ")
    assert shown.stderr.count("\n") == 1
    asked = sum(path.endswith("/detail") for _, path in scripts.service.requests)
    assert PROBED <= asked < PROBED + 10, "it did not ask for all of them"


async def test_report_battery_reads_at_most_the_given_number(
    scripts: Scripts, details: Details
) -> None:
    details(*[{"electricQuantity": 9}] * 4)
    shown = await scripts.arun(*REPORT, "--max-details", "3")
    assert shown.returncode == 3
    assert shown.stdout.endswith("3 remotes at or below 20 %, 3 of 4 remotes read\n")
    assert shown.stderr == "lockterm: 1 remote not read. Raise --max-details to read more.\n"


@pytest.mark.long
async def test_report_battery_stops_when_the_service_stops_answering(
    scripts: Scripts, details: Details, proxy: FaultProxy
) -> None:
    details(*[{"electricQuantity": 9}] * 30)
    proxy.arm("detail", reset)
    shown = await scripts.arun(*REPORT)
    assert shown.returncode == 3
    assert shown.stderr.startswith("lockterm: 30 remotes not read. No answer")
    proxy.arm("list", all_but_the_dock)
    scripts.keep([Lock(1002, name="Dock")])
    unread = await scripts.arun(*REPORT)
    assert unread.returncode == 3 and "Dock: no answer" in unread.stderr


async def test_report_battery_prints_what_was_read_when_interrupted(
    scripts: Scripts, details: Details, proxy: FaultProxy
) -> None:
    held, free = asyncio.Event(), asyncio.Event()
    details(*[{}] * 30)

    async def hold(exchange: Exchange) -> None:
        if sum(call == "detail" for call in proxy.asked) > 12:
            held.set()
            await free.wait()
        await answer_changed(exchange, lambda one: one["data"].update(electricQuantity=9))

    proxy.arm("detail", hold)
    command = await scripts.start(*REPORT)
    await asyncio.wait_for(held.wait(), 30)
    command.send_signal(signal.SIGINT)
    await asyncio.wait_for(command.stderr.readuntil(b"under way ...\n"), 30)
    free.set()
    out, err = await asyncio.wait_for(command.communicate(), 30)
    assert command.returncode == 130, err
    assert 12 <= int(out.splitlines()[-1].split()[0]) < 30, "what was read is shown"
    assert b"remotes not read. Interrupted." in err


def test_report_battery_refuses_wrong_options(scripts: Scripts) -> None:
    for wrong in (
        ("--battery", "101"),
        ("--battery", "-1"),
        ("--battery", "low"),
        ("--battery", "20", "--within", "3d"),
        ("--battery", "20", "--html", "a.html"),
        ("--battery", "20", "--max-details", "0"),
        ("--max-details", "5"),
    ):
        scripts.refuse("report", *wrong)
    assert not scripts.service.requests
