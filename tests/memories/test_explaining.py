from typing import Any

import pytest

from ops.models import User
from tests.factories import make_conversation, make_episode, make_memory, make_summary, make_turn
from tests.memcenter.rest.client import Api, answer

pytestmark = pytest.mark.django_db


@pytest.fixture
def known(alice: User) -> None:
    row = make_conversation(alice)
    for said in ("I play chess on Sundays.", "Is it going to rain?", "我养了一只猫。"):
        make_episode(make_turn(row, said, "I see."))
    make_summary(row, "They spoke about chess.", through=2)
    for content in ("Plays chess.", "Is a nurse.", "养了一只猫", "Lives in Leeds. " * 400):
        make_memory(alice, content)


def hits(api: Api, request_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer(api.get(f"/debug/{request_id}"))["hits"]
    assert found
    return found


def added(hit: dict[str, Any]) -> float:
    parts: dict[str, float] = hit["components"]
    return sum(value for name, value in parts.items() if name.startswith("part_"))


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("query", ["chess", "What's my profession?", "我的猫叫什么？", "weather"])
def test_the_parts_of_each_search_hit_add_up_to_its_score(alice_key: str, query: str) -> None:
    api = Api(alice_key)
    request_id = answer(api.get("/search", query=query))["request_id"]
    for hit in hits(api, request_id):
        assert added(hit) == pytest.approx(hit["score"], abs=1e-5), hit


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("message", ["Shall we play chess?", "What do I do for a living?", "猫"])
def test_the_parts_of_each_recalled_memory_add_up_to_its_score(
    alice_key: str, message: str
) -> None:
    api = Api(alice_key)
    request_id = answer(api.post("/memory/context", {"message": message}))["request_id"]
    for hit in hits(api, request_id):
        parts = hit["components"]
        total = parts["relevance"] + parts["recency"] + parts["importance"]
        assert total == pytest.approx(hit["score"], abs=1e-9)
        assert parts["raw_relevance"] == pytest.approx(added(hit), abs=1e-5)
