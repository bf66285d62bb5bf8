"""Worker processes of a test's own: forked, stopped, continued, and waited for."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from django.db import connections

Reach = Callable[[], None]


@dataclass
class Process:
    """A child. It must have been forked from a transactional test: it has its own connections."""

    pid: int
    _said: int

    def wait_until_it_reaches(self) -> None:
        """Until it called `reach`; it stands still from then on."""
        os.waitpid(self.pid, os.WUNTRACED)

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def ended(self) -> str:
        """Wait for its end; gives what went wrong in it, or nothing."""
        with os.fdopen(self._said) as said:
            text = said.read()
        os.waitpid(self.pid, 0)
        return text


def fork(act: Callable[[Reach], object]) -> Process:
    """Run `act` in a process of its own. It is given `reach`, which stops it by SIGSTOP."""
    connections.close_all()  # a connection that two processes share is none
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write)
        return Process(pid, read)
    try:
        act(lambda: os.kill(os.getpid(), signal.SIGSTOP))
    except BaseException:
        os.write(write, traceback.format_exc().encode())
    finally:
        os._exit(0)  # not through pytest


def fork_each(count: int, act: Callable[[], object]) -> list[str]:
    """Run it in so many processes at once; gives what went wrong in any."""
    children = [fork(lambda _reach: act()) for _ in range(count)]
    return [text for text in (child.ended() for child in children) if text]
