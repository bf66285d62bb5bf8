"""Limits of processor time, enforced by the kernel.

A regular expression may block the interpreter for minutes: no other thread and no Python signal
handler runs meanwhile. The kernel therefore sends a signal that ends the process when the time is
used up. `faulthandler` first writes the running lines: names of files and functions, no values.
"""

from __future__ import annotations

import faulthandler
import signal
import threading
from typing import IO

_RENEWED_EVERY = 0.2


def write_dump_to(file: IO[bytes] | IO[str]) -> None:
    """Set the file for the running lines at the limit. It must stay open."""
    for number in (signal.SIGPROF, signal.SIGVTALRM):
        faulthandler.register(number, file=file, all_threads=True, chain=True)


def limit(seconds: float) -> None:
    """End this process after so much more processor time."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def lift() -> None:
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
