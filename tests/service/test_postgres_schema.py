"""No other role of the database decides what a statement of the service does."""

from __future__ import annotations

import pytest

from lockterm.service.app import create_service
from tests.service.cluster import Cluster, make_tables, name_of, refusal

pytestmark = pytest.mark.long

FUNCTION = "CREATE FUNCTION {} RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$"
TRIGGER = "CREATE TRIGGER odd BEFORE INSERT ON remote FOR EACH ROW EXECUTE FUNCTION {}()"


@pytest.fixture
def place(cluster: Cluster) -> str:
    """A database of an ordinary role, served once; another role may do nothing in it."""
    address = cluster.new_database()
    for role in ("plain", "mallory"):
        if not cluster.do(f"SELECT 1 FROM pg_roles WHERE rolname = '{role}'"):
            cluster.do(f"CREATE ROLE {role} LOGIN")
    cluster.do(f"ALTER DATABASE {name_of(address)} OWNER TO plain")
    # Until PostgreSQL 14, the owner of a database may not create in its schema public.
    cluster.do("GRANT CREATE ON SCHEMA public TO plain", address)
    address = address.replace("lockterm@", "plain@")
    make_tables(address)
    return address


@pytest.mark.parametrize(
    ("statements", "named"),
    [
        (["GRANT CREATE ON SCHEMA public TO PUBLIC"], "public by the role PUBLIC"),
        (["GRANT CREATE ON SCHEMA public TO mallory"], "public by the role mallory"),
        (["ALTER SCHEMA public OWNER TO mallory"], "schema public belongs to the role mallory"),
        (["ALTER TABLE remote OWNER TO mallory"], "sequence remote belongs to the role mallory"),
        (
            [FUNCTION.format("odd()"), "ALTER FUNCTION odd OWNER TO mallory"],
            "function odd belongs to the role mallory",
        ),
        (
            ["CREATE SCHEMA other", FUNCTION.format("other.odd()"), TRIGGER.format("other.odd"),
             "ALTER FUNCTION other.odd OWNER TO mallory"],
            "trigger odd runs a function of the role mallory",
        ),
        (
            ["CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq)",
             "ALTER OPERATOR === (int, int) OWNER TO mallory"],
            "operator === belongs to the role mallory",
        ),
        (["GRANT TRIGGER ON remote TO mallory"], "added to its table remote by the role mallory"),
        (["GRANT ALL ON remote TO PUBLIC"], "added to its table remote by the role PUBLIC"),
        (["CREATE VIEW more AS SELECT 1", "ALTER VIEW more OWNER TO mallory"], "more belongs"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("migrate", [False, True])
def test_serve_refuses_the_schema_when_another_role_has_a_say_in_it(
    statements: list[str], named: str, migrate: bool, cluster: Cluster, place: str
) -> None:
    for statement in statements:
        cluster.do(statement, place)
    assert "REVOKE CREATE ON SCHEMA public" in refusal(place, named, migrate=migrate).hint


def test_serve_names_the_schema_to_make_when_the_role_may_not_create(
    cluster: Cluster, place: str
) -> None:
    other = cluster.new_database().replace("lockterm@", "plain@")
    refused = refusal(other, "permission denied for schema public")
    assert "CREATE SCHEMA lockterm AUTHORIZATION lockterm" in refused.hint


def test_serve_uses_its_own_schema_when_the_role_has_one(cluster: Cluster, place: str) -> None:
    cluster.do("GRANT CREATE ON SCHEMA public TO PUBLIC", place)
    cluster.do("CREATE SCHEMA plain AUTHORIZATION plain", place)
    service = create_service(place, migrate=True, sample_data=False)
    with service.state.site.database.reading() as db:
        assert db.execute("SHOW search_path").fetchone() == ("plain, pg_temp",)
        assert db.execute("SELECT count(*) FROM remote").fetchone() == (0,)
    service.state.site.database.close()
    cluster.do("DROP SCHEMA plain CASCADE", place)
    cluster.do("DROP SCHEMA public CASCADE", place)
    refusal(place, "names no schema")


def test_schema_names_do_not_hide_system_names(cluster: Cluster, place: str) -> None:
    """Although the role prefers its own schema to the system's."""
    cluster.do("CREATE FUNCTION public.length(text) RETURNS int LANGUAGE sql AS 'SELECT -1'", place)
    cluster.do("ALTER ROLE plain SET search_path = public, pg_catalog")
    try:
        service = create_service(place)
        with service.state.site.database.reading() as db:
            assert db.execute("SELECT length('four')").fetchone() == (4,)
        service.state.site.database.close()
    finally:
        cluster.do("ALTER ROLE plain RESET search_path")
