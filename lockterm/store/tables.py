"""The tables of the store.

SQLite saves each statement as written here. A file can be salvaged only if its schema fits on the
first page. Therefore the statements are not indented.
"""

from __future__ import annotations

VERSION = 1
"""The version of the tables, saved in each file as ``user_version``."""

TABLES = (
    """\
CREATE TABLE locks (
profile TEXT NOT NULL,
lock_id INTEGER NOT NULL,
name TEXT NOT NULL,
alias TEXT NOT NULL,
vendor TEXT NOT NULL,
model TEXT NOT NULL,
zone TEXT NOT NULL,
remotes INTEGER,
opened_ms INTEGER,
voice_lang TEXT,
voice_timbre TEXT,
PRIMARY KEY (profile, lock_id)
) WITHOUT ROWID""",
    """\
CREATE TABLE operations (
seq INTEGER PRIMARY KEY AUTOINCREMENT,
id TEXT NOT NULL UNIQUE,
profile TEXT NOT NULL,
service TEXT NOT NULL DEFAULT '',
call TEXT NOT NULL,
path TEXT NOT NULL,
body TEXT NOT NULL,
lock_id INTEGER NOT NULL,
lock_name TEXT NOT NULL,
remote_id INTEGER,
remote_name TEXT NOT NULL,
before TEXT NOT NULL,
state TEXT NOT NULL,
session TEXT NOT NULL,
prepared_ms INTEGER NOT NULL,
sent_ms INTEGER,
settled_ms INTEGER,
code INTEGER,
message TEXT NOT NULL,
answer TEXT NOT NULL,
read_ms INTEGER,
candidates TEXT NOT NULL,
again_of TEXT,
restores TEXT,
restores_remote INTEGER,
account TEXT,
credentials TEXT,
others TEXT
)""",
    "CREATE INDEX operations_by_state ON operations (state, lock_id)",
    "CREATE INDEX operations_by_remote ON operations (remote_id)",
    "CREATE INDEX operations_by_restored ON operations (restores)",
    "CREATE INDEX operations_by_settled ON operations (lock_id, settled_ms)",
    "CREATE INDEX operations_by_sent_again ON operations (again_of) WHERE again_of IS NOT NULL",
    "CREATE INDEX operations_by_profile ON operations (profile, lock_id, call)",
    """\
CREATE TABLE drafts (
profile TEXT NOT NULL,
form TEXT NOT NULL,
lock_id INTEGER NOT NULL,
remote_id INTEGER NOT NULL,
session TEXT NOT NULL,
typed TEXT NOT NULL,
saved_ms INTEGER NOT NULL,
PRIMARY KEY (profile, form, lock_id, remote_id, session)
) WITHOUT ROWID""",
    """\
CREATE TABLE plans (
seq INTEGER PRIMARY KEY AUTOINCREMENT,
id TEXT NOT NULL UNIQUE,
profile TEXT NOT NULL,
service TEXT NOT NULL,
title TEXT NOT NULL,
made_ms INTEGER NOT NULL,
session TEXT NOT NULL DEFAULT '',
losses TEXT NOT NULL DEFAULT '[]',
credentials TEXT
)""",
    """\
CREATE TABLE steps (
plan_id TEXT NOT NULL,
number INTEGER NOT NULL,
action TEXT NOT NULL,
lock_id INTEGER NOT NULL,
remote_id INTEGER,
remote_name TEXT NOT NULL,
wanted TEXT NOT NULL,
before TEXT NOT NULL,
line INTEGER,
state TEXT NOT NULL,
message TEXT NOT NULL,
operation_id TEXT,
is_planned INTEGER NOT NULL DEFAULT 1,
restores TEXT,
note TEXT NOT NULL DEFAULT '',
PRIMARY KEY (plan_id, number)
) WITHOUT ROWID""",
    "CREATE INDEX steps_by_operation ON steps (operation_id) WHERE operation_id IS NOT NULL",
)
"""The statements that create the tables of a new store, in this order."""

EARLIER = b"migrations"
"""The name of a table that only stores from before the first release have."""
