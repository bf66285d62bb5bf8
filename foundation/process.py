"""Helpers for a whole process: values created once, and limits on processor time.

A regular expression may block the interpreter for minutes, during which no other thread and no
Python signal handler runs. When a process has used up its time, the kernel therefore sends a signal
that ends the process. First, `faulthandler` writes the stack: names of files and functions, but no
values.
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


def once_per_process(make: Callable[[], T]) -> Callable[[], T]:
    """Decorate a function without arguments so that it runs only once per process.

    With `functools.cache` alone, two threads may each create a value. The cache drops one of these
    values while a thread may still be using it. If the dropped value is a Redis client, for
    example, its connections are closed when it is garbage-collected.
    """
    cached, lock = functools.cache(make), threading.Lock()

    @functools.wraps(make)
    def kept() -> T:
        with lock:
            return cached()

    return kept


_RENEWED_EVERY = 0.2


def return_free_memory() -> None:
    """Return freed memory to the kernel, if the C library supports this (glibc does)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def write_dump_to(file: IO[bytes] | IO[str]) -> None:
    """Set the file to which the stack is written when the processor time is used up.

    The file must stay open.
    """
    for number in (signal.SIGPROF, signal.SIGVTALRM):
        faulthandler.register(number, file=file, all_threads=True, chain=True)


def limit_processor_time(seconds: float) -> None:
    """End this process when it has used `seconds` of processor time, counted from now."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def lift_processor_time_limit() -> None:
    signal.setitimer(signal.ITIMER_PROF, 0)


def end_when_stuck(seconds: float) -> None:
    """End this process if its interpreter is blocked for `seconds` of processor time.

    A thread keeps restarting a timer, unless the interpreter is blocked. A process that is busy but
    not blocked therefore continues.
    """
    threading.Thread(target=_renew, args=(seconds,), daemon=True, name="not-stuck").start()


def _renew(seconds: float) -> None:
    never = threading.Event()
    while True:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        never.wait(_RENEWED_EVERY)
