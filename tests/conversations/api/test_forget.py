from typing import Any

import pytest

from conversations.models import Conversation, Message
from memories.models import Memory, Origin, Project
from ops.models import Operation, User
from ops.queue import worker
from tests.factories import make_conversation, make_memory, make_turn
from tests.memcenter.rest.client import Api, answer, error, refused
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db


def forget(key: str, **body: Any) -> Any:
    return Api(key).post("/memory/forget", body)


def targets(user: User) -> dict[str, dict[str, str]]:
    """One thing of each scope, and the field that names it."""
    conversation = make_conversation(user, external_id="c1")
    turn = make_turn(conversation, "I play chess.")
    project = Project.objects.create(user=user, key="p")
    memory = make_memory(user, "Plays chess.", turns=[turn], project=project)
    return {
        "memory": {"memory_id": memory.public_id},
        "message": {"message_id": turn.user_message.public_id},
        "conversation": {"conversation_id": conversation.public_id},
        "project": {"project_key": "p"},
    }


@pytest.mark.parametrize("scope", ["memory", "message", "conversation", "project"])
def test_each_scope_is_accepted_and_hides_at_once(
    scope: str, alice: User, product_key: str
) -> None:
    named = targets(alice)[scope]
    accepted = answer(forget(product_key, scope=scope, user_id="alice", **named), 202)
    assert set(accepted) == {"status", "op_id"}
    assert Operation.objects.get(public_id=accepted["op_id"]).kind == f"forget_{scope}"
    assert not Memory.objects.filter(user=alice).exists()


def test_forgetting_a_user_gives_a_token_that_reads_without_a_key(
    alice: User, product_key: str
) -> None:
    accepted = answer(forget(product_key, scope="user", user_id="alice"), 202)
    path = f"/memory/ops/{accepted['op_id']}"
    found = answer(Api(None).get(path, receipt_token=accepted["receipt_token"]))
    assert found["kind"] == "forget_user"


def test_no_parameters_are_never_everything(alice: User, alice_key: str) -> None:
    refused(forget(alice_key), "scope")
    alice.refresh_from_db()
    assert alice.hidden_at is None


@pytest.mark.parametrize(
    ("scope", "field"),
    [
        ("memory", "memory_id"),
        ("message", "message_id"),
        ("conversation", "conversation_id"),
        ("project", "project_key"),
    ],
)
def test_a_scope_without_its_id_is_refused(
    scope: str, field: str, alice: User, alice_key: str
) -> None:
    refused(forget(alice_key, scope=scope), field)
    refused(forget(alice_key, scope=scope, **{field: ""}), field)
    refused(forget(alice_key, scope=scope, **{field: None}), field)
    refused(forget(alice_key, scope=scope, **{field: ["x"]}), field)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"scope": "everything"}, "scope"),
        ({"scope": "user", "conversation_id": "c1"}, "conversation_id"),
        ({"scope": "user", "conversaton_id": "c1"}, "conversaton_id"),
        ({"scope": "memory", "memory_id": "mem_x", "message_id": "msg_x"}, "message_id"),
        ({"scope": "message", "message_id": "msg_x", "cascade": "yes"}, "cascade"),
        ({"scope": "user", "forget_memories": 0}, "forget_memories"),
        ({"scope": "user", "user_id": 7}, "user_id"),
    ],
)
def test_a_doubtful_request_erases_nothing(
    body: dict[str, Any], field: str, alice: User, alice_key: str
) -> None:
    refused(forget(alice_key, **body), field)
    assert not Operation.objects.exists()


def test_an_unknown_name_in_the_query_is_refused_too(alice: User, alice_key: str) -> None:
    response = Api(alice_key).post("/memory/forget", {"scope": "user"}, dry_run="true")
    refused(response, "dry_run")
    assert not Operation.objects.exists()


@pytest.mark.parametrize("scope", ["memory", "message", "conversation", "project"])
def test_a_stranger_forgets_nothing(
    scope: str, alice: User, mallory: User, mallory_key: str, product_key: str
) -> None:
    named = targets(alice)[scope]
    named.pop("user_id", None)
    error(forget(mallory_key, scope=scope, **named), 404, "not_found")
    error(forget(product_key, scope=scope, user_id="mallory", **named), 404, "not_found")
    assert not Operation.objects.exists()


def test_a_bound_key_forgets_nobody_else(alice: User, mallory_key: str) -> None:
    error(forget(mallory_key, scope="user", user_id="alice"), 404, "not_found")
    alice.refresh_from_db()
    assert alice.hidden_at is None


def test_clearing_leaves_the_empty_conversation(alice: User, alice_key: str) -> None:
    targets(alice)
    api = Api(alice_key)
    accepted = answer(api.post("/clear", {"conversation_id": "c1"}), 202)
    assert Operation.objects.get(public_id=accepted["op_id"]).kind == "clear_conversation"
    assert answer(api.get("/conversations/c1/messages"))["results"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "conversation_id"),
        ({"conversation_id": 7}, "conversation_id"),
        ({"conversation_id": "c1", "forget_memories": "no"}, "forget_memories"),
        ({"conversation_id": "c1", "keep": True}, "keep"),
    ],
)
def test_a_doubtful_clearing_clears_nothing(
    body: dict[str, Any], field: str, alice: User, alice_key: str
) -> None:
    make_conversation(alice, external_id="c1")
    refused(Api(alice_key).post("/clear", body), field)
    assert not Operation.objects.exists()


def test_a_stranger_clears_nothing(alice: User, mallory_key: str) -> None:
    row = make_conversation(alice, external_id="c1")
    for name in ("c1", row.public_id):
        error(Api(mallory_key).post("/clear", {"conversation_id": name}), 404)
    assert Conversation.objects.filter(pk=row.pk).exists() and not Operation.objects.exists()


def about(key: str, words: str) -> Any:
    return forget(key, scope="memory", user_id="alice", about=words)


def test_what_is_plainly_meant_is_forgotten(
    alice: User, product_key: str, pairs: FakePairs
) -> None:
    pairs.means("Lives in Brno")
    turn = make_turn(make_conversation(alice), "I live in Brno.")
    memory = make_memory(alice, "Lives in Brno", turns=[turn])
    told = answer(about(product_key, "that I live in Brno"), 202)
    assert told["memory_ids"] == [memory.public_id]
    assert told["message_ids"] == [turn.user_message.public_id]
    operation = Operation.objects.get(public_id=told["op_id"])
    assert (told["status"], operation.kind) == ("accepted", "forget_memory")
    assert not Memory.objects.exists()


@pytest.mark.parametrize("words", ["Forget that I live in Brno.", "I live in Brno", "Brno"])
def test_what_is_not_plain_is_a_question_by_ids(alice: User, product_key: str, words: str) -> None:
    texts = ("Lives in Brno", "Works in Brno at the hospital", "Plays the cello")
    home, work, _ = [make_memory(alice, text) for text in texts]
    told = answer(about(product_key, words), 200)
    assert told["status"] == "needs_choice" and told["message_ids"] == []
    assert set(told["memory_ids"][:2]) == {home.public_id, work.public_id}
    assert Memory.objects.count() == 3 and not Operation.objects.exists()


def test_where_nothing_is_like_it_that_is_the_answer(alice: User, product_key: str) -> None:
    make_memory(alice, "Plays the cello")
    nothing = {"status": "nothing_found", "memory_ids": [], "message_ids": []}
    assert answer(about(product_key, "my motorbike"), 200) == nothing


def test_what_was_chosen_goes_in_one_go_with_one_receipt(alice: User, product_key: str) -> None:
    first = make_turn(make_conversation(alice, title="I live in Brno."), "I live in Brno.")
    second = make_turn(make_conversation(alice), "My flat in Brno is small.")
    home = make_memory(alice, "Lives in Brno", turns=[first])
    flat = make_memory(alice, "Flat in Brno is small", turns=[second])
    stays = make_memory(alice, "Works in Brno", origin=Origin.USER)
    chosen = {
        "memory_ids": [home.public_id, flat.public_id],
        "message_ids": [first.user_message.public_id, second.user_message.public_id],
    }
    body = {"scope": "memory", "user_id": "alice", **chosen}
    op_id = answer(forget(product_key, **body), 202)["op_id"]
    assert answer(forget(product_key, **body), 202)["op_id"] == op_id
    assert list(Memory.objects.all()) == [stays] and not Message.objects.exists()
    worker.drain()
    receipt = answer(Api(product_key).get(f"/memory/ops/{op_id}/receipt", user_id="alice"))
    assert (receipt["scope"], receipt["chosen"], receipt["kept"]) == ("choice", "program", [])
    assert receipt["scan"]["residue"] == 0
    assert not Message.everything.exists() and list(Memory.everything.all()) == [stays]


def test_where_one_of_them_is_gone_nothing_is_forgotten(
    alice: User, mallory: User, product_key: str
) -> None:
    own, other = make_memory(alice, "Lives in Brno"), make_memory(mallory, "Lives in Graz")
    body = {"scope": "memory", "user_id": "alice"}
    ids = [own.public_id, other.public_id]
    error(forget(product_key, **body, memory_ids=ids), 404, "not_found")
    assert Memory.objects.count() == 2


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"about": " "}, "about"),
        ({"about": "tea", "memory_id": "mem_1"}, "about"),
        ({"about": "tea", "memory_ids": ["mem_1"]}, "memory_ids"),
        ({"memory_ids": []}, "memory_ids"),
        ({"memory_ids": "mem_1"}, "memory_ids"),
        ({"about": "tea", "message_id": "msg_1"}, "message_id"),
        ({"scope": "message", "message_id": "msg_1", "about": "tea"}, "about"),
        ({"scope": "user", "memory_ids": ["mem_1"]}, "memory_ids"),
    ],
)
def test_what_decides_what_is_erased_must_be_plain(
    alice: User, product_key: str, given: dict[str, Any], field: str
) -> None:
    body = {"scope": "memory", "user_id": "alice"} | given
    assert refused(forget(product_key, **body), field)


def _clients_own(user: User, conversation: str, message: str) -> Message:
    found = make_turn(make_conversation(user, external_id=conversation), "I play chess.")
    Message.objects.filter(pk=found.user_message_id).update(external_id=message)
    return found.user_message


def test_a_message_is_named_by_the_clients_own_id(alice: User, product_key: str) -> None:
    said = _clients_own(alice, "c1", "q1")
    body = {"conversation_id": "c1", "message_id": "q1", "user_id": "alice"}
    answer(forget(product_key, scope="message", **body), 202)
    assert not Message.objects.filter(pk=said.pk, hidden_at__isnull=True).exists()


def test_where_only_one_has_the_clients_id_no_conversation_is_needed(
    alice: User, product_key: str
) -> None:
    first, second = (_clients_own(alice, f"c{n}", f"q{n}") for n in (1, 2))
    api = Api(product_key)
    rating = {"message_id": "q1", "user_id": "alice", "rating": "positive"}
    assert answer(api.post("/feedback", rating))["rating"] == "positive"
    assert answer(api.get("/messages/q1", user_id="alice"))["feedback"]["rating"] == "positive"
    answer(forget(product_key, scope="message", message_id="q1", user_id="alice"), 202)
    answer(api.delete("/messages/q2", user_id="alice"), 202)
    gone = Message.everything.filter(pk__in=(first.pk, second.pk), hidden_at__isnull=False)
    assert gone.count() == 2


def test_the_conversation_says_which_of_two_messages_is_meant(
    alice: User, product_key: str
) -> None:
    one, other = (_clients_own(alice, name, "q1") for name in ("c1", "c2"))
    body = {"message_id": "q1", "user_id": "alice"}
    refused(forget(product_key, scope="message", **body), "conversation_id")
    refused(Api(product_key).delete("/messages/q1", user_id="alice"), "conversation_id")
    rated = {**body, "rating": "positive"}
    refused(Api(product_key).post("/feedback", rated), "conversation_id")
    named = {**body, "conversation_id": "c2"}
    assert answer(Api(product_key).post("/feedback", {**named, "rating": "negative"}))
    named = {"user_id": "alice", "conversation_id": "c2"}
    answer(Api(product_key).delete("/messages/q1", **named), 202)
    left = Message.objects.filter(pk__in=(one.pk, other.pk), hidden_at__isnull=True)
    assert [row.pk for row in left] == [one.pk]


def test_somebody_elses_message_is_not_found_by_its_own_id(
    alice: User, mallory: User, product_key: str
) -> None:
    _clients_own(mallory, "c1", "q1")
    body = {"message_id": "q1", "user_id": "alice"}
    assert error(forget(product_key, scope="message", **body), 404)


def progress_of(path: str, body: dict[str, Any], key: str) -> dict[str, Any]:
    """What is told of a forget once it has succeeded. A receipt token reads it without a key."""
    accepted = answer(Api(key).post(path, body), 202)
    token = accepted.get("receipt_token")
    worker.drain()
    query = {"receipt_token": token} if token else {}
    told = answer(Api(None if token else key).get(f"/memory/ops/{accepted['op_id']}", **query))
    assert told["status"] == "succeeded"
    found: dict[str, Any] = told["progress"]
    return found


@pytest.mark.parametrize("scope", ["memory", "message", "conversation", "project", "user"])
def test_the_progress_of_a_forget_ends_where_all_is_done(
    scope: str, alice: User, alice_key: str
) -> None:
    named = targets(alice).get(scope, {})
    told = progress_of("/memory/forget", {"scope": scope, **named}, alice_key)
    assert told["done"] == told["total"] > 1


@pytest.mark.parametrize("path", ["/memory/forget", "/clear"])
def test_the_progress_of_a_choice_and_of_a_clearing_ends_too(
    path: str, alice: User, alice_key: str
) -> None:
    named = targets(alice)
    choice = {"scope": "memory", "memory_ids": [named["memory"]["memory_id"]]}
    told = progress_of(path, choice if path != "/clear" else named["conversation"], alice_key)
    assert told["done"] == told["total"] > 1
