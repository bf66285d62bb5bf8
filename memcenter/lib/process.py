"""Helpers for a whole process: values created once, and limits of processor time.

A regular expression may block the interpreter for minutes. During that time no other thread and no
Python signal handler runs. The kernel therefore sends a signal that ends the process when its time
is used up. `faulthandler` first writes the stack: names of files and functions, no values.
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
    """Decorate a function without arguments so that it runs once per process.

    `functools.cache` lets two threads create a value each. The discarded one is closed while still
    in use: a Redis client closes its connections when it is garbage-collected.
    """
    cached, lock = functools.cache(make), threading.Lock()

    @functools.wraps(make)
    def kept() -> T:
        with lock:
            return cached()

    return kept


_RENEWED_EVERY = 0.2


def return_free_memory() -> None:
    """Return freed memory to the kernel, if the C library supports it (glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def write_dump_to(file: IO[bytes] | IO[str]) -> None:
    """Set the file for the stack that is written at the limit. It must stay open."""
    for number in (signal.SIGPROF, signal.SIGVTALRM):
        faulthandler.register(number, file=file, all_threads=True, chain=True)


def limit_processor_time(seconds: float) -> None:
    """End this process after this many more seconds of processor time."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def lift_processor_time_limit() -> None:
    """Remove the limit of processor time."""
    signal.setitimer(signal.ITIMER_PROF, 0)


def end_when_stuck(seconds: float) -> None:
    """End this process if the interpreter is blocked for this many seconds.

    A thread keeps restarting a timer. Only a blocked interpreter prevents that, so a busy process
    continues and a stuck one ends.
    """
    threading.Thread(target=_renew, args=(seconds,), daemon=True, name="not-stuck").start()


def _renew(seconds: float) -> None:
    never = threading.Event()
    while True:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        never.wait(_RENEWED_EVERY)
