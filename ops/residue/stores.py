"""The places outside the database tables that may contain residue: Redis, files, other stores."""

from __future__ import annotations

import gzip
import re
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import redis
from django.conf import settings
from django.core.files.storage import storages

from foundation import file_storage
from foundation.database import schema
from ops.models import Export, Import
from ops.residue import fingerprints

_independent: list[IndependentTexts] = []
_remaining: list[Callable[[int], Iterator[str]]] = []
_personal_folders: list[str] = []
_elsewhere: list[ExternalStore] = []
_CHUNK = 1 << 20
_KEYS = 500
_LINES = 500
_OUR_ID = re.compile(schema.ID_PATTERN.replace("(", "(?:").encode())
_ID_LENGTH = 40
Reader = Callable[[Any], Iterator[list[str]]]
Keys = tuple[int, list[bytes]]
# The database's own files are handled separately (vacuum, write-ahead log). Static files and the
# servers' sockets contain no personal data.
NOT_LOOKED_INTO = ("pg", "static", "run")
_BROKER = ("celery", "unacked", "_kombu", "reply.celery")


class IndependentTexts(Protocol):
    def __call__(self, user_id: int, *, since: datetime | None) -> Iterator[str]: ...


class ExternalStore(Protocol):
    """A store outside the database with copies of its data, such as a separate vector database.

    `erase_deleted_rows` is called outside transactions, the other methods inside one. The methods
    raise `ProviderError` if the store can't be reached.
    """

    @property
    def name(self) -> str: ...

    def is_used(self) -> bool:
        """Return whether the store may contain anything, by a single statement on the database."""

    def erase_deleted_rows(self, user_id: int, *, then: Callable[[int], object]) -> None:
        """Erase from the store those rows of a person that the database has erased.

        `then` is called with the number of erased rows, in the transaction that marks them as
        erased.
        """

    def entries_that_exist(
        self, user_id: int | None, gone: Mapping[str, Collection[int]], *, is_gone: bool
    ) -> Iterator[tuple[str, bool]]:
        """Yield the name of each checked entry, and whether the entry is residue.

        `gone` contains, for each table, the primary keys of its erased rows. If `gone` is empty,
        every entry is checked, and an entry without a row in the database is residue. `is_gone`
        means that all data of the person was erased.
        """


@dataclass(frozen=True)
class Cached:
    """The entries in the cache whose keys begin with `prefix`; `module` writes them.

    `of_user` returns the key for one person. With `messages`, the entries contain messages that
    exist only in the cache, so these messages aren't copies of erased texts.
    """

    prefix: str
    module: str
    of_user: Callable[[int], str] | None = None
    messages: bool = False


_cached = [
    Cached("worker-asked", "ops.queue.broker"),
    Cached("worker-heartbeat", "ops.tasks"),
    Cached("operations-renewed", "ops.queue.watchdog"),
    Cached("signin:", "ops.accounts.sign_ins"),
    Cached("mc:rate:", "memcenter.rest.throttling"),
]


def register_independent_texts(texts: IndependentTexts) -> IndependentTexts:
    """Register a function that yields remaining texts of independent origin, such as messages.

    A match isn't residue if all matching pieces also occur in these texts.
    """
    _independent.append(texts)
    return texts


def independent_texts(user_id: int, *, since: datetime | None) -> Iterator[str]:
    for query in _independent:
        yield from query(user_id, since=since)


def register_remaining_texts(
    texts: Callable[[int], Iterator[str]],
) -> Callable[[int], Iterator[str]]:
    """Register a function that yields derived texts that aren't forgotten, such as summaries.

    The function is called after the forgotten rows are hidden. The residue scan doesn't search for
    pieces of text that occur in these texts.
    """
    _remaining.append(texts)
    return texts


def remaining_texts(user_id: int) -> Iterator[str]:
    for query in _remaining:
        yield from query(user_id)


def register_caches(*found: Cached) -> None:
    _cached.extend(found)


def register_personal_folders(storage: str) -> None:
    """Register a file storage in which each person has a folder named by their primary key."""
    _personal_folders.append(storage)


def register_store(store: ExternalStore) -> None:
    _elsewhere.append(store)


def stores_in_use() -> Sequence[ExternalStore]:
    return [store for store in _elsewhere if store.is_used()]


def cache_keys(user_id: int) -> set[str]:
    return {cached.of_user(user_id) for cached in _cached if cached.of_user is not None}


def holds_messages(key: str) -> bool:
    return any(key.startswith(cached.prefix) for cached in _cached if cached.messages)


@dataclass(frozen=True)
class Entry:
    """One entry of a store, which the residue scan checks.

    `has_words` and `has_ids` say whether erased texts and ids are searched for in its strings. If
    `is_left` is true, the entry is residue regardless of its content.
    """

    store: str
    place: str
    row: str
    strings: Sequence[str]
    has_words: bool = True
    has_ids: bool = True
    is_left: bool = False


def read_entries(
    user_id: int | None, *, is_gone: bool, gone: Mapping[str, Collection[int]]
) -> Iterator[Entry]:
    """Yield all entries in Redis (including Celery's messages), in files and in other stores.

    `is_gone` means that all data of the person was erased. `gone` contains, for each table, the
    primary keys of its erased rows.
    """
    yield from _in_redis(user_id, is_gone=is_gone)
    yield from _in_files(user_id)
    yield from _in_remote_folders(user_id)
    for store in stores_in_use():
        for name, is_left in store.entries_that_exist(user_id, gone, is_gone=is_gone):
            yield Entry(store.name, store.name, name, (), is_left=is_left)


def _in_redis(user_id: int | None, *, is_gone: bool) -> Iterator[Entry]:
    """Yield every entry in Redis, whatever its type.

    Raise `RedisError` if Redis is down.
    """
    own = cache_keys(user_id) if user_id is not None and is_gone else set()
    url = settings.REDIS_URL
    with redis.Redis.from_url(url, socket_timeout=10, socket_connect_timeout=2) as client:
        for raw, value in _in_keys(client):
            name = raw.decode(errors="replace")
            broker = name.startswith(_BROKER)
            strings = [name, *fingerprints.strings_in(value)]
            yield Entry(
                store="broker" if broker else "cache",
                place="broker" if broker else "redis",
                row=name[:200],  # a key contains ids, but no texts
                strings=strings,
                has_words=not holds_messages(name),
                has_ids=not broker,
                is_left=any(name.endswith(suffix) for suffix in own),
            )


def _in_keys(client: redis.Redis) -> Iterator[tuple[bytes, Any]]:
    cursor = -1
    while cursor != 0:
        cursor, keys = cast(Keys, client.scan(max(cursor, 0), count=_KEYS))
        kinds = _together(client, [("TYPE", key) for key in keys])
        values = _together(client, [_read_command(*pair) for pair in zip(keys, kinds, strict=True)])
        yield from zip(keys, values, strict=True)


def _together(client: redis.Redis, commands: Sequence[Sequence[Any]]) -> list[Any]:
    with client.pipeline(transaction=False) as pipe:
        for command in commands:
            pipe.execute_command(*command)  # type: ignore[no-untyped-call]
        found: list[Any] = pipe.execute()
    return found


def _read_command(key: bytes, kind: bytes) -> Sequence[Any]:
    """Return the Redis command that reads a key of this type.

    For a deleted key or an unknown type, the command is EXISTS, which returns no content.
    """
    match kind:
        case b"hash":
            return "HGETALL", key
        case b"list":
            return "LRANGE", key, 0, -1
        case b"set":
            return "SMEMBERS", key
        case b"zset":
            return "ZRANGE", key, 0, -1
        case b"stream":
            return "XRANGE", key, "-", "+"
        case b"string":
            return "GET", key
    return "EXISTS", key


def _in_files(user_id: int | None) -> Iterator[Entry]:
    root = Path(settings.DATA_DIR)
    others = _files_of_others(user_id)
    folders = [folder for name in _personal_folders for folder in _path_in(name, "")]
    for path in sorted(_files_under(root)):
        store = "exports" if "exports" in path.relative_to(root).parts else "files"
        is_log = path.suffix == ".log"
        real = path.resolve()
        has_words = real not in others and _may_be_of(real, user_id, folders)
        try:
            for strings in read_parts(path, read_lines if has_words else _ids):
                yield Entry(
                    store=store,
                    place=f"{store}",
                    row=str(path.relative_to(root)),
                    strings=strings,
                    has_words=has_words,
                    has_ids=not is_log,
                )
        except FileNotFoundError:
            continue  # a socket, or a file deleted in the meantime


def _in_remote_folders(user_id: int | None) -> Iterator[Entry]:
    for name in _personal_folders:
        if user_id is None or any(True for _ in _path_in(name, "")):
            continue
        try:
            found = list(file_storage.names_below(storages[name], str(user_id)))
        except FileNotFoundError:
            continue
        for file_name in found:
            with storages[name].open(f"{user_id}/{file_name}") as file:
                for strings in read_lines(cast(BinaryIO, file)):
                    yield Entry("files", "files", f"{user_id}/{file_name}", strings)


def _files_under(root: Path) -> Iterator[Path]:
    if not root.is_dir():
        return
    for entry in root.iterdir():
        if entry.name in NOT_LOOKED_INTO:
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from (path for path in entry.rglob("*") if path.is_file())
        elif entry.is_file():
            yield entry


def _files_of_others(user_id: int | None) -> set[Path]:
    """Return the paths of other people's exports and imports.

    These files may rightly contain the erased texts, so only ids are searched for in them.
    """
    if user_id is None:
        return set()
    exports, imports = (
        model._base_manager.exclude(path="").exclude(user_id=user_id).values_list("path")
        for model in (Export, Import)
    )
    names = {path for (path,) in exports.union(imports)}
    return {real for name in settings.STORAGES for path in names for real in _path_in(name, path)}


def _may_be_of(path: Path, user_id: int | None, folders: Sequence[Path]) -> bool:
    parent = next((folder for folder in folders if folder in path.parents), None)
    return user_id is None or parent is None or parent / str(user_id) in path.parents


def _path_in(storage: str, path: str) -> Iterator[Path]:
    try:
        yield Path(storages[storage].path(path)).resolve()
    except (NotImplementedError, ValueError, OSError):
        return


def read_parts(path: Path, read: Reader) -> Iterator[list[str]]:
    """Yield the strings in a file, a few hundred lines at a time. Archives are unpacked."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            for name in packed.namelist():
                yield [name]
                with packed.open(name) as member:
                    yield from read(member)
        return
    with path.open("rb") as file:
        start = file.read(2)
        file.seek(0)
        if start == b"\x1f\x8b":
            with gzip.open(file) as unpacked:
                yield from read(unpacked)
        else:
            yield from read(file)


def read_lines(file: BinaryIO) -> Iterator[list[str]]:
    found: list[str] = []
    while line := file.readline(_CHUNK):
        found.extend(fingerprints.strings_in(line))
        if len(found) >= _LINES:
            yield found
            found = found[-2:]  # a text may continue in the next part
    if found:
        yield found


def _ids(file: BinaryIO) -> Iterator[list[str]]:
    """Yield the ids that a file contains, and no other text.

    Used for the files of other users: searching for ids is much faster than comparing texts.
    """
    end = b""
    while chunk := file.read(_CHUNK):
        part = end + chunk
        if found := _OUR_ID.findall(part):
            yield [match.decode() for match in found]
        end = part[-_ID_LENGTH:]  # an id may continue in the next part
