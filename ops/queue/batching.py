"""Work on very many rows, a thousand in a transaction."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet

from ops.queue.run import Run

AT_ONCE = 1_000


def work_in_batches(run: Run, rows: QuerySet[Any], act: Callable[[QuerySet[Any]], object]) -> int:
    """Call `act` with at most `AT_ONCE` of `rows` at a time, each time in its own transaction.

    `act` must make its rows leave `rows`. Returns how many rows there were.
    """
    count = 0
    while True:
        with run.applying_as_system():
            pks = list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
            act(rows.model._base_manager.filter(pk__in=pks))
        count += len(pks)
        if len(pks) < AT_ONCE:
            return count


def delete(rows: QuerySet[Any]) -> None:
    rows.delete()
