"""An index of one's own: built by an operation, used, kept in step, and dropped again."""

from collections.abc import Iterator, Sequence

import psycopg
import pytest
from django.conf import LazySettings

from foundation.database import statements
from memories.indexing import reindexing, search_index
from memories.models import Memory, Origin, Vector
from memories.recall import candidate_pool, keyword_matches, search
from memories.recall.searchable_texts import Filters, memory_scope
from memories.retrieval.stores import pgvector
from memories.retrieval.stores.base import NearestQuery
from memories.retrieval.stores.pgvector import OwnIndex, PgVectorStore
from memories.writing import memory_writes
from memories.writing.memory_writes import Draft, SourceInput
from ops.access import as_user
from ops.accounts import users
from ops.forgetting import person_forgets
from ops.models import Operation, Status, User
from ops.queue import worker
from tests.hashing_embedder import HashingEmbedder

pytestmark = pytest.mark.django_db(transaction=True)
TOPICS = ("cats", "boats", "tea", "chess", "maps", "violins", "orchids", "kites", "radios", "bread")


@pytest.fixture
def rich(settings: LazySettings) -> Iterator[User]:
    """Somebody with more memories than it takes to have an index."""
    settings.OWN_INDEX_FROM = len(TOPICS)
    owner = settings.OWNER_DATABASE_URL
    user = users.find_or_create("rich")
    texts = [f"Is fond of {topic}" for topic in TOPICS]
    vectors = search_index.embed(texts)
    with as_user(user):
        for place, text in enumerate(texts):
            draft = Draft(text, "fact", vectors[place : place + 1], origin=Origin.API)
            memory_writes.create(draft, user=user, source=SourceInput(Origin.API))
    yield user
    with pgvector.as_owner(owner) as connection:
        for index in pgvector.index_state(at_least=1).built:
            pgvector.drop_index(connection, index)


def index_of(user: User) -> OwnIndex:
    return OwnIndex(user.pk, search_index.active_space().pk)


def nearest(user: User, text: str, *, many: bool, limit: int = 3) -> list[int]:
    scope = memory_scope(user, filters=Filters(personal=True))
    with as_user(user):
        query = NearestQuery(
            search.prepare_query(text).vector,
            user_id=user.pk,
            space_id=search_index.active_space().pk,
            kind="memory",
            eligible=scope.ids,
            limit=limit,
            many=many,
        )
        found = PgVectorStore().nearest(query)
    return list(found)


def build() -> None:
    assert reindexing.request_user_indexes() is not None
    worker.drain()
    assert set(Operation.objects.values_list("status", flat=True)) == {Status.SUCCEEDED}


def test_who_has_very_many_gets_one_and_finds_the_same(rich: User) -> None:
    before = nearest(rich, "Which tea?", many=True)
    build()
    assert pgvector.dimensions_of_index(index_of(rich)) == search_index.active_space().dimensions
    assert (
        nearest(rich, "Which tea?", many=True) == nearest(rich, "Which tea?", many=False) == before
    )
    assert reindexing.request_user_indexes() is None  # nothing is left to do


def test_the_planner_takes_it(rich: User, monkeypatch: pytest.MonkeyPatch) -> None:
    build()
    plans: list[str] = []
    run = statements.rows

    def explained(
        text: str, values: Sequence[object] = (), *, anew: bool = False
    ) -> list[tuple[object, ...]]:
        if "<#>" in text:
            run("SET LOCAL enable_sort = off")  # among ten rows sorting is as good
            plans.append(str(run(f"EXPLAIN {text}", values)))
        return run(text, values, anew=anew)

    monkeypatch.setattr(statements, "rows", explained)
    nearest(rich, "Which tea?", many=True)
    assert index_of(rich).name in plans[0]


def test_what_is_hidden_disabled_or_erased_is_not_found_through_it(rich: User) -> None:
    build()
    first, second, third = nearest(rich, "Which tea?", many=True)
    Memory.objects.filter(pk=first).update(status="disabled")
    Vector.objects.filter(target_id=second).delete()
    assert nearest(rich, "Which tea?", many=True)[0] == third
    assert nearest(rich, "Which tea?", many=True) == nearest(rich, "Which tea?", many=False)


def test_another_persons_memories_are_not_in_it(rich: User) -> None:
    build()
    assert nearest(users.find_or_create("other"), "Which tea?", many=True) == []


def test_it_goes_when_the_memories_have_gone(rich: User) -> None:
    build()
    Vector.objects.filter(
        user=rich, target_id__in=nearest(rich, "tea", many=False, limit=6)
    ).delete()
    build()
    assert pgvector.dimensions_of_index(index_of(rich)) is None


def test_it_stays_while_half_are_left(rich: User) -> None:
    build()
    Vector.objects.filter(
        user=rich, target_id__in=nearest(rich, "tea", many=False, limit=4)
    ).delete()
    assert reindexing.request_user_indexes() is None


def test_building_twice_and_after_a_broken_build_is_safe(
    rich: User, settings: LazySettings
) -> None:
    index = index_of(rich)
    with pgvector.as_owner(settings.OWNER_DATABASE_URL) as connection:
        pgvector.build_index(connection, index)
        pgvector.build_index(connection, index)
    with psycopg.connect(superuser(settings), autocommit=True) as connection:
        connection.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", [index.name]
        )
    assert pgvector.dimensions_of_index(index) is None
    assert pgvector.index_state(at_least=1).broken == {index}
    build()
    assert pgvector.dimensions_of_index(index) is not None


def superuser(settings: LazySettings) -> str:
    from tests import databases

    return databases.postgres.url("superuser", database=settings.DATABASES["default"]["NAME"])


def test_few_memories_are_all_compared(rich: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool says whether somebody has many."""
    asked: list[bool] = []
    real = PgVectorStore.nearest

    def noted(self: PgVectorStore, query: NearestQuery) -> object:
        asked.append(query.many)
        return real(self, query)

    monkeypatch.setattr(PgVectorStore, "nearest", noted)
    prepared = search.prepare_query("Which tea?")
    scope = memory_scope(rich, filters=Filters())
    with as_user(rich):
        few = candidate_pool.fill(prepared, scope, user=rich)
        assert asked == []  # they are compared by the statement that reads their words
        monkeypatch.setattr(keyword_matches, "WHOLE", 5)
        many = candidate_pool.fill(prepared, scope, user=rich)
    assert asked == [True]
    for pool in (few, many):
        assert {unit.text for unit in pool.units} == {f"Is fond of {topic}" for topic in TOPICS}
        assert all(unit.cosine is not None for unit in pool.units)


def test_without_the_owners_address_nothing_is_built(rich: User, settings: LazySettings) -> None:
    settings.OWNER_DATABASE_URL = ""
    assert reindexing.request_user_indexes() is None


def test_it_goes_at_once_with_everything_of_the_person(rich: User) -> None:
    build()
    index = index_of(rich)
    with as_user(rich):
        person_forgets.forget_user(user=rich)
    worker.drain()
    assert pgvector.dimensions_of_index(index) is None
    assert index not in pgvector.index_state(at_least=1).built


def test_after_a_change_of_the_embedder_it_is_built_for_the_new_one(
    rich: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    build()
    before = index_of(rich)
    other = HashingEmbedder(dimensions=64)
    monkeypatch.setattr(search_index, "configured_embedder", lambda: other)
    reindexing.request()
    worker.drain()
    after = index_of(rich)
    assert after != before
    assert pgvector.index_state(at_least=1).built == {after}
    search_index.reset_embedder()
