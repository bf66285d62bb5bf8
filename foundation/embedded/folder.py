"""The data folder of an instance: data, secrets, logs and locks."""

import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

# A unix socket's whole path must fit into 107 bytes on Linux, 103 on macOS.
_LONGEST_RUN_PATH = 103 - len("/pg/.s.PGSQL.5432")


class EmbeddedError(Exception):
    """An error whose message is a sentence for the person at the terminal."""


class FolderBusy(EmbeddedError):
    """Another process holds the requested lock of the data folder."""


@contextlib.contextmanager
def plain_errors(problem: str) -> Iterator[None]:
    """Convert an `OSError` in the block to an `EmbeddedError`.

    The message of the `EmbeddedError` consists of `problem`, the system's reason and the file.
    """
    try:
        yield
    except OSError as error:
        file = error.filename if isinstance(error.filename, str | os.PathLike) else ""
        named = f": {os.fspath(file)}" if file and os.fspath(file) not in problem else ""
        raise EmbeddedError(f"{problem} ({error.strerror or error}{named}).") from error


@dataclass(frozen=True)
class Secrets:
    """Random secrets that are created once and can be read only by the owner of the folder."""

    folder_id: str
    secret_key: str
    superuser_password: str
    owner_password: str
    app_password: str
    redis_password: str

    @classmethod
    def generate(cls) -> "Secrets":
        words = [secrets.token_hex(24) for _ in range(4)]
        return cls(secrets.token_hex(6), secrets.token_hex(32), *words)


class DataFolder:
    def __init__(self, path: Path | str) -> None:
        self.path = Path(path).absolute()
        self.postgres = self.path / "pg"
        self.log = self.path / "log"
        self.static = self.path / "static"
        self.first_login = self.path / "first-login.json"
        self.roles_marker = self.path / "roles.sha256"  # hash of the last applied roles.sql
        self.beat_schedule = self.path / "celerybeat-schedule"
        with plain_errors(f"The data folder {self.path} can't be used"):
            self.path.mkdir(parents=True, exist_ok=True)
            # If we are root, PostgreSQL runs as another user, who must be able to enter the folder.
            self.path.chmod(0o711 if os.geteuid() == 0 else 0o700)
            self.log.mkdir(mode=0o700, exist_ok=True)
            self.secrets = self._read_or_make_secrets()
            self.run = self._run_folder()

    def log_file(self, name: str) -> Path:
        return self.log / f"{name}.log"

    def pid_file(self, name: str) -> Path:
        return self.path / f"{name}.pid"

    def write_private(self, path: Path, text: str) -> None:
        """Write a file atomically; other users can't read it, even while it is being written."""
        descriptor, temporary = tempfile.mkstemp(dir=self.path)  # mkstemp makes it 0600
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            Path(temporary).replace(path)
        except OSError:  # a full disk
            Path(temporary).unlink(missing_ok=True)
            raise

    @contextlib.contextmanager
    def lock(self, name: str, *, shared: bool = False, wait: bool = True) -> Iterator[None]:
        """Hold the lock `name` inside the block, and wait for it if another process holds it.

        Without `wait`, raise `FolderBusy` instead of waiting. The kernel releases the lock when
        this process ends.
        """
        with plain_errors(f"The data folder {self.path} can't be used"):
            opened = (self.path / f"{name}.lock").open("a+", encoding="utf-8")
        with opened as file:
            mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
            try:
                fcntl.flock(file, mode if wait else mode | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise FolderBusy(f"Memory Center already runs on {self.path}.") from error
            yield

    def remove(self) -> None:
        """Delete the folder, including parts that are stored elsewhere.

        The databases must not be running.
        """
        if self.postgres.is_symlink():
            shutil.rmtree(self.postgres.resolve().parent)
        shutil.rmtree(self.run)
        shutil.rmtree(self.path)

    def _read_or_make_secrets(self) -> Secrets:
        file = self.path / "secrets.json"
        with self.lock("secrets"):
            if not file.exists():
                text = json.dumps(asdict(Secrets.generate()), indent=1)
                self.write_private(file, text + "\n")
            try:
                return Secrets(**json.loads(file.read_text(encoding="utf-8")))
            except (ValueError, TypeError) as error:
                raise EmbeddedError(f"The file {file} is damaged.") from error

    def _run_folder(self) -> Path:
        run = self.path / "run"
        if len(os.fsencode(run)) > _LONGEST_RUN_PATH:
            name = hashlib.sha256(os.fsencode(self.path) + self.secrets.folder_id.encode())
            private = f"memcenter-{os.geteuid()}-{name.hexdigest()[:12]}"
            run = Path("/tmp") / private  # nosec
        run.mkdir(mode=0o700, exist_ok=True)
        # /tmp is shared: don't use a folder created there by another user.
        if run.is_symlink() or run.stat().st_uid != os.geteuid():
            raise EmbeddedError(f"The folder {run} belongs to somebody else.")
        run.chmod(0o711 if os.geteuid() == 0 else 0o700)
        return run
