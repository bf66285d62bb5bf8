import pytest

from memcenter.lib.statements import Sql
from memories.models import Memory, Origin, TargetKind
from memories.retrieval.stores.pgvector import PgVectorStore
from memories.services import indexing, remembering
from memories.services.remembering import MemoryInput
from ops.models import User

pytestmark = pytest.mark.django_db


def test_only_the_persons_eligible_rows_come_nearest_first(alice: User, mallory: User) -> None:
    def remember(user: User, content: str) -> Memory:
        prepared = remembering.prepare(MemoryInput(content), origin=Origin.USER)
        return remembering.remember(prepared, user=user).memory

    near, far = remember(alice, "Has a cat named Biscuit"), remember(alice, "Plays the cello")
    remember(mallory, "Has a cat named Pepper")
    found = PgVectorStore().nearest(
        indexing.embed(["a cat"])[0],
        user_id=alice.pk,
        space_id=indexing.active_space().pk,
        kind=TargetKind.MEMORY,
        eligible=Sql("SELECT id FROM memories_memory"),
        limit=10,
    )
    assert list(found) == [near.pk, far.pk]
