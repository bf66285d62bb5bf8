"""Create a PostgreSQL cluster and prepare its databases by roles.sql."""

import os
import shutil
import subprocess
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from memcenter.embedded.folder import DataFolder, EmbeddedError
from memcenter.embedded.placement import Placement
from memcenter.embedded.process import last_lines, spawn

ROLES_SQL = Path(__file__).resolve().parent.parent / "roles.sql"


def clean_environment() -> dict[str, str]:
    """Return an environment without PGDATA, PGOPTIONS and the like of the calling shell."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def make_cluster(folder: DataFolder, placement: Placement, *, durable: bool) -> None:
    """Run initdb unless a cluster exists; an incomplete one is created again."""
    cluster, unfinished = placement.cluster, folder.path / "initdb.unfinished"
    if cluster.is_dir() and any(cluster.iterdir()):
        if not unfinished.exists():
            return
        shutil.rmtree(cluster)
    unfinished.touch()
    folder.roles_marker.unlink(missing_ok=True)
    placement.own(placement.sockets)
    placement.own(cluster)
    password = placement.sockets / "initdb-password"
    folder.write_private(password, folder.secrets.superuser_password)
    placement.give(password)
    try:
        _run_initdb(placement, password, log=folder.log_file("postgres"), durable=durable)
    finally:
        password.unlink()
    unfinished.unlink()


def _run_initdb(placement: Placement, password: Path, *, log: Path, durable: bool) -> None:
    command: list[str | Path] = [
        *(placement.binaries / "initdb", "-D", placement.cluster),
        *("--username=postgres", f"--pwfile={password}", "--auth=scram-sha-256"),
        # The builtin provider orders by code point on every system, and does so after every
        # upgrade; the ctype of the C library is what pg_trgm knows Chinese letters by.
        *("--encoding=UTF8", "--locale-provider=builtin", "--locale=C.UTF-8"),
        *([] if durable else ["--no-sync"]),
    ]
    child = spawn(command, log=log, user=placement.user, environment=clean_environment())
    if child.wait() != 0:
        raise EmbeddedError(f"PostgreSQL's initdb failed: {last_lines(log)} (see {log}).")


def run_roles_sql(folder: DataFolder, placement: Placement, *, url: str, database: str) -> None:
    """Bring `database` to the state that roles.sql describes, creating what is missing."""
    secrets = folder.secrets
    # Over stdin, since arguments are visible to every user of the machine.
    script = (
        f"\\set owner_password '{secrets.owner_password}'\n"
        f"\\set app_password '{secrets.app_password}'\n"
        f"\\set database '{database}'\n"
        f"\\i '{ROLES_SQL}'\n"
    )
    done = subprocess.run(
        [placement.binaries / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1"],
        input=script,
        env={**clean_environment(), **_connection_of(url)},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise EmbeddedError(f"Preparing the database failed: {done.stderr.strip()}")


def _connection_of(url: str) -> dict[str, str]:
    known = conninfo_to_dict(url)
    return {
        "PGHOST": str(known["host"]),
        "PGUSER": str(known["user"]),
        "PGPASSWORD": str(known["password"]),
        "PGDATABASE": str(known["dbname"]),
    }
