import os
import subprocess
import sys

_COUNTED = """
import {first}
import numpy
with open("/proc/self/status") as status:
    [told] = [line for line in status if line.startswith("Threads:")]
print(told.split()[1])
"""


def threads(first: str) -> int:
    """Of a process that has loaded numpy, on however many cores."""
    apart = {name: one for name, one in os.environ.items() if not name.endswith("_NUM_THREADS")}
    code = _COUNTED.format(first=first)
    done = subprocess.run(
        [sys.executable, "-c", code], env=apart, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def test_matrices_are_multiplied_by_the_thread_that_asks() -> None:
    assert threads("memcenter") == 1
    if (os.cpu_count() or 1) > 1:
        assert threads("os") > 1  # so the line above could fail
