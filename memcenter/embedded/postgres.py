"""The bundled PostgreSQL: its cluster, its process, and the database in it."""

import contextlib
import hashlib
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import psycopg

from memcenter.embedded.cluster import ROLES_SQL, clean_environment, make_cluster, run_roles_sql
from memcenter.embedded.folder import DataFolder, EmbeddedError
from memcenter.embedded.leftovers import clear_stale_locks
from memcenter.embedded.placement import place
from memcenter.embedded.process import PidFile, last_lines, spawn

Role = Literal["app", "owner", "superuser"]

DATABASE = "memcenter"
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
    # texts, also forgotten ones.
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
_FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "io_method": "sync",
    "shared_buffers": "64MB",
}
_STOPPING = ((signal.SIGINT, 15.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))


class EmbeddedPostgres:
    """One cluster in one data folder.

    `fast` gives up durability, for tests. `settings` override all others. With `dies_with_parent`
    the kernel stops the server when the process that started it is killed.
    """

    def __init__(
        self,
        folder: DataFolder,
        *,
        settings: Mapping[str, str] | None = None,
        fast: bool = False,
        dies_with_parent: bool = True,
    ) -> None:
        self.folder = folder
        self._place = place(folder)
        self._fast = fast
        self._settings = {**_SETTINGS, **(_FAST if fast else {}), **(settings or {})}
        self._dies_with_parent = dies_with_parent
        self._pid_file = PidFile(folder.pid_file("postgres"))
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self.folder.log_file("postgres")

    def url(self, role: Role = "app", *, database: str = DATABASE) -> str:
        host = quote(str(self._place.sockets), safe="")
        return f"postgresql://{_LOGINS[role]}:{self._password(role)}@/{database}?host={host}"

    def is_running(self) -> bool:
        return self._pid_file.alive() is not None

    def start(self) -> None:
        """Start the server, or adopt a running one; create the cluster and the roles if missing."""
        if not (self.is_running() and self._wait_until_ready(seconds=60)):
            self._forget_child()
            make_cluster(self.folder, self._place, durable=not self._fast)
            self._launch()
        self._prepare()

    def stop(self) -> None:
        """Stop the server: sessions are ended, committed data is kept."""
        self._pid_file.stop(_STOPPING)
        self._forget_child()

    def _password(self, role: Role) -> str:
        return str(getattr(self.folder.secrets, f"{role}_password"))

    def _connect(self) -> "psycopg.Connection[tuple[Any, ...]]":
        url = self.url("superuser", database="postgres")
        return psycopg.connect(url, autocommit=True, connect_timeout=5)

    def _forget_child(self) -> None:
        if self._child:
            self._child.wait()
            self._child = None

    def _launch(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            self._spawn()
            if self._wait_until_ready(seconds=deadline - time.monotonic()):
                return
            said = last_lines(self.log, 3)
            # The children of a killed server are still on their way out.
            if "shared memory block" not in said or time.monotonic() > deadline:
                self.stop()
                raise EmbeddedError(f"PostgreSQL did not start (see {self.log}): {said}")
            self._forget_child()
            time.sleep(0.1)

    def _spawn(self) -> None:
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

    def _wait_until_ready(self, *, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.is_running() and time.monotonic() < deadline:
            with contextlib.suppress(psycopg.OperationalError), self._connect():
                return True
            time.sleep(0.03)
        return False

    def _prepare(self) -> None:
        """Prepare the database, once for each version of roles.sql."""
        marker = self.folder.roles_marker
        wanted = hashlib.sha256(ROLES_SQL.read_bytes()).hexdigest()
        if marker.exists() and marker.read_text(encoding="utf-8") == wanted:
            return
        url = self.url("superuser", database="postgres")
        run_roles_sql(self.folder, self._place, url=url, database=DATABASE)
        self.folder.write_private(marker, wanted)
