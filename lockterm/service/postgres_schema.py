"""The only schema in PostgreSQL that the service uses; no other role may add anything to it.

A function, operator or trigger of another role would run with the rights of the service.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

from .storage import Unusable

_STRANGERS = """
WITH trusted AS (
    SELECT oid FROM pg_roles WHERE rolsuper OR rolname = current_user
    UNION ALL
    -- The one member of this role is the owner of the database.
    SELECT role.oid FROM pg_roles AS role, pg_database JOIN pg_roles AS own ON own.oid = datdba
    WHERE role.rolname = 'pg_database_owner' AND datname = current_database()
        AND (own.rolsuper OR own.rolname = current_user)
), place AS (
    SELECT oid, nspname, nspowner, nspacl FROM pg_namespace WHERE nspname = current_schema()
), found (what, role) AS (
    SELECT 'its schema ' || nspname || ' belongs to the role ', nspowner FROM place
    UNION ALL
    SELECT 'anything can be put into its schema ' || nspname || ' by the role ', acl.grantee
    FROM place, aclexplode(nspacl) AS acl WHERE acl.privilege_type = 'CREATE'
    UNION ALL
    SELECT 'its table or sequence ' || relname || ' belongs to the role ', relowner
    FROM pg_class JOIN place ON place.oid = relnamespace
    UNION ALL
    SELECT 'a trigger can be added to its table ' || relname || ' by the role ', acl.grantee
    FROM pg_class JOIN place ON place.oid = relnamespace, aclexplode(relacl) AS acl
    WHERE acl.privilege_type = 'TRIGGER'
    UNION ALL
    SELECT 'its function ' || proname || ' belongs to the role ', proowner
    FROM pg_proc JOIN place ON place.oid = pronamespace
    UNION ALL
    SELECT 'its operator ' || oprname || ' belongs to the role ', oprowner
    FROM pg_operator JOIN place ON place.oid = oprnamespace
    UNION ALL
    SELECT 'its type ' || typname || ' belongs to the role ', typowner
    FROM pg_type JOIN place ON place.oid = typnamespace
    UNION ALL
    SELECT 'its trigger ' || tgname || ' runs a function of the role ', proowner
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN place ON place.oid = relnamespace
    JOIN pg_proc ON pg_proc.oid = tgfoid
)
SELECT what || CASE role WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(role) END
FROM found WHERE role NOT IN (SELECT oid FROM trusted) LIMIT 1
"""
"""Query for a role, other than this one and superusers, that could change what a statement does."""


def keep_to_schema(connection: psycopg.Connection[Any], schema: str) -> None:
    """Limit a connection to names in ``pg_catalog``, this schema and ``pg_temp``, in this order."""
    # pg_catalog is always searched first unless it is named.
    name = sql.Identifier(schema)
    connection.execute(sql.SQL("SET search_path = {}, pg_temp").format(name))


def own_schema(connection: psycopg.Connection[Any], shown: str) -> str:
    """Limit a connection to the first schema in its role's search path, and return its name.

    Args:
        connection: A connection inside a transaction.
        shown: The name of the database that is safe to show.

    Raises:
        Unusable: There is no schema, or another role can add objects to the schema.
    """
    row = connection.execute("SELECT pg_catalog.current_schema()").fetchone()
    if row is None or row[0] is None:
        raise Unusable(
            "its search_path names no schema that is there",
            shown,
            "Run in it: CREATE SCHEMA lockterm AUTHORIZATION lockterm, for a role lockterm.",
        )
    schema = str(row[0])
    keep_to_schema(connection, schema)
    if found := connection.execute(_STRANGERS).fetchone():
        raise Unusable(
            f"{found[0]}, who could change what the service does",
            shown,
            f"Run in it, with the role that is named: REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC;"
            f" REVOKE TRIGGER ON ALL TABLES IN SCHEMA {schema} FROM PUBLIC. Or give the service a"
            " schema of its own, with CREATE SCHEMA ... AUTHORIZATION.",
        )
    return schema
