"""Unpack the one file to import from an uploaded zip; other entries are ignored."""

from __future__ import annotations

import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Protocol

from memcenter.lib.errors import Invalid

WANTED = ("memory-center.json", "conversations.json")
MAX_ENTRIES = 100_000
MAX_RATIO = 200
# Small files may have a high compression ratio.
RATIO_COUNTS_FROM = 10_000_000
_PIECE = 1 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1


class Into(Protocol):
    def write(self, data: bytes, /) -> int: ...


def is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


def unpack(path: Path, *, into: Into, limit: int) -> None:
    """Write the importable file to `into`, at most `limit` bytes of it.

    Raises `Invalid` for a suspicious zip: too many entries, too high a compression ratio, paths
    that lead out of it, links, passwords, or nothing to import.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            entries = packed.infolist()
            _check(entries, limit=limit)
            _copy(packed, _wanted(entries), into=into, limit=limit)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        raise _refused("it is damaged") from error


def _check(entries: list[zipfile.ZipInfo], *, limit: int) -> None:
    if len(entries) > MAX_ENTRIES:
        raise _refused("it holds too many files")
    for entry in entries:
        if entry.flag_bits & _ENCRYPTED:
            raise _refused("it is locked with a password")
        if _leads_out(entry.filename) or _is_link(entry):
            raise _refused("it holds links or names that lead out of it")
        if entry.compress_type not in _METHODS:
            raise _refused("it is packed in a way that isn't supported")


def _leads_out(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or ":" in path.parts[:1] or "\0" in name


def _is_link(entry: zipfile.ZipInfo) -> bool:
    mode = entry.external_attr >> 16
    return bool(mode) and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_IFMT(mode) == 0)


def _wanted(entries: list[zipfile.ZipInfo]) -> zipfile.ZipInfo:
    for name in WANTED:
        found = [one for one in entries if PurePosixPath(one.filename).name == name]
        if len(found) > 1:
            raise _refused("it holds the file to import more than once")
        if found:
            return found[0]
    if any(one.filename.lower().endswith(".zip") for one in entries):
        raise _refused("it holds another zip; unpack that first")
    raise _refused("it holds neither memory-center.json nor conversations.json")


def _copy(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, *, into: Into, limit: int) -> None:
    """Copy with a limit; the size in the zip's directory isn't trusted."""
    size = 0
    with packed.open(entry) as source:
        while piece := source.read(_PIECE):
            size += len(piece)
            squeezed = size > RATIO_COUNTS_FROM and size > MAX_RATIO * max(1, entry.compress_size)
            if size > limit or squeezed:
                raise _refused("it unpacks to far more than it should")
            into.write(piece)


def _refused(why: str) -> Invalid:
    return Invalid.field("file", f"The zip is not opened: {why}.")
