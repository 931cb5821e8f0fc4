"""Sample data: six locks and their remotes, which are always the same for the same day."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from random import Random

from . import remote_table
from .storage import Connection

_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS

LOCKS: tuple[tuple[int, str, str, str, str, int], ...] = (
    (1001, "Main gate", "North campus, gate 1", "nordriegel", "NR-450", 137),
    (1002, "Loading dock", "North campus, hall B", "nordriegel", "NR-200", 42),
    (1003, "Server room", "North campus, office 2nd floor", "lumenlock", "L7", 9),
    (1004, "Roof hatch", "North campus, hall B", "nordriegel", "NR-200", 0),
    (1005, "Staff entrance", "South campus, reception", "nordriegel", "NR-450", 64),
    (1006, "Chemical store", "South campus, yard", "lumenlock", "L7", 18),
)
"""The ID, name, alias, vendor, model and number of remotes of each lock."""

_LETTERS = {lock[0]: letter for lock, letter in zip(LOCKS, "ABCDEF", strict=True)}
_FIRST_REMOTE_ID = 48_213
_TYPES = (1, 1, 1, 2, 2, 2, 4, 4)
_WEEKDAYS: tuple[list[int], ...] = (
    [1, 2, 3, 4, 5],
    [1, 3, 5],
    [2, 4],
    [6, 7],
    [1, 2, 3, 4, 5, 6, 7],
    [5],
    [],
)
_ENDS_IN_HOURS = (9, 20, 33, 58, 80)
"""Hours from the start of the reference day to the end dates of remotes that expire soon."""

_PEOPLE = (
    "Amelia Hart", "Jonas Weber", "Priya Nair", "Tomás Herrera", "Lena Fischer", "Omar Haddad",
    "Grace Liu", "Viktor Lindqvist", "Chiara Conti", "Samuel Okafor", "Ines Duarte", "Paul Brandt",
    "Maja Kowalska", "Henrik Dahl", "Yusuf Demir", "Nora Jansen", "Felix Braun", "Élise Moreau",
    "Rahul Mehta", "Katarzyna Nowak", "Ben Carter", "Hana Suzuki", "Marco Bellini", "Zoë de Vries",
    "Anton Petrov", "Fatima Zahra", "Lukas Schneider", "Sofía Ortega", "Daniel Kim", "Ingrid Moen",
    "Peter Novák", "Aoife Byrne", "Mehmet Yılmaz", "Clara Hoffmann", "Diego Ramos", "Ruth Adler",
    "Oskar Nilsson", "Leila Rahimi", "Hugo Lambert", "Nina Vogel", "Ivan Horvat", "Emma Clarke",
)  # fmt: skip

_SPECIAL = (
    "王秀英",
    "Night crew 1",
    "🔧 Facilities spare",
    "Brandt Elektro · lift maintenance",
    "张伟（保安队长）",
    "Snow clearing and gritting, Hansen & Sons, winter contract incl. Sundays",
    "👩‍🚒 Fire brigade",
    "清洁班组 · 早班",
    "Deliveries (north side)",
    "محمد الحربي",
    "陈建国",
    "Courier pool 2",
    "田中 さくら",
    "Window cleaners, every first week of the quarter, all floors of hall B and the annex",
    "🚚 Spedition Krüger",
    "Visitors / escorted",
    "Ольга Смирнова",
    "李娜 🌸",
    "Garden crew",
    "Emergency key – glass box",
)

_ROLES = ("spare", "car", "bicycle cage", "weekend", "contractor", "night shift", "temp")


def fill(db: Connection, today: date) -> None:
    """Add the locks and their remotes to an empty database.

    Args:
        db: A connection inside a transaction.
        today: The reference day of all dates, in UTC.
    """
    for lock in LOCKS:
        db.execute(
            "INSERT INTO lock (id, name, alias, vendor, model) VALUES (?, ?, ?, ?, ?)", lock[:5]
        )
    midnight = int(datetime(today.year, today.month, today.day, tzinfo=UTC).timestamp() * 1000)
    random = Random(20)
    waiting = [
        (lock_id, name, position)
        for lock_id, *_, count in LOCKS
        for position, name in enumerate(names_for(lock_id, count))
    ]
    # Remotes of different locks alternate, so that no lock has consecutive IDs.
    waiting.sort(key=lambda item: (item[2] + random.random() * 12, item[0]))
    remote_id = _FIRST_REMOTE_ID
    remotes = []
    for turn, (lock_id, name, position) in enumerate(waiting):
        remote_id += 1 + int(random.random() * 5)
        age = (len(waiting) - turn) * 1.6 + random.random()
        created = midnight - int(age * _DAY_MS)
        remotes.append(_remote(random, remote_id, lock_id, name, position, created, midnight))
    remote_table.insert_many(db, remotes)


def names_for(lock_id: int, count: int) -> list[str]:
    """Return ``count`` different names for remotes of a lock.

    About every fifth name is unusual: for example, it is long, has an emoji, or is in Chinese.
    """
    names: list[str] = []
    turn = lock_id % 7
    while len(names) < count:
        person, lap = _PEOPLE[turn * 5 % len(_PEOPLE)], len(names) // len(_PEOPLE)
        special = len(names) // 5
        if len(names) % 5 == 4 and special < len(_SPECIAL):
            names.append(_SPECIAL[(special + lock_id) % len(_SPECIAL)])
            continue
        name = person if lap == 0 else f"{person}, {_ROLES[(turn + lap) % len(_ROLES)]}"
        turn += 1
        if name not in names:
            names.append(name)
    return names


def _remote(
    random: Random,
    remote_id: int,
    lock_id: int,
    name: str,
    position: int,
    created: int,
    midnight: int,
) -> dict[str, object]:
    kind = _TYPES[(position * 5 + lock_id) % len(_TYPES)]
    start, end, weekdays = 0, 0, list[int]()
    if kind != 1:
        start, end = _period(random, created, midnight)
    if kind == 4:
        weekdays = _WEEKDAYS[position % len(_WEEKDAYS)]
    via_gateway = random.random() < 0.3
    return {
        "id": remote_id,
        "lock_id": lock_id,
        "name": name,
        "number": f"{_LETTERS[lock_id]}-{2041 + position * 3 + int(random.random() * 3)}",
        "type": kind,
        "add_type": 2 if via_gateway else 1,
        "start_ms": start,
        "end_ms": end,
        "weekdays": json.dumps(weekdays),
        "coerced": (0, 2, 2, 0, 1, 2, 0, 2, 2)[position % 9],
        "extra_data": json.dumps(_extra_data(position), ensure_ascii=False),
        "mac": ":".join(f"{int(random.random() * 256):02X}" for _ in range(6)),
        "electric_quantity": 20 + int(random.random() * 81),
        "firmware_info": json.dumps({"version": f"2.{position % 4}.{position % 7}"}),
        "user_no": position + 1,
        "business_id": 500_000 + lock_id,
        "remote_right": 1 if position % 23 == 0 else 2,
        "api_user_id": 30017,
        "created_ms": created,
        "updated_ms": created + int(random.random() * (midnight - created)),
    }


def _period(random: Random, created: int, midnight: int) -> tuple[int, int]:
    """Return the start and the end of a random period, in milliseconds since 1970.

    The period is expired, ends within days, is long, or is upcoming.

    Args:
        random: The source of random numbers.
        created: The time when the remote was created, in milliseconds since 1970.
        midnight: The start of the reference day, in milliseconds since 1970.
    """
    start = created - created % _HOUR_MS
    match int(random.random() * 8):
        case 0 | 5:
            return start, start + int((midnight - start) * (0.3 + random.random() * 0.6))
        case 2:
            return start, midnight + _ENDS_IN_HOURS[int(random.random() * 5)] * _HOUR_MS
        case 6:
            begin = midnight + int(2 + random.random() * 20) * _DAY_MS + 7 * _HOUR_MS
            return begin, begin + 90 * _DAY_MS
        case _:
            days = 20 + int(random.random() * 400)
            return start, midnight + days * _DAY_MS + 18 * _HOUR_MS


def _extra_data(position: int) -> dict[str, object]:
    """Return the extra data of a remote, by the position of its name in :func:`names_for`.

    Half of the remotes have none. Position 17 has about 1 KB, and position 40 almost 2 KB.
    """
    if position == 40:
        return {
            "history": [{"by": "front desk", "note": "battery changed", "n": n} for n in range(30)]
        }
    if position == 17:
        return {"note": "keep " * 180, "checked": True}
    match position % 6:
        case 1:
            return {"dept": ("Facilities", "Logistics", "IT", "Security")[position % 4]}
        case 3:
            return {"company": "Brandt Elektro GmbH", "badge": 7000 + position, "parking": None}
        case 4:
            return {
                "vehicle": {"plate": f"B-LT {1200 + position}", "color": "white"},
                "tags": [1, 2],
            }
        case _:
            return {}
