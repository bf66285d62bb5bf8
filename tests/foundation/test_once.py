"""Threads that ask at the same moment get the same value."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from foundation.process import once_per_process


def test_all_threads_get_what_was_made_once() -> None:
    made: list[object] = []
    asking = threading.Barrier(8)

    @once_per_process
    def make() -> object:
        made.append(object())
        threading.Event().wait(0.01)  # lets the others in, if they can come in
        return made[-1]

    def ask(_: int) -> object:
        asking.wait()
        return make()

    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(ask, range(8)))
    assert len(made) == 1
    assert all(one is made[0] for one in given)
