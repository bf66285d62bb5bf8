import os
import signal
import subprocess
import traceback
from pathlib import Path

import psycopg
import pytest

from foundation.embedded.child_processes import PidFile, spawn
from foundation.embedded.folder import DataFolder, EmbeddedError
from foundation.embedded.postgres import EmbeddedPostgres
from foundation.embedded.postgres import choose_placement as place_of
from tests import databases

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
NOBODY = 65534


def _ask(url: str, query: str) -> tuple[object, ...]:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return row


def _do(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def _kill(folder: DataFolder) -> None:
    known = PidFile(folder.pid_file("postgres")).alive()
    assert known
    os.kill(known[0], signal.SIGKILL)
    os.waitpid(known[0], 0)


def test_only_the_right_password_opens_the_door(running: EmbeddedPostgres) -> None:
    right = running.url("app")
    assert _ask(right, "SELECT current_user") == ("memcenter_app",)
    password = right.split(":")[2].split("@")[0]
    for wrong in (right.replace(password, "wrong"), right.replace(f":{password}", "")):
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(wrong)


def test_no_role_but_the_system_passes_row_security(running: EmbeddedPostgres) -> None:
    query = (
        "SELECT array_agg(rolname::text ORDER BY 1) FROM pg_roles"
        " WHERE rolname LIKE 'memcenter%' AND rolbypassrls AND NOT rolcanlogin"
    )
    assert _ask(running.url(), query) == (["memcenter_system"],)
    query = "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'memcenter%' AND rolsuper"
    assert _ask(running.url(), query) == (0,)


def test_the_app_becomes_the_system_only_where_it_says_so(running: EmbeddedPostgres) -> None:
    query = (
        "SELECT pg_has_role('memcenter_system', 'USAGE'), pg_has_role('memcenter_system', 'SET')"
    )
    assert _ask(running.url(), query) == (False, True)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        _do(running.url("owner"), "SET ROLE memcenter_system")


def test_the_app_works_in_the_owners_tables_and_makes_none(running: EmbeddedPostgres) -> None:
    _do(running.url("owner"), "CREATE TABLE worked (id bigserial PRIMARY KEY, text text)")
    _do(
        running.url("app"),
        "INSERT INTO worked (text) VALUES ('a')",
        "SET ROLE memcenter_system",
        "UPDATE worked SET text = 'b'",
    )
    for refused in ("CREATE TABLE own (id int)", "TRUNCATE worked", "DROP TABLE worked"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            _do(running.url("app"), refused)


def test_the_app_may_vacuum_what_it_has_erased(running: EmbeddedPostgres) -> None:
    _do(running.url("owner"), "CREATE TABLE erased (id int)")
    notices: list[str] = []
    with psycopg.connect(running.url("app"), autocommit=True) as connection:
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
        connection.execute("VACUUM erased")
    assert notices == []


def test_row_security_holds_for_the_app_and_not_for_the_system(running: EmbeddedPostgres) -> None:
    _do(
        running.url("owner"),
        "CREATE TABLE guarded (owner text)",
        "ALTER TABLE guarded ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY own ON guarded USING (owner = current_setting('memcenter.user', true))",
        "INSERT INTO guarded VALUES ('alice'), ('mallory')",
    )
    with psycopg.connect(running.url("app")) as connection:
        count = "SELECT count(*) FROM guarded"
        connection.execute("SELECT set_config('memcenter.user', 'alice', true)")
        assert connection.execute(count).fetchone() == (1,)
        connection.execute("SET LOCAL ROLE memcenter_system")
        assert connection.execute(count).fetchone() == (2,)


def test_a_further_database_has_the_same_grants_and_extensions(running: EmbeddedPostgres) -> None:
    name = "further"
    databases.add(name, to=running)
    _do(running.url("owner", database=name), "CREATE TABLE v (id bigserial, v halfvec(3))")
    _do(running.url("app", database=name), "INSERT INTO v (v) VALUES ('[1,2,3]')", "VACUUM v")
    extensions = "SELECT array_agg(extname::text ORDER BY 1) FROM pg_extension"
    assert _ask(running.url(database=name), extensions) == _ask(running.url(), extensions)
    databases.drop(name, of=running)
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(running.url(database=name))


def test_chinese_is_text_to_the_trigrams_and_letters_have_cases(running: EmbeddedPostgres) -> None:
    query = "SELECT cardinality(show_trgm('我喜欢')) > 0, lower('ÄÉ')"
    assert _ask(running.url(), query) == (True, "äé")


def test_what_people_wrote_stays_out_of_the_log(running: EmbeddedPostgres) -> None:
    _do(running.url("owner"), "CREATE TABLE kept (text text UNIQUE)")
    statement = "INSERT INTO kept VALUES ('my doctor is Li')"
    _do(running.url("app"), statement)
    with pytest.raises(psycopg.errors.UniqueViolation):
        _do(running.url("app"), statement)
    log = running.log.read_text()
    assert "duplicate key" in log
    assert "doctor" not in log


def test_it_listens_on_no_network(running: EmbeddedPostgres) -> None:
    assert _ask(running.url("superuser"), "SHOW listen_addresses") == ("",)


def test_what_was_committed_survives_a_kill(folder: DataFolder) -> None:
    server = EmbeddedPostgres(folder, settings={"shared_buffers": "16MB"})
    server.start()
    _do(server.url("owner"), "CREATE TABLE kept (id int)", "INSERT INTO kept VALUES (1)")
    _kill(folder)
    assert not server.is_running()
    second = EmbeddedPostgres(folder)
    second.start()
    assert _ask(second.url("app"), "SELECT count(*) FROM kept") == (1,)
    second.stop()
    assert not second.is_running()
    server.stop()


def test_a_lock_file_with_somebody_elses_pid_is_no_obstacle(folder: DataFolder) -> None:
    server = databases.fast_postgres(folder)
    server.start()
    lock = folder.postgres.resolve() / "postmaster.pid"
    left = lock.read_text().splitlines()
    server.stop()
    # Of the same user, as after a container's restart: then PostgreSQL believes the file.
    where = place_of(folder)
    stranger = spawn(["sleep", "600"], log=folder.log_file("stranger"), user=where.user)
    lock.write_text("\n".join([str(stranger.pid), *left[1:]]) + "\n")
    (where.sockets / ".s.PGSQL.5432.lock").write_text(lock.read_text())
    server.start()
    assert stranger.poll() is None
    server.stop()
    stranger.kill()
    stranger.wait()


def test_a_second_owner_takes_over_what_already_answers(folder: DataFolder) -> None:
    first, second = databases.fast_postgres(folder), databases.fast_postgres(folder)
    first.start()
    known = PidFile(folder.pid_file("postgres")).alive()
    second.start()
    assert PidFile(folder.pid_file("postgres")).alive() == known
    second.stop()
    assert not first.is_running()
    first.stop()


def test_a_cluster_whose_making_was_broken_off_is_made_anew(folder: DataFolder) -> None:
    folder.postgres.mkdir()
    (folder.postgres / "PG_VERSION").write_text("18\n")
    (folder.path / "initdb.unfinished").touch()
    server = databases.fast_postgres(folder)
    server.start()
    assert _ask(server.url("app"), "SELECT 1") == (1,)
    server.stop()


def test_a_cluster_that_cannot_start_is_reported_and_kept(folder: DataFolder) -> None:
    folder.postgres.mkdir()
    (folder.postgres / "PG_VERSION").write_text("12\n")
    with pytest.raises(EmbeddedError, match="PostgreSQL did not start"):
        databases.fast_postgres(folder).start()
    assert (folder.postgres / "PG_VERSION").read_text() == "12\n"


def test_a_path_too_long_for_sockets_works(place: Path) -> None:
    folder = DataFolder(place / ("记忆" * 30))
    server = databases.fast_postgres(folder)
    server.start()
    assert _ask(server.url("app"), "SELECT 1") == (1,)
    server.stop()
    folder.remove()


@as_root
def test_a_folder_that_others_cannot_enter_sends_the_cluster_elsewhere(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    folder = DataFolder(tmp_path / "data")
    server = databases.fast_postgres(folder)
    server.start()
    assert _ask(server.url("app"), "SELECT 1") == (1,)
    server.stop()
    home = folder.postgres.resolve().parent
    assert folder.postgres.is_symlink() and home.is_relative_to("/var/lib/memcenter")
    folder.remove()
    assert not home.exists()


@as_root
def test_an_ordinary_user_runs_it_in_their_own_folder(place: Path) -> None:
    place.chmod(0o777)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        os.write(writing, _start_and_stop(place / "own").encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        assert answer.read() == "memcenter_app"
    os.waitpid(child, 0)
    assert (place / "own" / "pg").stat().st_uid == NOBODY


def _start_and_stop(path: Path) -> str:
    try:
        server = databases.fast_postgres(DataFolder(path))
        server.start()
        answer = _ask(server.url("app"), "SELECT current_user")
        server.stop()
    except BaseException:
        return traceback.format_exc()
    return str(answer[0])


def test_the_readme_way_to_prepare_a_production_database_can_be_repeated(
    running: EmbeddedPostgres,
) -> None:
    roles = Path(__file__).parents[3] / "foundation" / "roles.sql"
    psql = place_of(running.folder).binaries / "psql"
    variables = ["-v", "owner_password=one", "-v", "app_password=two", "-v", "database=production"]
    url = running.url("superuser", database="postgres")
    for _ in range(2):
        subprocess.run([psql, "-X", url, *variables, "-f", roles], check=True, capture_output=True)
    try:
        login = running.url("app", database="production")
        login = login.replace(running.folder.secrets.app_password, "two")
        assert _ask(login, "SELECT '[1]'::vector::text") == ("[1]",)
    finally:
        _do(
            url,
            f"ALTER ROLE memcenter_owner PASSWORD '{running.folder.secrets.owner_password}'",
            f"ALTER ROLE memcenter_app PASSWORD '{running.folder.secrets.app_password}'",
        )
