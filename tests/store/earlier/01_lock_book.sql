-- A store as the first version with a lock book has written it, by sqlite3 .dump.
BEGIN TRANSACTION;
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
    ;
INSERT INTO "locks" VALUES('north',1001,'Main gate','front','nordriegel','NR-450','Europe/Berlin',3,1764000000000,'de-DE','anna');
INSERT INTO "locks" VALUES('north',1002,'','','','','',NULL,NULL,NULL,NULL);
CREATE TABLE migrations (name TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT INTO "migrations" VALUES('lock_book');
COMMIT;
