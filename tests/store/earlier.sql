BEGIN TRANSACTION;
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
    ;
INSERT INTO "drafts" VALUES('north','remote',1001,48213,'1-ended','{"remoteName": "Anna W."}',1764000004000);
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
INSERT INTO "migrations" VALUES('drafts');
INSERT INTO "migrations" VALUES('drafts_aside');
INSERT INTO "migrations" VALUES('drafts_back');
INSERT INTO "migrations" VALUES('drafts_before_gone');
INSERT INTO "migrations" VALUES('drafts_by_session');
INSERT INTO "migrations" VALUES('journal');
INSERT INTO "migrations" VALUES('journal_account');
INSERT INTO "migrations" VALUES('journal_by_profile');
INSERT INTO "migrations" VALUES('journal_by_remote');
INSERT INTO "migrations" VALUES('journal_by_restored');
INSERT INTO "migrations" VALUES('journal_by_sent_again');
INSERT INTO "migrations" VALUES('journal_by_settled');
INSERT INTO "migrations" VALUES('journal_by_state');
INSERT INTO "migrations" VALUES('journal_credentials');
INSERT INTO "migrations" VALUES('journal_others');
INSERT INTO "migrations" VALUES('journal_service');
INSERT INTO "migrations" VALUES('lock_book');
INSERT INTO "migrations" VALUES('plans');
INSERT INTO "migrations" VALUES('plans_credentials');
INSERT INTO "migrations" VALUES('plans_losses');
INSERT INTO "migrations" VALUES('steps');
INSERT INTO "migrations" VALUES('steps_by_operation');
INSERT INTO "migrations" VALUES('steps_not_planned');
INSERT INTO "migrations" VALUES('steps_note');
INSERT INTO "migrations" VALUES('steps_restores');
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
        , service TEXT NOT NULL DEFAULT '', account TEXT, credentials TEXT, others TEXT);
INSERT INTO "operations" VALUES(1,'op-1','north','update','/api/v1/bluetooth-remote/update','{"lockId": 1001, "remoteId": 48213, "endDate": 1764700000000}',1001,'Main gate',48213,'Anna Weber','[{"id": 48213, "lockId": 1001, "remoteName": "Anna Weber", "remoteNumber": "A-2041", "remoteType": 2, "endDate": 1764600000000, "extraData": {"note": "Tor 2"}}]','confirmed','1-ended',1764000000004,1764000001000,1764000002000,NULL,'','null',NULL,'[]',NULL,NULL,NULL,'https://locks.example.com',NULL,NULL,NULL);
INSERT INTO "operations" VALUES(2,'op-22','north','delete','/api/v1/bluetooth-remote/delete','{"lockId": 1001, "remoteId": 48213}',1001,'Main gate',48213,'Anna Weber','[{"id": 48213, "lockId": 1001, "remoteName": "Anna Weber", "remoteNumber": "A-2041", "remoteType": 2, "endDate": 1764600000000, "extraData": {"note": "Tor 2"}}]','confirmed','1-ended',1764000000005,1764000001000,1764000003000,NULL,'','null',NULL,'[]',NULL,NULL,NULL,'https://locks.example.com',NULL,NULL,'[{"id": 48214, "remoteNumber": "A-2042"}]');
INSERT INTO "operations" VALUES(3,'op-333','north','updateRemoteUserNo','/api/v1/bluetooth-remote/updateRemoteUserNo','{"lockId": 1001, "remoteId": 48213, "userNo": 7}',1001,'Main gate',48213,'Anna Weber','[]','refused','1-ended',1764000000006,1764000001000,1764000003500,20003,'no such remote','null',NULL,'[]',NULL,NULL,NULL,'https://locks.example.com',NULL,NULL,NULL);
INSERT INTO "operations" VALUES(4,'op-4444','north','add','/api/v1/bluetooth-remote/add','{"lockId": 1001, "remoteName": "Crew", "remoteNumber": "A-2"}',1001,'Main gate',NULL,'Anna Weber','[]','unknown','1-ended',1764000000007,1764000001000,NULL,NULL,'no answer','null',NULL,'[]',NULL,NULL,NULL,'https://locks.example.com','north-0f3a9c1d','0f3a9c1d55',NULL);
CREATE TABLE plans (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            profile TEXT NOT NULL,
            service TEXT NOT NULL,
            title TEXT NOT NULL,
            made_ms INTEGER NOT NULL,
            session TEXT NOT NULL DEFAULT ''
        , losses TEXT NOT NULL DEFAULT '[]', credentials TEXT);
INSERT INTO "plans" VALUES(2,'plan-1','north','https://locks.example.com','apply gate.csv',1764000000000,'','["It gets a new id and a new creation time."]','0f3a9c1d55');
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
            operation_id TEXT, is_planned INTEGER NOT NULL DEFAULT 1, restores TEXT, note TEXT NOT NULL DEFAULT '',
            PRIMARY KEY (plan_id, number)
        ) WITHOUT ROWID
    ;
INSERT INTO "steps" VALUES('plan-1',1,'update',1001,48213,'Anna Weber','{"endDate": 1764700000000}','{"id": 48213, "lockId": 1001, "remoteName": "Anna Weber", "remoteNumber": "A-2041", "remoteType": 2, "endDate": 1764600000000, "extraData": {"note": "Tor 2"}}',2,'recorded','','op-1',1,NULL,'');
INSERT INTO "steps" VALUES('plan-1',2,'add',1001,NULL,'Crew','{"remoteName": "Crew"}','{}',NULL,'to_do','',NULL,1,NULL,'It gets access again: it was deleted.');
CREATE INDEX operations_by_state ON operations (state, lock_id);
CREATE INDEX operations_by_remote ON operations (remote_id);
CREATE INDEX operations_by_restored ON operations (restores);
CREATE INDEX operations_by_settled ON operations (lock_id, settled_ms);
CREATE INDEX operations_by_sent_again ON operations (again_of) WHERE again_of IS NOT NULL
    ;
CREATE INDEX operations_by_profile ON operations (profile, lock_id, call)
    ;
CREATE INDEX steps_by_operation ON steps (operation_id) WHERE operation_id IS NOT NULL
    ;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('operations',4);
INSERT INTO "sqlite_sequence" VALUES('plans',2);
COMMIT;
