"""Find out why an instance doesn't work: report each problem together with advice.

Basic checks come first. A check is skipped if it depends on something that doesn't work.
"""

import errno
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.core.management.base import BaseCommand
from django.db import DatabaseError, connection
from redis import RedisError

from foundation import env, paths
from foundation.embedded.databases import Instance
from foundation.embedded.folder import DataFolder, EmbeddedError, FolderBusy, plain_errors
from foundation.embedded.supervisor import Address
from foundation.errors import ProviderError
from foundation.providers.base import ChatMessage
from foundation.providers.openai_compatible import OpenAICompatibleModel
from memories import language_steps
from memories.indexing import search_index


class Command(BaseCommand):
    help = "Check the installation and suggest fixes. Exit with 1 if there is a problem."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        # On SIGTERM, also stop the databases that this command started.
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
        wrong = 0
        for found in examine():
            wrong += found.is_wrong
            self._say(found.state, found.subject, found.text)
            if found.advice:
                self._say("", "", f"What to do: {found.advice}")
        if wrong:
            self.stdout.write(f"\n{wrong} {'thing is' if wrong == 1 else 'things are'} wrong.")
            sys.exit(1)
        self.stdout.write("\nNothing is wrong.")

    def _say(self, state: str, subject: str, text: str) -> None:
        self.stdout.write(f"{state:6} {subject:12} {text}")
        self.stdout.flush()


# In bytes. PostgreSQL's write-ahead log alone may reach this size.
LEAST_FREE = 1_000_000_000
_PORTS_TRIED = 50


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    `advice` is set only if the check failed; `is_made` is false if the check was skipped.
    """

    subject: str
    text: str
    advice: str = ""
    is_made: bool = True

    @property
    def is_wrong(self) -> bool:
        return bool(self.advice)

    @property
    def state(self) -> str:
        if not self.is_made:
            return "-"
        return "wrong" if self.is_wrong else "ok"


def examine() -> Iterator[Finding]:
    """Run all checks, and yield each result as soon as it is known."""
    path = Path(settings.DATA_DIR)
    folder, found = examine_folder(path)
    yield found
    yield examine_ledger(Path(settings.LEDGER_DIR))
    space = examine_disk(path)
    yield space
    yield examine_port(Address.configured(), folder)
    if env.text("DATABASE_URL"):
        yield examine_own_databases()
    elif folder and not space.is_wrong:
        yield examine_embedded_databases(folder)
    else:
        yield Finding("databases", "not tried: put right what is wrong above first.", is_made=False)
    yield examine_chat_model()
    yield examine_embedder()


def examine_folder(path: Path) -> tuple[DataFolder | None, Finding]:
    """Open the data folder as the command `up` does, and write a test file there."""
    try:
        folder = DataFolder(path)
        with plain_errors(f"The data folder {folder.path} can't be used"):
            with tempfile.TemporaryFile(dir=folder.path) as file:
                file.write(b"memcenter")
            _check_access(folder)
    except EmbeddedError as error:
        return None, Finding("data folder", str(error), _advice_about_folder(path, error))
    return folder, Finding("data folder", f"{folder.path}")


def _check_access(folder: DataFolder) -> None:
    """Raise `PermissionError` if we can't read and write an entry of the data or log folder.

    Such files were usually created by root.
    """
    for place in (folder.path, folder.log):
        for entry in place.iterdir():
            # A running instance may have deleted the file in the meantime.
            if not os.access(entry, os.R_OK | os.W_OK) and entry.exists():
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(entry))


def _advice_about_folder(path: Path, error: EmbeddedError) -> str:
    cause = error.__cause__
    code = cause.errno if isinstance(cause, OSError) else None
    another = "or set MEMCENTER_DATA_DIR to a folder that you may write to."
    if code in {errno.ENOSPC, errno.EDQUOT}:
        return "Free space on the disk that holds it."
    if code == errno.EROFS:
        return f"Mount the disk that holds it for writing, {another}"
    if code in {errno.ENOTDIR, errno.EEXIST}:
        return f"Move the file away that stands where a folder is needed, {another}"
    if isinstance(cause, ValueError | TypeError):
        return (
            "Put that file back from a copy of the data folder. If there is none, restore a backup "
            "into a new folder: set MEMCENTER_DATA_DIR to it, then run restore."
        )
    if not os.path.exists(path):
        return f"Make it (sudo install -d -o $USER {path}), {another}"
    return f"Make it yours (sudo chown -R $USER {path}), {another}"


def examine_ledger(path: Path) -> Finding:
    """Check that the ledger's folder can be written to or created, without creating it."""
    existing = _existing(path)
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return Finding("ledger", f"{path}")
    return Finding(
        "ledger",
        f"The folder {path} can't be made or written to. Forgetting needs it.",
        f"Make that folder and let this user write to it (sudo install -d -o $USER {path}), "
        "or set MEMCENTER_DATA_DIR to a folder elsewhere, beside which it is then made.",
    )


def _existing(path: Path) -> Path:
    # Path.exists raises PermissionError before Python 3.14.
    return next(folder for folder in (path, *path.parents) if os.path.exists(folder))


def examine_disk(path: Path) -> Finding:
    """Check that the disks of the data folder and of PostgreSQL's files have enough free space."""
    places_used = {_existing(Path(os.path.realpath(folder))) for folder in (path, path / "pg")}
    where, free = min(
        ((folder, shutil.disk_usage(folder).free) for folder in places_used),
        key=lambda pair: pair[1],
    )
    if free >= LEAST_FREE:
        return Finding("disk", f"{_gigabytes(free)} free")
    return Finding(
        "disk",
        f"The disk of {where} is nearly full: {_gigabytes(free)} free.",
        f"Free at least {_gigabytes(LEAST_FREE)}, or move the stopped data folder to a larger "
        "disk and set MEMCENTER_DATA_DIR. On a full disk PostgreSQL stops.",
    )


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"


def examine_port(address: Address, folder: DataFolder | None) -> Finding:
    """Check that the port is free, or is used by the instance of this data folder."""
    where = f"{address.host}:{address.port}"
    runs = folder is not None and _is_served(folder)
    try:
        address.refuse_if_taken()
    except EmbeddedError as error:
        taken = error.__cause__
        code = taken.errno if isinstance(taken, OSError) else None
        is_taken = code == errno.EADDRINUSE
        if is_taken and runs and address.is_healthy():
            return Finding("port", f"Memory Center runs and answers on {where}.")
        if is_taken and runs:
            return Finding(
                "port",
                f"Memory Center runs on this data folder, but {where} doesn't answer as it does.",
                "If it was started with another PORT, run this with the same one. Otherwise stop "
                f"it, start it again, and read {settings.DATA_DIR / 'log' / 'web.log'}.",
            )
        problem = f"Another program listens on {where}." if is_taken else str(error)
        return Finding("port", problem, _advice_about_port(code, address))
    if runs:
        return Finding("port", f"Memory Center runs on another port; {where} is free.")
    return Finding("port", f"{where} is free.")


def _is_served(folder: DataFolder) -> bool:
    try:
        with folder.lock("serve", wait=False):
            return False
    except FolderBusy:
        return True


def _advice_about_port(code: int | None, address: Address) -> str:
    if code == errno.EADDRNOTAVAIL:
        return "Set MEMCENTER_HOST to an address of this machine, or leave it out."
    start = "make up" if paths.is_checkout() else "memcenter up"
    another = f"another port: PORT={_free_port_after(address)} {start}"
    if code == errno.EADDRINUSE:
        return f"Stop that program, or take {another}"
    return f"Take {another}" + (
        ". Most users may not listen below 1024." if code == errno.EACCES else ""
    )


def _free_port_after(address: Address) -> int:
    first = address.port + 1 if 8000 <= address.port < 65_000 else 8000
    for port in range(first, first + _PORTS_TRIED):
        try:
            replace(address, port=port).refuse_if_taken()
        except EmbeddedError:
            continue
        return port
    return first


def examine_embedded_databases(folder: DataFolder) -> Finding:
    """Check that both databases of the data folder start and answer."""
    try:
        with Instance(folder).borrowed():
            return Finding("databases", "PostgreSQL and Redis start and answer.")
    except (EmbeddedError, OSError) as error:
        return Finding("databases", str(error), _advice_about_databases(folder, str(error)))


def _advice_about_databases(folder: DataFolder, problem: str) -> str:
    if "No space left" in problem:
        return "Free space on the disk that holds the data folder, and start again."
    if "Permission denied" in problem or "Operation not permitted" in problem:
        return f"Make all that is in the folder yours: sudo chown -R $USER {folder.path}"
    if "incompatible" in problem:
        return (
            "The data was written by another version of PostgreSQL. Install the version of "
            "Memory Center that wrote it, make a backup with it, and restore that with this one."
        )
    if "shared memory" in problem or "Cannot allocate memory" in problem:
        return "Give this machine more memory, or end other programs, and start again."
    return (
        f"Read the end of the files in {folder.log}. If the data is damaged, restore a backup "
        "into a new folder: set MEMCENTER_DATA_DIR to it, then run restore."
    )


def examine_own_databases() -> Finding:
    """Check that the databases in DATABASE_URL and REDIS_URL answer."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        return Finding(
            "databases",
            f"PostgreSQL doesn't answer: {first}",
            "Start it, or correct DATABASE_URL. Without DATABASE_URL and REDIS_URL the databases "
            "of the data folder are used.",
        )
    finally:
        connection.close()
    try:
        cache.get("doctor")
    except (RedisError, OSError, ValueError) as error:
        return Finding(
            "databases",
            f"Redis doesn't answer ({type(error).__name__}).",
            "Start it, or correct REDIS_URL.",
        )
    return Finding("databases", "Your PostgreSQL and Redis answer.")


def examine_chat_model() -> Finding:
    """Check that the chat model answers a short question with the requested JSON."""
    if not settings.MODEL_BASE_URL:
        return Finding("chat model", "none is set; the bundled reader is used.")

    def ask() -> object:
        model = OpenAICompatibleModel(replace(language_steps.endpoint(), retries=0))
        return model.complete([_QUESTION], schema=_ANSWER, max_tokens=200)

    return _examine_provider("chat model", "MODEL", ask)


_QUESTION = ChatMessage("user", 'Answer with this JSON and nothing else: {"ready": true}')
_ANSWER = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}


def examine_embedder() -> Finding:
    if settings.EMBEDDER == "bundled":
        return Finding("embedder", "the bundled one is used.")
    return _examine_provider(
        "embedder", "EMBEDDING", lambda: search_index.configured_embedder().embed(["ready"])
    )


def _examine_provider(subject: str, kind: str, ask: Callable[[], object]) -> Finding:
    try:
        ask()
    except ProviderError as error:
        return Finding(subject, str(error), _advice_about_provider(kind, str(error)))
    return Finding(subject, "it answers.")


def _advice_about_provider(kind: str, problem: str) -> str:
    url, key = f"MEMCENTER_{kind}_BASE_URL", f"MEMCENTER_{kind}_API_KEY"
    name = "MEMCENTER_MODEL_NAME" if kind == "MODEL" else "MEMCENTER_EMBEDDING_MODEL"
    address = getattr(settings, f"{kind}_BASE_URL")
    if "can’t be reached" in problem:
        return f"Start the server at {address}, or correct {url}."
    if "in time" in problem:
        return f"See whether {address} is overloaded, or raise MEMCENTER_{kind}_TIMEOUT."
    if "(401)" in problem or "(403)" in problem:
        return f"Correct {key}: the server at {address} doesn't accept it."
    if "(404)" in problem:
        return f"Correct {url} ({address}; most end with /v1) or {name}."
    return f"Look at the log of the server at {address}, and check {url}, {name} and {key}."
