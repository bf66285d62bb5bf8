"""Limits of processor time that hold whatever the process is doing.

A regular expression may hold the interpreter for minutes: meanwhile no other thread runs, and no
signal handler that is written in Python. The kernel counts instead. When the time is over it sends
a signal that ends the process. `faulthandler` first writes the lines that were running: names of
files and functions, no values.
"""

from __future__ import annotations

import faulthandler
import signal
import threading
from typing import IO

_RENEWED_EVERY = 0.2


def write_dump_to(file: IO[bytes] | IO[str]) -> None:
    """Choose where the last lines of this process are written. The file must stay open."""
    for number in (signal.SIGPROF, signal.SIGVTALRM):
        faulthandler.register(number, file=file, all_threads=True, chain=True)


def limit(seconds: float) -> None:
    """End this process when it has used so much processor time from now on."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def lift() -> None:
    """Take that limit away."""
    signal.setitimer(signal.ITIMER_PROF, 0)


def end_when_stuck(seconds: float) -> None:
    """End this process when something holds the interpreter for so many seconds.

    A thread starts a second timer again and again. Only what lets no other thread run keeps it
    from that, so a busy process goes on and a stuck one ends.
    """
    threading.Thread(target=_renew, args=(seconds,), daemon=True, name="not-stuck").start()


def _renew(seconds: float) -> None:
    never = threading.Event()
    while True:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        never.wait(_RENEWED_EVERY)
