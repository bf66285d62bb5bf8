"""How PostgreSQL goes about the hot statements of one person among many: by that person's rows.

Texts have no statistics (what is forgotten would live on in them), so the shape of the plans is
held here: no large table is read as a whole, neither with the values at hand nor by the general
plan that a prepared statement may come to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import pytest
from django.db import connection

from conversations.block import builder
from foundation.database import statements
from memories.recall import keyword_matches, search
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from tests.factories import make_conversation, make_memory, make_turn

pytestmark = pytest.mark.django_db
OTHERS, OWN, ALL = 40, 400, 12_000
FIRST = 10_000_000
LARGE = {
    "memories_memory",
    "memories_lexicalentry",
    "memories_vector",
    "conversations_message",
}
_COPY = """
INSERT INTO {table} SELECT made.* FROM {table} t, generate_series(1, %s) n,
  LATERAL jsonb_populate_record(t, jsonb_build_object('id', {first} + n, 'user_id',
    CASE WHEN n <= %s THEN %s ELSE (%s::bigint[])[n %% {others} + 1] END, {more})) made
 WHERE t.id = (SELECT min(id) FROM {table} WHERE user_id = %s)
"""


def copied(table: str, alice: User, others: Sequence[int], **more: str) -> None:
    """As many rows as `ALL`, like the one that is there; the first are the person's own."""
    text = ", ".join(f"'{name}', {value}" for name, value in more.items())
    values: list[Any] = [ALL, OWN, alice.pk, list(others), alice.pk]
    with connection.cursor() as cursor:
        cursor.execute(_COPY.format(table=table, first=FIRST, others=OTHERS, more=text), values)


@pytest.fixture
def crowded(alice: User) -> User:
    others = [users.find_or_create(f"other-{number}").pk for number in range(OTHERS)]
    make_memory(alice, "Likes maps in Leeds")
    make_turn(make_conversation(alice), "I like maps.", "Nice.")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM memories_vector WHERE target_kind <> 'memory'")
        cursor.execute("DELETE FROM memories_lexicalentry WHERE target_kind <> 'memory'")
    copied("memories_memory", alice, others, public_id="'mem_' || n")
    for table in ("memories_lexicalentry", "memories_vector"):
        copied(table, alice, others, target_id=f"{FIRST} + n")
    copied("conversations_message", alice, others, public_id="'msg_' || n", number="n + 10")
    for table in ("memories_lexicalentry", "memories_vector"):
        said = {"target_id": f"{FIRST} + n", "target_kind": "'message'", "id": f"2 * {FIRST} + n"}
        copied(table, alice, others, **said)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {', '.join(sorted(LARGE))}")
    return alice


class Plans:
    """The plans of all that is read meanwhile."""

    def __init__(self) -> None:
        self.run = statements.rows
        self.found: list[tuple[str, dict[str, Any]]] = []

    def rows(self, text: str, values: Any = (), *, anew: bool = False) -> Any:
        if any(table in text for table in LARGE) and "INSERT" not in text:
            [[[plan]]] = self.run(f"EXPLAIN (FORMAT JSON) {text}", values)
            self.found.append((text, plan["Plan"]))
            if not anew:
                self.found.append((text, self._general(text)))
        return self.run(text, values, anew=anew)

    def run_batch(self, batch: statements.Batch) -> None:
        waiting, batch._waiting = batch._waiting, []
        for one in waiting:
            one.found = self.rows(one.text, one.values, anew=one.anew)

    def _general(self, text: str) -> dict[str, Any]:
        numbers = count(1)
        pieces = text.replace("%%", "%").split("%s")
        numbered = pieces[0] + "".join(f"${next(numbers)}{piece}" for piece in pieces[1:])
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (GENERIC_PLAN, FORMAT JSON) {numbered}")
            [[[plan]]] = cursor.fetchall()
        general: dict[str, Any] = plan["Plan"]
        return general


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> Plans:
    noted = Plans()
    monkeypatch.setattr(statements, "rows", noted.rows)
    monkeypatch.setattr(statements.Batch, "run", lambda batch, ends=False: noted.run_batch(batch))
    return noted


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


def check(plans: Plans, *tables: str) -> None:
    read: set[str] = set()
    for text, plan in plans.found:
        for node in nodes(plan):
            name, kind = node.get("Relation Name"), node["Node Type"]
            if name in LARGE:
                read.add(name)
                assert kind != "Seq Scan", (text, node)
                assert "Index Cond" in node or kind == "Bitmap Heap Scan", (text, node)
            if kind == "Bitmap Index Scan":
                assert "Index Cond" in node, (text, node)
    assert read >= set(tables)


def test_a_recall_reads_by_the_person(crowded: User, plans: Plans) -> None:
    prepared = search.prepare_query("Which maps do I like?")
    with as_user(crowded):
        assert builder.build(prepared, user=crowded).items
    check(plans, "memories_memory", "memories_lexicalentry", "memories_vector")


def test_a_search_over_everything_reads_by_the_person(crowded: User, plans: Plans) -> None:
    prepared = search.prepare_query("Which maps do I like?")
    with as_user(crowded):
        assert search.search(prepared, user=crowded, limit=5).results
    check(plans, *LARGE)


def test_so_does_one_for_somebody_with_very_many(
    crowded: User, plans: Plans, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyword_matches, "WHOLE", OWN // 4)
    prepared = search.prepare_query("Which maps did I like in 2026?")
    with as_user(crowded):
        builder.build(prepared, user=crowded)
        search.search(prepared, user=crowded, limit=5)
    check(plans, *LARGE)


def test_what_was_chosen_is_read_by_its_key_also_without_statistics(
    crowded: User, plans: Plans
) -> None:
    with connection.cursor() as cursor:
        # As in the first minute of a product, or after very many have come at once.
        cursor.execute(
            "SELECT pg_clear_relation_stats('public', name), pg_clear_attribute_stats('public',"
            " name, 'user_id', false) FROM unnest(%s::text[]) AS name",
            [sorted(LARGE)],
        )
    prepared = search.prepare_query("Which maps do I like?")
    with as_user(crowded):
        search.search(prepared, user=crowded, limit=5)
    chosen = [node for text, plan in plans.found if "wanted" in text for node in nodes(plan)]
    by = [(node["Alias"], node["Index Cond"]) for node in chosen if "Index Cond" in node]
    assert {alias for alias, _ in by} >= {"one", "e"}
    assert all("(id = " in key for alias, key in by if alias == "one"), by
    assert all("target_id = " in key for alias, key in by if alias == "e"), by
