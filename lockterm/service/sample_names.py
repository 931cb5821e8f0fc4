"""Names of remotes as a site has them: people, crews, contractors, in several scripts."""

from __future__ import annotations

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


def names_for(lock_id: int, count: int) -> list[str]:
    """``count`` names, each once, the special ones scattered among people."""
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
