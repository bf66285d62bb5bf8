"""A whole process: values that it makes once, and limits of its processor time.

A regular expression may block the interpreter for minutes: no other thread and no Python signal
handler runs meanwhile. The kernel therefore sends a signal that ends the process when the time is
used up. `faulthandler` first writes the running lines: names of files and functions, no values.
"""

from __future__ import annotations

import ctypes
import faulthandler
import functools
import signal
import threading
from collections.abc import Callable
from typing import IO, TypeVar

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """Decorate a function without arguments so that it runs once a process.

    `functools.cache` lets two threads make one each, and what the loser made is closed while
    somebody uses it: a Redis client closes its connections when it is collected.
    """
    cached, lock = functools.cache(make), threading.Lock()

    @functools.wraps(make)
    def kept() -> T:
        with lock:
            return cached()

    return kept


_RENEWED_EVERY = 0.2


def return_free_memory() -> None:
    """Give freed memory back to the kernel, where the C library can (GNU)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def write_dump_to(file: IO[bytes] | IO[str]) -> None:
    """Set the file for the running lines at the limit. It must stay open."""
    for number in (signal.SIGPROF, signal.SIGVTALRM):
        faulthandler.register(number, file=file, all_threads=True, chain=True)


def limit_processor_time(seconds: float) -> None:
    """End this process after so much more processor time."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def lift_processor_time_limit() -> None:
    """Remove the limit."""
    signal.setitimer(signal.ITIMER_PROF, 0)


def end_when_stuck(seconds: float) -> None:
    """End this process if the interpreter is blocked for so many seconds.

    A thread restarts a timer again and again. Only a blocked interpreter prevents that, so a busy
    process continues and a stuck one ends.
    """
    threading.Thread(target=_renew, args=(seconds,), daemon=True, name="not-stuck").start()


def _renew(seconds: float) -> None:
    never = threading.Event()
    while True:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        never.wait(_RENEWED_EVERY)
