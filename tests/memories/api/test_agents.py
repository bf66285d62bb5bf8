from typing import Any

import pytest

from memories.models import Project
from ops.models import User
from tests.factories import make_memory
from tests.memcenter.rest.client import Api, answer, error

pytestmark = pytest.mark.django_db


def find(key: str, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = answer(Api(key).get("/memories/search", **{"query": "chess"} | more))
    return found


def test_agents_find_ids_and_snippets_and_are_told_what_to_do_next(
    alice: User, alice_key: str
) -> None:
    project = Project.objects.create(user=alice, key="club", name="Club")
    memory = make_memory(alice, "Plays chess. " * 40, kind="skill", project=project)
    found = find(alice_key)
    assert found["next_action"] == "use_ids_to_call_mem_get"
    [hit] = found["results"]
    told = {"id", "snippet", "content_type", "project_key", "score", "status", "updated_at"}
    assert set(hit) == told
    assert hit["id"] == memory.public_id and len(hit["snippet"]) == 200
    assert (hit["content_type"], hit["project_key"]) == ("skill", "club")


def test_project_content_type_and_scope_narrow_what_agents_find(
    alice: User, alice_key: str
) -> None:
    project = Project.objects.create(user=alice, key="chess-club", name="Chess Club")
    make_memory(alice, "Chess one.", kind="skill", project=project)
    make_memory(alice, "Chess two.", kind="fact")
    assert len(find(alice_key, scope="all")["results"]) == 2
    for more in (
        {"project_key": "chess-club"},
        {"project_name": "Chess Club"},
        {"content_type": "skill"},
        {"scope": "skill"},
    ):
        assert [one["snippet"] for one in find(alice_key, **more)["results"]] == ["Chess one."]
    assert find(alice_key, project_name="Nowhere")["results"] == []


def test_whole_memories_come_in_the_order_of_their_ids(alice: User, alice_key: str) -> None:
    one, two = make_memory(alice, "Plays chess."), make_memory(alice, "Has a cat.")
    ids = f"{two.public_id},mem_none,{one.public_id}"
    found = answer(Api(alice_key).get("/memories", ids=ids))
    assert [row["content"] for row in found["results"]] == ["Has a cat.", "Plays chess."]
    assert found["missing"] == ["mem_none"]


def test_a_stranger_finds_nothing_and_gets_nothing(
    alice: User, mallory: User, mallory_key: str
) -> None:
    memory = make_memory(alice, "Plays chess.")
    assert find(mallory_key)["results"] == []
    found = answer(Api(mallory_key).get("/memories", ids=memory.public_id))
    assert found == {"results": [], "missing": [memory.public_id]}
    assert Api(mallory_key).get("/memories/search", query="x", owner_id="alice").status_code == 404


def test_an_unbound_key_names_the_owner_or_takes_the_default(
    alice: User, product_key: str, settings: Any
) -> None:
    memory = make_memory(alice, "Plays chess.")
    refused = Api(product_key).get("/memories/search", query="chess")
    assert "owner_id" in error(refused, 400)["fields"]
    assert len(find(product_key, owner_id=alice.external_id)["results"]) == 1
    assert len(find(product_key, user_id=alice.external_id)["results"]) == 1
    refused = Api(product_key).get("/memories", ids=memory.public_id)
    assert "owner_id" in error(refused, 400)["fields"]
    settings.DEFAULT_OWNER = alice.external_id
    assert len(find(product_key)["results"]) == 1
    fetched = answer(Api(product_key).get("/memories", ids=memory.public_id))
    assert [row["id"] for row in fetched["results"]] == [memory.public_id]


def test_finding_needs_a_key_that_may_read(alice: User) -> None:
    from ops.accounts import keys

    secret = keys.create(name="writer", scopes=["write"], user=alice)[1]
    for response in (
        Api(secret).get("/memories/search", query="chess"),
        Api(secret).get("/memories", ids="mem_x"),
    ):
        assert response.status_code == 403


@pytest.mark.parametrize("ids", ["", ",".join(f"mem_{n}" for n in range(101))])
def test_too_few_or_too_many_ids_are_refused(alice: User, alice_key: str, ids: str) -> None:
    assert "ids" in error(Api(alice_key).get("/memories", ids=ids), 400)["fields"]


def test_what_lies_in_the_bin_is_missing(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Plays chess.")
    from memories.writing import curation

    curation.recycle(user=alice, memory=memory)
    found = answer(Api(alice_key).get("/memories", ids=memory.public_id))
    assert found["missing"] == [memory.public_id]
