"""The tables of the store, as the steps that made them."""

from __future__ import annotations

MIGRATIONS_TABLE = "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY) WITHOUT ROWID"
"""Where the names of the steps are that were taken."""

MIGRATIONS: dict[str, str] = {
    "lock_book": """
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
        ) WITHOUT ROWID
    """,
    "journal": """
        CREATE TABLE operations (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            profile TEXT NOT NULL,
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
            restores_remote INTEGER
        )
    """,
    "journal_by_state": "CREATE INDEX operations_by_state ON operations (state, lock_id)",
    "journal_by_remote": "CREATE INDEX operations_by_remote ON operations (remote_id)",
    "journal_by_restored": "CREATE INDEX operations_by_restored ON operations (restores)",
    "drafts": """
        CREATE TABLE drafts (
            profile TEXT NOT NULL,
            form TEXT NOT NULL,
            lock_id INTEGER NOT NULL,
            remote_id INTEGER NOT NULL,
            typed TEXT NOT NULL,
            saved_ms INTEGER NOT NULL,
            session TEXT NOT NULL,
            PRIMARY KEY (profile, form, lock_id, remote_id)
        ) WITHOUT ROWID
    """,
    "journal_service": "ALTER TABLE operations ADD COLUMN service TEXT NOT NULL DEFAULT ''",
    "journal_by_settled": "CREATE INDEX operations_by_settled ON operations (lock_id, settled_ms)",
    "drafts_aside": "ALTER TABLE drafts RENAME TO drafts_before",
    "drafts_by_session": """
        CREATE TABLE drafts (
            profile TEXT NOT NULL,
            form TEXT NOT NULL,
            lock_id INTEGER NOT NULL,
            remote_id INTEGER NOT NULL,
            session TEXT NOT NULL,
            typed TEXT NOT NULL,
            saved_ms INTEGER NOT NULL,
            PRIMARY KEY (profile, form, lock_id, remote_id, session)
        ) WITHOUT ROWID
    """,
    "drafts_back": """
        INSERT INTO drafts (profile, form, lock_id, remote_id, session, typed, saved_ms)
        SELECT profile, form, lock_id, remote_id, session, typed, saved_ms FROM drafts_before
    """,
    "drafts_before_gone": "DROP TABLE drafts_before",
    "journal_by_sent_again": """
        CREATE INDEX operations_by_sent_again ON operations (again_of) WHERE again_of IS NOT NULL
    """,
    "journal_by_profile": """
        CREATE INDEX operations_by_profile ON operations (profile, lock_id, call)
    """,
    "plans": """
        CREATE TABLE plans (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            profile TEXT NOT NULL,
            service TEXT NOT NULL,
            title TEXT NOT NULL,
            made_ms INTEGER NOT NULL,
            session TEXT NOT NULL DEFAULT ''
        )
    """,
    "steps": """
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
            PRIMARY KEY (plan_id, number)
        ) WITHOUT ROWID
    """,
    "steps_not_planned": "ALTER TABLE steps ADD COLUMN is_planned INTEGER NOT NULL DEFAULT 1",
    "steps_restores": "ALTER TABLE steps ADD COLUMN restores TEXT",
    "steps_by_operation": """
        CREATE INDEX steps_by_operation ON steps (operation_id) WHERE operation_id IS NOT NULL
    """,
    "steps_note": "ALTER TABLE steps ADD COLUMN note TEXT NOT NULL DEFAULT ''",
    "plans_losses": "ALTER TABLE plans ADD COLUMN losses TEXT NOT NULL DEFAULT '[]'",
    # In few words: the table of contents has to fit on the first page, or it cannot be salvaged.
    "journal_account": "ALTER TABLE operations ADD COLUMN account TEXT",
    "journal_credentials": "ALTER TABLE operations ADD COLUMN credentials TEXT",
    "journal_others": "ALTER TABLE operations ADD COLUMN others TEXT",
    "plans_credentials": "ALTER TABLE plans ADD COLUMN credentials TEXT",
}
"""Name of a migration -> its statement. Applied once each, in this order, never edited later."""

MADE = frozenset({0x439A41A, 0x7AB73173})
"""Checksums of the tables of contents that all steps make: of the store's and of the cache's. One
that is no such is held against tables that are made to compare: some ms, and 0.7 MiB."""
