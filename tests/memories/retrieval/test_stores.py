"""What every vector store must do, asked of each of them."""

import pytest

from foundation.database.statements import Sql
from memories.indexing import milvus_sync, search_index
from memories.models import Memory, Origin, TargetKind, Vector
from memories.retrieval.stores.base import NearestQuery, VectorStore
from memories.retrieval.stores.pgvector import PgVectorStore
from memories.writing import direct_writes
from memories.writing.direct_writes import MemoryInput
from ops.models import User
from tests.factories import make_conversation, make_turn
from tests.milvus import milvus as milvus
from tests.milvus import moved
from tests.milvus import server_of_the_session as server_of_the_session

pytestmark = pytest.mark.django_db
ALL = Sql("SELECT id FROM memories_memory")


@pytest.fixture(params=["pgvector", "milvus"])
def store(request: pytest.FixtureRequest) -> VectorStore:
    if request.param == "pgvector":
        return PgVectorStore()
    request.getfixturevalue("milvus")
    moved()
    return milvus_sync.searched_store()


def remember(user: User, content: str) -> Memory:
    prepared = direct_writes.prepare(MemoryInput(content), origin=Origin.USER)
    return direct_writes.remember(prepared, user=user).memory


def nearest(
    store: VectorStore,
    user: User,
    *,
    kind: TargetKind = TargetKind.MEMORY,
    eligible: Sql = ALL,
    limit: int = 10,
) -> dict[int, float]:
    """Asked once as things were just written, and once when every store was told of them."""
    query = NearestQuery(
        search_index.embed(["a cat"])[0],
        user_id=user.pk,
        space_id=search_index.active_space().pk,
        kind=kind,
        eligible=eligible,
        limit=limit,
    )
    before = store.nearest(query)
    if milvus_sync.are_changes_recorded():
        milvus_sync.send_changes(user.pk)
    after = store.nearest(query)
    assert list(before.items()) == list(after.items())
    return dict(after)


def test_only_the_persons_eligible_rows_come_nearest_first(
    store: VectorStore, alice: User, mallory: User
) -> None:
    near, far = remember(alice, "Has a cat named Biscuit"), remember(alice, "Plays the cello")
    remember(mallory, "Has a cat named Pepper")
    found = nearest(store, alice)
    assert list(found) == [near.pk, far.pk]
    assert 1 >= found[near.pk] > found[far.pk] >= -1


def test_of_many_the_nearest_few_come(store: VectorStore, alice: User) -> None:
    for thing in ("the cello", "chess", "football"):
        remember(alice, f"Plays {thing}")
    cat = remember(alice, "Has a cat named Biscuit")
    assert list(nearest(store, alice, limit=1)) == [cat.pk]


def test_what_is_not_eligible_makes_room_for_the_next(store: VectorStore, alice: User) -> None:
    cats = [remember(alice, f"Has a cat named {name}").pk for name in ("Biscuit", "Pepper", "Tom")]
    cello = remember(alice, "Plays the cello")
    few = Sql("SELECT id FROM memories_memory WHERE NOT id = ANY(%s)", (cats,))
    assert list(nearest(store, alice, eligible=few, limit=1)) == [cello.pk]


def test_another_kind_is_another_matter(store: VectorStore, alice: User) -> None:
    remember(alice, "Has a cat named Biscuit")
    turn = make_turn(make_conversation(alice), "My cat is called Biscuit.", "A fine name!")
    messages = Sql("SELECT id FROM conversations_message")
    found = nearest(store, alice, kind=TargetKind.MESSAGE, eligible=messages)
    assert set(found) == {turn.user_message_id, turn.assistant_message_id}


def test_a_changed_text_is_found_where_it_is_now(store: VectorStore, alice: User) -> None:
    changing, other = remember(alice, "Plays the cello"), remember(alice, "Is fond of pets")
    assert list(nearest(store, alice)) == [other.pk, changing.pk]
    vectors, pieces = search_index.embed_memory("Has a cat")
    search_index.store_memory(memory=changing, vectors=vectors, pieces=pieces)
    assert list(nearest(store, alice)) == [changing.pk, other.pk]


def test_what_was_erased_is_not_found(store: VectorStore, alice: User) -> None:
    gone, other = remember(alice, "Has a cat named Biscuit"), remember(alice, "Plays chess")
    assert len(nearest(store, alice)) == 2
    Vector.objects.filter(target_id=gone.pk).delete()
    assert list(nearest(store, alice)) == [other.pk]
