"""Start all servers in order, restart any that exit, and stop them in reverse order."""

import contextlib
import os
import signal
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Protocol

from foundation import env
from foundation.embedded.child_processes import (
    Program,
    end_leftovers,
    function_runner,
    last_lines,
    module_runner,
)
from foundation.embedded.databases import Instance
from foundation.embedded.folder import DataFolder, EmbeddedError

_LOOK_EVERY = 0.2
_FIRST_PAGE_SECONDS = 180.0  # generous, for a busy machine
_LONGEST_BACKOFF = 30.0
_PROGRAMS = ("web", "worker", "beat")


@dataclass(frozen=True)
class ProcessCounts:
    """The number of web processes and of worker processes to run."""

    web: int
    worker: int


PROFILES = {"default": ProcessCounts(web=2, worker=2), "small": ProcessCounts(web=1, worker=1)}


class Server(Protocol):
    @property
    def log(self) -> Path: ...
    def is_running(self) -> bool: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...


@dataclass
class SupervisedServer:
    """A server and the time of its next restart.

    The delay before a restart doubles if the server ended soon after its start.
    """

    name: str
    server: Server
    backoff: float = 0.5
    started: float = field(default=0.0, init=False)
    due: float | None = field(default=None, init=False)

    def start(self) -> None:
        self.server.start()
        self.started, self.due = time.monotonic(), None

    def restart_if_due(self, *, now: float) -> str | None:
        """Check whether the server has exited, and restart it if the delay is over.

        Call this repeatedly, with `now` from `time.monotonic`. Return a message for the terminal if
        anything happened, else None.
        """
        if self.due is None:
            if self.server.is_running():
                return None
            young = now - self.started < 60
            self.backoff = min(self.backoff * 2, _LONGEST_BACKOFF) if young else 0.5
            self.due = now + self.backoff
            return f"{self.name} ended and starts again in {self.backoff:g} s"
        if now < self.due:
            return None
        try:
            self.start()
        except EmbeddedError as error:
            self.due = now + _LONGEST_BACKOFF
            return str(error)
        return f"{self.name} runs again"


@dataclass(frozen=True)
class Address:
    host: str
    port: int

    @classmethod
    def configured(cls) -> "Address":
        return cls(env.text("MEMCENTER_HOST", "127.0.0.1"), env.integer("PORT", 8000, least=1))

    def refuse_if_taken(self) -> None:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.host, self.port))
            except (OSError, OverflowError) as error:
                reason = error.strerror if isinstance(error, OSError) else "no port has this number"
                raise EmbeddedError(
                    f"Memory Center can't listen on {self.host}:{self.port} "
                    f"({reason}); set PORT to another port."
                ) from error

    def is_healthy(self) -> bool:
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # nosec
        host = f"[{host}]" if ":" in host else host
        with contextlib.suppress(OSError, urllib.error.URLError):
            # Connect directly, ignoring proxies set in the environment.
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(f"http://{host}:{self.port}/healthz", timeout=2) as answer:
                return bool(answer.status == 200)
        return False


class Supervisor:
    """Starts the bundled databases (with `embedded`) and all other servers, and watches them.

    The startup order is: the databases, `prepare`, the web server (until it answers a request), the
    worker, beat, `announce`.
    """

    def __init__(
        self,
        folder: DataFolder,
        *,
        address: Address,
        embedded: bool,
        prepare: Callable[[], None],
        announce: Callable[[], None],
    ) -> None:
        self._folder = folder
        self._address = address
        self._embedded = embedded
        self._prepare = prepare
        self._announce = announce
        self._watched: list[SupervisedServer] = []

    def run(self) -> None:
        """Start all servers, and keep them running until Ctrl-C or SIGTERM.

        If the port is taken or a server doesn't start, stop all servers and raise `EmbeddedError`.
        Raise `FolderBusy` if another supervisor is running on the data folder.
        """
        using = self._folder.lock("users", shared=True)
        with self._folder.lock("serve", wait=False), _stoppable(), using:
            end_leftovers(self._folder, names=_PROGRAMS)
            self._address.refuse_if_taken()
            try:
                self._start()
                self._watch()
            except KeyboardInterrupt:
                _say("stopping")
            finally:
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    signal.signal(number, signal.SIG_IGN)
                for watched in reversed(self._watched):
                    watched.server.stop()

    def _start(self) -> None:
        with self._folder.lock("databases"):
            if self._embedded:
                instance = Instance(self._folder, dies_with_parent=True)
                self._begin("PostgreSQL", instance.postgres)
                self._begin("Redis", instance.redis)
            self._prepare()
        profile = _profile()
        run = {
            "web": module_runner(
                *("granian", "--interface", "wsgi"),
                *("--host", self._address.host, "--port", str(self._address.port)),
                *("--workers", str(profile.web), "--blocking-threads", "16"),
                *("--workers-kill-timeout", "4", "--respawn-failed-workers", "--no-ws"),
                *("--log-level", "warning", "memcenter.wsgi:application"),
            ),
            "worker": function_runner("memcenter.celery", "run_worker", profile.worker),
            "beat": function_runner("memcenter.beat", "run", str(self._folder.beat_schedule)),
        }
        programs = {name: Program(name, run[name], folder=self._folder) for name in _PROGRAMS}
        web = programs["web"]
        self._begin("web", web)
        deadline = time.monotonic() + _FIRST_PAGE_SECONDS
        while not self._address.is_healthy():
            if not web.is_running() or time.monotonic() > deadline:
                raise EmbeddedError(
                    f"The web server did not start (see {web.log}): {last_lines(web.log)}"
                )
            time.sleep(0.05)
        self._begin("worker", programs["worker"])
        self._begin("beat", programs["beat"])
        self._announce()

    def _begin(self, name: str, server: Server) -> None:
        watched = SupervisedServer(name, server)
        # Registered before the start, so that Ctrl-C during the start stops this server too.
        self._watched.append(watched)
        watched.start()

    def _watch(self) -> None:
        while True:
            for watched in self._watched:
                # The lock is needed, since another command may be starting the databases.
                with self._folder.lock("databases"):
                    news = watched.restart_if_due(now=time.monotonic())
                if news:
                    _say(f"{news} (see {watched.server.log})")
            time.sleep(_LOOK_EVERY)


def _profile() -> ProcessCounts:
    chosen = PROFILES[env.choice("MEMCENTER_PROFILE", "default", among=tuple(PROFILES))]
    # Each thread keeps a database connection. Two web processes with 16 threads each, together with
    # the worker, stay below the limit of 80 connections.
    return replace(chosen, web=min(chosen.web, os.cpu_count() or 1))


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)  # noqa: T201  for the terminal
