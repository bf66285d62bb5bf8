"""What a person thinks of a memory: how sure it is, where it ranks, and whether to forget it."""

from __future__ import annotations

import pytest

from memories.models import Change, Kind, Memory
from memories.recall import recall
from memories.recall.search import prepare_query
from memories.writing.curation import rate_memory
from ops.access import as_user
from ops.models import Kind as OperationKind
from ops.models import Operation, User
from tests.factories import make_memory
from tests.memcenter.rest.client import Api, answer
from tests.memories.pages import address, signed_in

pytestmark = pytest.mark.django_db


def rated(memory: Memory, rating: str | None) -> float:
    rate_memory(user=memory.user, memory=memory, rating=rating)
    memory.refresh_from_db()
    return memory.confidence


def test_a_rating_changes_how_sure_a_memory_is(alice: User) -> None:
    found = {
        rating: rated(make_memory(alice, f"Plays {rating} chess.", confidence=0.8), rating)
        for rating in ("positive", "negative", "very_negative")
    }
    assert found["very_negative"] < found["negative"] < 0.8 < found["positive"] <= 1


def test_another_rating_starts_from_what_it_was_and_none_restores_it(alice: User) -> None:
    memory = make_memory(alice, "Plays chess.", confidence=0.8)
    negative = rated(memory, "negative")
    rated(memory, "very_negative")
    assert rated(memory, "negative") == negative
    assert rated(memory, "negative") == negative
    assert rated(memory, None) == 0.8
    assert memory.confidence_unrated is None


def test_what_changed_the_confidence_meanwhile_stays(alice: User) -> None:
    memory = make_memory(alice, "Plays chess.", confidence=0.8)
    rated(memory, "negative")
    Memory.objects.filter(pk=memory.pk).update(confidence=0.7)
    assert rated(memory, None) == 0.7


def test_a_rating_is_about_a_text_and_goes_with_it(alice_key: str, alice: User) -> None:
    memory = make_memory(alice, "Plays chess.", confidence=0.8)
    rated(memory, "very_negative")
    url = f"/memory/long_term/{memory.public_id}"
    assert answer(Api(alice_key).patch(url, {"tags": ["games"]}))["feedback"] == "very_negative"
    assert answer(Api(alice_key).patch(url, {"content": "Plays go."}))["feedback"] is None
    memory.refresh_from_db()
    assert memory.versions.latest("number").change == Change.EDITED
    assert memory.confidence_unrated is None


def order(user: User, question: str) -> list[str]:
    prepared = prepare_query(question)
    with as_user(user):
        return [one.memory.content for one in recall.recall(prepared, user=user).memories]


def test_a_rating_changes_the_rank_in_a_recall(alice: User) -> None:
    first = make_memory(alice, "Plays the oboe in an orchestra.")
    second = make_memory(alice, "Plays the oboe in an orchestra!")
    question = "Which orchestra do I play the oboe in?"
    rated(first, "very_negative")
    assert order(alice, question) == [second.content, first.content]
    rated(first, "positive")
    assert order(alice, question) == [first.content, second.content]
    rated(second, "negative")
    rated(first, "very_negative")
    assert order(alice, question) == [second.content, first.content]


def test_a_constraint_is_ranked_down_only_if_it_is_very_wrong(alice: User) -> None:
    first, second = (
        make_memory(alice, text, kind=Kind.CONSTRAINT, importance=importance)
        for text, importance in (("Allergic to nuts.", 0.9), ("Allergic to figs.", 0.8))
    )
    rated(first, "negative")
    assert order(alice, "What can I eat?") == [first.content, second.content]


def test_what_is_very_wrong_is_no_longer_always_used(alice: User) -> None:
    wrong = make_memory(alice, "Allergic to cats.", kind=Kind.CONSTRAINT)
    pinned = make_memory(alice, "Speaks Czech.", pinned=True)
    assert set(order(alice, "How tall is the tower?")) == {wrong.content, pinned.content}
    for memory in (wrong, pinned):
        rated(memory, "very_negative")
        memory.refresh_from_db()
        assert not memory.is_always_included
    assert order(alice, "How tall is the tower?") == []
    rated(wrong, None)
    assert order(alice, "How tall is the tower?") == [wrong.content]


def test_a_trace_shows_what_the_rating_did(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Plays the oboe in an orchestra.")
    rated(memory, "negative")
    found = answer(Api(alice_key).post("/memory/context", {"message": "Do I play the oboe?"}))
    (item,) = found["items"]
    parts = [item["components"][name] for name in ("relevance", "recency", "importance")]
    assert item["components"]["feedback"] < 0
    assert item["score"] == pytest.approx(sum(parts) + item["components"]["feedback"])


@pytest.mark.parametrize("rating", ["positive", "negative", None])
def test_only_what_is_very_bad_is_offered_to_be_forgotten(
    alice: User, alice_key: str, rating: str | None
) -> None:
    memory = make_memory(alice, "Plays chess.")
    body = {"memory_id": memory.public_id, "rating": rating}
    assert answer(Api(alice_key).post("/feedback", body))["forget"] is None


def test_the_offer_is_sent_as_it_is_to_forget(alice: User, alice_key: str) -> None:
    memory, api = make_memory(alice, "Plays chess."), Api(alice_key)
    body = {"memory_id": memory.public_id, "rating": "very_negative"}
    offer = answer(api.post("/feedback", body))["forget"]
    assert offer["scope"] == "memory" and offer["memory_id"] == memory.public_id
    assert answer(api.post("/memory/forget", offer), 202)["status"] == "accepted"
    assert not Memory.visible.exists()


def test_the_page_rates_and_offers_to_forget_with_one_tap(alice: User) -> None:
    memory, client = make_memory(alice, "Plays chess."), signed_in(alice)
    page, url = address("memory_page", memory.public_id), address("memory_rate", memory.public_id)
    forget = f'action="{address("memory_forget", memory.public_id)}"'
    assert forget not in client.get(page).content.decode()
    assert client.post(url, {"rating": "very_negative", "next": page})["Location"] == page
    shown = client.get(page).content.decode()
    assert forget in shown and "Forget this memory for good?" in shown
    assert client.post(url, {"rating": "", "next": page}).status_code == 302
    assert forget not in client.get(page).content.decode()
    client.post(address("memory_forget", memory.public_id))
    assert Operation.objects.filter(kind=OperationKind.FORGET_MEMORY).exists()


def test_the_page_refuses_an_unknown_rating_and_a_stranger(alice: User, mallory: User) -> None:
    memory = make_memory(alice, "Plays chess.")
    url = address("memory_rate", memory.public_id)
    assert signed_in(alice).post(url, {"rating": "splendid"}).status_code == 422
    assert signed_in(mallory).post(url, {"rating": "negative"}).status_code == 404
    memory.refresh_from_db()
    assert memory.feedback == ""
