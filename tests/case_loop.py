"""One test over many cases: they share a cast, and the test names every case that fails."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from django.db import transaction
from django.utils import translation

from foundation import deferred_writes
from ops import audit_log
from tests.leftovers import remove_files_and_keys

Case = TypeVar("Case")
OUR_TESTS = "/tests/"
NAME = 200  # characters: a case may hold a page of text


def check_each(
    cases: Iterable[Case],
    check: Callable[[Case], object],
    *,
    count: int,
    keeping: bool = False,
) -> None:
    """Check every case, each in a savepoint that is rolled back afterwards.

    So each case meets the cast as the test has made it. With `keeping`, a case meets what the
    cases before it have changed; a test whose threads have connections of their own needs that.
    The test fails if the number of cases isn't `count`, and names each case whose check fails.
    """
    checked, failures = 0, list[str]()
    for case in cases:
        checked += 1
        try:
            with nullcontext() if keeping else _rolled_back():
                check(case)
        except Exception as error:
            failures.append(f"{str(case)[:NAME]}: {_described(error)}")
    assert checked == count > 0, f"{checked} cases checked, {count} expected"
    told = "\n".join(failures)
    assert not failures, f"{len(failures)} of {checked} cases fail:\n{told}"


@contextmanager
def _rolled_back() -> Iterator[None]:
    _set_nobody_acting()
    block: Any = transaction.atomic()
    block._from_testcase = True  # as for the transaction of a test: `as_user` may open its own
    try:
        with block:
            try:
                yield
                assert deferred_writes.wait_until_done(within=60)
            finally:
                transaction.set_rollback(True)
    finally:
        remove_files_and_keys()


def _set_nobody_acting() -> None:
    audit_log.set_actor("operator", "command")
    translation.deactivate()


def _described(error: Exception) -> str:
    """The error and the last line of a test that led to it."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename != __file__]
    ours = [one for one in frames if OUR_TESTS in one.filename]
    last = ours[-1] if ours else frames[-1]
    told = "".join(traceback.format_exception_only(error)).strip()
    return f"{last.filename.rpartition('/')[2]}:{last.lineno} {last.line}: {told}"
