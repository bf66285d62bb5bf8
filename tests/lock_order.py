"""What each transaction of a person locks, statement by statement, held against the order of locks.

`ops/access.py` says what the order is. Rows that a transaction inserted itself are nobody else's
yet, and a single row that is locked alone can't be part of a circle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.db import connection

_OPENED = re.compile(r"set_config\('(memcenter\.user|role)'")
_PERSON = "memcenter.person"
_CHANGED = re.compile(r'\b(?:UPDATE|DELETE FROM)\s+"?([a-z]+_[a-z]+)"?', re.IGNORECASE)
_LOCKED = re.compile(r"\bFOR (?:NO KEY )?(?:UPDATE|SHARE)\b")
_WAITS_FOR_NOBODY = "SKIP LOCKED"
_FROM = re.compile(r'\b(?:FROM|INTO)\s+"?([a-z]+_[a-z]+)"?', re.IGNORECASE)
# Who records holds these, in this order, and not the person.
_RECORDING = (
    "ops_usersettings",
    "conversations_conversation",
    "conversations_message",
    "memories_recalltrace",
)


@dataclass
class Watched:
    """The transaction that is open, and what was wrong in any so far."""

    of_person: bool = False
    person: bool = False
    locked: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    ever: set[str] = field(default_factory=set)

    def begin(self, sql: str) -> None:
        self.of_person, self.person = "memcenter.user" in sql, _PERSON in sql
        self.locked = []

    def hold_person(self) -> None:
        if self.locked:
            self.wrong.append(f"the person after {self.locked}")
        self.person = True

    def lock(self, table: str, rows: int) -> None:
        if table not in _personal() or not rows:
            return
        self.locked.append(table)
        self.ever.add(table)
        if self.locked[0] != table == "ops_user" and not self.person:
            self.wrong.append(f"the person's row after {self.locked[:-1]}")
        if not self.of_person or self.person or _is_recording(self.locked):
            return
        if rows > 1 or len(self.locked) > 1:
            self.wrong.append(f"without the person: {self.locked} ({rows} rows)")


def _is_recording(locked: list[str]) -> bool:
    first = list(dict.fromkeys(locked))
    return first == [one for one in _RECORDING if one in first]


def _personal() -> set[str]:
    models = apps.get_models()
    return {one._meta.db_table for one in models if getattr(one, "personal_data", False)}


@contextmanager
def watched() -> Iterator[Watched]:
    """Raise `AssertionError` at the end if a transaction locked out of order."""
    seen = Watched()

    def look(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if _OPENED.search(sql):
            seen.begin(sql)
        elif _PERSON in sql:
            seen.hold_person()
        result = execute(sql, *rest)
        rows = rest[-1]["cursor"].rowcount
        for table in _tables(sql):
            seen.lock(table, rows)
        return result

    with connection.execute_wrapper(look):
        yield seen
    assert seen.wrong == [], seen.wrong


def _tables(sql: str) -> list[str]:
    if _WAITS_FOR_NOBODY in sql:
        return []
    found = [one[1] for one in _CHANGED.finditer(sql)]
    if not found and _LOCKED.search(sql) and (source := _FROM.search(sql)):
        found = [source[1]]
    return found
