"""Remove lock files of a killed PostgreSQL when that is safe.

PostgreSQL removes its own lock files only if the pid in them is unused. In a container the same
few pids are reused after every restart, so PostgreSQL could refuse to start for ever.
"""

from pathlib import Path

from memcenter.embedded.process import started_at

_SHARED_MEMORY_LINE = 6  # of postmaster.pid: "key id"
_SHARED_MEMORY_TABLE = Path("/proc/sysvipc/shm")


def clear_stale_locks(*, cluster: Path, sockets: Path) -> None:
    """Remove the lock files whose pid belongs to a process that isn't PostgreSQL."""
    lock = cluster / "postmaster.pid"
    lines = _lines(lock)
    # Orphaned children still write; the shared memory shows whether one is left.
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
        if started_at(number) is None:
            return False  # free: PostgreSQL sees to it
        return b"postgres" not in Path(f"/proc/{number}/cmdline").read_bytes()
    except (OSError, ValueError):
        return False


def _memory_in_use(lines: list[str]) -> bool:
    """Tell whether a process is attached to the cluster's shared memory; True if unknown."""
    words = lines[_SHARED_MEMORY_LINE].split() if len(lines) > _SHARED_MEMORY_LINE else []
    table = _lines(_SHARED_MEMORY_TABLE)
    if len(words) != 2 or not table:
        return True
    rows = [dict(zip(table[0].split(), row.split(), strict=False)) for row in table[1:]]
    return any(row.get("shmid") == words[1] and row.get("nattch") != "0" for row in rows)
